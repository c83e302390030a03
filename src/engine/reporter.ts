import { parentOf, reportedPath, stepOf } from '../base/address.js';
import { passTo } from '../base/at-once.js';
import type { StepOutcome, StepReport } from '../events/census.js';
import type { EventBody, Listener, SkeinEvent } from '../events/event.js';
import type { OpenQuestion } from '../events/question.js';
import { nodeFinder } from '../plan/nodes.js';
import type { Plan } from '../plan/plan.js';
import type { CompiledNode } from './graph/compile.js';
import { successBody, type Success } from './graph/explain.js';
import type { Choice } from './graph/token.js';
import type { Durable } from './ports/durable.js';
import type { ChannelWrite } from './ports/executor.js';
import type { Version } from './state/version.js';
import type { ChannelSource, State } from './state/viewed.js';

/** A step that starts or succeeds, as its events need it. */
export interface ToldStep {
  readonly path: string;
  readonly compiled: CompiledNode;
  readonly visit: number;
  readonly attempt: number;
  /** The state that the step sees. */
  readonly input: Version;
  readonly owner: ToldScope;
}

/** The scope of the step. */
export interface ToldScope extends ChannelSource {
  readonly parent: string;
  view(version: Version): State;
}

/**
 * Keeps everything about a run and rarely reads it, so it receives the parts of the two events that each step has instead of the events.
 * Times are milliseconds since 1970; `again`: the event was reported before, when it happened.
 */
export interface Keeper {
  started(at: number, again: boolean, step: ToldStep): void;
  succeeded(at: number, again: boolean, step: ToldStep, output: unknown, more: Success | undefined): void;
  /** Writes of a step in addition to its output, also if a bound of the run ended it. */
  wrote?(step: ToldStep, writes: readonly ChannelWrite[]): void;
  /** Receives all other events. */
  readonly told: Listener;
}

/** The receivers of a run's events. */
export interface Hearers {
  /** Listeners that receive all events. */
  readonly listeners?: readonly Listener[] | undefined;
  /** Receives all events except starts, and successes of steps that are not in `failedBefore`. */
  readonly log?: Listener;
  /** Paths of steps that an earlier session of the run ended without success. */
  readonly failedBefore?: ReadonlySet<string>;
  readonly keeper?: Keeper | undefined;
}

/** Reports what happens in a run: numbers its events and passes them on. A listener that throws is removed; the run continues. */
export class Reporter {
  /** True if any receiver gets at least failures; otherwise events are not created. */
  readonly observed: boolean;
  /** True if any receiver also gets starts and successes. */
  readonly followed: boolean;
  private seq = 0;
  private reports = 0;
  private listeners: readonly Listener[];
  /** Receivers that get no starts and successes. */
  private logs: readonly Listener[];
  private readonly keeper: Keeper | undefined;
  private readonly log: Listener | undefined;
  private readonly failedBefore: ReadonlySet<string>;
  private outdatedSteps: Set<string> | undefined = undefined;
  private questions: RunQuestions | undefined = undefined;

  constructor(
    private readonly runId: string,
    private readonly plan: Plan,
    private readonly durable: Durable,
    { listeners = NOBODY, log, failedBefore = NONE, keeper }: Hearers,
  ) {
    this.log = log;
    this.failedBefore = failedBefore;
    this.listeners = listeners;
    this.keeper = keeper;
    this.logs =
      log === undefined && keeper === undefined ? NOBODY : [log, keeper?.told].filter((one) => one !== undefined);
    // A step that failed before and succeeds in this session is news for the log, too.
    this.followed = listeners.length > 0 || keeper !== undefined || (log !== undefined && failedBefore.size > 0);
    this.observed = this.followed || log !== undefined;
  }

  emit(path: string, parent: string, body: EventBody): void {
    this.emitAs(this.durable.replaying, path, parent, body);
  }

  /** `again`: the event was reported before, when it happened. */
  emitAs(again: boolean, path: string, parent: string, body: EventBody): void {
    const event = this.eventOf(again, path, parent, body);
    for (const log of this.logs) this.hand(log, event);
    for (const listener of this.listeners) this.hand(listener, event);
  }

  started(step: ToldStep): void {
    const { durable } = this;
    this.keeper?.started(durable.now(), durable.replaying, step);
    if (this.listeners.length === 0) return;
    const event = this.plainEvent(step, startBody(step));
    for (const listener of this.listeners) this.hand(listener, event);
  }

