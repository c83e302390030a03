import { recordText, type Json } from './json.js';
import { factsOf, messageOf, type ThrownFacts } from './thrown.js';

/**
 * Stable codes of run-time errors. The meaning of a code never changes; tests pin the list.
 * Findings about definitions are not errors but {@link Problem}s, with codes of their own.
 */
export const ERROR_CODES = [
  'SKEIN_USAGE', // wrong call of the library or the command line
  'SKEIN_DEFINITION', // the plan has problems; details.problems lists them
  'SKEIN_INPUT', // an input of the run, or of a step, is missing or has the wrong type
  'SKEIN_STEP_FAILED', // the body of a step threw something that is not a Skein error
  'SKEIN_TIMEOUT', // an attempt took longer than its timeout
  'SKEIN_CANCELLED', // the run or the step was cancelled
  'SKEIN_STATE_MUTATED', // a node changed the state instead of returning an update
  'SKEIN_BAD_UPDATE', // a node returned something that is not an update, or an undeclared channel
  'SKEIN_BAD_OUTPUT', // the final state does not match the workflow's declared outputs
  'SKEIN_WRITE_CONFLICT', // two unordered writes of a channel without reducer (S3)
  'SKEIN_BAD_ROUTE', // a route chose something that is not a declared target
  'SKEIN_ENDED', // the workflow ended itself as failed; the message is its reason
  'SKEIN_MAX_STEPS', // more nodes ran one after another than limits.maxSteps, or parallel paths through a cycle multiplied
  'SKEIN_MAX_VISITS', // a node was visited more often than its maxVisits
  'SKEIN_MAX_ROUNDS', // a loop did not meet its condition within maxRounds
  'SKEIN_NOT_A_LIST', // a value that a step iterates over, or offers as choices, is not a list of the required kind
  'SKEIN_MAX_ITEMS', // a map got more items than maxItems
  'SKEIN_REQUIRE', // fewer parts of a group succeeded than required
  'SKEIN_INVARIANT', // an invariant of a graph did not hold
  'SKEIN_NO_EXECUTOR', // no executor is registered for a node kind
  'SKEIN_NO_BINDING', // a code node has no function
  'SKEIN_TEMPLATE', // a template or condition could not be evaluated
  'SKEIN_MODEL_UNKNOWN', // no provider has a model of this name
  'SKEIN_NO_MODEL', // no model is configured and none could be found
  'SKEIN_PACKAGE_MISSING', // an optional package is needed and not installed
  'SKEIN_NO_KEY', // a provider's API key is missing, or may not be sent to the address that a file names
  'SKEIN_NO_VARIABLE', // a command of a step names an environment variable that is not set
  'SKEIN_POLICY', // a policy forbids an address or a folder that a file names
  'SKEIN_MODEL_UNAVAILABLE', // the provider does not know the model: the next of a fallback list is tried
  'SKEIN_MODEL_REFUSED', // the provider answered 4xx, not retryable; or its content filter cut the answer
  'SKEIN_MODEL_OVERLOADED', // 408, 429; retryable, may carry retryAfterMs
  'SKEIN_MODEL_FAILED', // 5xx, or a stream that ended with an error; retryable
  'SKEIN_NETWORK', // no connection, or one that was cut; retryable
  'SKEIN_MODEL_EMPTY', // the model answered with nothing
  'SKEIN_MODEL_CAP', // the turn cap or the tool-call cap of an agent was reached
  'SKEIN_OUTPUT_INVALID', // structured output did not match its schema after the repair round
  'SKEIN_CHECK', // an agent's input, or its answer after the repair round, failed a check of the agent
  'SKEIN_SCRIPT', // a call that the script of a model does not plan, or an unused rule
  'SKEIN_REPLAY_MISS', // a replay file has no recording of this call
  'SKEIN_TOOL_FAILED', // a tool failed in a way that the model cannot correct
  'SKEIN_EXIT', // a command of a step ended with an exit code other than 0
  'SKEIN_TOOL_REFUSED', // a tool call that the rules forbid (path outside the folder, private address ...)
  'SKEIN_SANDBOX', // an agent or a tool server needs a sandbox, and this machine has none
  'SKEIN_MCP', // an MCP server could not be started or broke its protocol
  'SKEIN_QUESTION', // a question was asked, but nothing can answer it
  'SKEIN_HALTED', // a supervisor ended a step; final
  'SKEIN_REJECTED', // a person rejected the result of a step; final
  'SKEIN_AUDIT', // the audit folder could not be written
  'SKEIN_FILE', // a file could not be read or written
  'SKEIN_NOT_ENDORSED', // the result of a step was not endorsed: a person or its schema refused it
  'SKEIN_NOT_JSON', // a value to record is not JSON
  'SKEIN_STORE', // the store of runs could not be opened, read or written
  'SKEIN_RUN_EXISTS', // the store already has a run of this id
  'SKEIN_JOURNAL', // the journal of a run is damaged, or newer than this version of Skein
  'SKEIN_LEASE', // another process runs this run
  'SKEIN_NO_RUN', // the store has no such run
  'SKEIN_THREAD', // a conversation cannot continue: it belongs to another workflow, its state does not fit, or one of its turns fails
  'SKEIN_NO_THREAD', // the store has no such conversation
  'SKEIN_ANSWER', // an answer was refused: no such question, already answered, overdue, or against the schema
  'SKEIN_INVALID_EVENT', // an event that the current state of a machine does not have
  'SKEIN_TERMINAL_STATE', // an event for a state of a machine that accepts none
  'SKEIN_STATE_VISITS', // an event that leads to a state of a machine that may not be entered again
  'SKEIN_BUDGET', // a budget does not suffice for the next call
  'SKEIN_BUDGET_MODEL', // a budget does not suffice, and names a cheaper model to use instead
  'SKEIN_ARTIFACT', // an artifact of a machine has no name, is not a text, or is too large
  'SKEIN_CONTEXT', // a machine cannot continue from a value that is not a context, or is another machine's
  'SKEIN_INTERNAL', // a defect in Skein
] as const;

