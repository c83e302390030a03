import type { ErrorData } from '../base/errors.js';
import { checkKinds } from '../base/options.js';
import type { NodeBase, RetryPolicy } from './plan.js';

/** A failure as a retry function receives it: the same on a replay, so never the thrown object. */
export interface FailedAttempt {
  readonly message: string;
  /** The error's name, such as `TypeError`; `SkeinError` for Skein's own errors. */
  readonly name: string;
  /** The error's `code`, such as `ECONNRESET` or `SKEIN_TIMEOUT`. */
  readonly code?: string;
  /** The HTTP status of the error. */
  readonly status?: number;
  /** Whether the error declares another attempt useful. */
  readonly retryable?: boolean;
  /** The recorded error. */
  readonly error: ErrorData;
}

export type ErrorClass = abstract new (...args: never[]) => Error;

/** One kind of failure: a class of errors, an HTTP status, or a text: a name, a code, or part of the message. */
export type RetryOn = string | number | ErrorClass;

/** The `retry` of a node: a number of further attempts, or overrides of the default: 2 attempts, with growing delays from 1 s. */
export type RetryInput =
  | number
  | (Partial<Omit<RetryPolicy, 'on'>> & {
      /**
       * The failures to retry. Default: transient ones. `any`: all that don't have `retryable: false`. A function receives the recorded
       * failure.
       */
      readonly on?: RetryOn | readonly RetryOn[] | ((failure: FailedAttempt) => boolean);
    });

/** The default policy. */
const GROWING: RetryPolicy = { retries: 2, backoff: 'exponential', delayMs: 1000 };

export interface RetryParts {
  readonly policy: RetryPolicy;
  readonly decide?: (failure: FailedAttempt) => unknown;
}

/** Returns a retry as plan data: `{ retries: 1 }` becomes `{ retries: 1, backoff: 'exponential', delayMs: 1000 }`. */
export function retryParts(input: RetryInput): RetryParts {
  if (typeof input === 'number') return { policy: { ...GROWING, retries: input } };
  const said = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const { on, ...rest } = { ...GROWING, ...said } as Exclude<RetryInput, number> & RetryPolicy;
  if (on === undefined || on === 'any') return { policy: on === undefined ? rest : { ...rest, on } };
  if (typeof on === 'function' && !isErrorClass(on)) return { policy: { ...rest, on: 'code' }, decide: on };
  const list: readonly unknown[] = Array.isArray(on) ? on : [on];
  if (list.includes(Error)) return { policy: { ...rest, on: 'any' } };
  return { policy: { ...rest, on: list.map((one) => (isErrorClass(one) ? one.name : one)) as (string | number)[] } };
}

export function retryOf(
  id: string,
  input: RetryInput | undefined,
  bindings: Record<string, unknown>,
): Pick<NodeBase, 'retry'> {
  if (input === undefined) return {};
  checkKinds(`the node ${JSON.stringify(id)}`, { retry: input }, { retry: 'a number, or an object' });
  const { policy, decide } = retryParts(input);
  if (decide !== undefined) bindings[`retry:${id}`] = decide;
  return { retry: policy };
}

function isErrorClass(value: unknown): value is ErrorClass {
  return typeof value === 'function' && (value === Error || value.prototype instanceof Error);
}
