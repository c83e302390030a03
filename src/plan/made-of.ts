import type { Json, JsonObject } from '../base/json.js';
import type { Condition } from '../lang/values.js';
import type { StateTest } from './builder-input.js';
import { isSupervisor } from './supervision.js';

/** Known again across copies of this module. */
const PARTS = Symbol.for('skein.made-of');

/**
 * A function that Skein made around others, such as the body of a tool's node. Its own source says nothing of what it does: theirs, and the
 * texts, count with it wherever the source of a function counts (J2).
 */
export function madeOf<F extends (...args: never[]) => unknown>(made: F, parts: readonly unknown[]): F {
  return Object.defineProperty(made, PARTS, { value: parts });
}

/** What Skein made a function of; undefined for one that somebody else made. */
export function madeFrom(fn: unknown): readonly unknown[] | undefined {
  return typeof fn === 'function' ? (fn as { readonly [PARTS]?: readonly unknown[] })[PARTS] : undefined;
}

/** The source text of a function, with that of what it was made of; of a supervisor that of its methods, and its version. */
export function sourceText(fn: unknown): string {
  if (isSupervisor(fn)) return [...partsOf(fn, ['reconcile', 'supervise']), fn.version].map(sourceText).join('\n');
  if (typeof fn !== 'function') return typeof fn === 'string' ? fn : '';
  const own = Function.prototype.toString.call(fn);
  const parts = madeFrom(fn);
  return parts === undefined ? own : [own, ...parts.map(sourceText)].join('\n');
}

/**
 * Conditions as plan data. Their functions go to the bindings under the key: all of them must hold.
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

/** Known again across copies of this module. */
const HANDS_ON = Symbol.for('skein.hands-on');

/** The functions to which a function that Skein made hands on the state as it gets it. */
export function handsOnTo(fn: object): readonly unknown[] {
  return HANDS_ON in fn ? (madeFrom(fn) ?? []) : [];
}

/** The functions of an object under some names, as parts for {@link madeOf}. */
export function partsOf(owner: object, names: readonly string[]): readonly unknown[] {
  return names.map((name): unknown => Reflect.get(owner, name));
}

type State = Readonly<Record<string, unknown>>;

/** `state` that no property is read of. */
const AS_A_WHOLE = /\bstate\b(?!\s*(?:\?\.|\.|\[))/;

/**
 * What a tool sees of the state as `io.state`. One that reads properties of it by name gets the view, so that nothing else counts as read; any
 * other gets plain data, which it may print, clone and hand on.
 */
export function stateOfTool(fn: unknown, view: State): State {
  const gives = typeof fn === 'function' && AS_A_WHOLE.test(sourceText(fn));
  return gives ? Object.freeze({ ...view }) : view;
}

/** Known again across copies of this module. */
const APPROVE = Symbol.for('skein.approve');

/** The function of a tool, with the one that says which of its calls a person must allow. */
export function withApproval<F extends object>(call: F, approve: unknown): F {
  return typeof approve === 'function' ? Object.defineProperty(call, APPROVE, { value: approve }) : call;
}

/** Whether a person must allow a call with this input. Whatever the function says but a clear no is a yes. */
export async function mustApprove(call: unknown, input: unknown): Promise<boolean> {
  const approve = (call as { readonly [APPROVE]?: (input: unknown) => unknown })[APPROVE];
  return (await approve?.(input)) !== false;
}

/** What the script of a run says that a tool gives; undefined when it does not say. */
export type ScriptedResult = (tool: string, input: JsonObject) => Promise<Json | undefined>;

/** Known again across copies of this module. */
const SCRIPTED = Symbol.for('skein.scripted-result');

/** Options that the functions of a run get for runs of their own, with what answers for tools that are not there. */
export function withScripted<O extends object>(options: O, scripted: ScriptedResult): O {
  return { ...options, [SCRIPTED]: scripted };
}

/** A function in place of one that is not there, in a run without models: its script says what the tool gives. */
export function standInTool(name: string): (input: JsonObject, step: { readonly runOptions: object }) => Promise<Json> {
  return async (input, { runOptions }) => {
    const said = await (runOptions as { readonly [SCRIPTED]?: ScriptedResult })[SCRIPTED]?.(name, input);
    return said === undefined ? 'not run: a run with --mock calls no function that is not there' : said;
  };
}
