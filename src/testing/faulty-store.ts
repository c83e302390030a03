import { SkeinError } from '../base/errors.js';
import type { Store } from '../journal/store.js';

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
  const { failAt, kind = 'before', once = true, error } = fault;
  let operations = 0;
  const tried = (operation: () => unknown): unknown => {
    operations += 1;
    if (operations < failAt || (operations > failAt && once)) return operation();
    if (operations === failAt && kind === 'after') operation();
    throw error ?? refusal(operations);
  };
  const store = new Proxy(inner, {
    get(_, name) {
      if (name === 'operations') return operations;
      if (name === 'failed') return operations >= failAt;
      const part: unknown = Reflect.get(inner, name, inner);
      if (typeof part !== 'function') return part;
      const call = (...values: unknown[]): unknown => Reflect.apply(part, inner, values);
      return name === 'close' ? call : (...values: unknown[]) => tried(() => call(...values));
    },
  });
  return store as FaultyStore;
}

function refusal(operation: number): SkeinError {
  return new SkeinError('SKEIN_STORE', `the store failed on purpose at operation ${operation}`, {
    hint: 'a test asked for it, see faultyStore()',
  });
}
