import { setTimeout } from 'node:timers/promises';
import { SkeinError, type ErrorCode } from '../../base/errors.js';
import { classifyStatus, passing } from '../models/http-status.js';
import type { Model, ModelPart, ModelRequest, ToolCall, Message } from '../model.js';
import { ASK_USER } from '../ask-user.js';
import type { Phase } from '../../events/supervision.js';
import type { ScriptBook } from './script-book.js';
import type { ScriptAnswer, ScriptError } from './script-types.js';
import { withoutBlocks } from '../../lang/outputs-block.js';

export function scriptModel(id: string, book: ScriptBook): Model {
  return {
    id,
    structuredOutput: true,
    async *stream(request): AsyncGenerator<ModelPart> {
      request.signal.throwIfAborted();
      const answer = book.next(request);
      if (answer === undefined) yield* plainParts(plainText(request), readTokens(request));
      else yield* answerParts(id, answer, request);
    },
  };
}

function* plainParts(text: string, inputTokens: number): Generator<ModelPart> {
  yield { type: 'text', text };
  yield { type: 'finish', reason: 'stop', usage: { inputTokens, outputTokens: roughTokens(text) } };
}

async function* answerParts(id: string, answer: ScriptAnswer, request: ModelRequest): AsyncGenerator<ModelPart> {
  const { signal } = request;
  if (answer.delayMs > 0) await setTimeout(answer.delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  if (answer.error !== undefined) throw scriptedError(id, answer.error);
  const text = answerText(answer);
  for (const piece of pieces(text)) yield { type: 'text', text: piece };
  if (answer.cut) {
    throw new SkeinError('SKEIN_NETWORK', `${id}: the connection was cut in the middle of the answer`, {
      retryable: true,
    });
  }
  const calls = toolCalls(answer, request);
  for (const call of calls) yield { type: 'tool-call', call };
  const { usage } = answer;
  const { input = readTokens(request), output = roughTokens(text) } = usage ?? {};
  const counted = { inputTokens: input, outputTokens: output };
  yield { type: 'finish', reason: calls.length > 0 ? 'tool-calls' : 'stop', usage: counted };
}

export function answerText(answer: ScriptAnswer): string {
  if (answer.empty) return '';
  if (answer.text !== undefined) return answer.text;
  return answer.json === undefined ? '' : JSON.stringify(answer.json);
}

/** Splits text into pieces of at most a line, like the stream of a real model. */
function pieces(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

function toolCalls(answer: ScriptAnswer, request: ModelRequest): readonly ToolCall[] {
  const calls = (answer.tools ?? []).map(({ name, input }) => ({
    name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  }));
  if (answer.question !== undefined) {
    const { text, choices } = answer.question;
    const input = JSON.stringify({ question: text, ...(choices === undefined ? {} : { choices }) });
    calls.push({ name: ASK_USER, input });
  }
  return calls.map((call, i) => ({ id: `call_${request.caller.turn}_${i + 1}`, ...call }));
}

function readTokens({ messages }: ModelRequest): number {
  return Math.ceil(messages.reduce((sum, message) => sum + ('text' in message ? message.text.length : 0), 0) / 4);
}

const RETRYABLE: ReadonlySet<string> = new Set(['SKEIN_NETWORK', 'SKEIN_MODEL_FAILED', 'SKEIN_MODEL_OVERLOADED']);

export function scriptedError(id: string, error: ScriptError): SkeinError {
  const said = error.message ?? 'a scripted error';
  const wait = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs };
  if (error.status !== undefined) {
    const found = classifyStatus(error.status, said);
    const message = `${id}: the provider answered ${error.status}: ${said}`;
    return new SkeinError(found.code, message, {
      ...passing(found),
      details: { status: error.status },
      ...wait,
    });
  }
  const code = (error.code ?? 'SKEIN_MODEL_FAILED') as ErrorCode;
  return new SkeinError(code, `${id}: ${said}`, { ...passing({ retryable: RETRYABLE.has(code) }), ...wait });
}

/** Rough token count: four characters each. */
function roughTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** The answers that let a step, and its calls, pass. */
const PHASES: Readonly<Record<Phase, string>> = {
  commit: '{"interpretation":"the task as it is given","confidence":"high"}',
  post: '{"met_commitment":true}',
  supervise: '{"verdict":"continue"}',
  screen: '{"verdict":"safe","reason":""}',
  review: '{"verdict":"allow","reason":"","input":""}',
};

/**
 * The last user text, without blocks of outputs and items; if the answer must have fields, the text as the value of each. Supervision calls
 * get the answer that lets the step pass.
 */
function plainText({ caller: { phase, fields = [] }, messages }: ModelRequest): string {
  if (phase !== undefined) return PHASES[phase];
  const text = withoutBlocks(lastUserText(messages));
  return fields.length === 0 ? text : JSON.stringify(Object.fromEntries(fields.map((field) => [field, text])));
}

function lastUserText(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'user');
  return last?.role === 'user' ? last.text : '';
}

/**
 * A model that answers with the last user text, without blocks of outputs and items, which would double the text with each step that
 * repeats it. Supervised steps pass. It costs nothing and needs no setup.
 *
 * @example
 * const model = echoModel(); // id 'mock/echo'
 */
export function echoModel(id = 'mock/echo'): Model {
  return {
    id,
    structuredOutput: true,
    async *stream(request): AsyncGenerator<ModelPart> {
      request.signal.throwIfAborted();
      yield* plainParts(plainText(request), roughTokens(lastUserText(request.messages)));
    },
  };
}
