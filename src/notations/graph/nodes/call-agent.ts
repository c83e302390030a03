import {
  ERROR_CODES,
  SkeinError,
  fromErrorData,
  plainError,
  toErrorData,
  type ErrorData,
} from '../../../base/errors.js';
import { ownValue, type JsonObject } from '../../../base/json.js';
import { kindText, valueText } from '../../../lang/value-text.js';
import { ownOrInherited } from '../../../plan/given-schema.js';

/** Anything that accepts a task and returns an answer: a text, or an object with `answer` and `success`. */
export interface AnyAgent {
  run(task: string, options?: { readonly signal?: AbortSignal }): unknown;
  /** Yields progress events. The event `answer` holds the answer, unless the generator returns a result. */
  stream?(
    task: string,
    options?: { readonly signal?: AbortSignal },
  ): AsyncIterable<unknown> | PromiseLike<AsyncIterable<unknown>>;
}

export interface AgentCall {
  readonly by: string;
  readonly signal: AbortSignal;
  /** Receives the agent's events. Undefined: events are not requested. */
  readonly emit?: ((event: JsonObject) => void) | undefined;
  /** Further options, for agents that run on Skein. */
  readonly options?: object;
}

/**
 * Calls an agent once and returns its answer. If its stream breaks it is not called again: its effects so far would be repeated.
 *
 * @throws SkeinError if the agent failed, or ended without an answer
 */
export async function callAgent(agent: AnyAgent, task: string, call: AgentCall): Promise<string> {
  const options = { ...call.options, signal: call.signal };
  if (call.emit === undefined || agent.stream === undefined) return answerIn(await agent.run(task, options), call.by);
  return await followAgent(await agent.stream(task, options), call, call.emit);
}

async function followAgent(
  stream: AsyncIterable<unknown>,
  { by, signal }: AgentCall,
  emit: (event: JsonObject) => void,
): Promise<string> {
  if (!isStream(stream)) {
    throw new SkeinError('SKEIN_STEP_FAILED', `${by}: the agent's stream is ${kindText(stream)}, not a stream`, {
      hint: 'stream(task) is an async generator, or gives anything else for "for await"',
    });
  }
  const events = stream[Symbol.asyncIterator]();
  let told: Told = {};
  for (;;) {
    const next = await events.next();
    if (next.done === true) {
      const returned: unknown = next.value;
      return returned === undefined ? answerTold(told, by) : answerIn(returned, by);
    }
    if (signal.aborted) {
      await events.return?.();
      throw new SkeinError('SKEIN_CANCELLED', `${by}: the step was cancelled`);
    }
    told = { ...told, ...toldBy(next.value) };
    emit(next.value as JsonObject);
  }
}

function isStream(stream: unknown): boolean {
  return typeof stream === 'object' && stream !== null && Symbol.asyncIterator in stream;
}

/** What an agent's events report about its end. */
interface Told {
  readonly answer?: unknown;
  readonly error?: unknown;
  readonly failed?: boolean;
}

/** Reads the end from an event. Events from inside the agent do not report its own end. */
function toldBy(event: unknown): Told {
  const source = ownValue(event, 'source') ?? null;
  if (source !== null) return {};
  const metadata = ownValue(event, 'metadata');
  const find = (name: string): unknown => ownValue(metadata, name) ?? ownValue(event, name);
  switch (ownValue(event, 'type')) {
    case 'answer':
      return { answer: find('answer') ?? find('content') ?? '' };
    case 'error':
      return { error: find('error') ?? find('message') ?? find('content') };
    case 'workflow_end':
      return find('success') === false ? { failed: true, error: { message: find('error'), code: find('code') } } : {};
    default:
      return {};
  }
}

function answerTold({ answer, error, failed = false }: Told, by: string): string {
  if (answer !== undefined && !failed) return valueText(answer);
  if (error !== undefined || failed) throw failure(error, by);
  throw new SkeinError('SKEIN_STEP_FAILED', `${by}: the agent ended without an answer`, {
    hint: 'its stream ends with an event of type "answer", or returns its result',
  });
}

function answerIn(result: unknown, by: string): string {
  if (typeof result === 'string') return result;
  if (ownValue(result, 'success') === false) throw failure(ownValue(result, 'error'), by);
  // Results that are class instances may have their answer behind a getter.
  const answer = ownOrInherited(result, 'answer');
  if (answer !== undefined) return valueText(answer);
  throw new SkeinError('SKEIN_STEP_FAILED', `${by}: the agent ended without an answer`, {
    hint: 'its run gives a text, or an object with an answer',
  });
}

const CODES: ReadonlySet<unknown> = new Set(ERROR_CODES);

function failure(error: unknown, by: string): SkeinError {
  const said = typeof error === 'string' ? error : ownOrInherited(error, 'message');
  const message = typeof said === 'string' ? said : 'it does not say why';
  const told = CODES.has(ownValue(error, 'code')) ? plainError(error as ErrorData) : toErrorData(error);
  return fromErrorData({ ...told, message: `${by}: the agent failed: ${message}` });
}
