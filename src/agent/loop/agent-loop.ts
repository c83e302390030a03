import { SkeinError, toErrorData, type ErrorData } from '../../base/errors.js';
import { refusedName } from '../../base/names-inside.js';
import type { Usage } from '../../events/event.js';
import { addUsage, NO_USAGE } from '../../events/spending.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { Guide } from '../../plan/guide.js';
import { limitHint, type Limit } from '../../plan/notations.js';
import { REPAIR_ROUNDS, maxToolCallsOf, maxTurnsOf } from '../../plan/limits.js';
import type { ModelTurn, ToolCall, ToolResult } from '../model.js';
import type { AnswerChecks } from './answer-checks.js';
import { hearSearch } from './conversation-trust.js';
import { finalAnswer, isAccepted, type Repairs } from './final-answer.js';
import { modelCaller, type ModelCaller } from './model-caller.js';
import { ToolRunner, type ToolRunnerOptions } from './tool-runner.js';

export interface LoopOptions extends ToolRunnerOptions {
  /** Limits the step, and decides when it ends. */
  readonly guide: Guide;
  readonly checks: AnswerChecks;
}

export interface LoopResult {
  /** The final text, or the parsed JSON of a structured output. */
  readonly output: unknown;
  /** The fields of the output that go to channels of their own. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly text: string;
  /** The bound that ended the step; absent if the step ended on its own. */
  readonly exhausted?: ErrorData | undefined;
  readonly usage: Usage;
  readonly turns: number;
  readonly toolCalls: number;
}

interface LoopState extends Repairs {
  usage: Usage;
  turns: number;
  /** Completed turns, including their calls. */
  rounds: number;
  toolCalls: number;
  text: string;
  exhausted: ErrorData | undefined;
}

/**
 * The agent loop: a model turn, then its tool calls, in parallel unless the settings say otherwise, with the results in call order, until a
 * turn without calls.
 * The number of turns and calls is bounded; a guide may set further bounds, which end the step and the run. An answer that fails its schema
 * or a check gets one repair round.
 *
 * @throws SkeinError `SKEIN_MODEL_CAP`, `SKEIN_MODEL_EMPTY`, `SKEIN_OUTPUT_INVALID`, `SKEIN_CHECK`, and what models throw.
 */
export async function runAgentLoop(options: LoopOptions): Promise<LoopResult> {
  const { transcript } = options;
  const state: LoopState = {
    usage: NO_USAGE,
    turns: 0,
    rounds: 0,
    toolCalls: 0,
    repaired: false,
    text: '',
    exhausted: undefined,
  };
  const runner = new ToolRunner(options);
  const caller = modelCaller(
    options,
    (call, io, index) => {
      if (!mayGoOn(options, state, index - 1)) throw notFinished();
      checkCalls(options, state.toolCalls + index);
      return runner.dispatch(call, io, state.turns, index);
    },
    options.trust,
  );
  while (mayGoOn(options, state)) {
    const turn = await nextTurn(options, { caller, runner }, state);
    if (turn === undefined) break;
    let isAnswer = turn.toolCalls.length === 0;
    if (!isAnswer && (await judged(options, caller, turn, () => isAccepted(options, turn, state)))) {
      const results = await runCalls(options, runner, turn, state);
      transcript.add({ role: 'tool', results });
      if (state.exhausted !== undefined) break;
      if (options.guide.isOver()) return resultOf(state, turn.text);
      isAnswer = isEnough(options.spec, state, results);
    }
    const answer = isAnswer ? await judged(options, caller, turn, () => finalAnswer(options, turn, state)) : undefined;
    if (answer !== undefined) return resultOf(state, answer.output, answer.fields);
    state.rounds = state.turns;
  }
  return resultOf(state, undefined);
}

/**
 * Judges a turn. If that fails the step, this is recorded for the model call, whose own record is a success: a run that tries again what
 * failed then makes the call again. A failed check is not: the check may be another one by then, and accept the answer that was paid for.
 */
async function judged<T>(options: LoopOptions, { lastCall }: ModelCaller, turn: ModelTurn, judge: () => T): Promise<T> {
  const { step, transcript } = options;
  try {
    return judge();
  } catch (error) {
    const isByCheck = SkeinError.isInstance(error) && error.code === 'SKEIN_CHECK';
    // A call is not repeated unasked if calls inside it must not be.
    if (!isByCheck && !calledOnceInside(options, turn))
      await step.effect(refusedName(lastCall()), () => Promise.reject(error as Error), {
        identity: { digest: () => transcript.digest() },
      });
    throw error;
  }
}

