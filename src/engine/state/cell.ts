import { digestText } from '../../base/hash.js';
import { SkeinError } from '../../base/errors.js';
import { recordText } from '../../base/json.js';
import type { Kept } from '../../base/kept.js';
import { CLEAN } from '../../guard/label.js';
import type { Reducer } from '../../plan/reducers.js';
import { linkAfter, type Contribution } from './contributions.js';
import { messageOf } from '../../base/thrown.js';

/** One value of a channel. */
export interface Cell {
  readonly value: unknown;
  /** Index of the node that wrote it; -1 for an input. */
  readonly writer: number;
  readonly epoch: number;
  /** Number of earlier writes of its line within the epoch. */
  readonly rank: number;
  /** Set if the cell overwrites another one, or was overwritten itself, within its epoch. Plain channels only. */
  line: Line | undefined;
  /** Set for reducer channels. */
  readonly folded: FoldedCell | undefined;
  /** Digest of a plain channel's value; computed on demand. */
  digest: string | undefined;
  /** Trust label of the value. Set by the creator of the cell, before it is visible. */
  label: number;
}

/**
 * Successive writes of a plain channel within an epoch. Overwriting the newest cell of a line continues it; overwriting an older one, which
 * was already overwritten, begins a new line. So the predecessors of a cell are known without keeping them.
 */
interface Line {
  /** Where the line branched off another one. */
  readonly from: { readonly line: Line; readonly rank: number } | undefined;
  /** Rank of its newest cell. */
  newest: number;
}

/** The part of a cell that only reducer channels have. `value` is set on the first read. */
export interface FoldedCell {
  readonly accumulator: unknown;
  readonly newest: Contribution | undefined;
  value: unknown;
  known: boolean;
  /** Digest of the accumulator. Undefined if it is the channel's initial one. */
  base: string | undefined;
}

/** The writer of a value: for the order of contributions and for error messages. */
export interface Writer {
  readonly compiled: { readonly index: number; readonly place: number };
  readonly round: number;
  readonly visit: number;
}

export interface Moment {
  /** The epoch that writes belong to (V2). */
  readonly epoch: number;
  /** Whether digests will be needed. */
  readonly recorded: boolean;
}

/** Returns the cell that results when `writer` writes `value` over `old`. */
export function writeCell(
  old: Cell | undefined,
  value: unknown,
  writer: Writer,
  moment: Moment,
  reducer: Reducer | undefined,
): Cell {
  const { epoch } = moment;
  const inEpoch = old !== undefined && old.epoch === epoch;
  if (reducer === undefined) {
    return overwrite(inEpoch ? old : undefined, value, writer.compiled.index, epoch);
  }
  const before = inEpoch ? old.folded?.newest : undefined;
  const accumulator = inEpoch
    ? old.folded?.accumulator
    : old === undefined
      ? reducer.open(undefined)
      : foldAll(old, reducer);
  const newest = linkAfter(before, {
    value,
    round: writer.round,
    place: writer.compiled.place,
    visit: writer.visit,
    own: undefined,
  });
  // The contributions of earlier epochs are dropped, so their digest must be computed here.
  const base = inEpoch ? old.folded?.base : old !== undefined && moment.recorded ? cellDigest(old, reducer) : undefined;
  const folded: FoldedCell = { accumulator, newest, value: undefined, known: false, base };
  return foldedCell(folded, writer.compiled.index, epoch);
}

/** Creates a cell of a plain channel; `old` is the cell that it overwrites within its epoch. */
function overwrite(old: Cell | undefined, value: unknown, writer: number, epoch: number): Cell {
  if (old === undefined)
    return { value, writer, epoch, rank: 0, line: undefined, folded: undefined, digest: undefined, label: CLEAN };
  const known = (old.line ??= { from: undefined, newest: old.rank });
  const rank = old.rank + 1;
  const line: Line = known.newest === old.rank ? known : { from: { line: known, rank: old.rank }, newest: rank };
  line.newest = rank;
  return { value, writer, epoch, rank, line, folded: undefined, digest: undefined, label: CLEAN };
}

/** V1 and V2: whether `a` is causally before `b`, another cell of the same channel. Plain channels only. */
export function isBefore(a: Cell, b: Cell): boolean {
  if (a.epoch !== b.epoch) return a.epoch < b.epoch;
  let upTo = b.rank - 1;
  for (let line = b.line; line !== undefined; line = line.from?.line) {
    if (line === a.line) return a.rank <= upTo;
    upTo = line.from?.rank ?? -1;
  }
  return false;
}

