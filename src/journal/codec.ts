import { digestText } from '../base/hash.js';
import { isPlainObject } from '../base/json.js';
import type { BeginRecord, DoneRecord, JournalRecord } from './record.js';
import { RECORD_VERSION } from './record.js';
import { checkRecord } from './schema.js';
import type { Batch, BlobText, Lease, RunStanding, SpendingChange } from './store.js';
import type { ThreadRecord } from './thread-record.js';

/** A value whose JSON text has more characters than this is kept as a blob (J7). */
export const LONGEST_INLINE = 64 * 1024;

/** The sum before the first batch. */
export const FIRST_SUM = '';

/** The blob that the JSON text of a value goes to; undefined: it stands in its place. */
export function blobOf(text: string): BlobText | undefined {
  return text.length <= LONGEST_INLINE ? undefined : { digest: digestText(text), text };
}

/**
 * The line of a record, of a run or of a thread.
 *
 * @throws SkeinError `SKEIN_NOT_JSON` for one that could not be read again
 */
export function encodeRecord(record: JournalRecord | ThreadRecord): string {
  checkRecord(record);
  return `{"v":${RECORD_VERSION},${JSON.stringify(record).slice(1)}`;
}

/**
 * The line that begins a run. What is JSON text already is most of it, and the same for many runs.
 *
 * @throws SkeinError `SKEIN_NOT_JSON` for one that could not be read again
 */
export function encodeBegin(record: BeginRecord, texts: Readonly<Record<BeginText, string>>): string {
  const { plan: _plan, code: _code, inputs: _inputs, settings: _settings, origin, ...head } = record;
  checkRecord(record);
  const line = `{"v":${RECORD_VERSION},${JSON.stringify(head).slice(1, -1)},"plan":${texts.plan},"code":${texts.code}`;
  return `${line},"inputs":${texts.inputs},"settings":${texts.settings},"origin":${JSON.stringify(origin)}}`;
}

type BeginText = 'plan' | 'code' | 'inputs' | 'settings';

/** An outcome as it is written: what it does not have may be undefined. */
export type WrittenDone = Pick<DoneRecord, 't' | 'at' | 'key'> & {
  readonly [K in keyof DoneRecord]?: DoneRecord[K] | undefined;
};

/**
 * The line of an outcome whose value is JSON text already. Put together by hand: it is the line that is written most. Digests that are not texts,
 * of an executor without types, are left out: nothing is found by them.
 */
export function encodeDone(record: WrittenDone, inline: string | undefined): string {
  const { at, key, id, reads, heard, freed, ms, blob, error, cleanup, by, inline: atOnce } = record;
  let line = `{"v":${RECORD_VERSION},"t":"done","at":${at},"key":${quoted(key)}`;
  if (typeof id === 'string') line += `,"id":${quoted(id)}`;
  const read = textsText(reads);
  if (read !== undefined) line += `,"reads":${read}`;
  if (heard !== undefined) line += `,"heard":${JSON.stringify(heard)}`;
  if (freed !== undefined) line += `,"freed":${JSON.stringify(freed)}`;
  if (ms !== undefined) line += `,"ms":${ms}`;
  if (cleanup === true) line += ',"cleanup":true';
  if (by !== undefined) line += `,"by":${quoted(by)}`;
  if (atOnce === true) line += ',"inline":true';
  if (error !== undefined) line += `,"error":${JSON.stringify(error)}`;
  if (blob !== undefined) line += `,"blob":${JSON.stringify(blob)}`;
  return inline === undefined ? `${line}}` : `${line},"value":${inline}}`;
}

/** JSON text of texts by name; undefined where they are something else. */
function textsText(values: DoneRecord['reads']): string | undefined {
  if (!isPlainObject(values)) return undefined;
  let text = '';
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (typeof value !== 'string') return undefined;
    text += `${text === '' ? '{' : ','}${quoted(name)}:${quoted(value)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** JSON text of a text. Addresses and digests have nothing to escape, and are found out faster than they are written by JSON.stringify. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

const PLAIN = /^[\w.~#/@[\]-]*$/;

/** The sum of a batch: a chain, so that a batch that is changed, left out, moved or taken from elsewhere is noticed (J8). */
export function chainSum(before: string, runId: string, seq: number, text: string): string {
  return digestText(`${before}\n${runId}\n${seq}\n${text}`);
}

/** Where a journal goes on. */
export interface JournalEnd {
  /** Number of batches. */
  readonly batches: number;
  /** Sum of the last. */
  readonly sum: string;
}

/**
 * A batch takes no further line once it has this many characters; a store takes 1 MiB. Longer texts are large objects to the collector of
 * V8, each with memory of its own: a commit of a thousand outcomes then takes a fifth more time.
 */
const FULL_BATCH = 64 * 1024;

/** Lines that are to be committed together, put into batches. */
export class OpenBatches {
  readonly blobs: BlobText[] = [];
  /** What changes with them of what the run has spent. */
  private spending: NonNullable<Batch['spending']> | undefined = undefined;
  lines = 0;
  private readonly texts: string[] = [];

  /** Gives the place of the batch that takes the line: 0 for the first. */
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

  /** The same with one more line. */
  with(line: string): OpenBatches {
    const more = new OpenBatches();
    more.blobs.push(...this.blobs);
    more.texts.push(...this.texts);
    more.spending = this.spending;
    more.lines = this.lines;
    more.put(line);
    return more;
  }

  /** The batches that follow the end of a journal; blobs go with the first, what was spent and how the run stands with the last. */
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

/** The end of a journal after more batches. */
export function endOf(batches: readonly Batch[], end: JournalEnd): JournalEnd {
  const last = batches.at(-1);
  return last === undefined ? end : { batches: last.seq + 1, sum: last.sum };
}

/** With how the run stands, where that is known. */
export function withStanding<T extends object>(
  to: T,
  standing: RunStanding | undefined,
): T & { standing?: RunStanding } {
  return standing === undefined ? to : { ...to, standing };
}
