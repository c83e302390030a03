import type { Block, Placed } from './blocks.js';

/** A step in a block, and the names that lead to it from outside. */
export interface Address {
  readonly placed: Placed;
  readonly names: readonly string[];
}

/**
 * How the steps in a block and in the blocks in it are reached from outside: those that have an output, and not what stands in a map.
 *
 * @example
 * [...addressesIn(parallel.inner)][0]?.names; // ['outputs', 'gen_1']
 */
export function* addressesIn(block: Block): Generator<Address> {
  for (const placed of block.steps) {
    const names = ['outputs', placed.step.id];
    const { type } = placed.step;
    if (type === 'agent' || type === 'ask' || type === 'map') yield { placed, names };
    if (placed.inner === undefined || type === 'map') continue;
    for (const inner of addressesIn(placed.inner)) yield { ...inner, names: [...names, ...inner.names] };
  }
}
