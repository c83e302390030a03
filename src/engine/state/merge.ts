import type { Reducer } from '../../plan/reducers.js';
import { foldedCell, isBefore, type Cell } from './cell.js';
import { holdsAll, mergeChains } from './contributions.js';
import type { RunLabels } from './run-labels.js';
import { EMPTY_VERSION, Version, type Link, type Tree, type Write } from './version.js';

/** Two writes of a plain channel, neither of which is causally before the other (S3). */
export interface Conflict {
  readonly channel: number;
  readonly writers: readonly [number, number];
}

/** The result of a merge. In a conflict, the version contains the earlier writer's value of that channel. */
export interface Merged {
  readonly version: Version;
  readonly conflict: Conflict | undefined;
}

/**
 * Merges the versions of several tokens (S3). Parts that all versions share are reused without a look inside, so the cost depends on the
 * differences. The result does not depend on the order of `versions`.
 */
export function mergeVersions(
  versions: readonly Version[],
  reducers: readonly (Reducer | undefined)[],
  labels: RunLabels,
): Merged {
  const first = versions[0];
  if (first === undefined) return { version: EMPTY_VERSION, conflict: undefined };
  if (versions.every((version) => version === first)) return { version: first, conflict: undefined };
  if (versions.every((version) => version.isBeside(first)))
    return mergeBeside(first, versions, { reducers, labels, conflict: undefined });
  let height = 0;
  for (const version of versions) if (version.height > height) height = version.height;
  const merge: Merge = { reducers, labels, conflict: undefined };
  const tree = mergeTrees(
    versions.map((version) => raise(version, height)),
    height,
    0,
    merge,
  );
  return { version: new Version(tree, height), conflict: merge.conflict };
}

/** V4: merges versions that differ only by the writes beside their trees. */
function mergeBeside(first: Version, versions: readonly Version[], merge: Merge): Merged {
  const written = writesBeside(first, versions).toSorted((a, b) => a.channel - b.channel);
  const writes: Write[] = [];
  for (let at = 0; at < written.length;) {
    const from = at;
    const write = written[at];
    if (write === undefined) break;
    do at += 1;
    while (written[at]?.channel === write.channel);
    if (at === from + 1) writes.push(write);
    else {
      const cells = written.slice(from, at).flatMap(({ cell }) => (cell === undefined ? [] : [cell]));
      writes.push({ channel: write.channel, cell: mergeCells(cells, write.channel, merge) });
    }
  }
  return { version: first.withAll(writes), conflict: merge.conflict };
}

/** The writes beside the tree in any of the versions. Usually they share all but their newest write. */
function writesBeside(first: Version, versions: readonly Version[]): readonly Write[] {
  const shared = first.beside?.before;
  const writes: Write[] = [];
  for (const version of versions) {
    for (let link = version.beside; link !== shared; link = link.before) {
      if (link === undefined) return allBeside(versions);
      writes.push(link);
    }
  }
  for (let link = shared; link !== undefined; link = link.before) writes.push(link);
  return writes;
}

function allBeside(versions: readonly Version[]): readonly Write[] {
  const links = new Set<Link>();
  for (const version of versions)
    for (let link = version.beside; link !== undefined && !links.has(link); link = link.before) links.add(link);
  return [...links];
}

interface Merge {
  readonly reducers: readonly (Reducer | undefined)[];
  readonly labels: RunLabels;
  conflict: Conflict | undefined;
}

function raise(version: Version, height: number): Tree {
  let { tree } = version;
  for (let level = version.height; level < height; level++) tree = [tree];
  return tree;
}

function mergeTrees(trees: readonly Tree[], level: number, base: number, merge: Merge): Tree {
  let width = 0;
  for (const tree of trees) if (tree.length > width) width = tree.length;
  const result: (Tree | Cell | undefined)[] = [];
  for (let slot = 0; slot < width; slot++) {
    const different = differentChildren(trees, slot);
    const channel = base + (slot << (5 * level));
    if (different.length <= 1) result.push(different[0]);
    else if (level === 0) result.push(mergeCells(different as Cell[], channel, merge));
    else result.push(mergeTrees(different as Tree[], level - 1, channel, merge));
  }
  return result;
}

