import { checkOptions } from '../base/options.js';
import { SkeinError } from '../base/errors.js';
import type { Store } from '../journal/store.js';

/** Where and how a {@link FaultyStore} fails. */
export interface StoreFault {
  /** The number of the operation that fails, from 1. Every method counts except `close`. */
  readonly failAt: number;
  /** `before`, the default: the operation does nothing. `after`: the operation succeeds, and the caller gets an error. */
  readonly kind?: 'before' | 'after';
  /** The error to throw. Defaults to `SKEIN_STORE`. */
  readonly error?: Error;
  /** False: every later operation fails too, as if the process had died. Defaults to a single failure. */
  readonly once?: boolean;
}

/** A store that fails on purpose. */
export interface FaultyStore extends Store {
  /** Number of attempted operations. */
  readonly operations: number;
  /** True once an operation has failed. If it stays false, the test has covered all operations. */
  readonly failed: boolean;
}

/**
 * Returns a store that fails at its n-th operation and otherwise behaves like the store behind it. Tests run with `failAt` 1, 2, 3 and so
 * on until nothing fails, and check each time what is left in the store behind it.
 *
 * @example
 * const inner = memoryStore();
 * const store = faultyStore(inner, { failAt: 2, kind: 'after' });
 * const lease = store.create({ id: 'run-1', name: 'demo', createdAt: 0 }, { id: 'me', host: 'here', pid: 1 }, 0);
 * store.append([{ lease, seq: 0, text: '{}', sum: '' }]); // throws SKEIN_STORE, and yet:
 * inner.read('run-1').length; // 1
 */
export function faultyStore(inner: Store, fault: StoreFault): FaultyStore {
  checkOptions<StoreFault>('faultyStore', fault, {
    failAt: 'a number',
    kind: 'text',
    error: 'an object',
    once: 'true or false',
  });
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
