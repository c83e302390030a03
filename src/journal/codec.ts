import { digestText } from '../base/hash.js';
import type { DoneRecord, JournalRecord, Stored } from './record.js';
import { RECORD_VERSION } from './record.js';
import type { BlobText } from './store.js';

/** A value whose JSON text has more characters than this is kept as a blob (J7). */
export const LONGEST_INLINE = 64 * 1024;

/** The sum before the first batch. */
export const FIRST_SUM = '';

/** How a value is stored; `blob` is what goes to the store besides. */
export interface StoredText {
  readonly stored: Stored;
  /** Text of the value in place; undefined for a blob, and for undefined. */
  readonly inline: string | undefined;
  readonly blob: BlobText | undefined;
}

/** Decides where the JSON text of a value goes; undefined is stored as nothing. */
export function storeText(text: string | undefined): StoredText {
  if (text === undefined || text.length <= LONGEST_INLINE) return { stored: {}, inline: text, blob: undefined };
  const digest = digestText(text);
  return { stored: { blob: digest }, inline: undefined, blob: { digest, text } };
}

/** The line of a record. */
export function encodeRecord(record: JournalRecord): string {
  return `{"v":${RECORD_VERSION},${JSON.stringify(record).slice(1)}`;
}

/** The line of an outcome whose value is JSON text already. */
export function encodeDone(record: DoneRecord, inline: string | undefined): string {
  const line = encodeRecord(record);
  return inline === undefined ? line : `${line.slice(0, -1)},"value":${inline}}`;
}

/** The sum of a batch: a chain, so that a batch that is changed, left out, moved or taken from elsewhere is noticed (J8). */
export function chainSum(before: string, runId: string, seq: number, text: string): string {
  return digestText(`${before}\n${runId}\n${seq}\n${text}`);
}
