import { SkeinError } from '../base/errors.js';
import type {
  Answer,
  Batch,
  FirstBatch,
  Holder,
  Lease,
  NewRun,
  RenewedLease,
  RunStanding,
  SessionEnd,
  Store,
} from '../journal/store.js';

/** Where and how a {@link FaultyStore} fails. */
export interface StoreFault {
  /** Which operation fails: 1 is the first. Every method counts but `close`. */
  readonly failAt: number;
  /** `before`, the default: nothing has happened. `after`: it was done, and whoever called is told that it failed. */
  readonly kind?: 'before' | 'after';
  /** What is thrown; default: `SKEIN_STORE`. */
  readonly error?: Error;
  /** False: from then on nothing is done any more, as if the process had died. Default: it fails once. */
  readonly once?: boolean;
}

/** A store that fails on purpose. */
export interface FaultyStore extends Store {
  /** How many operations were tried. */
  readonly operations: number;
  /** True once it has failed: when it stays false, the test has been through all operations. */
  readonly failed: boolean;
}

/**
 * A store that fails at its n-th operation and otherwise does what the store behind it does. Tests run with `failAt` 1, 2, 3 and so on
 * until nothing has failed, and look each time at what is left in the store behind it.
 *
 * @example
 * const inner = memoryStore();
 * const store = faultyStore(inner, { failAt: 2, kind: 'after' });
 * const lease = store.create({ id: 'run-1', name: 'demo', createdAt: 0 }, { id: 'me', host: 'here', pid: 1 }, 0);
 * store.append([{ lease, seq: 0, text: '{}', sum: '' }]); // throws SKEIN_STORE, and yet:
 * inner.read('run-1').length; // 1
 */
export function faultyStore(inner: Store, fault: StoreFault): FaultyStore {
  return new Faulty(inner, fault);
}

class Faulty implements FaultyStore {
  readonly #inner: Store;
  readonly #fault: StoreFault;
  #operations = 0;

  constructor(inner: Store, fault: StoreFault) {
    this.#inner = inner;
    this.#fault = fault;
  }

  get file(): string | undefined {
    return this.#inner.file;
  }

  get operations(): number {
    return this.#operations;
  }

  get failed(): boolean {
    return this.#operations >= this.#fault.failAt;
  }

  create = (run: NewRun, holder: Holder, now: number, first?: FirstBatch) =>
    this.#do(() => this.#inner.create(run, holder, now, first));
  lease = (runId: string, holder: Holder, now: number) => this.#do(() => this.#inner.lease(runId, holder, now));
  renew = (leases: readonly RenewedLease[], now: number) => this.#do(() => this.#inner.renew(leases, now));
  release = (lease: Lease, end: SessionEnd) => this.#do(() => this.#inner.release(lease, end));
  append = (batches: readonly Batch[]) => this.#do(() => this.#inner.append(batches));
  read = (runId: string, seq?: number, count?: number) => this.#do(() => this.#inner.read(runId, seq, count));
  cut = (lease: Lease, seq: number) => this.#do(() => this.#inner.cut(lease, seq));
  blob = (digest: string) => this.#do(() => this.#inner.blob(digest));
  run = (runId: string) => this.#do(() => this.#inner.run(runId));
  list = () => this.#do(() => this.#inner.list());
  threads = () => this.#do(() => this.#inner.threads());
  stand = (runId: string, standing: RunStanding) => this.#do(() => this.#inner.stand(runId, standing));
  answer = (runId: string, answer: Answer) => this.#do(() => this.#inner.answer(runId, answer));
  answers = (runId: string) => this.#do(() => this.#inner.answers(runId));
  requestCancel = (runId: string) => this.#do(() => this.#inner.requestCancel(runId));
  remove = (runIds: readonly string[], now: number) => this.#do(() => this.#inner.remove(runIds, now));
  close = () => this.#inner.close();

  #do<T>(work: () => T): T {
    this.#operations += 1;
    const { failAt, kind = 'before', once = true } = this.#fault;
    if (this.#operations < failAt || (this.#operations > failAt && once)) return work();
    if (this.#operations === failAt && kind === 'after') work();
    throw this.#fault.error ?? this.#refusal();
  }

  #refusal(): SkeinError {
    return new SkeinError('SKEIN_STORE', `the store failed on purpose at operation ${this.#operations}`, {
      hint: 'a test asked for it, see faultyStore()',
    });
  }
}
