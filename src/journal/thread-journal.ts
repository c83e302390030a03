import { SkeinError } from '../base/errors.js';
import { freezeData } from '../base/json.js';
import { Kept } from '../base/kept.js';
import { FIRST_SUM, chainSum, type JournalEnd } from './codec.js';
import { readThreadRecord } from './schema.js';
import { readStored } from './stored.js';
import type { Store, StoredBatch } from './store.js';
import type { ChannelPlace, HeadRecord, PutRecord, ShapeRecord, ThreadRecord, ThreadState } from './thread-record.js';
import { threadRow } from './thread-rows.js';

const PAGE = 256;

/** The current state of a thread's journal. */
export interface ThreadHead {
  readonly id: string;
  readonly record: HeadRecord;
  /** Number of turns so far. */
  readonly turns: number;
  /** The state after the last turn that counts. `on`: the batch that contains it. */
  readonly state: ThreadState;
  readonly on: number;
  /** Number of turns at the time of that state, which is that of the last one or of an edit after it; undefined before any state. */
  readonly after: number | undefined;
  readonly end: JournalEnd;
}

/**
 * Reads how a thread stands from the end of its journal, whatever its length. Undefined if the thread does not exist.
 *
 * @throws SkeinError `SKEIN_JOURNAL` if it is damaged, `SKEIN_STORE`
 */
export function readHead(store: Store, id: string): ThreadHead | undefined {
  const row = store.run(threadRow(id));
  if (row === undefined) return undefined;
  const last = row.batches - 1;
  const { batch, record } = headAt(store, id, last);
  const on = 'state' in record && record.state !== undefined ? last : 'on' in record ? (record.on ?? -1) : -1;
  const left = on === last ? record : headAt(store, id, on).record;
  return {
    id,
    record,
    turns: record.t === 'thread' ? 0 : record.turn,
    state: stateAt(store, id, on),
    on,
    after: left.t === 'thread' ? undefined : left.turn,
    end: { batches: row.batches, sum: batch.sum },
  };
}

/** @throws SkeinError `SKEIN_JOURNAL` */
export function stateAt(store: Store, id: string, seq: number): ThreadState {
  const { record } = headAt(store, id, seq);
  if ('state' in record && record.state !== undefined) return record.state;
  throw damaged(id, seq, 'it has no state');
}

/** Reads the shape of the workflow that wrote a state. */
export function shapeOf(store: Store, id: string, { shape }: ThreadState): ShapeRecord | undefined {
  if (shape === undefined) return undefined;
  const record = recordsOf(id, batchAt(store, id, shape)).find(({ t }) => t === 'shape');
  if (record?.t === 'shape') return record;
  throw damaged(id, shape, 'it has no shape of a state');
}

/** A value of a state, and its place. */
export interface KeptChannel {
  readonly kept: Kept;
  readonly digest: string;
  readonly label: ChannelPlace['label'];
  readonly place: ChannelPlace;
}

/** The values of a state, each read on demand. */
export function keptChannels(store: Store, id: string, { channels }: ThreadState): ReadonlyMap<string, KeptChannel> {
  return new Map(
    Object.entries(channels).map(([name, place]) => {
      const end = (count: number): readonly unknown[] => freezeData(endAt(store, id, name, place, count));
      const kept = new Kept(place.kind, () => freezeData(valueAt(store, id, name, place)), end);
      return [name, { kept, digest: place.digest, label: place.label, place }];
    }),
  );
}

/** All records of a thread, in order. @throws SkeinError `SKEIN_JOURNAL` */
export function* threadRecords(store: Store, id: string): Generator<ThreadRecord> {
  for (const batch of batchesFrom(store, id, 0)) yield* recordsOf(id, batch);
}

/** Number of batches first read for the end of a list. */
const FEW = 16;

/** Returns at least `count` of the last entries of a list: the latest entries are in the last batches. */
function endAt(store: Store, id: string, channel: string, place: ChannelPlace, count: number): readonly unknown[] {
  for (let batches = FEW; ; batches *= 4) {
    const from = place.at - batches + 1;
    if (from <= place.from) return valueAt(store, id, channel, place) as readonly unknown[];
    const parts = partsOf(store, id, channel, { ...place, from });
    const entries = parts.flatMap((one) => readStored(store, one) as readonly unknown[]);
    if (entries.length >= count) return entries;
  }
}