/** The record does not name the tools that were called inside a model call. */
function calledOnceInside({ opened }: LoopOptions, { dispatched = 0 }: ModelTurn): boolean {
  return dispatched > 0 && opened.tools.some(({ effect }) => effect === 'once');
}

function resultOf(
  { usage, turns, toolCalls, text, exhausted }: LoopState,
  output: unknown,
  fields?: LoopResult['fields'],
): LoopResult {
  return { output, fields, text, exhausted, usage, turns, toolCalls };
}

function isEnough({ until }: AgentSpec, { turns }: LoopState, results: readonly ToolResult[]): boolean {
  if (until === undefined) return false;
  return turns >= (until.rounds ?? Infinity) || results.some(({ name, isError }) => name === until.tool && !isError);
}

/** Whether the guide allows the next turn or call; `within` counts the calls inside the model call in progress. */
function mayGoOn({ guide }: LoopOptions, state: LoopState, within = 0): boolean {
  if (state.exhausted !== undefined) return false;
  const bound = guide.before?.({ rounds: state.rounds, toolCalls: state.toolCalls + within });
  if (bound !== undefined) state.exhausted = toErrorData(bound);
  return bound === undefined;
}

/** An effect that ends with this code has no recorded outcome: it starts from its beginning when the run continues. */
function notFinished(): SkeinError {
  return new SkeinError('SKEIN_QUESTION', 'the run is out of budget');
}

/** Undefined if the guide did not allow a call inside the model call. */
async function nextTurn(
  options: LoopOptions,
  { caller, runner }: { readonly caller: ModelCaller; readonly runner: ToolRunner },
  state: LoopState,
): Promise<ModelTurn | undefined> {
  const cap = maxTurnsOf(options.spec) + (state.repaired ? REPAIR_ROUNDS : 0);
  if (state.turns >= cap) throw capReached(options, `${cap} model turns`, 'maxTurns');
  state.turns += 1;
  let turn: ModelTurn;
  try {
    turn = await caller.ask(state.turns);
  } catch (error) {
    if (state.exhausted === undefined) throw error;
    return undefined;
  } finally {
    await runner.planted.recall(state.turns);
  }
  hearSearch(turn, options.step.influence);
  const { dispatched = 0 } = turn;
  state.toolCalls += dispatched;
  if (calledOnceInside(options, turn)) options.step.callsOnce();
  state.usage = addUsage(state.usage, turn.usage);
  state.text = turn.text;
  options.transcript.add({ role: 'assistant', text: turn.text, toolCalls: turn.toolCalls });
  return turn;
}

/**
 * Starts all calls together, or one by one if the settings say so. None is left running: the first error that ends the step waits for the
 * others. A call that the guide forbids is not made, nor are later ones; each still has a result, as providers require.
 */
async function runCalls(
  options: LoopOptions,
  runner: ToolRunner,
  { toolCalls: calls }: ModelTurn,
  state: LoopState,
): Promise<readonly ToolResult[]> {
  const inOrder = options.spec.settings?.singleToolCalls === true;
  checkCalls(options, state.toolCalls + calls.length);
  const clearing = runner.clear(calls, state.turns);
  const cleared = (clearing && (await clearing)) ?? [];
  const made: Promise<ToolResult>[] = [];
  for (const call of calls) {
    if (!mayGoOn(options, state)) break;
    state.toolCalls += 1;
    const result = runner.call(call, state.turns, made.length + 1, cleared[made.length]);
    made.push(result);
    if (inOrder) await result;
  }
  const settled = await Promise.allSettled(made);
  return calls.map((call, at): ToolResult => {
    const one = settled[at];
    if (one === undefined) return notMade(call, state);
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

function notMade({ id, name }: ToolCall, { exhausted }: LoopState): ToolResult {
  return { id, name, output: `Error: this call was not made: ${exhausted?.message ?? ''}`, isError: true };
}

function checkCalls(options: LoopOptions, calls: number): void {
  const cap = maxToolCallsOf(options.spec);
  if (calls > cap) throw capReached(options, `${cap} tool calls`, 'maxToolCalls');
}

function capReached(options: LoopOptions, cap: string, limit: Limit): SkeinError {
  return new SkeinError(
    'SKEIN_MODEL_CAP',
    `agent "${options.spec.name}" reached its cap of ${cap} without a final answer`,
    {
      hint: limitHint(options.step.notation, limit, 'give the agent less to do'),
    },
  );
}
