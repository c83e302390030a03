import type { Cell } from './cell.js';

/**
 * State versions (rules S1 to S3).
 *
 * A version is an immutable map from channel index to {@link Cell}, stored as a tree of arrays of 32: writing one channel copies one array
 * a level, whatever the number of channels, and versions share everything unchanged.
 *
 * Invariants, cited by the merge:
 * - V1 A cell knows its line: the successive writes that it belongs to, within its epoch, and where they left another line. So of two cells
 * of a channel, one is causally before the other exactly if it lies on the other's way back. A loop keeps nothing of its past, also beside
 * another one.
 * - V2 An epoch begins when a scope has a single thread of control. All earlier cells that are still visible are seen by everything after
 * it, so an older epoch is causally before a newer one, and lines and chains end at the border of the epoch. In a sequential run each step
 * begins an epoch: memory does not grow with history.
 * - V3 Cells of a reducer channel contain the accumulator of all earlier epochs and the contributions of this one; cells of one epoch have
 * the same accumulator.
 */
export type Tree = readonly (Tree | Cell | undefined)[];

const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

/** A channel with its new cell. */
export interface Write {
  readonly channel: number;
  readonly cell: Cell | undefined;
}

/** A write beside a tree, and those before it. */
export interface Link extends Write {
  readonly before: Link | undefined;
  /** Number of links up to this one. */
  readonly size: number;
  /** The highest channel of the links: steps in a row mostly write a higher one, and then need not check each link. */
  readonly highest: number;
}

/** Maximum number of writes beside a tree: a read checks each of them. */
const MOST_BESIDE = 32;

/**
 * An immutable version of the state.
 *
 * - V4 The first writes of channels are kept beside the tree, in a chain that versions share, and are put into it several at a time. So a
 * step in a row copies a sixteenth as much; many branches that write over one version cost a link each, and their join puts all of them
 * into the tree at once. A channel is either in the tree or once beside it.
 */
export class Version {
  /**
   * @param base the tree, without the writes beside it
   * @param levels number of levels above the cells
   */
  constructor(
    private base: Tree,
    private levels: number,
    private newest?: Link,
  ) {}

  /** The whole version as one tree. */
  get tree(): Tree {
    this.join();
    return this.base;
  }

  /** Levels of the tree above the cells. */
  get height(): number {
    this.join();
    return this.levels;
  }

  /** The newest write beside the tree. */
  get beside(): Link | undefined {
    return this.newest;
  }

  get(channel: number): Cell | undefined {
    if (this.newest !== undefined && channel <= this.newest.highest)
      for (let link: Link | undefined = this.newest; link !== undefined; link = link.before)
        if (link.channel === channel) return link.cell;
    return lookUp(this.base, this.levels, channel);
  }

  /** `old`: the channel's cell in this version. */
  with(channel: number, cell: Cell, old = this.get(channel)): Version {
    if (this.newest?.channel === channel) return this.linked(channel, cell, this.newest.before);
    const isNew = old === undefined;
    if (!isNew || this.newest?.size === MOST_BESIDE) this.join();
    const { base, levels, newest } = this;
    return isNew ? this.linked(channel, cell, newest) : new Version(put(base, levels, channel, cell), levels);
  }

  private linked(channel: number, cell: Cell, before: Link | undefined): Version {
    const size = before === undefined ? 1 : before.size + 1;
    const highest = before === undefined || before.highest < channel ? channel : before.highest;
    return new Version(this.base, this.levels, { channel, cell, before, size, highest });
  }

  /** Returns the tree with new channels, in ascending order, instead of the writes beside it. */
  withAll(writes: readonly Write[]): Version {
    let { base, levels } = this;
    for (; beyond(levels, writes.at(-1)?.channel ?? 0); levels++) base = [base];
    return new Version(putAll(base, levels, writes, 0, writes.length), levels);
  }

  /** Whether two versions differ only by the writes beside their trees. */
  isBeside(other: Version): boolean {
    return this.base === other.base;
  }

  /** Moves the writes beside the tree into it, for readers of many channels. */
  join(): void {
    if (this.newest === undefined) return;
    const writes: Write[] = [];
    let isInOrder = true;
    for (let link: Link | undefined = this.newest; link !== undefined; link = link.before) {
      writes.push(link);
      if (link.before !== undefined && link.before.channel > link.channel) isInOrder = false;
    }
    // The channels of steps in a row are usually in order already.
    writes.reverse();
    if (!isInOrder) writes.sort((a, b) => a.channel - b.channel);
    const { base, levels } = this.withAll(writes);
    this.base = base;
    this.levels = levels;
    this.newest = undefined;
  }

  /** Returns a version without a value for the channel. */
  without(channel: number): Version {
    if (this.get(channel) === undefined) return this;
    const { tree, height } = this;
    return new Version(put(tree, height, channel, undefined), height);
  }

  /** Calls `visit` for each cell, by ascending channel index. */
  each(visit: (channel: number, cell: Cell) => void): void {
    walk(this.tree, this.height, 0, visit);
  }
}

export const EMPTY_VERSION = new Version([], 0);

/** Whether a channel is beyond a tree of this height. */
function beyond(height: number, channel: number): boolean {
  return channel >> (BITS * (height + 1)) !== 0;
}

function lookUp(tree: Tree, height: number, channel: number): Cell | undefined {
  if (beyond(height, channel)) return undefined;
  let node: Tree | undefined = tree;
  for (let level = height; level > 0 && node !== undefined; level--) {
    node = node[(channel >> (BITS * level)) & MASK] as Tree | undefined;
  }
  return node?.[channel & MASK] as Cell | undefined;
}

/** Adds the writes between two positions, by ascending channel: each part of the tree is copied once. */
function putAll(tree: Tree | undefined, level: number, writes: readonly Write[], from: number, to: number): Tree {
  const slotAt = (at: number): number => ((writes[at]?.channel ?? 0) >> (BITS * level)) & MASK;
  const copy = copyOf(tree, slotAt(to - 1) + 1);
  for (let at = from; at < to;) {
    const first = at;
    const slot = slotAt(at);
    do at += 1;
    while (at < to && slotAt(at) === slot);
    copy[slot] =
      level === 0 ? writes[first]?.cell : putAll(copy[slot] as Tree | undefined, level - 1, writes, first, at);
  }
  return copy;
}

function put(tree: Tree | undefined, level: number, channel: number, cell: Cell | undefined): Tree {
  const slot = (channel >> (BITS * level)) & MASK;
  const copy = copyOf(tree, slot + 1);
  copy[slot] = level === 0 ? cell : put(copy[slot] as Tree | undefined, level - 1, channel, cell);
  return copy;
}

/** Copies a node with at least `width` slots and no spare capacity: an array that grows while it is filled takes twice the memory. */
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
