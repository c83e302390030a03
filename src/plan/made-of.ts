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

/** The source text of a function, with that of what it was made of. */
export function sourceText(fn: unknown): string {
  if (typeof fn !== 'function') return typeof fn === 'string' ? fn : '';
  const own = Function.prototype.toString.call(fn);
  const parts = madeFrom(fn);
  return parts === undefined ? own : [own, ...parts.map(sourceText)].join('\n');
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

/** Known again across copies of this module. */
const STAND_IN = Symbol.for('skein.stand-in');

/** A function in place of one that is not there, in a run without models: its script says what the tool gives. */
export function standInTool(): () => string {
  return Object.defineProperty(() => 'not run: a run with --mock calls no function that is not there', STAND_IN, {
    value: true,
  });
}

/** Whether a function is such a stand-in. */
export function isStandIn(fn: unknown): boolean {
  return typeof fn === 'function' && STAND_IN in fn;
}
