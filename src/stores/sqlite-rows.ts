import { digestText } from '../base/hash.js';
import type { Answer, RunRow, RunStanding, StoredBatch } from '../journal/store.js';
import type { SqlRow, SqlValue } from './sqlite-driver.js';

/**
 * Rows with a sum. Journals have sums of their own; in all other data, a wrong byte without a sum would become a wrong answer. Columns are
 * selected as one piece of bytes, separated by NUL, which no text of a store contains.
 */

/** Columns of a run that enter its sum. */
export const RUN_COLUMNS = [
  'id',
  'name',
  'created_at',
  'parent',
  'fence',
  'holder',
  'host',
  'pid',
  'leased_until',
  'outcome',
  'ended_at',
  'cancel',
  'batches',
  'steps',
  'ms',
  'pauses',
] as const;

/** Columns of an answer that enter its sum, in addition to the run. */
export const ANSWER_COLUMNS = ['key', 'question', 'value', 'at', 'by'] as const;

export const SPENDING_COLUMNS = ['key', 'run', 'fence', 'at', 'counts'] as const;

/** SQL for columns as bytes, with their sum at the end. */
export function bytesOf(columns: readonly string[], alias: string): string {
  return `CAST(${[...columns, 'sum'].map((name) => `coalesce(${alias}.${name}, '')`).join(` || char(0) || `)} AS BLOB)`;
}

/** The sum of columns. */
export function sumOf(values: readonly (SqlValue | undefined)[]): string {
  return digestText(values.map((value) => value ?? '').join('\0'));
}

/** The sum of columns that have none yet. */
export function sumOfBytes(bytes: unknown): string {
  return bytes instanceof Uint8Array ? sumOf(readText(bytes).text.split('\0').slice(0, -1)) : '';
}

/** The columns of a piece of bytes, and why they are not valid. */
interface ReadColumns {
  readonly columns: readonly string[];
  readonly damage?: string;
}

export function readColumns(bytes: unknown, names: readonly string[]): ReadColumns {
  if (!(bytes instanceof Uint8Array)) return { columns: [], damage: 'its columns are not bytes' };
  const { text, badAt } = readText(bytes);
  const end = text.lastIndexOf('\0');
  const [summed, sum] = [text.slice(0, end), text.slice(end + 1)];
  const columns = summed.split('\0');
  if (badAt !== undefined) {
    const before = bytes.subarray(0, badAt);
    const at = before.filter((byte) => byte === 0).length;
    return { columns, damage: `byte ${badAt - 1 - before.lastIndexOf(0)} of its ${names[at] ?? 'sum'} is not UTF-8` };
  }
  if (columns.length === names.length && digestText(summed) === sum) return { columns };
  return { columns, damage: 'its checksum does not match its columns' };
}

export interface NumberedRow {
  readonly n: number;
  readonly row: RunRow;
}

/** Reads `n`, `bytes` and `last`, the number of the last batch. */
export function readRun({ n, bytes, last }: SqlRow): NumberedRow {
  const { columns, damage } = readColumns(bytes, RUN_COLUMNS);
  const [id = '', name = '', createdAt, parent, fence, holder, host, pid, until, outcome, endedAt, cancel] = columns;
  if (damage !== undefined) {
    const began = Number(createdAt);
    const fixed = { id, name, createdAt: Number.isSafeInteger(began) ? began : 0, fence: 0, cancelRequested: false };
    return { n: Number(n), row: { ...fixed, batches: 0, damage } };
  }
  const standing = readStanding(columns.slice(12));
  const row: RunRow = {
    id,
    name,
    createdAt: Number(createdAt),
    ...(parent === undefined || parent === '' ? {} : { parent }),
    fence: Number(fence),
    ...(outcome === undefined || outcome === '' ? {} : { outcome, endedAt: Number(endedAt) }),
    ...(holder === undefined || holder === ''
      ? {}
      : { holder: { id: holder, host: host ?? '', pid: Number(pid) }, leasedUntil: Number(until) }),
    cancelRequested: cancel === '1',
    batches: typeof last === 'number' ? last + 1 : 0,
    ...(standing === undefined ? {} : { standing }),
  };
  return { n: Number(n), row };
}