/** One of {@link ERROR_CODES}. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * An error as plain data: the form of errors at the durability port and in results and events.
 * `retryAfterMs` is in milliseconds and comes from a provider's Retry-After.
 */
export interface ErrorData extends ThrownFacts {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly details?: Json;
  readonly retryAfterMs?: number;
}

/** The fields of a {@link SkeinError} in addition to code and message. */
export interface ErrorOptions extends Pick<ErrorData, 'details' | 'retryable' | 'retryAfterMs'> {
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

const MARK = Symbol.for('skein.error');
/** The facts about the foreign error that an error was made from. */
const THROWN = Symbol.for('skein.thrown');

/**
 * The error that Skein throws. Branch on `code`, print `message` and `hint`.
 *
 * @example
 * try {
 *   await runOrThrow(plan, { inputs });
 * } catch (error) {
 *   if (SkeinError.isInstance(error) && error.code === 'SKEIN_TIMEOUT') console.error(error.hint);
 * }
 */
export class SkeinError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Json | undefined;
  /** Whether another attempt may help; undefined if unknown. */
  readonly retryable: boolean | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SkeinError';
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
    Object.defineProperty(this, MARK, { value: true });
  }

  /** True for a SkeinError of this or any other copy of the package, where `instanceof` would fail. */
  static isInstance(error: unknown): error is SkeinError {
    return typeof error === 'object' && error !== null && (error as Record<symbol, unknown>)[MARK] === true;
  }
}

/**
 * An error that no other attempt can correct: throw it from a node, and every `retry` stops at once, including those of the nodes and
 * workflows around it. Any error with `retryable: false` does the same.
 *
 * @example
 * if (order === undefined) throw new NonRetryableError(`there is no order ${id}`);
 */
export class NonRetryableError extends Error {
  readonly retryable = false;

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'NonRetryableError';
  }
}

/**
 * Converts any thrown value to {@link ErrorData}. Foreign errors get `SKEIN_STEP_FAILED` and keep their message, name and classes, code,
 * HTTP status and whether they are retryable.
 */
export function toErrorData(error: unknown): ErrorData {
  const code = 'SKEIN_STEP_FAILED';
  try {
    if (SkeinError.isInstance(error)) return plainError(error);
    if (error instanceof Error) return { code, message: textOf(error.message), ...factsOf(error) };
    return { code, message: saidBy(error) ?? `thrown: ${thrownText(error)}`, ...factsOf(error) };
  } catch {
    // Properties of a thrown value may themselves throw.
    return { code, message: 'thrown: something whose properties cannot be read' };
  }
}

/** A thrown text, or the message of a thrown object: an error of another realm, or what a client throws in its place. */
function saidBy(thrown: unknown): string | undefined {
  const said = typeof thrown === 'object' && thrown !== null ? (thrown as { message?: unknown }).message : thrown;
  return typeof said === 'string' ? said : undefined;
}

/** Longest text of a thrown object without a message, in characters. */
const LONGEST_THROWN = 200;

