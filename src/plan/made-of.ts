import type { Json, JsonObject } from '../base/json.js';
import type { Condition } from '../lang/values.js';
import type { StateTest } from './builder-input.js';
import { isSupervisor } from './supervision.js';

/** Shared by all copies of this module. */
const PARTS = Symbol.for('skein.made-of');

/** Marks a function that Skein made around others. The sources of these parts count in place of its own (J2). */
export function madeOf<F extends (...args: never[]) => unknown>(made: F, parts: readonly unknown[]): F {
  return Object.defineProperty(made, PARTS, { value: parts });
}

/** Returns the parts of a function that Skein made; undefined for other functions. */
export function madeFrom(fn: unknown): readonly unknown[] | undefined {
  return typeof fn === 'function' ? (fn as { readonly [PARTS]?: readonly unknown[] })[PARTS] : undefined;
}

/** Returns the source text of a function with that of its parts; for a supervisor, that of its methods, and its version. */
export function sourceText(fn: unknown): string {
  if (isSupervisor(fn)) return [...partsOf(fn, ['reconcile', 'supervise']), fn.version].map(sourceText).join('\n');
  if (typeof fn !== 'function') return typeof fn === 'string' ? fn : '';
  const own = Function.prototype.toString.call(fn);
  const parts = madeFrom(fn);
  return parts === undefined ? own : [own, ...parts.map(sourceText)].join('\n');
}

/**
 * Returns conditions as plan data. Their functions, which must all hold, are bound under the key.
 *
 * @param given conditions, and functions of the state
 */
export function boundConditions(
  given: readonly (Condition | StateTest)[],
  key: string,
  bindings: Record<string, unknown>,
): readonly Condition[] {
  const tests = given.filter((one) => typeof one === 'function');
  const declared = given.filter((one) => typeof one !== 'function');
  const [first] = tests;
  if (first === undefined) return declared;
  const all: StateTest = (state, round) => tests.every((test) => test(state, round));
  bindings[key] = tests.length === 1 ? first : Object.defineProperty(madeOf(all, tests), HANDS_ON, { value: true });
  return [...declared, { op: 'code' }];
}

/** Shared by all copies of this module. */
const HANDS_ON = Symbol.for('skein.hands-on');

/** Returns the functions to which a function made by Skein passes the state unchanged. */
export function handsOnTo(fn: object): readonly unknown[] {
  return HANDS_ON in fn ? (madeFrom(fn) ?? []) : [];
}

/** Returns an object's functions of the given names, as parts for {@link madeOf}. */
export function partsOf(owner: object, names: readonly string[]): readonly unknown[] {
  return names.map((name): unknown => Reflect.get(owner, name));
}

type State = Readonly<Record<string, unknown>>;

/** `state` without a property access. */
const AS_A_WHOLE = /\bstate\b(?!\s*(?:\?\.|\.|\[))/;

/**
 * Returns the state that a tool sees as `io.state`. A tool that reads properties by name receives the view, so that only those count as
 * read; others receive plain data, which they may print, clone and pass on.
 */
export function stateOfTool(fn: unknown, view: State): State {
  const gives = typeof fn === 'function' && AS_A_WHOLE.test(sourceText(fn));
  return gives ? Object.freeze({ ...view }) : view;
}

/** Shared by all copies of this module. */
const APPROVE = Symbol.for('skein.approve');

/** Attaches to a tool's function the function that decides which calls need a person's approval. */
export function withApproval<F extends object>(call: F, approve: unknown): F {
  return typeof approve === 'function' ? Object.defineProperty(call, APPROVE, { value: approve }) : call;
}

/** Returns whether a call with this input needs a person's approval: yes, unless the function returns exactly false. */
export async function mustApprove(call: unknown, input: unknown): Promise<boolean> {
  const approve = (call as { readonly [APPROVE]?: (input: unknown) => unknown })[APPROVE];
  return (await approve?.(input)) !== false;
}

/** Returns a tool's result from the script of a run; undefined if the script has none. */
export type ScriptedResult = (tool: string, input: JsonObject) => Promise<Json | undefined>;

/** Shared by all copies of this module. */
const SCRIPTED = Symbol.for('skein.scripted-result');

/** Adds scripted results for missing tools to the options that functions of a run receive for their own runs. */
export function withScripted<O extends object>(options: O, scripted: ScriptedResult): O {
  return { ...options, [SCRIPTED]: scripted };
}

/** Replaces a missing function in a run without models: the script provides the tool's result. */
export function standInTool(name: string): (input: JsonObject, step: { readonly runOptions: object }) => Promise<Json> {
  return async (input, { runOptions }) => {
    const said = await (runOptions as { readonly [SCRIPTED]?: ScriptedResult })[SCRIPTED]?.(name, input);
    return said === undefined ? 'not run: a run with --mock calls no function that is not there' : said;
  };
}
