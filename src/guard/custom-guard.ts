import type { JsonObject } from '../base/json.js';
import type { CallEffect } from './effects.js';
import type { Label } from './label.js';

/** A call that a guard of a program looks at, before it is made. */
export interface GuardCall {
  /** Address of the step, `review/loop#3/critic`. */
  readonly path: string;
  /** Name of the agent; of a step that calls a tool by itself, its id. */
  readonly agent: string;
  /** As declarations name it: `shell`, `fetch`, `github/create_comment`. */
  readonly tool: string;
  readonly input: JsonObject;
  readonly effect: CallEffect;
  /** What had a say in it. */
  readonly label: Label;
}

/** What a guard says of a call. `allow`: it has nothing against it, and what else looks at the call decides. */
export type GuardVerdict = 'allow' | 'ask' | 'deny';

/**
 * A guard of a program: it looks at calls that agents want to make, after Skein's own rules and before models. It can refuse a call or have a person asked,
 * and allows nothing that is not allowed without it. What it throws, and what is no verdict, refuses the call.
 *
 * @example
 * import { run, type CustomGuard } from 'skein';
 * const noDeletes: CustomGuard = { name: 'no-deletes', check: (call) => (call.tool.includes('delete') ? 'deny' : 'allow') };
 * await run(workflow, { guards: [noDeletes] }).result;
 */
export interface CustomGuard {
  /** Letters, digits, `-` and `_`; each guard of a run has its own. */
  readonly name: string;
  readonly check: (call: GuardCall) => GuardVerdict | Promise<GuardVerdict>;
}

const NAME = /^[\w-]{1,64}$/;

/** Whether a list holds guards, each with a name of its own. */
export function areGuards(value: unknown): value is readonly CustomGuard[] {
  if (!Array.isArray(value)) return false;
  const names = value.map((one: unknown) => {
    const { name, check } = (one ?? {}) as Partial<Record<keyof CustomGuard, unknown>>;
    return typeof name === 'string' && NAME.test(name) && typeof check === 'function' ? name : undefined;
  });
  return !names.includes(undefined) && new Set(names).size === names.length;
}

/** What a guard of a program said; what is no verdict refuses. */
export function guardVerdict(value: unknown): GuardVerdict {
  return value === 'allow' || value === 'ask' ? value : 'deny';
}
