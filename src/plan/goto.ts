/** Shared by all copies of this module, and never found in data: the output of a model or a tool can't be a jump. */
const JUMP = Symbol.for('skein.goto');

/** A result that chooses the next node. `U` is its value for the state: an update, or the value of the node. */
export interface Goto<U = unknown> {
  readonly [JUMP]: true;
  readonly goto: string | readonly string[];
  readonly update?: U;
  /** Whether the names are nodes of the surrounding workflow. */
  readonly parent?: true;
}

/** Any value. Lists are listed explicitly, so that `['x']` is not inferred as a read-only list. */
type Leaves =
  string | number | bigint | boolean | null | undefined | object | Leaves[] | { readonly [key: string]: Leaves };

/**
 * Jumps from a node's function: returns the name of the next node (or several, or `END`), and a value for the state. The node needs a route
 * that allows it: `{ goto: ['write', 'publish'] }` in the options of a graph's node, `choose: 'result'` in a plan.
 *
 * With `parent: true` the names are nodes of the surrounding workflow, which continues there once this one has ended; `gotoParent` in the
 * node's options declares them, and so does `goto` in the options of the node that this workflow is.
 *
 * @example
 * const check = ({ draft }: { draft: string }) => goto(draft === '' ? 'write' : 'publish', { checked: true });
 */
export function goto(target: string | readonly string[]): Goto<never>;
export function goto<const U extends Leaves>(
  target: string | readonly string[],
  update: U,
  options?: { readonly parent?: boolean },
): Goto<U>;
export function goto(
  target: string | readonly string[],
  update?: unknown,
  { parent = false }: { readonly parent?: boolean } = {},
): Goto {
  return {
    [JUMP]: true,
    goto: target,
    ...(update === undefined ? {} : { update }),
    ...(parent ? { parent: true as const } : {}),
  };
}

/** A jump to nodes of the surrounding workflow. */
export interface ParentJump {
  readonly parent: unknown;
}

/** Distinguishes such a jump from one inside the workflow, which is a name or a list of names. */
export function isParentJump(to: unknown): to is ParentJump {
  return typeof to === 'object' && to !== null && !Array.isArray(to) && 'parent' in to;
}

/** The recorded result of a function that chooses its route: JSON, always in this form. */
export interface Jump {
  /** Its value for the state: an update, or the value of the node's output. */
  readonly update?: unknown;
  /** The chosen target; absent if the choice is left to the route. */
  readonly goto?: unknown;
}

/** Returns the result of such a function in its recorded form. */
export function jumpOf(result: unknown): Jump {
  if (!isGoto(result)) return result === undefined ? {} : { update: result };
  const { goto: to, update, parent } = result;
  return { goto: parent === true ? { parent: to } : to, ...(update === undefined ? {} : { update }) };
}

export function isGoto(result: unknown): result is Goto {
  return typeof result === 'object' && result !== null && JUMP in result;
}
