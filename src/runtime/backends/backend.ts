import type { ModelRegistry } from '../../agent/models/registry-options.js';
import type { CompiledPlan } from '../../engine/graph/compile.js';
import type { RunHandle, RunResult, StartOptions } from '../../engine/run.js';
import type { Changes } from '../changes.js';
import type { GoingOn, RecordedRun } from '../going-on.js';
import type { RunOptions } from '../options.js';
import type { Label } from '../../guard/label.js';
import type { Turn } from '../threads/turn.js';
import { isApproval } from '../../agent/loop/approval.js';
import { isGuardQuestion } from '../../base/address.js';
import { SkeinError } from '../../base/errors.js';
import type { AnswerQuestion } from '../../engine/durable/memory-questions.js';
import { typedAnswer } from '../../lang/answers.js';
import { Given } from '../../engine/durable/open-question.js';
import type { Limit } from '../../budget/ledger.js';
import { MemoryDurable, type MakeBudget } from '../../engine/durable/memory-durable.js';
import { RunBudget } from '../../engine/durable/run-budget.js';
import { RunInside } from '../../engine/durable/run-inside.js';
import type { Reserve } from '../../engine/ports/durable.js';
import type { AnsweredAround } from '../answered-around.js';
import { checkUnrecorded } from '../check-launch.js';
import { withAdvice } from '../check-run.js';
import { runLimits } from '../run-limits.js';

/** Where runs are carried out and what remains of them: only the result in memory, or a journal in a store. */
export interface Backend {
  /**
   * Opens a run: resumes the one that the options name, or begins a new one. Returns a value instead of a promise if possible, so that a
   * run in memory starts in the same turn of the event loop.
   *
   * @throws SkeinError `SKEIN_USAGE`, `SKEIN_INPUT`, and errors of the back end; a promise rejects with them
   */
  open(definition: BackendDefinition, options: RunOptions): OpenedRun | Promise<OpenedRun>;
}

/** A run to open, and what is already known about it. */
export interface BackendDefinition {
  readonly runId: string;
  readonly compiled: CompiledPlan;
  readonly models: ModelRegistry;
  /** The record of the run that is resumed. If absent, the back end reads it. */
  readonly recorded?: RecordedRun | undefined;
  /** The changes since the recording, if the caller has already reported them. */
  readonly told?: Changes | undefined;
  /** The turn that the run is, if already open. If absent, the back end opens it. */
  readonly turn?: Turn | undefined;
  /** Aborted when the run is no longer wanted. Made on first use: only a run that waits for something needs it. */
  readonly signal: () => AbortSignal;
  /** Reserves the spending of this run in the surrounding run, of whose effect this run is a part. */
  readonly around?: Reserve | undefined;
  /** Answers the questions of this run, if it is part of an effect of the surrounding run; records its effects, if that one is recorded and it has no store of its own. */
  readonly answered?: AnsweredAround | undefined;
  readonly influence?: Label | undefined;
  /** Starts another run that this one needs first: the turn before it. */
  readonly launch: (
    one: Pick<BackendDefinition, 'compiled' | 'models' | 'turn'> & { readonly options: RunOptions },
  ) => RunHandle;
}

export interface OpenedRun {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly settings: Pick<RunOptions, 'memory' | 'maxSteps' | 'prices' | 'untrusted' | 'private' | 'security'>;
  readonly formerModels?: GoingOn['formerModels'];
  /** The joined label of the influence on all starts of the run. */
  readonly influence?: Label | undefined;
  /** Files that earlier sessions, and the runs that this one was forked from, wrote after something untrusted. */
  readonly wrote?: readonly string[];
  /** Called once, right before the run starts. */
  begin(owner: RunOwner): BegunRun;
}

export interface RunOwner {
  /** Cancels the run because of a request from outside, or because another process has taken it over. */
  cancel(reason: string): void;
}

export interface BegunRun {
  readonly start: Pick<
    StartOptions,
    'runId' | 'inputs' | 'first' | 'last' | 'edits' | 'warnings' | 'announced' | 'log' | 'failedBefore'
  > &
    Required<Pick<StartOptions, 'durable'>>;
  /** Ends the record once no part of the run is in progress. Returns the result that counts: a failure if the end can't be recorded. */
  readonly close: (result: RunResult) => RunResult;
}

/** Returns a function that answers questions from the script of the run first. A script never approves a tool call. */
export function answerBy(models: ModelRegistry, answer: AnswerQuestion | undefined): AnswerQuestion {
  return async (question, address, signal, waiting) => {
    const scripted =
      isApproval(question, address) || isGuardQuestion(address) ? undefined : await models.scriptAnswer(question.text);
    if (scripted !== undefined) {
      const typed = typedAnswer(question, scripted);
      return new Given(typed.ok ? typed.value : scripted, 'script');
    }
    if (answer !== undefined) return await answer(question, address, signal, waiting);
    throw new SkeinError('SKEIN_QUESTION', `no one can answer: ${question.text}`, {
      hint: 'run it on a terminal, pass an answer function, or record the run in a store and answer later',
    });
  };
}

/** Keeps nothing of a run but its result. */
export const inMemory: Backend = {
  open({ runId, compiled, models, around, answered, influence }: BackendDefinition, options: RunOptions): OpenedRun {
    const { inputs = {} } = options;
    const { plan } = compiled;
    const budget = budgetOf(runLimits(plan, checkUnrecorded(plan, options)), around);
    const inside = answered?.parts && new RunInside(answered.parts, plan.name, inputs);
    const isAnswered = inside !== undefined && options.answer === answered?.answer;
    const answer = isAnswered ? answered?.answerTo(inside.name) : options.answer;
    return {
      inputs,
      settings: options,
      influence,
      begin: () => ({
        start: {
          runId,
          inputs,
          durable: new MemoryDurable(runId, { answer: answerBy(models, answer), atOnce: isAnswered, budget, inside }),
        },
        close: closing(options, inside),
      }),
    };
  },
};

/** Captures the options only: of a run that has ended, nothing but its result stays in memory. */
function closing(options: RunOptions, inside: RunInside | undefined): BegunRun['close'] {
  return (result) => {
    inside?.over();
    return withAdvice(result, options);
  };
}

/** Returns a factory for the budget of a run. Undefined if the run has no limits. `around` also reserves amounts in the surrounding run. */
export function budgetOf(limits: readonly Limit[], around: Reserve | undefined): MakeBudget | undefined {
  if (limits.length === 0 && around === undefined) return undefined;
  return (host) => new RunBudget(limits, host, around);
}
