import type { RunRow, Store } from '../../../src/journal/store.js';

/** A process that dies at one of its writes: nothing that it does later counts. */
export interface Mortal {
  readonly store: Store;
  readonly isDead: () => boolean;
  /** Settles when it dies. */
  readonly death: Promise<'dead'>;
  readonly writes: () => number;
}

const WRITES = new Set(['create', 'lease', 'append', 'release', 'cut', 'stand', 'answer', 'spend', 'remove']);

/** A process on a store; it dies before its write number `at`, or never. What earlier processes held is free: they are dead. */
export function mortal(inner: Store, at: number): Mortal {
  let isDead = false;
  let writes = 0;
  let die: (how: 'dead') => void = () => undefined;
  const death = new Promise<'dead'>((settle) => (die = settle));
  const mine = new Set<string>();
  const seen = (row: RunRow): RunRow => (mine.has(`${row.id} ${row.fence}`) ? row : { ...row, leasedUntil: 0 });
  // One name for all processes: the next one may take what the one before held.
  const holder = { id: 'p', host: 'h', pid: 1 };
  const tried = (name: string): void => {
    if (isDead) throw new Error('it is dead');
    if (!WRITES.has(name)) return;
    writes += 1;
    if (writes !== at) return;
    isDead = true;
    die('dead');
    throw new Error('it died');
  };
  const own: Partial<Store> = {
    create: (run, _, now, first) => held(inner.create(run, holder, now, first)),
    lease: (runId, _, now) => held(inner.lease(runId, holder, now)),
    run: (runId) => {
      const row = inner.run(runId);
      return row === undefined ? undefined : seen(row);
    },
    list: () => inner.list().map(seen),
    threads: () => inner.threads().map(seen),
    close: () => undefined,
  };
  function held<T extends { readonly runId: string; readonly fence: number }>(lease: T): T {
    mine.add(`${lease.runId} ${lease.fence}`);
    return lease;
  }
  const store = new Proxy(inner, {
    get(_, name) {
      const part: unknown = Reflect.get(own, name) ?? Reflect.get(inner, name, inner);
      if (typeof part !== 'function') return part;
      return (...values: unknown[]): unknown => {
        tried(String(name));
        return Reflect.apply(part, inner, values);
      };
    },
  });
  return { store, isDead: () => isDead, death, writes: () => writes };
}
