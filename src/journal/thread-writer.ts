import type { Clock } from '../base/clock.js';
import type { Label } from '../guard/label.js';
import { FIRST_SUM, OpenBatches, encodeRecord, endOf, type JournalEnd } from './codec.js';
import { StoreWriter, staleLease } from './store-writer.js';
import { storedValue } from './stored.js';
import { LEASE_MS, type Batch, type BlobText, type Holder, type Lease, type Store } from './store.js';
import type { ChannelPlace, HeadRecord, PutRecord, ShapeRecord, ThreadBegin, ThreadRecord } from './thread-record.js';
import { threadRow } from './thread-rows.js';

/** A channel to write, or one that keeps its place. */
export interface ChannelWrite {
  readonly name: string;
  readonly digest: string;
  readonly kind: ChannelPlace['kind'];
  readonly more?: unknown;
  readonly whole?: unknown;
  readonly label?: Label | undefined;
  /** True if the value is an input of the run. */
  readonly isGiven?: boolean;
  /** True if the turn wrote the value that was already there. */
  readonly isRepeated?: boolean;
  readonly place?: ChannelPlace | undefined;
}

/** The content of one commit: values, and a function that creates the head from their places. */
export interface Group {
  readonly at: number;
  /** The beginning of the thread, in a commit that also writes its first state. */
  readonly begin?: ThreadBegin;
  readonly writes?: readonly ChannelWrite[];
  /** The shape of the state, if it has changed. */
  readonly shape?: ShapeRecord | undefined;
  readonly head: (channels: Readonly<Record<string, ChannelPlace>>, shape: number | undefined) => HeadRecord;
  readonly turns: number;
  readonly blobs?: readonly BlobText[];
}

export interface NewThread {
  readonly id: string;
  readonly name: string;
  readonly holder: Holder;
}

/** The lease of a thread, and the writing end of its journal: only its holder begins and ends turns. */
export class ThreadWriter {
  goodUntil: number;
  onLost: (() => void) | undefined = undefined;
  private over = false;
  private readonly writer: StoreWriter;

  private constructor(
    private readonly store: Store,
    readonly lease: Lease,
    private end: JournalEnd,
    private readonly clock: Clock,
  ) {
    this.goodUntil = clock.now() + LEASE_MS;
    this.writer = StoreWriter.of(store, clock);
    this.writer.keep(this);
  }

  /**
   * Leases a thread; `end` is read under the lease.
   *
   * @throws SkeinError `SKEIN_LEASE` while another process has it, `SKEIN_NO_RUN` if it does not exist
   */
  static open(store: Store, id: string, holder: Holder, clock: Clock, end: () => JournalEnd): ThreadWriter {
    const lease = store.lease(threadRow(id), holder, clock.now());
    try {
      return new ThreadWriter(store, lease, end(), clock);
    } catch (error) {
      store.release(lease, { outcome: 'interrupted', endedAt: clock.now() });
      throw error;
    }
  }

  /** @throws SkeinError `SKEIN_STORE` if the thread exists */
  static create(store: Store, { id, name, holder }: NewThread, clock: Clock, group: Group): ThreadWriter {
    const row = threadRow(id);
    const [first, ...more] = batchesOf({ runId: row, fence: 1 }, NO_END, group);
    const lease = store.create({ id: row, name, createdAt: group.at }, holder, clock.now(), first);
    const writer = new ThreadWriter(store, lease, endOf([first], NO_END), clock);
    if (more.length > 0) writer.commit(more);
    return writer;
  }

  /** @throws SkeinError `SKEIN_LEASE`, `SKEIN_STORE`; `SKEIN_NOT_JSON` if a value can't be recorded */
  write(group: Group): void {
    this.commit(batchesOf(this.lease, this.end, group));
  }

  get batches(): number {
    return this.end.batches;
  }

  release(outcome: string): void {
    if (this.over) return;
    this.stop();
    this.store.release(this.lease, { outcome, endedAt: this.clock.now() });
  }

  /** The lease or the store is lost. */
  fail(): void {
    this.stop();
    this.onLost?.();
  }

  private stop(): void {
    this.over = true;
    this.writer.letGo(this);
  }

  private commit(batches: readonly Batch[]): void {
    if (!this.writer.insist(batches, this).every(Boolean)) throw staleLease(this.lease);
    this.end = endOf(batches, this.end);
  }
}

const NO_END: JournalEnd = { batches: 0, sum: FIRST_SUM };

/** Puts lines into batches, and passes their positions to the head. */
function batchesOf(lease: Lease, end: JournalEnd, group: Group): readonly [Batch, ...Batch[]] {
  const { begin, writes = [], shape, head, turns } = group;
  const open = new OpenBatches();
  const put = (record: ThreadRecord): number => end.batches + open.put(encodeRecord(record));
  open.blobs.push(...(group.blobs ?? []));
  if (begin !== undefined) put(begin);
  const shapeAt = shape === undefined ? undefined : put(shape);
  const channels: [string, ChannelPlace][] = [];
  for (const write of writes) {
    const { name, digest, kind, place } = write;
    const value = 'more' in write ? write.more : write.whole;
    if (value === undefined) {
      if (place !== undefined) channels.push([name, labelled(place, write)]);
      continue;
    }
    const { stored, blobs: own } = storedValue(value, `'${name}'`);
    open.blobs.push(...own);
    const marks = {
      ...('more' in write && { more: true as const }),
      ...(write.isGiven === true && { given: true as const }),
    };
    const record: PutRecord = { t: 'put', at: group.at, channel: name, ...marks, ...stored };
    const at = put(record);
    channels.push([name, labelled({ from: 'more' in write ? (place?.from ?? at) : at, at, digest, kind }, write)]);
  }
  put(head(Object.fromEntries(channels), shapeAt));
  return open.after(end, lease, (batches) => ({ batches, steps: turns, ms: 0, pauses: [] })) as [Batch, ...Batch[]];
}

function labelled({ from, at, digest, kind }: ChannelPlace, { label }: Pick<ChannelWrite, 'label'>): ChannelPlace {
  return { from, at, digest, kind, ...(label === undefined ? {} : { label }) };
}