function valueAt(store: Store, id: string, channel: string, place: ChannelPlace): unknown {
  const [first, ...more] = partsOf(store, id, channel, place);
  if (first === undefined || first.more === true) throw damaged(id, place.from, `it has no value of ${channel}`);
  return putTogether(
    readStored(store, first),
    more.map((one) => readStored(store, one)),
  );
}

/** The pieces of a value in a range of batches, in order. */
function partsOf(store: Store, id: string, channel: string, { from, at }: ChannelPlace): readonly PutRecord[] {
  const parts: PutRecord[] = [];
  const mark = `"channel":${JSON.stringify(channel)}`;
  const take = (batch: StoredBatch): void => {
    for (const line of batch.text.split('\n')) {
      if (!line.includes(mark)) continue;
      const record = readLine(id, batch.seq, line);
      if (record.t === 'put' && record.channel === channel) parts.push(record);
    }
  };
  if (from === at) take(batchAt(store, id, at));
  else
    for (const batch of batchesFrom(store, id, from)) {
      take(batch);
      if (batch.seq >= at) break;
    }
  return parts;
}

/** Combines the written pieces of a value. */
export function putTogether(first: unknown, more: readonly unknown[]): unknown {
  if (more.length === 0) return first;
  if (Array.isArray(first)) return [first, ...more].flat();
  if (typeof first === 'string') return first + more.join('');
  const all = [first, ...more].flatMap((part) => Object.entries(part as object));
  return Object.fromEntries(new Map(all));
}

/** The head in a batch: its last line. */
function headAt(store: Store, id: string, seq: number): { readonly batch: StoredBatch; readonly record: HeadRecord } {
  const batch = batchAt(store, id, seq);
  const record = readLine(id, seq, batch.text.slice(batch.text.lastIndexOf('\n') + 1));
  if (record.t === 'put' || record.t === 'shape') throw damaged(id, seq, 'it does not say how the thread stands');
  return { batch, record };
}

/** Reads a batch, and checks its sum. */
function batchAt(store: Store, id: string, seq: number): StoredBatch {
  const from = Math.max(0, seq - 1);
  const batches = store.read(threadRow(id), from, seq - from + 1);
  const batch = batches.at(-1);
  if (seq < 0 || batch?.seq !== seq) throw damaged(id, seq, 'it is missing');
  return checked(id, batch, batches.length === 1 ? FIRST_SUM : (batches[0]?.sum ?? ''));
}

function* batchesFrom(store: Store, id: string, seq: number): Generator<StoredBatch> {
  const row = threadRow(id);
  let sum = seq === 0 ? FIRST_SUM : (store.read(row, seq - 1, 1)[0]?.sum ?? '');
  for (let next = seq; ;) {
    const batches = store.read(row, next, PAGE);
    for (const batch of batches) {
      if (batch.seq !== next) throw damaged(id, next, 'it is missing');
      yield checked(id, batch, sum);
      ({ sum } = batch);
      next += 1;
    }
    if (batches.length < PAGE) return;
  }
}

function checked(id: string, batch: StoredBatch, before: string): StoredBatch {
  if (chainSum(before, threadRow(id), batch.seq, batch.text) === batch.sum) return batch;
  throw damaged(id, batch.seq, 'its checksum does not match its lines and the batch before');
}

function recordsOf(id: string, { seq, text }: StoredBatch): readonly ThreadRecord[] {
  return text.split('\n').map((line) => readLine(id, seq, line));
}

function readLine(id: string, seq: number, line: string): ThreadRecord {
  try {
    return readThreadRecord(line);
  } catch (error) {
    throw SkeinError.isInstance(error) ? damaged(id, seq, error.message, error.hint) : error;
  }
}

function damaged(id: string, batch: number, why: string, hint?: string): SkeinError {
  return new SkeinError('SKEIN_JOURNAL', `the journal of the thread '${id}' can't be used: batch ${batch}: ${why}`, {
    hint: hint ?? 'bring the store back from a backup, or begin another thread',
    details: { thread: id, batch },
  });
}
