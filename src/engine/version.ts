import type { Cell } from './cell.js';

/**
 * State versions (rules S1 to S3).
 *
 * A version is an immutable map from channel index to {@link Cell}, kept as a tree of arrays of 32: writing one channel copies one
 * array a level, whatever the number of channels, and versions share all that did not change.
 *
 * Invariants, cited by the merge:
 * - V1 A cell knows its line: the writes one over the other that it belongs to, within its epoch, and where that left another line. So of
 *   two cells of a channel one is causally before the other exactly if it lies on the other's way back; and a loop keeps nothing of its past,
 *   also beside another one.
 * - V2 An epoch begins when a scope has a single thread of control. All cells written before it that are still
 *   visible are seen by everything after it; so an older epoch is causally before a newer one, and lines and chains end at the epoch's border.
 *   In a sequential run each step begins an epoch: memory does not grow with history.
 * - V3 Cells of a reducer channel hold the accumulator of all earlier epochs and the contributions of this one; cells of one epoch have
 *   the same accumulator.
 */
export type Tree = readonly (Tree | Cell | undefined)[];

const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

/** An immutable version of the state. `height` is the number of levels above the cells. */
export class Version {
  constructor(
    readonly tree: Tree,
    readonly height: number,
  ) {}

  get(channel: number): Cell | undefined {
    if (channel >> (BITS * (this.height + 1)) !== 0) return undefined;
    let node: Tree | undefined = this.tree;
    for (let level = this.height; level > 0 && node !== undefined; level--) {
      node = node[(channel >> (BITS * level)) & MASK] as Tree | undefined;
    }
    return node?.[channel & MASK] as Cell | undefined;
  }

  with(channel: number, cell: Cell): Version {
    let { tree, height } = this;
    while (channel >> (BITS * (height + 1)) !== 0) {
      tree = [tree];
      height += 1;
    }
    return new Version(put(tree, height, channel, cell), height);
  }

  /** As if nobody had written the channel. */
  without(channel: number): Version {
    if (this.get(channel) === undefined) return this;
    return new Version(put(this.tree, this.height, channel, undefined), this.height);
  }

  /** Calls `visit` for each cell, by ascending channel index. */
  each(visit: (channel: number, cell: Cell) => void): void {
    walk(this.tree, this.height, 0, visit);
  }
}

/** The version in which nothing is written. */
export const EMPTY_VERSION = new Version([], 0);

function put(tree: Tree | undefined, level: number, channel: number, cell: Cell | undefined): Tree {
  const slot = (channel >> (BITS * level)) & MASK;
  const copy = copyOf(tree, slot + 1);
  copy[slot] = level === 0 ? cell : put(copy[slot] as Tree | undefined, level - 1, channel, cell);
  return copy;
}

/** A copy with at least `width` slots, and no room for more: an array that grows as it is filled takes twice the memory. */
function copyOf(tree: Tree | undefined, width: number): (Tree | Cell | undefined)[] {
  if (tree !== undefined && tree.length >= width) return tree.slice();
  const copy = BLANK.slice(0, width);
  if (tree !== undefined) for (let slot = 0; slot < tree.length; slot++) copy[slot] = tree[slot];
  return copy;
}

const BLANK: Tree = Array.from({ length: WIDTH }, () => undefined);

function walk(tree: Tree, level: number, base: number, visit: (channel: number, cell: Cell) => void): void {
  for (let slot = 0; slot < tree.length; slot++) {
    const child = tree[slot];
    if (child === undefined) continue;
    const channel = base + (slot << (BITS * level));
    if (level === 0) visit(channel, child as Cell);
    else walk(child as Tree, level - 1, channel, visit);
  }
}
