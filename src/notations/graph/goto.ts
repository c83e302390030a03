const JUMP = Symbol.for('skein.goto');

/** A result that says where to go on. */
export interface Goto {
  readonly [JUMP]: true;
  readonly goto: string | readonly string[];
  readonly update?: unknown;
}

/**
 * What a node returns to jump: the name of the next node (or several, or `END`), and what it leaves in the state. The node declares
 * its targets in its options: `{ goto: ['revise', 'publish'] }`.
 *
 * @example
 * graph<{ draft: string }>().addNode('check', ({ draft }) => goto(draft === '' ? 'write' : 'publish'), { goto: ['write', 'publish'] });
 */
export function goto(target: string | readonly string[], update?: unknown): Goto {
  return { [JUMP]: true, goto: target, ...(update === undefined ? {} : { update }) };
}
