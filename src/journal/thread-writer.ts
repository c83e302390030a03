import type { Clock } from '../base/clock.js';
import type { Label } from '../guard/label.js';
import { FIRST_SUM, OpenBatches, encodeRecord, endOf } from './codec.js';
import type { JournalEnd } from './codec.js';
import { StoreWriter, staleLease } from './store-writer.js';
import { storedValue } from './stored.js';
import type { Batch, BlobText, Holder, Lease, Store } from './store.js';
import { LEASE_MS } from './store.js';
import type { ChannelPlace, HeadRecord, PutRecord, ShapeRecord, ThreadRecord } from './thread-record.js';
import { threadRow } from './thread-rows.js';

/** A channel that is to be written, or one that stays where it is. */
export interface ChannelWrite {
  readonly name: string;
  readonly digest: string;
  readonly kind: ChannelPlace['kind'];
  readonly more?: unknown;
  readonly whole?: unknown;
  /** Where it comes from. */
  readonly label?: Label | undefined;
  /** It is what the run was given. */
  readonly isGiven?: boolean;
  /** The turn wrote what was there already. */
  readonly isRepeated?: boolean;
  /** Where it is so far. */
  readonly place?: ChannelPlace | undefined;
}

/** What is committed together: values, and a head that is told where they are. */
export interface Group {
  readonly at: number;
  readonly writes?: readonly ChannelWrite[];
  /** The shape of the state, where it is another one. */
  readonly shape?: ShapeRecord | undefined;
  readonly head: (channels: Readonly<Record<string, ChannelPlace>>, shape: number | undefined) => HeadRecord;
  readonly turns: number;
  /** Blobs that the head needs. */
  readonly blobs?: readonly BlobText[];
}

/** A thread that is made. */
export interface NewThread {
  readonly id: string;
  /** Name of the workflow. */
  readonly name: string;
  readonly holder: Holder;
}

/**
 * The lease of a thread, and the writing end of its journal: whoever has it is the only one to begin or end a turn.
 */
export class ThreadWriter {
  goodUntil: number;
  /** Called when the lease is lost. */
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
   * @throws SkeinError `SKEIN_LEASE` while somebody else has it, `SKEIN_NO_RUN` when there is none
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

  /**
   * Makes a thread with what it begins with.
   *
   * @throws SkeinError `SKEIN_STORE` when there is one
   */
  static create(store: Store, { id, name, holder }: NewThread, clock: Clock, group: Group): ThreadWriter {
    const row = threadRow(id);
    const [first, ...more] = batchesOf({ runId: row, fence: 1 }, NO_END, group);
    const lease = store.create({ id: row, name, createdAt: group.at }, holder, clock.now(), first);
    const writer = new ThreadWriter(store, lease, endOf([first], NO_END), clock);
    if (more.length > 0) writer.commit(more);
    return writer;
  }

  /** @throws SkeinError `SKEIN_LEASE`, `SKEIN_STORE`; `SKEIN_NOT_JSON` for values that can't be recorded */
  write(group: Group): void {
    this.commit(batchesOf(this.lease, this.end, group));
  }

  /** Number of batches so far. */
  get batches(): number {
    return this.end.batches;
  }

  release(outcome: string): void {
    if (this.over) return;
    this.stop();
    this.store.release(this.lease, { outcome, endedAt: this.clock.now() });
  }

  /** The lease is gone, or the store. */
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

/** Lines are put into batches, and the head is told in which. */
function batchesOf(lease: Lease, end: JournalEnd, group: Group): readonly [Batch, ...Batch[]] {
  const { writes = [], shape, head, turns } = group;
  const open = new OpenBatches();
  const put = (record: ThreadRecord): number => end.batches + open.put(encodeRecord(record));
  open.blobs.push(...(group.blobs ?? []));
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
