import { digestText } from '../base/hash.js';
import { isPlainObject } from '../base/json.js';
import { RECORD_VERSION, type BeginRecord, type DoneRecord, type JournalRecord } from './record.js';
import { checkRecord } from './schema.js';
import type { Batch, BlobText, Lease, RunStanding, SpendingChange } from './store.js';
import type { ThreadRecord } from './thread-record.js';

/** A value whose JSON text has more characters than this is stored as a blob (J7). */
export const LONGEST_INLINE = 64 * 1024;

export const FIRST_SUM = '';

/** The blob for the JSON text of a value; undefined if the value stays inline. */
export function blobOf(text: string): BlobText | undefined {
  return text.length <= LONGEST_INLINE ? undefined : { digest: digestText(text), text };
}

/** @throws SkeinError `SKEIN_NOT_JSON` if the line could not be read again */
export function encodeRecord(record: JournalRecord | ThreadRecord): string {
  checkRecord(record);
  return `{"v":${RECORD_VERSION},${JSON.stringify(record).slice(1)}`;
}

/**
 * Encodes the first record of a run. Parts that are already JSON text make up most of it, and many runs share them.
 *
 * @throws SkeinError `SKEIN_NOT_JSON` if the line could not be read again
 */
export function encodeBegin(record: BeginRecord, texts: Readonly<Record<BeginText, string>>): string {
  const { plan: _plan, code: _code, inputs: _inputs, settings: _settings, origin, ...head } = record;
  checkRecord(record);
  const line = `{"v":${RECORD_VERSION},${JSON.stringify(head).slice(1, -1)},"plan":${texts.plan},"code":${texts.code}`;
  return `${line},"inputs":${texts.inputs},"settings":${texts.settings},"origin":${JSON.stringify(origin)}}`;
}

type BeginText = 'plan' | 'code' | 'inputs' | 'settings';

/** An outcome to write: absent fields may be undefined. */
export type WrittenDone = Pick<DoneRecord, 't' | 'at' | 'key'> & {
  readonly [K in keyof DoneRecord]?: DoneRecord[K] | undefined;
};

/**
 * Encodes an outcome whose value is already JSON text. Concatenated by hand, since this line is written most often. Omits non-text digests
 * of an untyped executor: no look-up can match them.
 */
export function encodeDone(record: WrittenDone, inline: string | undefined): string {
  const { at, key, id, reads, heard, wrote, freed, ms, blob, error, cleanup, unmade, by, inline: atOnce } = record;
  let line = `{"v":${RECORD_VERSION},"t":"done","at":${at},"key":${quoted(key)}`;
  if (typeof id === 'string') line += `,"id":${quoted(id)}`;
  const read = textsText(reads);
  if (read !== undefined) line += `,"reads":${read}`;
  if (heard !== undefined) line += `,"heard":${JSON.stringify(heard)}`;
  if (wrote !== undefined) line += `,"wrote":${JSON.stringify(wrote)}`;
  if (freed !== undefined) line += `,"freed":${JSON.stringify(freed)}`;
  if (ms !== undefined) line += `,"ms":${ms}`;
  if (cleanup === true) line += ',"cleanup":true';
  if (unmade === true) line += ',"unmade":true';
  if (by !== undefined) line += `,"by":${quoted(by)}`;
  if (atOnce === true) line += ',"inline":true';
  if (error !== undefined) line += `,"error":${JSON.stringify(error)}`;
  if (blob !== undefined) line += `,"blob":${JSON.stringify(blob)}`;
  return inline === undefined ? `${line}}` : `${line},"value":${inline}}`;
}

/** Encodes an object of texts as JSON; undefined if a value is not a text, or can't be read. */
function textsText(values: DoneRecord['reads']): string | undefined {
  let text = '';
  try {
    if (!isPlainObject(values)) return undefined;
    for (const name of Object.keys(values)) {
      const value = values[name];
      if (typeof value !== 'string') return undefined;
      text += `${text === '' ? '{' : ','}${quoted(name)}:${quoted(value)}`;
    }
  } catch {
    return undefined;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Encodes a text as JSON. Addresses and digests need no escaping: testing for this is faster than JSON.stringify. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

const PLAIN = /^[\w.~#/@[\]-]*$/;

/** The sum of a batch. Sums form a chain that reveals a batch that was changed, omitted, moved or taken from elsewhere (J8). */
export function chainSum(before: string, runId: string, seq: number, text: string): string {
  return digestText(`${before}\n${runId}\n${seq}\n${text}`);
}

/** The position where a journal continues. */
export interface JournalEnd {
  readonly batches: number;
  /** Sum of the last batch. */
  readonly sum: string;
}

/**
 * A batch with this many characters accepts no further line; a store accepts 1 MiB. V8's garbage collector treats longer texts as large
 * objects with memory of their own: a commit of a thousand outcomes then takes a fifth more time.
 */
const FULL_BATCH = 64 * 1024;

/** Lines to commit together, grouped into batches. */
export class OpenBatches {
  readonly blobs: BlobText[] = [];
  /** Changes of the run's spending to commit with the lines. */
  private spending: NonNullable<Batch['spending']> | undefined = undefined;
  lines = 0;
  private readonly texts: string[] = [];

  /** Adds a line and returns the index of its batch, from 0. */
  put(line: string, blob?: BlobText): number {
    const last = this.texts.length - 1;
    const text = this.texts[last];
    this.lines += 1;
    if (blob !== undefined) this.blobs.push(blob);
    if (text === undefined || text.length + line.length > FULL_BATCH) return this.texts.push(line) - 1;
    this.texts[last] = `${text}\n${line}`;
    return last;
  }

  charge(changes: readonly SpendingChange[], at: number): void {
    this.spending = { at, changes: [...(this.spending?.changes ?? []), ...changes] };
  }

  /** Returns a copy with one more line. */
  with(line: string): OpenBatches {
    const more = new OpenBatches();
    more.blobs.push(...this.blobs);
    more.texts.push(...this.texts);
    more.spending = this.spending;
    more.lines = this.lines;
    more.put(line);
    return more;
  }

  /** Returns the batches after the end of a journal. Blobs go with the first batch, spending and standing with the last. */
  after(end: JournalEnd, lease: Lease, standing?: (batches: number) => RunStanding | undefined): readonly Batch[] {
    const { texts, blobs, spending } = this;
    let { sum } = end;
    return texts.map((text, index) => {
      const seq = end.batches + index;
      sum = chainSum(sum, lease.runId, seq, text);
      const batch: Batch = { lease, seq, text, sum, ...(index === 0 && blobs.length > 0 ? { blobs } : {}) };
      if (index < texts.length - 1) return batch;
      const last = spending === undefined ? batch : { ...batch, spending };
      return withStanding(last, standing?.(seq + 1));
    });
  }
}

export function endOf(batches: readonly Batch[], end: JournalEnd): JournalEnd {
  const last = batches.at(-1);
  return last === undefined ? end : { batches: last.seq + 1, sum: last.sum };
}

export function withStanding<T extends object>(
  to: T,
  standing: RunStanding | undefined,
): T & { standing?: RunStanding } {
  return standing === undefined ? to : { ...to, standing };
}
