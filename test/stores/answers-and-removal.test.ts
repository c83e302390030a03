import { describe, expect, test } from 'vitest';
import { LEASE_MS } from '../../src/journal/store.js';
import type { Lease, Store } from '../../src/journal/store.js';
import { batch, begin, OTHER, STORES, textsOf } from './support/stores.js';
import { thrown } from '../thrown.js';

/** A run that has ended. */
function ended(store: Store, id: string, parent?: string): Lease {
  const lease = begin(store, id, parent === undefined ? {} : { parent });
  store.append([
    batch(lease, 0, {
      blobs: [
        { digest: `of ${id}`, text: `"${id}"` },
        { digest: 'shared', text: '"s"' },
      ],
    }),
  ]);
  store.release(lease, { outcome: 'succeeded', endedAt: 2_000 });
  return lease;
}

describe.each(STORES)('answers: $name', ({ open }) => {
  test('the first one counts, whoever gives it', async () => {
    const store = await open();
    const lease = begin(store, 'r');
    const answer = { key: 'q@answer', id: 'digest', value: '"yes"', at: 5, by: 'command' };
    expect(store.answer('r', answer)).toBe(true);
    expect(store.answer('r', { ...answer, value: '"no"' })).toBe(false);
    expect(store.answer('r', { key: 'q@answer', id: 'digest', at: 6, by: 'expiry' })).toBe(false);
    store.release(lease, { outcome: 'paused', endedAt: 7 });
    expect(store.answer('r', { ...answer, value: '"no"' })).toBe(false);
    expect(store.answers('r')).toEqual([answer]);
  });

  test('an edited question is another one, and so is that of another run', async () => {
    const store = await open();
    begin(store, 'r');
    begin(store, 'other');
    const answer = { key: 'q', id: '1', value: '1', at: 5, by: 'terminal' };
    expect(store.answer('r', answer)).toBe(true);
    expect(store.answer('r', { ...answer, id: '2' })).toBe(true);
    expect(store.answer('r', { ...answer, key: 'q2' })).toBe(true);
    expect(store.answer('other', answer)).toBe(true);
    expect(store.answers('other')).toEqual([answer]);
  });

  test('stand in the order in which they came; an expiry has no value', async () => {
    const store = await open();
    begin(store, 'r');
    const answers = Array.from({ length: 50 }, (_, at) => ({
      key: `q${(at * 37) % 50}`,
      id: 'x',
      ...(at % 3 === 0 ? {} : { value: JSON.stringify({ at, text: 'é 日 😀' }) }),
      at: 100 - at,
      by: at % 3 === 0 ? 'expiry' : 'code',
    }));
    for (const answer of answers) expect(store.answer('r', answer)).toBe(true);
    expect(store.answers('r')).toEqual(answers);
    expect(store.answers('none')).toEqual([]);
    expect(thrown(() => store.answer('none', { key: 'q', id: '1', at: 1, by: 'code' })).code).toBe('SKEIN_NO_RUN');
  });
});

describe.each(STORES)('removal: $name', ({ open }) => {
  test('takes a run with all that is its own', async () => {
    const store = await open();
    ended(store, 'a');
    ended(store, 'b');
    const answer = { key: 'q', id: '1', value: '1', at: 5, by: 'terminal' };
    for (const id of ['a', 'b']) store.answer(id, answer);
    expect(store.remove(['a', 'none', 'a'], 3_000)).toEqual(['a']);
    expect(store.run('a')).toBeUndefined();
    expect(store.read('a')).toEqual([]);
    expect(store.answers('a')).toEqual([]);
    expect(store.blob('of a')).toBeUndefined();
    expect(store.list().map((row) => row.id)).toEqual(['b']);
    expect(store.answers('b')).toEqual([answer]);
    expect(textsOf(store, 'b')).toHaveLength(1);
    expect([store.blob('of b'), store.blob('shared')]).toEqual(['"b"', '"s"']);
    expect(store.remove(['b'], 3_000)).toEqual(['b']);
    expect(store.blob('shared')).toBeUndefined();
    expect(store.remove([], 3_000)).toEqual([]);
  });

  test('leaves runs that somebody has', async () => {
    const store = await open();
    const lease = begin(store, 'r');
    expect(store.remove(['r'], 999 + LEASE_MS)).toEqual([]);
    expect(store.append([batch(lease, 0)])).toEqual([true]);
    expect(store.remove(['r'], 1_000 + LEASE_MS)).toEqual(['r']);
    expect(store.append([batch(lease, 1)])).toEqual([false]);
  });

  test('leaves runs that others were forked from, unless these go too', async () => {
    const store = await open();
    ended(store, 'root');
    ended(store, 'child', 'root');
    ended(store, 'grandchild', 'child');
    ended(store, 'alone');
    expect(store.remove(['root', 'child', 'alone'], 3_000)).toEqual(['alone']);
    expect(store.remove(['root'], 3_000)).toEqual([]);
    // A run that stays because it is leased keeps those before it.
    const lease = store.lease('grandchild', OTHER, 3_000);
    expect(store.remove(['root', 'child', 'grandchild'], 3_000)).toEqual([]);
    store.release(lease, { outcome: 'failed', endedAt: 4_000 });
    expect(new Set(store.remove(['root', 'child', 'grandchild'], 4_000))).toEqual(
      new Set(['root', 'child', 'grandchild']),
    );
    expect(store.list()).toEqual([]);
    expect(store.blob('shared')).toBeUndefined();
  });

  test('a process whose run was removed does not write into one that came later', async () => {
    const store = await open();
    const gone = begin(store, 'gone');
    store.append([batch(gone, 0)]);
    store.remove(['gone'], 1_000 + LEASE_MS);
    const next = begin(store, 'next');
    expect(store.append([batch(gone, 1, { text: '"stray"' })])).toEqual([false]);
    expect(store.append([batch(next, 0)])).toEqual([true]);
    expect(textsOf(store, 'next')).toEqual(['{"run":"next","seq":0}']);
  });
});
