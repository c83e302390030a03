import type { Clock } from '../base/clock.js';
import { FIRST_SUM, chainSum, encodeRecord } from './codec.js';
import type { JournalEnd } from './journal.js';
import { isLocked, staleLease } from './store-writer.js';
import { storedValue } from './stored.js';
import type { Batch, BlobText, Holder, Lease, Store } from './store.js';
import { LEASE_MS } from './store.js';
import type { ChannelPlace, HeadRecord, PutRecord, ShapeRecord } from './thread-record.js';
import { threadRow } from './thread-rows.js';

/** A batch takes no further line once it has this many characters; a store takes 1 MiB. */
const FULL_BATCH = 64 * 1024;
/** A store that others have locked is tried again after so many milliseconds, as long as the lease is good. */
const AGAIN_MS = 50;

/** A channel that is to be written, or one that stays where it is. */
export interface ChannelWrite {
  readonly name: string;
  readonly digest: string;
  readonly kind: ChannelPlace['kind'];
  readonly more?: unknown;
  readonly whole?: unknown;
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
  private stopRenewal: (() => void) | undefined;
  private goodUntil: number;
  /** Called when the lease is lost. */
  onLost: (() => void) | undefined = undefined;
  private over = false;

  private constructor(
    private readonly store: Store,
    private readonly lease: Lease,
    private end: JournalEnd,
    private readonly clock: Clock,
  ) {
    this.goodUntil = clock.now() + LEASE_MS;
    this.stopRenewal = this.renewLater(LEASE_MS / 3);
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
    const [first, ...more] = batchesOf({ runId: row, fence: 1 }, { batches: 0, sum: FIRST_SUM }, group);
    const lease = store.create({ id: row, name, createdAt: group.at }, holder, clock.now(), first);
    const writer = new ThreadWriter(store, lease, { batches: 1, sum: first?.sum ?? FIRST_SUM }, clock);
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

  private stop(): void {
    this.over = true;
    this.stopRenewal?.();
    this.stopRenewal = undefined;
  }

  private commit(batches: readonly Batch[]): void {
    for (;;) {
      try {
        if (!this.store.append(batches).every(Boolean)) throw staleLease(this.lease);
        break;
      } catch (error) {
        if (!isLocked(error) || this.clock.now() >= this.goodUntil) throw error;
      }
    }
    const last = batches.at(-1);
    if (last !== undefined) this.end = { batches: last.seq + 1, sum: last.sum };
  }

  private renewLater(ms: number): () => void {
    return this.clock.setTimer(ms, () => {
      const good = this.renew();
      if (good === false) this.lost();
      else this.stopRenewal = this.renewLater(good === undefined ? AGAIN_MS : LEASE_MS / 3);
    });
  }

  /** Undefined when others kept it from being done. */
  private renew(): boolean | undefined {
    const now = this.clock.now();
    try {
      const [good] = this.store.renew([this.lease], now);
      if (good === true) this.goodUntil = now + LEASE_MS;
      return good ?? false;
    } catch (error) {
      return isLocked(error) && now < this.goodUntil ? undefined : false;
    }
  }

  private lost(): void {
    this.stop();
    this.onLost?.();
  }
}

/** Lines are put into batches, and the head is told in which. */
function batchesOf(lease: Lease, end: JournalEnd, group: Group): readonly [Batch, ...Batch[]] {
  const { writes = [], shape, head, turns } = group;
  const texts: string[] = [''];
  const put = (line: string): number => {
    const text = texts.at(-1) ?? '';
    if (text !== '' && text.length + line.length > FULL_BATCH) texts.push(line);
    else texts[texts.length - 1] = text === '' ? line : `${text}\n${line}`;
    return end.batches + texts.length - 1;
  };
  const blobs: BlobText[] = [...(group.blobs ?? [])];
  const shapeAt = shape === undefined ? undefined : put(encodeRecord(shape));
  const channels: [string, ChannelPlace][] = [];
  for (const write of writes) {
    const { name, digest, kind, place } = write;
    const value = 'more' in write ? write.more : write.whole;
    if (value === undefined) {
      if (place !== undefined) channels.push([name, place]);
      continue;
    }
    const { stored, blobs: own } = storedValue(value, `'${name}'`);
    blobs.push(...own);
    const marks = {
      ...('more' in write && { more: true as const }),
      ...(write.isGiven === true && { given: true as const }),
    };
    const record: PutRecord = { t: 'put', at: group.at, channel: name, ...marks, ...stored };
    const at = put(encodeRecord(record));
    channels.push([name, { from: 'more' in write ? (place?.from ?? at) : at, at, digest, kind }]);
  }
  put(encodeRecord(head(Object.fromEntries(channels), shapeAt)));
  let { sum } = end;
  const batches = texts.map((text, at): Batch => {
    const seq = end.batches + at;
    sum = chainSum(sum, lease.runId, seq, text);
    return { lease, seq, text, sum, ...(at === 0 && blobs.length > 0 ? { blobs } : {}) };
  });
  const last = batches.length - 1;
  const standing = { batches: end.batches + batches.length, steps: turns, ms: 0, pauses: [] };
  return batches.map((batch, at) => (at === last ? { ...batch, standing } : batch)) as [Batch, ...Batch[]];
}
