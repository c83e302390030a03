import { SkeinError, toErrorData, type ErrorData } from '../base/errors.js';
import { digestText } from '../base/hash.js';
import { present, recordText, type Json } from '../base/json.js';
import type { Question } from '../engine/ports/durable.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { Judgement, Phases, SupervisedAttempt } from '../engine/ports/supervision.js';
import { cutMiddle } from '../lang/xml-block.js';
import {
  MAX_REORIENTS,
  VERDICT_MS,
  type Assessment,
  type Commitment,
  type Reconciled,
  type SuperviseRequest,
  type Supervisor,
  type Verdict,
} from '../plan/supervision.js';
import type { AsideModels } from '../agent/ask-aside.js';
import { assess, declare } from './checkpoints.js';
import { decisionOf, personQuestion } from './person.js';
import { askModel, kindOf, supervisePrompt } from './prompts.js';
import { modelBehind, supervisor as supervisorOf } from './supervisor.js';
import { asReconciled, asVerdict, verdictIn } from './verdict.js';

export interface PhaseDeps extends AsideModels {
  /** Judges the steps that have no supervisor of their own. Defaults to a model. */
  readonly supervisor?: Supervisor | undefined;
  /** Whether the run can be answered later: an unanswered question then stays open. */
  readonly recorded: boolean;
}

/** Creates the phases of supervised steps: commitment, assessment, comparison and verdict. Each phase emits a note. */
export function phasesOf(deps: PhaseDeps): Phases {
  return {
    async commit(task, step) {
      const commitment = await declare(deps, task, step);
      step.note({ kind: 'supervision.commit', commitment: { ...commitment } });
      return commitment;
    },
    async judge(attempt, step) {
      const judgement = await judged(deps, attempt, step);
      if (judgement.type === 'accepted') step.note({ kind: 'supervision.accepted' });
      else if (judgement.type === 'corrected')
        step.note({
          kind: 'supervision.corrected',
          attempt: step.attempt + 1,
          correction: judgement.correction,
        });
      return judgement;
    },
  };
}

interface Assessed extends Omit<SupervisedAttempt, 'supervisor'> {
  readonly step: StepContext;
  readonly recorded: boolean;
  readonly assessment: Assessment;
  readonly triggers: readonly string[];
  /** The corrections given to earlier attempts. */
  readonly earlier: readonly string[];
}

async function judged(deps: PhaseDeps, attempt: SupervisedAttempt, step: StepContext): Promise<Judgement> {
  const { recorded } = deps;
  const earlier = earlierCorrections(attempt);
  const assessment = await assess(deps, attempt, step);
  step.note({ kind: 'supervision.post', assessment: { ...assessment } });
  const supervisor = attempt.supervisor ?? deps.supervisor ?? supervisorOf();
  const { triggers, escalate } = await reconciled(supervisor, attempt, assessment, step);
  step.note({ kind: 'supervision.reconcile', triggers, escalate });
  const assessed: Assessed = { ...attempt, step, recorded, assessment, triggers, earlier };
  if (attempt.supervise.by === 'human') return await askPerson(assessed, reviewText(triggers));
  // A corrected attempt is judged again, whatever its own assessment.
  if (!escalate && attempt.corrections === 0) return { type: 'accepted' };
  const verdict = await verdictOf(deps, supervisor, assessed);
  step.note({ kind: 'supervision.verdict', verdict: verdict.verdict, reason: verdict.reason ?? '' });
  return await followed(assessed, verdict);
}

/** Corrections of attempts so far, by the commitment of their step, which is the same object for all of them. */
const corrections = new WeakMap<Commitment, Set<string>>();

function earlierCorrections({ commitment, correction }: SupervisedAttempt): readonly string[] {
  const known = corrections.get(commitment) ?? new Set();
  const earlier = [...known];
  if (correction !== undefined) corrections.set(commitment, known.add(correction));
  return earlier;
}

/** A pure function of the program, but still recorded: Skein does not control its code. */
async function reconciled(
  supervisor: Supervisor,
  { node, commitment }: SupervisedAttempt,
  assessment: Assessment,
  step: StepContext,
): Promise<Reconciled> {
  const digest = (): string => digestText(recordText([commitment, assessment, codeOf(supervisor)]));
  return await inPhase(
    node,
    step.effect('reconcile', () => asReconciled(supervisor.reconcile(commitment, assessment)), {
      pure: true,
      identity: { digest },
    }),
  );
}

async function verdictOf(deps: PhaseDeps, supervisor: Supervisor, assessed: Assessed): Promise<Verdict> {
  const { step, node, supervise, assessment, triggers } = assessed;
  const behind = modelBehind(supervisor);
  if (behind !== undefined) {
    const model = supervise.model ?? behind.model ?? supervise.checkpointModel;
    const prompt = supervisePrompt(assessed, assessment, triggers);
    return verdictIn(await inPhase(node, askModel(deps, step, { phase: 'supervise', model, ...prompt })));
  }
  const request = requestOf(assessed);
  const digest = (): string => digestText(recordText([request, codeOf(supervisor)]));
  const judging = step.effect('supervisor', async () => asVerdict(await supervisor.supervise(request)), {
    identity: { digest },
    timeoutMs: supervisor.timeoutMs ?? VERDICT_MS,
  });
  return await inPhase(node, judging);
}