/** The children at a slot without most duplicates: skips those equal to the first or to the one before. */
function differentChildren(trees: readonly Tree[], slot: number): readonly (Tree | Cell)[] {
  let different: (Tree | Cell)[] | undefined;
  let first: Tree | Cell | undefined;
  let last: Tree | Cell | undefined;
  for (const tree of trees) {
    const child = tree[slot];
    if (child === undefined || child === first || child === last) continue;
    last = child;
    if (different === undefined) {
      first = child;
      different = [child];
    } else different.push(child);
  }
  return different ?? NONE;
}

const NONE: readonly never[] = [];

function mergeCells(cells: readonly Cell[], channel: number, merge: Merge): Cell | undefined {
  const reducer = merge.reducers[channel];
  if (reducer !== undefined) return mergeContributions(cells, merge.labels);
  let latest = cells[0];
  for (const cell of cells) {
    if (latest === undefined || cell === latest || isBefore(cell, latest)) continue;
    if (isBefore(latest, cell)) latest = cell;
    else merge.conflict ??= { channel, writers: [latest.writer, cell.writer] };
  }
  return latest;
}

/** Whether `version` contains everything in `other`, or something causally later. */
export function covers(version: Version, other: Version): boolean {
  if (version === other) return true;
  if (!version.isBeside(other)) return coversTree(version.tree, version.height, other.tree, other.height);
  return coversBeside(version, other);
}

function coversBeside(version: Version, other: Version): boolean {
  for (let link = version.beside; link !== undefined; link = link.before) if (link === other.beside) return true;
  for (let link = other.beside; link !== undefined; link = link.before) {
    const mine = version.get(link.channel);
    if (mine === link.cell || link.cell === undefined) continue;
    if (mine === undefined || !coversCell(mine, link.cell)) return false;
  }
  return true;
}

function coversTree(tree: Tree | undefined, level: number, other: Tree | undefined, otherLevel: number): boolean {
  if (other === undefined || tree === other) return true;
  if (tree === undefined || otherLevel > level) return false;
  if (otherLevel < level) return coversTree(tree[0] as Tree | undefined, level - 1, other, otherLevel);
  for (let slot = 0; slot < other.length; slot++) {
    const mine = tree[slot];
    const theirs = other[slot];
    if (theirs === undefined || mine === theirs) continue;
    if (mine === undefined) return false;
    if (
      level > 0
        ? !coversTree(mine as Tree, level - 1, theirs as Tree, level - 1)
        : !coversCell(mine as Cell, theirs as Cell)
    ) {
      return false;
    }
  }
  return true;
}

function coversCell(mine: Cell, theirs: Cell): boolean {
  if (mine.folded === undefined || mine.epoch !== theirs.epoch) return isBefore(theirs, mine);
  return holdsAll(mine.folded.newest, theirs.folded?.newest);
}

/** V3: cells of the newest epoch contain everything; their contributions are combined, each once, in plan order. */
function mergeContributions(cells: readonly Cell[], labels: RunLabels): Cell | undefined {
  let newest = cells[0];
  for (const cell of cells) if (newest === undefined || cell.epoch > newest.epoch) newest = cell;
  if (newest === undefined) return undefined;
  const { epoch, writer } = newest;
  const chain = mergeChains(cells.flatMap((cell) => (cell.epoch === epoch ? [cell.folded?.newest] : [])));
  const same = cells.find((cell) => cell.epoch === epoch && cell.folded?.newest === chain);
  if (same !== undefined) return same;
  const { accumulator, base } = newest.folded ?? { accumulator: undefined, base: undefined };
  const merged = foldedCell({ accumulator, newest: chain, value: undefined, known: false, base }, writer, epoch);
  for (const cell of cells) merged.label = labels.join(merged.label, cell.label);
  return merged;
}
