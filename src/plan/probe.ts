import { systemClock } from '../base/clock.js';
import { toErrorData } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import { checkKinds } from '../base/options.js';

/** A call with `effect: 'once'` that was started, and whose end is not known. */
export interface LostCall {
  /** The key that the call was made with. */
  readonly idempotencyKey: string;
  /** When it was started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Aborted if the run is cancelled or the attempt times out. */
  readonly signal: AbortSignal;
}

/**
 * What a probe has found out: the call was done, with the result that it would have returned; or it was not done, and may be made.
 * Undefined: that is not known, and a person is asked.
 */
export type Probed<Result = unknown> =
  { readonly done: false } | { readonly done: true; readonly result?: Result } | undefined;

/** The probe of a node's function: it sees the same state. */
export type ProbeFunction = (state: Readonly<Record<string, unknown>>, lost: LostCall) => unknown;

export function probeKey(node: string): string {
  return `probe:${node}`;
}

/**
 * Returns a node's probe as plan data; the function goes to the bindings. `prefix`: the plan's in the bindings.
 *
 * @throws SkeinError `SKEIN_USAGE` if it is not a function
 */
export function probeData(
  node: string,
  probe: unknown,
  bindings: Record<string, unknown>,
  prefix = '',
): { readonly probe?: 'code' } {
  if (probe === undefined) return {};
  checkKinds(`the node ${JSON.stringify(node)}`, { probe }, { probe: 'a function' });
  bindings[prefix + probeKey(node)] = probe;
  return { probe: 'code' };
}

/** @throws TypeError for a value that a probe may not return */
export function probedOf(value: unknown): Probed {
  if (value === undefined || value === null) return undefined;
  const done: unknown = isPlainObject(value) ? value['done'] : undefined;
  if (done === false) return { done };
  if (done === true) return { done, result: (value as { readonly result?: unknown }).result };
  throw new TypeError('a probe returns { done: true, result }, { done: false } or undefined');
}

/** Longest time that a probe may take, in milliseconds. The time limit of its step does not count meanwhile. */
const MOST_MS = 60_000;

/** Asks a probe. Where it fails, or takes too long, nothing is known, and `tell` receives a note. */
export async function probedBy(
  name: string,
  probe: (lost: LostCall) => unknown,
  lost: LostCall,
  tell: (note: WarningNote) => void,
): Promise<Probed> {
  const over = new AbortController();
  const signal = AbortSignal.any([lost.signal, over.signal]);
  const late = (): void => over.abort(new Error(`it took longer than ${MOST_MS / 1000} s`));
  const stop = systemClock.setTimer(MOST_MS, late);
  const cutOff = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    return probedOf(await Promise.race([probe({ ...lost, signal }), cutOff]));
  } catch (error) {
    if (!lost.signal.aborted) tell(probeFailed(name, error));
    return undefined;
  } finally {
    stop();
  }
}

/** The note about a probe that found nothing out. */
function probeFailed(name: string, error: unknown): WarningNote {
  const message = `the probe of '${name}' failed, so a person is asked what happened: ${toErrorData(error).message}`;
  return { kind: 'warning', code: 'probe-failed', message };
}

interface WarningNote {
  readonly kind: 'warning';
  readonly code: string;
  readonly message: string;
}

/** Shared by all copies of this module. */
const PROBE = Symbol.for('skein.probe');

export function withProbe<F extends object>(call: F, probe: unknown): F {
  return typeof probe === 'function' ? Object.defineProperty(call, PROBE, { value: probe }) : call;
}

export function probeOf(call: object): ((input: unknown, lost: LostCall) => unknown) | undefined {
  return (call as { readonly [PROBE]?: (input: unknown, lost: LostCall) => unknown })[PROBE];
}