function requestOf({ step, goal, correction, commitment, assessment, triggers, output }: Assessed): SuperviseRequest {
  return { path: step.path, goal, commitment, assessment, triggers, output, ...present({ correction }) };
}

/** The parts that the verdict of code depends on, as far as they are visible. */
function codeOf({ reconcile, supervise, version }: Supervisor): readonly string[] {
  return [String(reconcile), String(supervise), version ?? ''];
}

/** @throws SkeinError that names the step and the phase, and is not retried */
async function inPhase<T>(node: SupervisedAttempt['node'], doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    if (SkeinError.isInstance(error) && ['SKEIN_CANCELLED', 'SKEIN_QUESTION'].includes(error.code)) throw error;
    const { message, ...rest } = toErrorData(error);
    throw new SkeinError(rest.code, `${kindOf(node)} ${node.id}: supervise phase: ${message}`, {
      ...rest,
      retryable: false,
    });
  }
}

async function followed(assessed: Assessed, verdict: Verdict): Promise<Judgement> {
  const { reason = '', question } = verdict;
  switch (verdict.verdict) {
    case 'continue':
      return { type: 'accepted' };
    case 'halt':
      return halted(assessed, `halted by supervision: ${reason}`, reason);
    case 'ask_human':
      return await askPerson(assessed, question ?? reviewText(assessed.triggers));
    case 'reorient':
      return await reoriented(assessed, verdict);
  }
}

async function reoriented(assessed: Assessed, { correction, reason = '' }: Verdict): Promise<Judgement> {
  const { supervise, triggers, once } = assessed;
  const most = supervise.maxReorients ?? MAX_REORIENTS;
  const because = triggers.length === 0 ? '' : `; ${reviewText(triggers)}`;
  const wanted = correction ?? reason;
  if (wanted === '') return await askPerson(assessed, `The supervisor wants a correction and names none${because}`);
  if (once) {
    const asked = `What was done may be done once only, and the supervisor wants it done differently: ${wanted}${because}`;
    return await askPerson(assessed, asked);
  }
  if (assessed.corrections < most) return { type: 'corrected', correction: wanted };
  const exhausted = `reorient budget exhausted (${most})`;
  try {
    return await askPerson(assessed, `The supervisor still wants: ${wanted}${because}; ${exhausted}`);
  } catch (error) {
    if (assessed.recorded || !SkeinError.isInstance(error) || error.code !== 'SKEIN_QUESTION') throw error;
    return halted(assessed, `${exhausted}; halted: ${reason === '' ? wanted : reason}`, reason);
  }
}

function reviewText(triggers: readonly string[]): string {
  return triggers.length === 0 ? "Review this step's output." : `Supervision triggers: ${triggers.join(', ')}`;
}

async function askPerson(assessed: Assessed, asked: string): Promise<Judgement> {
  const { step } = assessed;
  const question: Question = personQuestion(asked, evidenceOf(assessed));
  step.note({ kind: 'approval.requested', question: question.text });
  let by: string | undefined;
  const decision = decisionOf(await step.ask('human', question, { answered: (from) => (by = from) }));
  step.note({ kind: 'approval.decided', verdict: decision.verdict, ...present({ by }) });
  if (decision.verdict === 'approve') return { type: 'accepted' };
  if (decision.verdict === 'revise') return { type: 'corrected', correction: decision.correction };
  return ended(assessed, 'SKEIN_REJECTED', 'denied by human', {});
}

/** What a person sees: the whole output, and the commitment beside the assessment. */
function evidenceOf({ goal, output, commitment, assessment, triggers, correction, earlier }: Assessed): Json {
  return {
    output,
    promised: { ...commitment },
    delivered: { ...assessment },
    triggers,
    goal,
    ...present({ correction }),
    ...(earlier.length === 0 ? {} : { earlierCorrections: earlier }),
  };
}

function halted(assessed: Assessed, message: string, reason: string): Judgement {
  return ended(assessed, 'SKEIN_HALTED', message, { reason });
}

function ended(
  { node, output, commitment, assessment, triggers }: Assessed,
  code: ErrorData['code'],
  message: string,
  more: { readonly reason?: string },
): Judgement {
  const shown = typeof output === 'string' ? cutMiddle(output) : shortened(output);
  const details = { output: shown, commitment: { ...commitment }, assessment: { ...assessment }, triggers, ...more };
  return { type: 'ended', error: { code, message: `${kindOf(node)} ${node.id}: ${message}`, details } };
}

/** Cuts a long output to a text: errors are in records that are read whole. */
function shortened(output: Json): Json {
  const text = JSON.stringify(output);
  const cut = cutMiddle(text);
  return cut === text ? output : cut;
}