/** An object that has no text of its own is told by its contents. */
function thrownText(thrown: unknown): string {
  const text = textOf(thrown);
  const json = text === '[object Object]' ? jsonOf(thrown) : undefined;
  return json === undefined ? text : JSON.stringify(json).slice(0, LONGEST_THROWN);
}

const CODES: ReadonlySet<unknown> = new Set(ERROR_CODES);

/**
 * Reduces an error to the fields of {@link ErrorData}: errors also come from untyped code and from other versions of Skein, and a record
 * must be readable. An unknown code becomes `SKEIN_STEP_FAILED`, and is kept as the name.
 */
export function plainError(error: ErrorData | SkeinError): ErrorData {
  const { code, message, hint, retryable, retryAfterMs } = error;
  const known = CODES.has(code);
  const thrown = thrownOf(error);
  const name: unknown = known ? thrown.name : code;
  const details = jsonOf(error.details);
  return {
    code: known ? code : 'SKEIN_STEP_FAILED',
    message: textOf(message),
    ...(hint === undefined ? {} : { hint: textOf(hint) }),
    ...(details === undefined ? {} : { details }),
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    ...(retryAfterMs !== undefined && Number.isFinite(retryAfterMs) ? { retryAfterMs } : {}),
    ...(name === undefined ? {} : { name: textOf(name) }),
    ...(Array.isArray(thrown.classes) ? { classes: Array.from(thrown.classes, textOf) } : {}),
    ...(thrown.thrownCode === undefined ? {} : { thrownCode: textOf(thrown.thrownCode) }),
    ...(Number.isSafeInteger(thrown.status) && Number(thrown.status) >= 0 ? { status: Number(thrown.status) } : {}),
  };
}

/** The facts that an error keeps about a foreign one. */
function thrownOf(error: ErrorData | SkeinError): ThrownFacts {
  if (!SkeinError.isInstance(error)) return error;
  return ((error as unknown as Record<symbol, unknown>)[THROWN] as ThrownFacts | undefined) ?? {};
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'something that is not text';
  }
}

function jsonOf(value: unknown): Json | undefined {
  if (value === undefined) return undefined;
  try {
    return JSON.parse(JSON.stringify(value)) as Json;
  } catch {
    // A cycle, or a bigint: an error without details is better than none.
    return undefined;
  }
}

export function fromErrorData(data: ErrorData): SkeinError {
  const error = new SkeinError(data.code, data.message, data);
  const { name, classes, thrownCode, status } = data;
  Object.defineProperty(error, THROWN, { value: { name, classes, thrownCode, status } });
  return error;
}

/** Whether an error is a verdict on a step: it is never retried, and only a handler that the definition names lets the run continue. */
export function isFinal({ code }: Pick<ErrorData, 'code'>): boolean {
  return code === 'SKEIN_HALTED' || code === 'SKEIN_REJECTED';
}

/** Whether the workflow itself ended the run as failed: there is nothing to retry. */
export function isEnding(error: Pick<ErrorData, 'code'> | undefined): boolean {
  return error?.code === 'SKEIN_ENDED';
}

/** Errors that can follow a request to a model; all others occur before. */
const ANSWERS: ReadonlySet<string> = new Set([
  'SKEIN_MODEL_UNAVAILABLE',
  'SKEIN_MODEL_REFUSED',
  'SKEIN_MODEL_OVERLOADED',
  'SKEIN_MODEL_FAILED',
  'SKEIN_MODEL_EMPTY',
  'SKEIN_NETWORK',
  'SKEIN_TIMEOUT',
]);

/** Whether a failed call reached a model, and may have to be paid for. */
export function wasAsked(error: Pick<ErrorData, 'code'>): boolean {
  return ANSWERS.has(error.code);
}

export function stepCancelled(): SkeinError {
  return new SkeinError('SKEIN_CANCELLED', 'the step was cancelled');
}

/** Formats an error as one line: its name or code, and its message. */
export function errorText({ name, code, message }: ErrorData): string {
  return `${name ?? code}: ${message}`;
}

/**
 * Returns the JSON text of a value to record; `what` names the value in the error.
 *
 * @throws SkeinError `SKEIN_NOT_JSON`
 */
export function textToRecord(value: unknown, what: string, hint?: string): string {
  try {
    return recordText(value);
  } catch (cause) {
    const why = messageOf(cause);
    throw new SkeinError('SKEIN_NOT_JSON', `${what} can't be recorded: ${why}`, { hint, cause });
  }
}
