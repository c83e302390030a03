/** Known again across copies of this module, and never to be found in data: what a model or a tool answers can't be one. */
const JUMP = Symbol.for('skein.goto');

/** A result that says where to go on. `U` is what it leaves in the state: an update, or the value of the node. */
export interface Goto<U = unknown> {
  readonly [JUMP]: true;
  readonly goto: string | readonly string[];
  readonly update?: U;
  /** The names are those of nodes of the workflow around. */
  readonly parent?: true;
}

/** Any value. Lists are named as such, so that what is inferred for `['x']` is not a read-only list. */
type Leaves =
  string | number | bigint | boolean | null | undefined | object | Leaves[] | { readonly [key: string]: Leaves };

/**
 * What the function of a node returns to jump: the name of the next node (or several, or `END`), and what it leaves in the state. The node
 * has a route that says so: `{ goto: ['write', 'publish'] }` in the options of a graph's node, `choose: 'result'` in a plan.
 *
 * With `parent: true` they are nodes of the workflow around, which goes on there when this one has ended; `gotoParent` in the options of the
 * node names them, and `goto` in those of the node that this workflow is.
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

/** Where a function said that the workflow around goes on. */
export interface ParentJump {
  readonly parent: unknown;
}

/** Tells such a jump from one inside of the workflow, which is a name or a list of names. */
export function isParentJump(to: unknown): to is ParentJump {
  return typeof to === 'object' && to !== null && !Array.isArray(to) && 'parent' in to;
}

/** What a function with a route of its own gives, as it is recorded: JSON, and always in this form. */
export interface Jump {
  /** What it leaves in the state: an update, or the value of the node's output. */
  readonly update?: unknown;
  /** What it said; absent when it left the choice to the route. */
  readonly goto?: unknown;
}

/** The result of such a function in its recorded form. */
export function jumpOf(result: unknown): Jump {
  if (!isGoto(result)) return result === undefined ? {} : { update: result };
  const { goto: to, update, parent } = result;
  return { goto: parent === true ? { parent: to } : to, ...(update === undefined ? {} : { update }) };
}

/** Tells a jump from any other result. */
export function isGoto(result: unknown): result is Goto {
  return typeof result === 'object' && result !== null && JUMP in result;
}
