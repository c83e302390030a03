import type { JsonObject } from '../base/json.js';
import type { CallEffect } from './effects.js';
import type { Label } from './label.js';

/** A call that a program's guard examines before it is made. */
export interface GuardCall {
  /** Address of the step, `review/loop#3/critic`. */
  readonly path: string;
  /** Name of the agent; for a step that calls a tool directly, its id. */
  readonly agent: string;
  /** The tool's name in declarations: `shell`, `fetch`, `github/create_comment`. */
  readonly tool: string;
  readonly input: JsonObject;
  readonly effect: CallEffect;
  /** The label of what influenced the call. */
  readonly label: Label;
}

/** A guard's verdict on a call. `allow`: the guard does not object, and the other checks decide. */
export type GuardVerdict = 'allow' | 'ask' | 'deny';

/**
 * A guard of a program: it examines calls that agents want to make, after Skein's own rules and before models. It can refuse a call or
 * require a person's decision, and allows nothing that the other checks forbid. An exception, or an invalid verdict, refuses the call.
 *
 * @example
 * import { run, type CustomGuard } from 'skein';
 * const noDeletes: CustomGuard = { name: 'no-deletes', check: (call) => (call.tool.includes('delete') ? 'deny' : 'allow') };
 * await run(workflow, { guards: [noDeletes] }).result;
 */
export interface CustomGuard {
  /** Letters, digits, `-` and `_`; unique among the guards of a run. */
  readonly name: string;
  readonly check: (call: GuardCall) => GuardVerdict | Promise<GuardVerdict>;
}

const NAME = /^[\w-]{1,64}$/;

/** Whether a list contains guards, each with a unique name. */
export function areGuards(value: unknown): value is readonly CustomGuard[] {
  if (!Array.isArray(value)) return false;
  const names = value.map((one: unknown) => {
    const { name, check } = (one ?? {}) as Partial<Record<keyof CustomGuard, unknown>>;
    return typeof name === 'string' && NAME.test(name) && typeof check === 'function' ? name : undefined;
  });
  return !names.includes(undefined) && new Set(names).size === names.length;
}

/** Reads the verdict of a program's guard; anything invalid denies. */
export function guardVerdict(value: unknown): GuardVerdict {
  return value === 'allow' || value === 'ask' ? value : 'deny';
}
