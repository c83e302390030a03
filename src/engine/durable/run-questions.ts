import { parentOf, stepOf } from '../../base/address.js';
import type { EventBody } from '../../events/event.js';
import type { StepOutcome, StepReport } from '../../events/census.js';
import type { OpenQuestion } from '../../events/question.js';
import { nodeFinder } from '../../plan/nodes.js';
import type { Plan } from '../../plan/plan.js';

/** Reports a run's questions: as they open, and at its end. */
export class RunQuestions {
  private readonly given = new Map<string, OpenQuestion>();
  private readonly nodeAt: ReturnType<typeof nodeFinder>;

  constructor(plan: Plan) {
    this.nodeAt = nodeFinder(plan);
  }

  /** Reports an opened question; events ask nobody here. */
  tell(open: OpenQuestion, emit: (path: string, parent: string, body: EventBody) => void): void {
    const { question, path } = open;
    if (question === undefined) return;
    const parent = parentOf(path, (ids) => this.nodeAt(ids)?.kind === 'loop');
    emit(path, parent, { type: 'step.note', note: { kind: 'question', ...open, question } });
  }

  /** Notes a question that nobody could answer. */
  unanswered(question: OpenQuestion): void {
    this.given.set(question.key, question);
  }

  /**
   * The questions that steps wait for at the end of a run that is paused or out of budget: if other questions ended the run, a waiting step
   * was cancelled with it. Questions of earlier attempts are left out.
   */
  openAt(steps: readonly StepReport[]): readonly OpenQuestion[] {
    const waiting = new Set(steps.flatMap(({ path, outcome }) => (WAITING.has(outcome) ? [path] : [])));
    const asked = [...this.given.values()].filter(({ path }) => waiting.has(path));
    const attempts = new Map(asked.map(({ path, key }) => [path, stepOf(key)]));
    return asked.filter(({ path, key }) => attempts.get(path) === stepOf(key));
  }
}

const WAITING: ReadonlySet<StepOutcome> = new Set(['paused', 'cancelled', 'out_of_budget']);
