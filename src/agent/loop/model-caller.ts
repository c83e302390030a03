import { SkeinError, toErrorData } from '../../base/errors.js';
import type { StepContext } from '../../engine/ports/executor.js';
import type { ModelSettings, StructuredOutput } from '../../plan/agent-spec.js';
import type { Message, Model, ModelRequest, ModelTurn, ToolCall, ToolResult, ToolSpec } from '../model.js';
import { takeTurn } from './model-turn.js';
import { outputInstructions, outputRequest } from './structured-output.js';

/** Tries of one model for one turn, after the first. */
export const MODEL_RETRIES = 2;
/** First delay between tries, in milliseconds; doubles, up to {@link LONGEST_DELAY_MS}. */
export const FIRST_DELAY_MS = 500;
export const LONGEST_DELAY_MS = 30_000;
/** A provider that asks for a longer pause than this, in milliseconds, is not waited for. */
export const LONGEST_RETRY_AFTER_MS = 60_000;

/** What all turns of an agent have in common. */
export interface CallerOptions {
  readonly step: StepContext;
  readonly agent: string;
  /** In the order in which they are tried; at least one. */
  readonly models: readonly Model[];
  readonly tools: readonly ToolSpec[];
  readonly settings: ModelSettings;
  readonly output?: StructuredOutput | undefined;
  dispatch(call: ToolCall): Promise<ToolResult>;
  /** Called with the signal of each effect: whoever holds resources frees them when it is aborted. */
  watch(signal: AbortSignal): void;
}

/** Makes the turns of one agent step. */
export interface ModelCaller {
  turn(turn: number, messages: readonly Message[]): Promise<ModelTurn>;
}

/** Errors after which the same model is not tried again, but the next of the list is. */
const NEXT_AT_ONCE: ReadonlySet<string> = new Set([
  'SKEIN_MODEL_UNAVAILABLE',
  'SKEIN_MODEL_UNKNOWN',
  'SKEIN_NO_KEY',
  'SKEIN_PACKAGE_MISSING',
  'SKEIN_REPLAY_MISS',
]);

/**
 * One model call after the other, each an effect `model#TURN`. Retryable errors are tried again with growing delays; when they
 * stay, or the model is not there at all, the next model of the list takes over for the rest of the step.
 *
 * @example
 * const caller = modelCaller({ step, agent: 'reviewer', models, tools: [], settings: {}, dispatch, watch });
 * const { text } = await caller.turn(1, messages);
 */
export function modelCaller(options: CallerOptions): ModelCaller {
  let current = 0;
  return {
    async turn(turn, messages) {
      let failures = 0;
      for (let call = 1; ; call++) {
        const model = options.models[current];
        if (model === undefined) throw new SkeinError('SKEIN_NO_MODEL', `agent "${options.agent}" has no model`);
        const name = call === 1 ? `model#${turn}` : `model#${turn}.${call}`;
        try {
          return await callOnce(options, model, { name, turn }, messages);
        } catch (error) {
          if (!SkeinError.isInstance(error)) throw error;
          const next = await afterFailure(options, { error, model, current, failures, pause: `pause#${turn}.${call}` });
          if (next === 'next-model') {
            current += 1;
            failures = 0;
          } else failures += 1;
        }
      }
    },
  };
}

interface Failure {
  readonly error: SkeinError;
  readonly model: Model;
  readonly current: number;
  readonly failures: number;
  readonly pause: string;
}

/** Waits and says to try again, says to take the next model, or throws. */
async function afterFailure(options: CallerOptions, failure: Failure): Promise<'again' | 'next-model'> {
  const { error, model } = failure;
  const next = options.models[failure.current + 1];
  const asked = error.retryAfterMs;
  const tooLong = asked !== undefined && asked > LONGEST_RETRY_AFTER_MS;
  if (error.retryable && failure.failures < MODEL_RETRIES && !tooLong) {
    const delayMs = asked ?? Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** failure.failures);
    options.step.note({ kind: 'model.retrying', model: model.id, error: toErrorData(error), delayMs });
    await options.step.sleep(failure.pause, delayMs);
    return 'again';
  }
  if (next !== undefined && (error.retryable || NEXT_AT_ONCE.has(error.code))) {
    options.step.note({ kind: 'model.fallback', from: model.id, to: next.id, error: toErrorData(error) });
    return 'next-model';
  }
  throw error.retryable && tooLong ? waitsTooLong(error, asked) : error;
}

async function callOnce(
  options: CallerOptions,
  model: Model,
  call: { readonly name: string; readonly turn: number },
  messages: readonly Message[],
): Promise<ModelTurn> {
  const { step } = options;
  step.note({ kind: 'model.started', turn: call.turn, model: model.id });
  const turn = await step.effect(call.name, (io) => {
    options.watch(io.signal);
    return takeTurn(model, request(options, model, messages, call.turn, io.signal), (note) => step.note(note));
  });
  step.note({
    kind: 'model.ended',
    turn: call.turn,
    model: turn.model,
    text: turn.text,
    usage: turn.usage,
    toolCalls: turn.toolCalls.length,
  });
  return turn;
}

function request(
  options: CallerOptions,
  model: Model,
  messages: readonly Message[],
  turn: number,
  signal: AbortSignal,
): ModelRequest {
  const output = outputRequest(options.output, options.agent);
  return {
    messages: messagesFor(model, messages, options.output),
    tools: options.tools,
    settings: options.settings,
    signal,
    caller: { path: options.step.path, agent: options.agent, turn },
    dispatch: (call) => options.dispatch(call),
    ...(output === undefined || model.structuredOutput !== true ? {} : { output }),
  };
}

/** Where the provider takes no schema, the system prompt says what is wanted. */
function messagesFor(
  model: Model,
  messages: readonly Message[],
  output: StructuredOutput | undefined,
): readonly Message[] {
  if (output === undefined || model.structuredOutput === true) return messages;
  const instructions = outputInstructions(output);
  const first = messages[0];
  if (first?.role !== 'system') return [{ role: 'system', text: instructions }, ...messages];
  return [{ role: 'system', text: `${first.text}\n\n${instructions}` }, ...messages.slice(1)];
}

function waitsTooLong(error: SkeinError, asked: number): SkeinError {
  const seconds = Math.ceil(asked / 1_000);
  const message = `${error.message}; it asks to wait ${seconds} s, more than the ${LONGEST_RETRY_AFTER_MS / 1_000} s that are waited for`;
  return new SkeinError(error.code, message, {
    retryable: true,
    retryAfterMs: asked,
    hint: 'try again later, or name another model after this one',
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}