export function foldedCell(folded: FoldedCell, writer: number, epoch: number): Cell {
  return { value: undefined, writer, epoch, rank: 0, line: undefined, folded, digest: undefined, label: CLEAN };
}

/** Creates the cell of an input. `label`: its trust label; `digest`: that of the value, if known. */
export function inputCell(value: unknown, reducer: Reducer | undefined, label = CLEAN, digest?: string): Cell {
  if (reducer === undefined)
    return { value, writer: -1, epoch: 0, rank: 0, line: undefined, folded: undefined, digest, label };
  const base = digest === undefined ? undefined : openDigest(reducer, digest);
  const accumulator = reducer.open(value);
  const cell = foldedCell({ accumulator, newest: undefined, value: undefined, known: false, base }, -1, 0);
  cell.label = label;
  return cell;
}

/** The cell of a plain channel whose value is stored elsewhere, and read with the cell. Stored values are never undefined. */
class KeptCell implements Cell {
  readonly writer = -1;
  readonly epoch = 0;
  readonly rank = 0;
  line: Line | undefined = undefined;
  readonly folded = undefined;
  label = CLEAN;

  constructor(
    readonly kept: Kept,
    public digest: string | undefined,
  ) {}

  get value(): unknown {
    return this.kept.value;
  }
}

/** Creates a cell for a value that is stored elsewhere; `digest` is that of the stored cell. */
export function keptCell(kept: Kept, reducer: Reducer | undefined, digest: string): Cell {
  if (reducer === undefined) return new KeptCell(kept, digest);
  return reopenedCell(reducer.reopen(kept), digest);
}

/** Creates a cell of a reducer channel that has only an accumulator. */
function reopenedCell(accumulator: unknown, base: string): Cell {
  return foldedCell({ accumulator, newest: undefined, value: undefined, known: false, base }, -1, 0);
}

/** Adds an input to a reducer channel before anything runs. */
export function takenIn(cell: Cell, reducer: Reducer, contributions: readonly unknown[]): Cell {
  let accumulator = foldAll(cell, reducer);
  let digest = cellDigest(cell, reducer);
  for (const contribution of contributions) {
    accumulator = reducer.fold(accumulator, contribution);
    digest = digestText(`${digest} ${valueDigest(contribution)}`);
  }
  return reopenedCell(accumulator, digest);
}

/** Whether reading the cell requires reading a stored value. */
export function isUnread(cell: Cell, reducer: Reducer | undefined): boolean {
  if (cell instanceof KeptCell) return !cell.kept.isRead;
  return reducer !== undefined && cell.folded?.known === false && reducer.isUnread(foldAll(cell, reducer));
}

/** The addition to a stored value; undefined for a different value. */
export function addedTo(kept: Kept, cell: Cell, reducer: Reducer | undefined): unknown {
  return reducer?.added?.(foldAll(cell, reducer), kept);
}

/** Whether an update removed the channel's value: the channel then counts as unwritten. */
export function isCleared(cell: Cell | undefined): boolean {
  if (cell === undefined || cell instanceof KeptCell) return false;
  const { value, folded } = cell;
  if (folded === undefined) return value === undefined;
  return folded.newest !== undefined && folded.newest.written.value === undefined;
}

/** Whether the value of a cell is available without folding. */
export function isAtHand({ folded }: Cell): boolean {
  return folded === undefined || folded.known;
}

/** The value of a cell as nodes see it. */
export function cellValue(cell: Cell, reducer: Reducer | undefined): unknown {
  const { folded } = cell;
  if (folded === undefined || reducer === undefined) return cell.value;
  if (isCleared(cell)) return undefined;
  if (!folded.known) {
    folded.value = reducer.read(foldAll(cell, reducer));
    folded.known = true;
  }
  return folded.value;
}

/** The value of a cell for a node that reads only its length and single entries; undefined if there is no such shortcut. */
export function glanceOf(cell: Cell, reducer: Reducer | undefined): unknown {
  return isAtHand(cell) || isCleared(cell) ? undefined : reducer?.glance?.(foldAll(cell, reducer));
}

