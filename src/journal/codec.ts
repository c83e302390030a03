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

/** The line of an outcome whose value is JSON text already. Put together by hand: it is the line that is written most. */
export function encodeDone(record: DoneRecord, inline: string | undefined): string {
  const { at, key, id, reads, ms, blob, error, cleanup, inline: atOnce } = record;
  let line = `{"v":${RECORD_VERSION},"t":"done","at":${at},"key":${JSON.stringify(key)}`;
  if (id !== undefined) line += `,"id":${JSON.stringify(id)}`;
  if (reads !== undefined) line += `,"reads":${JSON.stringify(reads)}`;
  if (ms !== undefined) line += `,"ms":${ms}`;
  if (cleanup === true) line += ',"cleanup":true';
  if (atOnce === true) line += ',"inline":true';
  if (error !== undefined) line += `,"error":${JSON.stringify(error)}`;
  if (blob !== undefined) line += `,"blob":${JSON.stringify(blob)}`;
  return inline === undefined ? `${line}}` : `${line},"value":${inline}}`;
}

/** The sum of a batch: a chain, so that a batch that is changed, left out, moved or taken from elsewhere is noticed (J8). */
export function chainSum(before: string, runId: string, seq: number, text: string): string {
  return digestText(`${before}\n${runId}\n${seq}\n${text}`);
}
