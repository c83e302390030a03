import { digestText } from '../../base/hash.js';
import { SkeinError } from '../../base/errors.js';
import { recordText } from '../../base/json.js';
import type { Kept } from '../../base/kept.js';
import { CLEAN } from '../../guard/label.js';
import type { Reducer } from '../../plan/reducers.js';
import type { Contribution } from './contributions.js';
import { linkAfter } from './contributions.js';

/** One value of a channel. */
export interface Cell {
  readonly value: unknown;
  /** Index of the node that wrote it; -1 for an input. */
  readonly writer: number;
  readonly epoch: number;
  /** How many writes of its line came before it, within the epoch. */
  readonly rank: number;
  /** Absent until the cell is overwritten within its epoch, or is itself such a write. Plain channels only. */
  line: Line | undefined;
  /** For reducer channels. */
  readonly folded: FoldedCell | undefined;
  /** Digest of the value of a plain channel, once it was asked. */
  digest: string | undefined;
  /** Trust label: what had a say in the value. Set by whoever makes the cell, before anybody sees it. */
  label: number;
}

/**
 * Writes of a plain channel one over the other, within an epoch. Who overwrites its newest cell continues it; who overwrites an older one, which
 * somebody else has overwritten, begins a line of its own. So what came before a cell is known without keeping it.
 */
interface Line {
  /** Where it left another line. */
  readonly from: { readonly line: Line; readonly rank: number } | undefined;
  /** Rank of its newest cell. */
  newest: number;
}

/** The part of a cell that only reducer channels have. `value` is filled when it is first read. */
export interface FoldedCell {
  readonly accumulator: unknown;
  readonly newest: Contribution | undefined;
  value: unknown;
  known: boolean;
  /** Digest of the accumulator. Absent: it is what the channel was opened with. */
  base: string | undefined;
}

/** Who writes: for the order of contributions and for error messages. */
export interface Writer {
  readonly compiled: { readonly index: number; readonly place: number };
  readonly round: number;
  readonly visit: number;
}

/** When something is written. */
export interface Moment {
  /** The epoch that writes belong to (V2). */
  readonly epoch: number;
  /** Digests will be asked for. */
  readonly recorded: boolean;
}

/** The cell that results when `writer` writes `value` over `old`. */
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
    writer: writer.compiled.index,
    round: writer.round,
    place: writer.compiled.place,
    visit: writer.visit,
    own: undefined,
  });
  // The contributions of earlier epochs are forgotten, so their digest is made now or never.
  const base = inEpoch ? old.folded?.base : old !== undefined && moment.recorded ? cellDigest(old, reducer) : undefined;
  const folded: FoldedCell = { accumulator, newest, value: undefined, known: false, base };
  return foldedCell(folded, writer.compiled.index, epoch);
}

/** A cell of a plain channel; `old` is what it overwrites within its epoch. */
function overwrite(old: Cell | undefined, value: unknown, writer: number, epoch: number): Cell {
  if (old === undefined)
    return { value, writer, epoch, rank: 0, line: undefined, folded: undefined, digest: undefined, label: CLEAN };
  const known = (old.line ??= { from: undefined, newest: old.rank });
  const rank = old.rank + 1;
  const line: Line = known.newest === old.rank ? known : { from: { line: known, rank: old.rank }, newest: rank };
  line.newest = rank;
  return { value, writer, epoch, rank, line, folded: undefined, digest: undefined, label: CLEAN };
}

/** V1 and V2: is `a` causally before `b`, another cell of the same channel? Plain channels only. */
export function isBefore(a: Cell, b: Cell): boolean {
  if (a.epoch !== b.epoch) return a.epoch < b.epoch;
  let upTo = b.rank - 1;
  for (let line = b.line; line !== undefined; line = line.from?.line) {
    if (line === a.line) return a.rank <= upTo;
    upTo = line.from?.rank ?? -1;
  }
  return false;
}

/** A cell of a reducer channel. */
export function foldedCell(folded: FoldedCell, writer: number, epoch: number): Cell {
  return { value: undefined, writer, epoch, rank: 0, line: undefined, folded, digest: undefined, label: CLEAN };
}

/** The cell of an input. `label`: its trust label; `digest`: that of the value, where it is known. */
export function inputCell(value: unknown, reducer: Reducer | undefined, label = CLEAN, digest?: string): Cell {
  if (reducer === undefined)
    return { value, writer: -1, epoch: 0, rank: 0, line: undefined, folded: undefined, digest, label };
  const base = digest === undefined ? undefined : openDigest(reducer, digest);
  const accumulator = reducer.open(value);
  const cell = foldedCell({ accumulator, newest: undefined, value: undefined, known: false, base }, -1, 0);
  cell.label = label;
  return cell;
}

/** The cell of a plain channel whose value is kept elsewhere: it is read with the cell. Kept values are never undefined. */
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