/** The value of a cell; of a list that is not at hand, at least its last `count` entries. */
export function cellEnd(cell: Cell, reducer: Reducer | undefined, count: number): unknown {
  if (isAtHand(cell) || isCleared(cell) || reducer?.end === undefined) return cellValue(cell, reducer);
  return reducer.end(foldAll(cell, reducer), count);
}

/** Folds the contributions of a cell like a read, without using the result. @throws the errors of the reducer */
export function tryFold(cell: Cell, reducer: Reducer): void {
  foldAll(cell, reducer);
}

/** Folds a cell's contributions. The result is kept at the newest one, so that later contributions are folded alone. */
function foldAll(cell: Cell, reducer: Reducer): unknown {
  const { folded } = cell;
  if (folded === undefined) return reducer.open(cell.value);
  const { newest } = folded;
  if (newest === undefined) return folded.accumulator;
  if (newest.before === undefined && newest.sum === undefined) {
    return keepSum(newest, reducer.fold(folded.accumulator, newest.written.value));
  }
  const open: Contribution[] = [];
  let from: Contribution | undefined = newest;
  for (; from !== undefined && from.sum === undefined; from = from.before) open.push(from);
  let accumulator = from?.sum === undefined ? folded.accumulator : from.sum.accumulator;
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    accumulator = reducer.fold(accumulator, one.written.value);
    // A shared start of several chains is folded once.
    if (one.followers > 1) keepSum(one, accumulator);
  }
  if (from !== undefined && from !== newest && from.followers < 2) from.sum = undefined;
  return keepSum(newest, accumulator);
}

function keepSum(link: Contribution, accumulator: unknown): unknown {
  link.sum ??= { accumulator };
  return accumulator;
}

/** The value of a reducer channel with one more contribution. */
export function foldedWith(cell: Cell | undefined, contribution: unknown, reducer: Reducer): unknown {
  const accumulator = cell === undefined ? reducer.open(undefined) : foldAll(cell, reducer);
  return reducer.read(reducer.fold(accumulator, contribution));
}

/**
 * Digest of a cell's value as nodes see it (J2), computed on demand and kept. For a reducer channel it is a chain over the contributions in
 * order, starting from the digest of the accumulator; an accumulator has the digest of the cell that it was made from. So it does not
 * depend on where epochs begin, and each contribution is hashed once.
 */
export function cellDigest(cell: Cell, reducer: Reducer | undefined): string {
  const { folded } = cell;
  if (folded === undefined || reducer === undefined) return (cell.digest ??= valueDigest(cell.value));
  folded.base ??= openDigest(reducer, valueDigest(reducer.read(folded.accumulator)));
  return folded.newest === undefined ? folded.base : chainDigest(folded.newest, folded.base);
}

function chainDigest(newest: Contribution, base: string): string {
  const open: Contribution[] = [];
  let one: Contribution | undefined = newest;
  for (; one !== undefined && one.chain === undefined; one = one.before) open.push(one);
  let digest = one?.chain ?? base;
  for (const next of open.toReversed()) {
    next.written.own ??= valueDigest(next.written.value);
    digest = digestText(`${digest} ${next.written.own}`);
    next.chain = digest;
  }
  return digest;
}

function openDigest(reducer: Reducer, value: string): string {
  return digestText(`${value} ${reducer.definition()}`);
}

/** @throws SkeinError `SKEIN_NOT_JSON` */
export function valueDigest(value: unknown): string {
  if (value === undefined) return '';
  try {
    return digestText(value === recorded.value ? recorded.text : recordText(value));
  } catch (error) {
    const why = messageOf(error);
    throw new SkeinError('SKEIN_NOT_JSON', `a value of the state can't be recorded: ${why}`, {
      hint: 'recorded runs hold plain JSON data: objects, lists, texts, numbers',
    });
  }
}

let recorded: { readonly value: unknown; readonly text: string } = { value: undefined, text: '' };

/** Keeps the JSON text of an immutable value: the next step in a row will most likely read it, and need its digest. */
export function keepText(value: unknown, text: string): void {
  recorded = { value, text };
}

/** Sets the digest of a value that a schema converted: if the result is not JSON, the digest of the given value. */
export function keepDigest(cell: Cell, made: unknown, given: unknown): void {
  let digest: string;
  try {
    digest = valueDigest(made);
  } catch {
    digest = valueDigest(given);
  }
  const newest = cell.folded?.newest;
  if (newest === undefined) cell.digest = digest;
  else newest.written.own = digest;
}
