import type { Reducer } from '../plan/reducers.js';

/**
 * State versions (rules S1 to S3).
 *
 * A version is an immutable map from channel index to {@link Cell}, kept as a tree of arrays of 32: writing one channel copies one
 * array a level, whatever the number of channels, and versions share all that did not change.
 *
 * Invariants, cited by the merge:
 * - V1 A cell knows the cell that it overwrote (`before`), within its epoch. So of two cells of a channel one is causally
 *   before the other exactly if it is in the other's chain.
 * - V2 An epoch begins when a scope has a single thread of control. All cells written before it that are still
 *   visible are seen by everything after it; so an older epoch is causally before a newer one, and chains end at the epoch's border.
 *   In a sequential run each step begins an epoch: memory does not grow with history.
 * - V3 Cells of a reducer channel hold the accumulator of all earlier epochs and the contributions of this one; cells of one epoch have
 *   the same accumulator.
 */
export type Tree = readonly (Tree | Cell | undefined)[];

/** One value of a channel. */
export interface Cell {
  readonly value: unknown;
  /** Index of the node that wrote it; -1 for an input. */
  readonly writer: number;
  readonly epoch: number;
  /** Length of the chain within the epoch. */
  readonly rank: number;
  readonly before: Cell | undefined;
  /** For reducer channels. */
  readonly folded: FoldedCell | undefined;
}

/** The part of a cell that only reducer channels have. `value` is filled when it is first read. */
export interface FoldedCell {
  readonly accumulator: unknown;
  readonly newest: Contribution | undefined;
  value: unknown;
  known: boolean;
}

/** One write to a reducer channel; a chain, newest first. Contributions are folded in the order of (round, rank, visit). */
export interface Contribution {
  readonly value: unknown;
  readonly writer: number;
  /** How many cycles were closed before it. */
  readonly round: number;
  /** Place of the writer in the topological order. */
  readonly place: number;
  readonly visit: number;
  readonly before: Contribution | undefined;
}

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

  /** Calls `visit` for each cell, by ascending channel index. */
  each(visit: (channel: number, cell: Cell) => void): void {
    walk(this.tree, this.height, 0, visit);
  }
}

/** The version in which nothing is written. */
export const EMPTY_VERSION = new Version([], 0);

function put(tree: Tree | undefined, level: number, channel: number, cell: Cell): Tree {
  const copy: (Tree | Cell | undefined)[] = tree === undefined ? [] : tree.slice();
  const slot = (channel >> (BITS * level)) & MASK;
  while (copy.length < slot) copy.push(undefined);
  copy[slot] = level === 0 ? cell : put(copy[slot] as Tree | undefined, level - 1, channel, cell);
  return copy;
}

function walk(tree: Tree, level: number, base: number, visit: (channel: number, cell: Cell) => void): void {
  for (let slot = 0; slot < tree.length; slot++) {
    const child = tree[slot];
    if (child === undefined) continue;
    const channel = base + (slot << (BITS * level));
    if (level === 0) visit(channel, child as Cell);
    else walk(child as Tree, level - 1, channel, visit);
  }
}

/** Who writes: for the order of contributions and for error messages. */
export interface Writer {
  readonly compiled: { readonly index: number; readonly place: number };
  readonly round: number;
  readonly visit: number;
}

/** The cell that results when `writer` writes `value` over `old` in `epoch`. */
export function writeCell(
  old: Cell | undefined,
  value: unknown,
  writer: Writer,
  epoch: number,
  reducer: Reducer | undefined,
): Cell {
  const inEpoch = old !== undefined && old.epoch === epoch;
  if (reducer === undefined) {
    const before = inEpoch ? old : undefined;
    return {
      value,
      writer: writer.compiled.index,
      epoch,
      rank: before === undefined ? 0 : before.rank + 1,
      before,
      folded: undefined,
    };
  }
  const before = inEpoch ? old.folded?.newest : undefined;
  const accumulator = inEpoch
    ? old.folded?.accumulator
    : old === undefined
      ? reducer.open(undefined)
      : foldAll(old, reducer);
  const newest: Contribution = {
    value,
    writer: writer.compiled.index,
    round: writer.round,
    place: writer.compiled.place,
    visit: writer.visit,
    before,
  };
  const folded: FoldedCell = { accumulator, newest, value: undefined, known: false };
  return { value: undefined, writer: writer.compiled.index, epoch, rank: 0, before: undefined, folded };
}

/** The cell of an input. */
export function inputCell(value: unknown, reducer: Reducer | undefined): Cell {
  if (reducer === undefined) return { value, writer: -1, epoch: 0, rank: 0, before: undefined, folded: undefined };
  const folded: FoldedCell = { accumulator: reducer.open(value), newest: undefined, value: undefined, known: false };
  return { value: undefined, writer: -1, epoch: 0, rank: 0, before: undefined, folded };
}

/** What a node sees in a cell. */
export function cellValue(cell: Cell, reducer: Reducer | undefined): unknown {
  const { folded } = cell;
  if (folded === undefined || reducer === undefined) return cell.value;
  if (!folded.known) {
    folded.value = reducer.read(foldAll(cell, reducer));
    folded.known = true;
  }
  return folded.value;
}

function foldAll(cell: Cell, reducer: Reducer): unknown {
  const { folded } = cell;
  if (folded === undefined) return reducer.open(cell.value);
  let { accumulator } = folded;
  if (folded.newest?.before === undefined) {
    return folded.newest === undefined ? accumulator : reducer.fold(accumulator, folded.newest.value);
  }
  const contributions: Contribution[] = [];
  for (let one: Contribution | undefined = folded.newest; one !== undefined; one = one.before) contributions.push(one);
  contributions.reverse();
  for (const one of contributions) accumulator = reducer.fold(accumulator, one.value);
  return accumulator;
}

/** Plan order among contributions: chains are kept sorted by this (S3). */
export function compareContributions(a: Contribution, b: Contribution): number {
  return a.round - b.round || a.place - b.place || a.visit - b.visit;
}