  succeeded(step: ToldStep, output: unknown, choice: Choice | undefined, state: State | undefined): void {
    const { durable } = this;
    const { attempt } = step;
    const more = choice === undefined && state === undefined && attempt === 1 ? undefined : { attempt, choice, state };
    this.keeper?.succeeded(durable.now(), durable.replaying, step, output, more);
    const isNews = this.log !== undefined && this.failedBefore.has(step.path);
    if (this.listeners.length === 0 && !isNews) return;
    const event = this.plainEvent(step, successBody(step.compiled, output, more));
    if (isNews && this.log !== undefined) this.hand(this.log, event);
    for (const listener of this.listeners) this.hand(listener, event);
  }

  wrote(step: ToldStep, writes: readonly ChannelWrite[] | undefined): void {
    if (writes !== undefined && writes.length > 0) this.keeper?.wrote?.(step, writes);
  }

  private plainEvent({ path, owner }: ToldStep, body: EventBody): SkeinEvent {
    return this.eventOf(this.durable.replaying, path, owner.parent, body);
  }

  private eventOf(again: boolean, path: string, parent: string, body: EventBody): SkeinEvent {
    const { runId } = this;
    const seq = this.seq++;
    const at = this.durable.now();
    return again
      ? { runId, seq, at, path, parent, replayed: true, ...body }
      : { runId, seq, at, path, parent, ...body };
  }

  private hand(hearer: Listener, event: SkeinEvent): void {
    passTo(hearer, event, () => {
      this.listeners = this.listeners.filter((other) => other !== hearer);
      this.logs = this.logs.filter((other) => other !== hearer);
    });
  }

  nextReport(): number {
    this.reports += 1;
    return this.reports;
  }

  /** The record of a step is no longer valid. */
  outdated(step: string, isJudged: boolean): void {
    const what = `${step} ${isJudged ? 'is judged again' : 'runs again'}`;
    if (!this.observed || this.outdatedSteps?.has(what) === true) return;
    (this.outdatedSteps ??= new Set()).add(what);
    const message = `${what}: its record was made with something that has changed since`;
    this.emitAs(false, step, '', { type: 'run.warning', code: 'runs-again', message });
  }

  waitsFor(open: OpenQuestion, again: boolean): void {
    if (!this.followed) return;
    this.questions ??= new RunQuestions(this.plan);
    this.questions.tell(open, (path, parent, body) => this.emitAs(again, path, parent, body));
  }

  unanswered(question: OpenQuestion): void {
    (this.questions ??= new RunQuestions(this.plan)).unanswered(question);
  }

  /** What a paused run waits for; `steps` are its reports. */
  openAt(steps: readonly StepReport[]): readonly OpenQuestion[] {
    return this.questions?.openAt(steps) ?? [];
  }
}

const NOBODY: readonly Listener[] = [];
const NONE: ReadonlySet<string> = new Set();

export function startBody({ compiled, visit }: Pick<ToldStep, 'compiled' | 'visit'>): EventBody {
  return { type: 'step.started', node: compiled.id, kind: compiled.node.kind, visit };
}

class RunQuestions {
  private readonly given = new Map<string, OpenQuestion>();
  private readonly nodeAt: ReturnType<typeof nodeFinder>;

  constructor(plan: Plan) {
    this.nodeAt = nodeFinder(plan);
  }

  tell(open: OpenQuestion, emit: (path: string, parent: string, body: EventBody) => void): void {
    const { question, key } = open;
    if (question === undefined) return;
    const path = reportedPath(key);
    const parent = this.parentOf(path);
    emit(path, parent, { type: 'step.note', note: { kind: 'question', ...open, question } });
  }

  /** Notes a question that nobody could answer. */
  unanswered(question: OpenQuestion): void {
    this.given.set(question.key, question);
  }

  /**
   * The questions that steps wait for at the end of a run that is paused or out of budget: if other questions ended the run, a waiting step
   * was cancelled with it. Questions of earlier attempts are left out, and those inside a step that ended without their answer.
   */
  openAt(steps: readonly StepReport[]): readonly OpenQuestion[] {
    const outcomes = new Map(steps.map(({ path, outcome }) => [path, outcome]));
    const isOver = (path: string): boolean => !WAITING.has(outcomes.get(path) ?? 'paused');
    const asked = [...this.given.values()].filter(({ key }) => {
      const path = reportedPath(key);
      return outcomes.has(path) && !this.around(path).some(isOver);
    });
    const attempts = new Map(asked.map(({ key }) => [reportedPath(key), stepOf(key)]));
    return asked.filter(({ key }) => attempts.get(reportedPath(key)) === stepOf(key));
  }

  /** A step and those around it. */
  private around(path: string): readonly string[] {
    return path === '' ? [] : [path, ...this.around(this.parentOf(path))];
  }

  private parentOf(path: string): string {
    return reportedPath(parentOf(path, (ids) => this.nodeAt(ids)?.kind === 'loop'));
  }
}

const WAITING: ReadonlySet<StepOutcome> = new Set(['paused', 'cancelled', 'out_of_budget']);
