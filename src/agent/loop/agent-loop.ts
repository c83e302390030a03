import { SkeinError } from '../../base/errors.js';
import type { Usage } from '../../events/event.js';
import { addUsage } from '../../events/spending.js';
import type { StructuredOutput } from '../../plan/agent-spec.js';
import type { Limit } from '../../plan/notations.js';
import { limitHint } from '../../plan/notations.js';
import { REPAIR_ROUNDS, maxToolCallsOf, maxTurnsOf } from '../../plan/limits.js';
import type { ModelTurn, ToolResult } from '../model.js';
import type { AgentStep } from '../session.js';
import type { ModelCaller } from './model-caller.js';
import { modelCaller } from './model-caller.js';
import { checkOutput, repairPrompt } from './structured-output.js';
import type { ToolRunner } from './tool-runner.js';
import { toolRunner } from './tool-runner.js';

/** What the loop of one agent step works with. */
export interface LoopOptions extends AgentStep {
  /** Asked after the calls of a turn: whether one of them ended the step. */
  isOver(): boolean;
}

/** How an agent ended. */
export interface LoopResult {
  /** The final text, or the parsed JSON of a structured output. */
  readonly output: unknown;
  readonly usage: Usage;
  readonly turns: number;
  readonly toolCalls: number;
  /** The model that gave the final answer. */
  readonly model: string;
}

interface LoopState {
  usage: Usage;
  turns: number;
  toolCalls: number;
  repaired: boolean;
}

/**
 * The agent loop: a model turn, then its tool calls, in parallel unless the settings say otherwise, with the results in call order, until a turn
 * without calls.
 * The number of turns and calls is bounded. A structured output gets one repair round.
 *
 * @throws SkeinError `SKEIN_MODEL_CAP`, `SKEIN_MODEL_EMPTY`, `SKEIN_OUTPUT_INVALID`, and what models throw.
 */
export async function runAgentLoop(options: LoopOptions): Promise<LoopResult> {
  const { transcript } = options;
  const state: LoopState = {
    usage: { inputTokens: 0, outputTokens: 0 },
    turns: 0,
    toolCalls: 0,
    repaired: false,
  };
  const runner = toolRunner(options);
  const caller = modelCaller(options, (call, io, index) => {
    checkCalls(options, state.toolCalls + index);
    return runner.dispatch(call, io, index);
  });
  for (;;) {
    const turn = await nextTurn(options, caller, state);
    if (turn.toolCalls.length > 0) {
      transcript.add({ role: 'tool', results: await runCalls(options, runner, turn, state) });
      if (!options.isOver()) continue;
    }
    const answer = options.isOver() ? { output: turn.text } : finalAnswer(options, turn, state);
    if (answer === undefined) continue;
    const { usage, turns, toolCalls } = state;
    return { output: answer.output, usage, turns, toolCalls, model: turn.model };
  }
}

async function nextTurn(options: LoopOptions, caller: ModelCaller, state: LoopState): Promise<ModelTurn> {
  const cap = maxTurnsOf(options.spec) + (state.repaired ? REPAIR_ROUNDS : 0);
  if (state.turns >= cap) throw capReached(options, `${cap} model turns`, 'maxTurns');
  state.turns += 1;
  const turn = await caller(state.turns);
  state.toolCalls += turn.dispatched ?? 0;
  state.usage = addUsage(state.usage, turn.usage);
  options.transcript.add({ role: 'assistant', text: turn.text, toolCalls: turn.toolCalls });
  return turn;
}

/** All calls start together, or one after the other where the settings say so. None is left running: the first error that ends the step waits for the others. */
async function runCalls(
  options: LoopOptions,
  runner: ToolRunner,
  turn: ModelTurn,
  state: LoopState,
): Promise<readonly ToolResult[]> {
  checkCalls(options, state.toolCalls + turn.toolCalls.length);
  state.toolCalls += turn.toolCalls.length;
  if (options.spec.settings?.singleToolCalls === true) {
    const results: ToolResult[] = [];
    for (const [i, call] of turn.toolCalls.entries()) results.push(await runner.call(call, state.turns, i + 1));
    return results;
  }
  const settled = await Promise.allSettled(turn.toolCalls.map((call, i) => runner.call(call, state.turns, i + 1)));
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

function checkCalls(options: LoopOptions, calls: number): void {
  const cap = maxToolCallsOf(options.spec);
  if (calls > cap) throw capReached(options, `${cap} tool calls`, 'maxToolCalls');
}

/** The result of the step, or undefined when the repair round has been asked for. */
function finalAnswer(options: LoopOptions, turn: ModelTurn, state: LoopState): { output: unknown } | undefined {
  const { output } = options.spec;
  if (turn.text.trim() === '') {
    checkEmpty(options, turn);
    if (output === undefined) return { output: '' };
  }
  if (turn.reason === 'length') {
    warn(options, 'answer-cut', `${turn.model} reached its output limit: the answer is cut`);
  }
  if (output === undefined) return { output: turn.text };
  const check = checkOutput(output, turn.text);
  if (check.ok) return { output: check.value };
  if (!state.repaired) {
    state.repaired = true;
    options.transcript.add({ role: 'user', text: repairPrompt(output, check.findings) });
    return undefined;
  }
  return invalidOutput(options, output, turn, check.findings);
}

function invalidOutput(options: LoopOptions, output: StructuredOutput, turn: ModelTurn, findings: readonly string[]) {
  const message = `the answer of agent "${options.spec.name}" does not match its schema: ${findings.join('; ')}`;
  if (output.onInvalid === 'warn') {
    warn(options, 'output-invalid', `${message}; its text is used as it is`);
    return { output: turn.text };
  }
  throw new SkeinError('SKEIN_OUTPUT_INVALID', message, {
    hint:
      turn.model === 'mock/echo'
        ? 'mock/echo repeats what it is asked: write the answers into a script, --mock=FILE'
        : 'simplify the schema, use a stronger model, or set onInvalid: warn',
    details: { findings, answer: turn.text.slice(0, 2_000) },
  });
}

function warn(options: LoopOptions, code: string, message: string): void {
  options.step.note({ kind: 'warning', code, message });
}

/** An empty answer that is allowed is one that the model ended by itself; a schema still has to match. */
function checkEmpty(options: LoopOptions, turn: ModelTurn): void {
  const error = emptyAnswer(options, turn);
  if (options.spec.allowEmpty !== true || turn.reason !== 'stop') throw error;
  warn(options, 'empty-answer', error.message);
}

function emptyAnswer(options: LoopOptions, turn: ModelTurn): SkeinError {
  const why = { length: ': it reached its output limit first', 'content-filter': ': its content filter stopped it' };
  const reason = turn.reason === 'length' || turn.reason === 'content-filter' ? why[turn.reason] : '';
  return new SkeinError(
    'SKEIN_MODEL_EMPTY',
    `${turn.model} gave agent "${options.spec.name}" an empty answer${reason}`,
    {
      hint: 'retry the step, or change the prompt or the model',
    },
  );
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
