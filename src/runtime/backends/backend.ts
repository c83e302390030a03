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
import { MemoryDurable } from '../../engine/durable/memory-durable.js';
import type { Reserve } from '../../engine/ports/durable.js';
import { withAdvice } from '../check-run.js';
import { budgetOf, checkShared, firstChanges, runLimits } from '../run-limits.js';

/** Where runs are carried out, and what stays of them: in memory, with a journal in a store. */
export interface Backend {
  /**
   * Opens a run: it resumes what the options name, or begins a run. What can be given at once is not a promise, so that a run in memory starts
   * in the same turn of the event loop.
   *
   * @throws SkeinError `SKEIN_USAGE`, `SKEIN_INPUT`, and what the back end can't do; a promise rejects with it
   */
  open(definition: BackendDefinition, options: RunOptions): OpenedRun | Promise<OpenedRun>;
}

/** What is to be run, and what is known of it already. */
export interface BackendDefinition {
  readonly runId: string;
  readonly compiled: CompiledPlan;
  readonly models: ModelRegistry;
  /** What was read of the run that is resumed. Absent: it is read. */
  readonly recorded?: RecordedRun | undefined;
  /** What has changed since, when whoever started it has told about that. */
  readonly told?: Changes | undefined;
  /** The turn that it is, where that was opened. Absent: it is opened. */
  readonly turn?: Turn | undefined;
  /** Aborted when the run is not wanted any more. Made when first asked for: only what is waited for needs it. */
  readonly signal: () => AbortSignal;
  /** Holds in the run around what this one is about to spend: it is part of an effect of that. */
  readonly around?: Reserve | undefined;
  /** What had a say in that it is started. */
  readonly influence?: Label | undefined;
  /** Starts another run that this one needs first: the turn before it. */
  readonly launch: (
    one: Pick<BackendDefinition, 'compiled' | 'models' | 'turn'> & { readonly options: RunOptions },
  ) => RunHandle;
}

/** A run that was opened, and has not started. */
export interface OpenedRun {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly settings: Pick<RunOptions, 'memory' | 'maxSteps' | 'prices' | 'untrusted' | 'security'>;
  readonly formerModels?: GoingOn['formerModels'];
  /** What had a say in that it was started, at any time. */
  readonly influence?: Label | undefined;
  /** Called once, right before it starts. */
  begin(owner: RunOwner): BegunRun;
}

/** Whoever runs a run, as its back end sees it. */
export interface RunOwner {
  /** Somebody outside wants the run to be cancelled, or has taken it. */
  cancel(reason: string): void;
}

/** What the interpreter is started with. */
export interface BegunRun {
  readonly start: Pick<
    StartOptions,
    'runId' | 'inputs' | 'first' | 'last' | 'edits' | 'warnings' | 'announced' | 'log' | 'failedBefore'
  > &
    Required<Pick<StartOptions, 'durable'>>;
  /** The end of the run, when nothing of it runs any more: gives the result that counts, which is a failure when the end can't be kept. */
  readonly close: (result: RunResult) => RunResult;
}

/**
 * The script that the user runs it with may answer for the person: what stands there means what it would mean on a terminal. It never lets a tool
 * call happen.
 */
export function answerBy(models: ModelRegistry, answer: AnswerQuestion | undefined): AnswerQuestion {
  return async (question, address, signal, waiting) => {
    const scripted =
      isApproval(question, address) || isGuardQuestion(address) ? undefined : await models.scriptAnswer(question.text);
    if (scripted !== undefined) {
      const typed = typedAnswer(question, scripted);
      return new Given(typed.ok ? typed.value : scripted, 'script');
    }
    if (answer !== undefined) return await answer(question, address, signal, waiting);
    throw new SkeinError('SKEIN_QUESTION', `there is no one to answer: ${question.text}`, {
      hint: 'run it on a terminal, pass an answer function, or record the run in a store and answer later',
    });
  };
}

/** Nothing stays of a run but its result. */
export const inMemory: Backend = {
  open({ runId, compiled, models, around, influence }: BackendDefinition, options: RunOptions): OpenedRun {
    checkNothingRecorded(options);
    const { inputs = {} } = options;
    const { plan } = compiled;
    const changes = firstChanges(plan, options.budget);
    checkShared({ plan, changes, models: options.models });
    const budget = budgetOf(runLimits(plan, changes), around);
    return {
      inputs,
      settings: options,
      influence,
      begin: () => ({
        start: {
          runId,
          inputs,
          durable: new MemoryDurable(runId, { answer: answerBy(models, options.answer), budget }),
        },
        close: adviseOn(options),
      }),
    };
  },
};

/** Holds the options only: of a run that is over, nothing but its result is kept. */
function adviseOn(options: RunOptions): (result: RunResult) => RunResult {
  return (result) => withAdvice(result, options);
}

/** Without the store, a run that should go on would do everything again. */
function checkNothingRecorded({ resume, fork, thread }: RunOptions): void {
  if (resume === undefined && fork === undefined && thread === undefined) return;
  const option = resume !== undefined ? 'resume' : fork !== undefined ? 'fork' : 'thread';
  const what = option === 'thread' ? 'its turns are' : 'the run is';
  throw new SkeinError('SKEIN_USAGE', `${option} needs the store in which ${what} recorded`, {
    hint: `run(workflow, { store, ${option}: ... })`,
  });
}
