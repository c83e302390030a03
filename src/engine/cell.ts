import { digestText } from '../base/hash.js';
import { SkeinError } from '../base/errors.js';
import { recordText } from '../base/json.js';
import type { Reducer } from '../plan/reducers.js';

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
  /** Digest of the value of a plain channel, once it was asked. */
  digest: string | undefined;
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
  /** Digest of the value, once it was asked. */
  own: string | undefined;
  /** Digest of the accumulator and all contributions up to this one, once it was asked. */
  chain: string | undefined;
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
    const before = inEpoch ? old : undefined;
    return {
      value,
      writer: writer.compiled.index,
      epoch,
      rank: before === undefined ? 0 : before.rank + 1,
      before,
      folded: undefined,
      digest: undefined,
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
    own: undefined,
    chain: undefined,
  };
  // The contributions of earlier epochs are forgotten, so their digest is made now or never.
  const base = inEpoch ? old.folded?.base : old !== undefined && moment.recorded ? cellDigest(old, reducer) : undefined;
  const folded: FoldedCell = { accumulator, newest, value: undefined, known: false, base };
  return foldedCell(folded, writer.compiled.index, epoch);
}

/** A cell of a reducer channel. */
export function foldedCell(folded: FoldedCell, writer: number, epoch: number): Cell {
  return { value: undefined, writer, epoch, rank: 0, before: undefined, folded, digest: undefined };
}

/** The cell of an input. `digest`: that of the value, where it is known. */
export function inputCell(value: unknown, reducer: Reducer | undefined, digest?: string): Cell {
  if (reducer === undefined)
    return { value, writer: -1, epoch: 0, rank: 0, before: undefined, folded: undefined, digest };
  const base = digest === undefined ? undefined : openDigest(reducer, digest);
  const accumulator = reducer.open(value);
  return foldedCell({ accumulator, newest: undefined, value: undefined, known: false, base }, -1, 0);
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

/** What a reducer channel would hold with one more contribution. */
export function foldedWith(cell: Cell | undefined, contribution: unknown, reducer: Reducer): unknown {
  const accumulator = cell === undefined ? reducer.open(undefined) : foldAll(cell, reducer);
  return reducer.read(reducer.fold(accumulator, contribution));
}

/** Plan order among contributions: chains are kept sorted by this (S3). */
export function compareContributions(a: Contribution, b: Contribution): number {
  return a.round - b.round || a.place - b.place || a.visit - b.visit;
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
    next.own ??= valueDigest(next.value);
    digest = digestText(`${digest} ${next.own}`);
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
    return digestText(recordText(value));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SkeinError('SKEIN_NOT_JSON', `a value of the state can't be recorded: ${why}`, {
      hint: 'recorded runs hold plain JSON data: objects, lists, texts, numbers',
    });
  }
}

/** A schema made something else of a value: where that is no JSON, what came in counts. */
export function keepDigest(cell: Cell, made: unknown, given: unknown): void {
  let digest: string;
  try {
    digest = valueDigest(made);
  } catch {
    digest = valueDigest(given);
  }
  const newest = cell.folded?.newest;
  if (newest === undefined) cell.digest = digest;
  else newest.own = digest;
}
