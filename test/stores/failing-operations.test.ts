import { describe, expect, test } from 'vitest';
import { faultyStore, type StoreFault } from 'skein/testing';
import { toErrorData } from '../../src/base/errors.js';
import { LEASE_MS } from '../../src/journal/store.js';
import type { Lease, Store } from '../../src/journal/store.js';
import { batch, begin, ME, OTHER, STORES } from './support/stores.js';
import { thrown } from '../thrown.js';

/** What the operations hand on to each other. */
interface Hand {
  a: Lease;
  b: Lease;
}

type Operation = (store: Store, hand: Hand) => unknown;

const blob = { digest: 'd', text: '"blob"' };
const NOW = 1_000;

/** A life of two runs and of what comes of them; each is one operation of the store. */
const LIFE: readonly Operation[] = [
  (store, hand) => (hand.a = begin(store, 'a')),
  (store, hand) => store.append([batch(hand.a, 0)]),
  (store, hand) => (hand.b = begin(store, 'b', { parent: 'a' })),
  (store, hand) => store.append([batch(hand.a, 1), batch(hand.b, 0, { blobs: [blob] })]),
  (store, hand) => store.renew([hand.a, hand.b], NOW + 1),
  (store) => store.answer('a', { key: 'q', id: '1', value: '"first"', at: 1, by: 'code' }),
  (store) => store.requestCancel('b'),
  (store, hand) => store.release(hand.b, { outcome: 'cancelled', endedAt: 5 }),
  (store, hand) => (hand.b = store.lease('b', ME, NOW)),
  (store) => store.read('b'),
  (store, hand) => store.append([batch(hand.b, 1), batch(hand.b, 2)]),
  (store, hand) => store.cut(hand.b, 2),
  (store) => store.blob('d'),
  (store, hand) => (hand.a = store.lease('a', OTHER, NOW + 2 * LEASE_MS)),
  (store, hand) => store.append([batch(hand.a, 2)]),
  (store) => store.run('a'),
  (store) => begin(store, 'gone'),
  (store) => store.remove(['gone'], NOW + LEASE_MS),
  (store, hand) => store.spend(hand.b, [{ key: 'day', reserved: { calls: 1 }, most: { calls: 9 } }], NOW),
  (store) => store.spending('day', NOW),
  (store) => store.answers('a'),
  (store) => store.list(),
  (store) => store.ids(),
  (store, hand) => store.release(hand.a, { outcome: 'succeeded', endedAt: 9 }),
];

/** All that a store holds, but for fences: an operation that was done twice has raised them. */
function contentOf(store: Store): unknown {
  return {
    blob: store.blob('d'),
    isSpent: (store.spending('day', NOW).reserved['calls'] ?? 0) > 0,
    runs: store.list().map((row) => ({
      ...row,
      fence: undefined,
      batches: store.read(row.id),
      answers: store.answers(row.id),
    })),
  };
}

/** Goes through all operations; what fails is tried once more. Says how often that was. */
function live(store: Store, inner: Store, kind: 'before' | 'after'): number {
  const hand: Hand = { a: { runId: 'a', fence: 1 }, b: { runId: 'b', fence: 1 } };
  let failures = 0;
  for (const operation of LIFE) {
    const before = contentOf(inner);
    try {
      operation(store, hand);
    } catch (error) {
      expect(error).toMatchObject({ code: 'SKEIN_STORE' });
      failures += 1;
      const left = contentOf(inner);
      if (kind === 'before') expect(left).toEqual(before);
      again(() => operation(store, hand), kind);
    }
  }
  return failures;
}

/** Tries an operation again. What was done although it seemed to fail may be refused: it is not to be done twice. */
function again(operation: () => unknown, kind: 'before' | 'after'): void {
  if (kind === 'before') {
    operation();
    return;
  }
  try {
    operation();
  } catch (error) {
    expect(['SKEIN_STORE', 'SKEIN_RUN_EXISTS']).toContain(toErrorData(error).code);
  }
}

/** `full` is the same code, and waits for the disk. */
const QUICK = STORES.filter((kind) => !kind.name.includes('full'));

describe.each(QUICK)('whichever operation fails, the next try goes on: $name', ({ open }) => {
  test.each(['before', 'after'] as const)('%s it was done', async (kind) => {
    const undisturbed = await open();
    expect(live(undisturbed, undisturbed, kind)).toBe(0);
    const expected = contentOf(undisturbed);
    let failAt = 1;
    for (let failed = true; failed; failAt += 1) {
      const inner = await open();
      const store = faultyStore(inner, { failAt, kind });
      const failures = live(store, inner, kind);
      failed = store.failed;
      expect(failures).toBe(failed ? 1 : 0);
      expect(contentOf(inner), `failed at ${failAt}`).toEqual(expected);
    }
    expect(failAt - 2).toBe(LIFE.length);
  });
});

describe('the faulty store itself', () => {
  const open = STORES[0]?.open;

  async function failing(
    fault: StoreFault,
  ): Promise<readonly [Store & { readonly operations: number; readonly failed: boolean }, Store]> {
    const inner = await open!();
    return [faultyStore(inner, fault), inner];
  }

  test('before: nothing has happened, and it fails once', async () => {
    const [store, inner] = await failing({ failAt: 2 });
    const lease = begin(store, 'r');
    expect(store.failed).toBe(false);
    expect(thrown(() => store.append([batch(lease, 0)])).code).toBe('SKEIN_STORE');
    expect(inner.read('r')).toEqual([]);
    expect(store.append([batch(lease, 0)])).toEqual([true]);
    expect([store.operations, store.failed]).toEqual([3, true]);
  });

  test('after: it was done', async () => {
    const [store, inner] = await failing({ failAt: 2, kind: 'after' });
    const lease = begin(store, 'r');
    expect(thrown(() => store.append([batch(lease, 0)])).code).toBe('SKEIN_STORE');
    expect(inner.read('r')).toHaveLength(1);
  });

  test('dead: nothing is done any more', async () => {
    const [store, inner] = await failing({ failAt: 2, kind: 'after', once: false });
    const lease = begin(store, 'r');
    expect(() => store.append([batch(lease, 0)])).toThrow('on purpose');
    expect(() => store.append([batch(lease, 1)])).toThrow('on purpose');
    expect(() => store.list()).toThrow('on purpose');
    expect(inner.read('r')).toHaveLength(1);
  });

  test('throws what it is told to throw', async () => {
    const [store] = await failing({ failAt: 1, error: new RangeError('mine') });
    expect(() => store.list()).toThrow(RangeError);
  });
});
