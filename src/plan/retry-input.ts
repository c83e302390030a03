import type { ErrorData } from '../base/errors.js';
import type { NodeBase, RetryPolicy } from './plan.js';

/** A failure, as a function that decides about retries is given it: the same when the run is gone through again, so never the thrown object. */
export interface FailedAttempt {
  readonly message: string;
  /** Its name, such as `TypeError`; of errors of Skein's own `SkeinError`. */
  readonly name: string;
  /** Its `code`, such as `ECONNRESET`; of errors of Skein's own, such as `SKEIN_TIMEOUT`, that. */
  readonly code?: string;
  /** The HTTP status that it carries. */
  readonly status?: number;
  /** What it says itself about another attempt. */
  readonly retryable?: boolean;
  /** All that is recorded of it. */
  readonly error: ErrorData;
}

/** A class of errors. */
export type ErrorClass = abstract new (...args: never[]) => Error;

/** One kind of failure: a class of errors, an HTTP status, or a text: a name, a code, or part of the message. */
export type RetryOn = string | number | ErrorClass;

/** What `retry` of a node may be: more attempts, or what is not as it is by default: 2 of them, with growing delays from 1 s on. */
export type RetryInput =
  | number
  | (Partial<Omit<RetryPolicy, 'on'>> & {
      /**
       * Which failures are tried again. Default: those that may go away. `any`: whatever does not say `retryable: false`. A function is given what is
       * recorded of the failure.
       */
      readonly on?: RetryOn | readonly RetryOn[] | ((failure: FailedAttempt) => boolean);
    });

/** What a policy is that says nothing else. */
const GROWING: RetryPolicy = { retries: 2, backoff: 'exponential', delayMs: 1000 };

/** A policy as plan data, and the function that it calls. */
export interface RetryParts {
  readonly policy: RetryPolicy;
  readonly decide?: (failure: FailedAttempt) => unknown;
}

/**
 * A retry as plan data. Classes stand there by their names.
 * `retryParts({ retries: 1, on: [429, 'ECONNRESET'] }).policy` gives `{ retries: 1, backoff: 'exponential', delayMs: 1000, on: [429, 'ECONNRESET'] }`.
 */
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

/** The retry of a node as plan data; the function that decides about it goes to the bindings. */
export function retryOf(
  id: string,
  input: RetryInput | undefined,
  bindings: Record<string, unknown>,
): Pick<NodeBase, 'retry'> {
  if (input === undefined) return {};
  const { policy, decide } = retryParts(input);
  if (decide !== undefined) bindings[`retry:${id}`] = decide;
  return { retry: policy };
}

function isErrorClass(value: unknown): value is ErrorClass {
  return typeof value === 'function' && (value === Error || value.prototype instanceof Error);
}