const NOTHING_OPEN: RunStanding['pauses'] = [];

function readStanding([batches, steps, ms, pauses]: readonly string[]): RunStanding | undefined {
  if (batches === undefined || batches === '') return undefined;
  const open = pauses === '[]' ? NOTHING_OPEN : (JSON.parse(pauses ?? '[]') as RunStanding['pauses']);
  return { batches: Number(batches), steps: Number(steps), ms: Number(ms), pauses: open };
}

export function runValues(row: RunRow): readonly SqlValue[] {
  const { id, name, createdAt, parent, fence, holder, leasedUntil, outcome, endedAt, cancelRequested, standing } = row;
  const own = [id, name, createdAt, parent, fence];
  const held = holder === undefined ? NOT_HELD : [holder.id, holder.host, holder.pid, leasedUntil];
  const ended = [outcome, endedAt, cancelRequested ? 1 : 0];
  const stands =
    standing === undefined
      ? NOT_NOTED
      : [standing.batches, standing.steps, standing.ms, JSON.stringify(standing.pauses)];
  const values = [...own, ...held, ...ended, ...stands].map((value) => value ?? null);
  return [...values, sumOf(values)];
}

const NOT_HELD = [null, null, null, null];
const NOT_NOTED = [null, null, null, null];

export function answerValues(n: number, { key, id, value, at, by }: Answer): readonly SqlValue[] {
  const values = [key, id, value ?? null, at, by];
  return [...values, sumOf([n, ...values])];
}

export function readAnswer({ n, bytes }: SqlRow): Answer | string {
  if (!(bytes instanceof Uint8Array)) return 'its columns are not bytes';
  const { columns, damage } = readColumns(bytes, ['n', ...ANSWER_COLUMNS]);
  if (damage !== undefined || columns[0] !== String(n)) return damage ?? 'it belongs to another run';
  const [, key = '', id = '', value = '', at, by = ''] = columns;
  return { key, id, ...(value === '' ? {} : { value }), at: Number(at), by };
}

export function readBatch({ seq, bytes, sum }: SqlRow): StoredBatch {
  const [text, chained] = [bytes, sum].map((part) => readText(part instanceof Uint8Array ? part : new Uint8Array()));
  const damage =
    text?.badAt !== undefined
      ? ({ column: 'text', offset: text.badAt } as const)
      : chained?.badAt !== undefined
        ? ({ column: 'sum', offset: chained.badAt } as const)
        : undefined;
  const batch = { seq: Number(seq), text: text?.text ?? '', sum: chained?.text ?? '' };
  return damage === undefined ? batch : { ...batch, damage };
}

/** Reads a page of batches from one row; undefined if a problem requires reading them one by one. */
export function readPage({ bytes }: SqlRow, from: number, count: number): readonly StoredBatch[] | undefined {
  if (bytes === null) return [];
  if (!(bytes instanceof Uint8Array)) return undefined;
  const { text, badAt } = readText(bytes);
  const parts = text.split('\0');
  if (badAt !== undefined || parts.length > 3 * count) return undefined;
  const batches: StoredBatch[] = [];
  for (let at = 0; at < parts.length; at += 3) {
    const [seq, sum] = [from + batches.length, parts[at + 2]];
    if (parts[at] !== String(seq) || sum === undefined) return undefined;
    batches.push({ seq, text: parts[at + 1] ?? '', sum });
  }
  return batches;
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decoded text, and the position of invalid bytes. */
export interface ReadText {
  /** The text with U+FFFD in place of invalid bytes. */
  readonly text: string;
  /** Offset of the first byte that is not UTF-8. */
  readonly badAt?: number;
}

/** Decodes the bytes of a text. Drivers are not reliable here: one exits, one writes U+FFFD silently, one stops at a NUL. */
export function readText(bytes: Uint8Array): ReadText {
  try {
    return { text: strict.decode(bytes) };
  } catch {
    const text = lenient.decode(bytes);
    const written = Buffer.from(text);
    const badAt = written.findIndex((byte, at) => byte !== bytes[at]);
    return { text, badAt: badAt === -1 ? Math.min(written.length, bytes.length) : badAt };
  }
}