/** The cell of a channel whose value is kept elsewhere; `digest` is that of the cell that it was kept of. */
export function keptCell(kept: Kept, reducer: Reducer | undefined, digest: string): Cell {
  if (reducer === undefined) return new KeptCell(kept, digest);
  return reopenedCell(reducer.reopen(kept), digest);
}

/** A cell of a reducer channel with nothing but an accumulator. */
function reopenedCell(accumulator: unknown, base: string): Cell {
  return foldedCell({ accumulator, newest: undefined, value: undefined, known: false, base }, -1, 0);
}

/** A reducer channel before anything runs, with an input taken in. */
export function takenIn(cell: Cell, reducer: Reducer, contributions: readonly unknown[]): Cell {
  let accumulator = foldAll(cell, reducer);
  let digest = cellDigest(cell, reducer);
  for (const contribution of contributions) {
    accumulator = reducer.fold(accumulator, contribution);
    digest = digestText(`${digest} ${valueDigest(contribution)}`);
  }
  return reopenedCell(accumulator, digest);
}

/** To see what is in the cell, a kept value has to be read. */
export function isUnread(cell: Cell, reducer: Reducer | undefined): boolean {
  if (cell instanceof KeptCell) return !cell.kept.isRead;
  return reducer !== undefined && cell.folded?.known === false && reducer.isUnread(foldAll(cell, reducer));
}

/** What came to a kept value since; undefined for a value that is another one. */
export function addedTo(kept: Kept, cell: Cell, reducer: Reducer | undefined): unknown {
  return reducer?.added?.(foldAll(cell, reducer), kept);
}

/** An update said that the channel has no value any more: it is as if nobody had written it. */
export function isCleared(cell: Cell | undefined): boolean {
  if (cell === undefined || cell instanceof KeptCell) return false;
  const { value, folded } = cell;
  if (folded === undefined) return value === undefined;
  return folded.newest !== undefined && folded.newest.written.value === undefined;
}

/** Is what a node sees in a cell there, so that nothing has to be put together? */
export function isAtHand({ folded }: Cell): boolean {
  return folded === undefined || folded.known;
}

/** What a node sees in a cell. */
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

/** What a node sees in a cell that takes no more of it than its length and single entries; undefined where that is what others see. */
export function glanceOf(cell: Cell, reducer: Reducer | undefined): unknown {
  return isAtHand(cell) || isCleared(cell) ? undefined : reducer?.glance?.(foldAll(cell, reducer));
}

/** What a node sees in a cell, or of a list at least so many of its last entries, where the whole is not at hand. */
export function cellEnd(cell: Cell, reducer: Reducer | undefined, count: number): unknown {
  if (isAtHand(cell) || isCleared(cell) || reducer?.end === undefined) return cellValue(cell, reducer);
  return reducer.end(foldAll(cell, reducer), count);
}

/** Folds the contributions of a cell, as a read would, and looks at nothing. @throws what a reducer throws */
export function tryFold(cell: Cell, reducer: Reducer): void {
  foldAll(cell, reducer);
}

/**
 * What a cell's contributions fold to. It is kept at the newest one, so that whoever adds to them folds only what was added; where it was kept
 * before, it is let go, unless others go on from there too.
 */
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
    // What several chains go on from is folded once.
    if (one.followers > 1) keepSum(one, accumulator);
  }
  if (from !== undefined && from !== newest && from.followers < 2) from.sum = undefined;
  return keepSum(newest, accumulator);
}

function keepSum(link: Contribution, accumulator: unknown): unknown {
  link.sum ??= { accumulator };
  return accumulator;
}

/** What a reducer channel would hold with one more contribution. */
export function foldedWith(cell: Cell | undefined, contribution: unknown, reducer: Reducer): unknown {
  const accumulator = cell === undefined ? reducer.open(undefined) : foldAll(cell, reducer);
  return reducer.read(reducer.fold(accumulator, contribution));
}

/**
 * Digest of what a node sees in a cell (J2), made when it is first asked and kept. That of a reducer channel is a chain over its
 * contributions in their order, from the digest of the accumulator on; an accumulator has the digest of the cell that it was made of.
 * So it does not depend on where epochs begin, and each contribution is looked at once.
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

/**
 * Digest of a value of the state.
 *
 * @throws SkeinError `SKEIN_NOT_JSON`
 */
export function valueDigest(value: unknown): string {
  if (value === undefined) return '';
  try {
    return digestText(value === recorded.value ? recorded.text : recordText(value));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SkeinError('SKEIN_NOT_JSON', `a value of the state can't be recorded: ${why}`, {
      hint: 'recorded runs hold plain JSON data: objects, lists, texts, numbers',
    });
  }
}

/** What was recorded last. */
let recorded: { readonly value: unknown; readonly text: string } = { value: undefined, text: '' };

/** The JSON text of a value that nobody can change any more: the next step in a row is the likeliest to read it, and needs its digest. */
export function keepText(value: unknown, text: string): void {
  recorded = { value, text };
}

/** A schema made something else of a value: where that is not JSON, what came in counts. */
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
