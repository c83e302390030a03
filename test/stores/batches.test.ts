import { describe, expect, test } from 'vitest';
import { LEASE_MS } from '../../src/journal/store.js';
import { batch, begin, OTHER, STORES, textsOf } from './support/stores.js';
import { thrown } from '../thrown.js';

describe.each(STORES)('batches and blobs: $name', ({ open }) => {
  test('come back in order and as they were', async () => {
    const store = await open();
    const lease = begin(store, 'r');
    const texts = [
      '{"a":1}',
      '{"b":[true,null]}\n{"c":"two lines"}',
      '',
      '"é 日本 😀 \\u0000 \\ud800"',
      "it's; DROP TABLE runs --",
    ];
    for (const [seq, text] of texts.entries()) {
      expect(store.append([{ lease, seq, text, sum: `s${seq}` }])).toEqual([true]);
    }
    expect(store.read('r')).toEqual(texts.map((text, seq) => ({ seq, text, sum: `s${seq}` })));
  });

  test('of many runs are committed together; those with a stale lease are not written', async () => {
    const store = await open();
    const [a, b, stale] = [begin(store, 'a'), begin(store, 'b'), begin(store, 'stale')];
    store.lease('stale', OTHER, 1_000 + LEASE_MS);
    const blob = { digest: 'of-stale', text: '"x"' };
    const written = store.append([
      batch(a, 0),
      batch(stale, 0, { blobs: [blob] }),
      batch(b, 0),
      batch(a, 1),
      batch({ runId: 'none', fence: 1 }, 0),
    ]);
    expect(written).toEqual([true, false, true, true, false]);
    expect(textsOf(store, 'a')).toHaveLength(2);
    expect(textsOf(store, 'b')).toHaveLength(1);
    expect(textsOf(store, 'stale')).toEqual([]);
    expect(store.blob('of-stale')).toBeUndefined();
    expect(store.append([])).toEqual([]);
  });

  test('of one run do not show up in another', async () => {
    const store = await open();
    const leases = Array.from({ length: 20 }, (_, n) => begin(store, `r${n}`));
    for (let seq = 0; seq < 5; seq++) store.append(leases.map((lease) => batch(lease, seq)));
    for (const { runId } of leases) {
      expect(textsOf(store, runId)).toEqual([0, 1, 2, 3, 4].map((seq) => JSON.stringify({ run: runId, seq })));
    }
  });

  test('count without gaps: one that is there already or comes too early is refused, with all that came with it', async () => {
    const store = await open();
    const [a, b] = [begin(store, 'a'), begin(store, 'b')];
    store.append([batch(a, 0), batch(a, 1)]);
    for (const seq of [0, 1, 3]) {
      expect(thrown(() => store.append([batch(a, seq, { text: '"again"' })])).code).toBe('SKEIN_STORE');
      const together = [batch(b, 0, { blobs: [{ digest: 'd', text: '1' }] }), batch(a, seq, { text: '"again"' })];
      expect(thrown(() => store.append(together)).code).toBe('SKEIN_STORE');
    }
    expect(textsOf(store, 'a')).toHaveLength(2);
    expect(textsOf(store, 'b')).toEqual([]);
    expect(store.blob('d')).toBeUndefined();
    expect(store.append([batch(b, 0), batch(a, 2)])).toEqual([true, true]);
  });

  test('a torn tail is cut off, and written anew', async () => {
    const store = await open();
    const [lease, other] = [begin(store, 'r'), begin(store, 'other')];
    for (let seq = 0; seq < 6; seq++) store.append([batch(lease, seq), batch(other, seq)]);
    store.cut(lease, 9);
    expect(store.read('r')).toHaveLength(6);
    store.cut(lease, 4);
    expect(store.read('r').map((one) => one.seq)).toEqual([0, 1, 2, 3]);
    expect(store.read('other')).toHaveLength(6);
    expect(store.append([batch(lease, 4, { text: '"new"' })])).toEqual([true]);
    expect(textsOf(store, 'r').at(-1)).toBe('"new"');
    store.cut(lease, 0);
    expect(store.read('r')).toEqual([]);
    expect(store.append([batch(lease, 0)])).toEqual([true]);
  });

  test('only with a good lease', async () => {
    const store = await open();
    const lease = begin(store, 'r');
    store.append([batch(lease, 0)]);
    store.release(lease, { outcome: 'failed', endedAt: 1 });
    expect(thrown(() => store.cut(lease, 0)).code).toBe('SKEIN_LEASE');
    expect(store.read('r')).toHaveLength(1);
  });

  test('a blob is kept with its batch, once for all', async () => {
    const store = await open();
    const [a, b] = [begin(store, 'a'), begin(store, 'b')];
    const blobs = [
      { digest: 'one', text: '"1"' },
      { digest: 'two', text: '"2"' },
    ];
    expect(store.blob('one')).toBeUndefined();
    expect(store.append([batch(a, 0, { blobs })])).toEqual([true]);
    expect(store.append([batch(a, 1, { blobs }), batch(b, 0, { blobs })])).toEqual([true, true]);
    expect(store.blob('one')).toBe('"1"');
    expect(store.blob('two')).toBe('"2"');
    expect(store.blob('three')).toBeUndefined();
  });

  test('a text may be a MiB, a blob more', async () => {
    const store = await open();
    const lease = begin(store, 'r');
    const mib = `"${'é'.repeat(512 * 1024 - 1)}"`;
    expect(Buffer.byteLength(mib)).toBe(1024 * 1024);
    const blob = `"${'日'.repeat(3_000_000)}"`;
    expect(
      store.append([batch(lease, 0, { text: mib, blobs: [{ digest: 'big', text: blob }] }), batch(lease, 1)]),
    ).toEqual([true, true]);
    expect(textsOf(store, 'r')[0] === mib).toBe(true);
    expect(store.blob('big') === blob).toBe(true);
  });

  test.each([
    ['a NUL', 'a\0b'],
    ['half a surrogate pair', 'a\ud800b'],
  ])('a text with %s, which JSON text never has, is refused rather than changed', async (_, odd) => {
    const store = await open();
    const lease = begin(store, 'r');
    const refused = [
      () => store.append([batch(lease, 0, { text: odd })]),
      () => store.append([batch(lease, 0), batch(lease, 1, { blobs: [{ digest: 'd', text: odd }] })]),
      () => store.create({ id: 'other', name: odd, createdAt: 1 }, OTHER, 1),
      () => store.answer('r', { key: odd, id: '1', at: 1, by: 'code' }),
      () => store.release(lease, { outcome: odd, endedAt: 1 }),
      () => store.lease('r', { ...OTHER, id: odd }, LEASE_MS * 9),
    ];
    for (const call of refused) expect(thrown(call).code).toBe('SKEIN_STORE');
    expect(store.read('r')).toEqual([]);
    expect(store.blob('d')).toBeUndefined();
    expect(store.list()).toHaveLength(1);
    expect(store.append([batch(lease, 0, { text: JSON.stringify(odd) })])).toEqual([true]);
    expect(JSON.parse(textsOf(store, 'r')[0] ?? '')).toBe(odd);
  });

  test('ten thousand of them', async () => {
    const store = await open();
    const lease = begin(store, 'r');
    for (let seq = 0; seq < 1_000; seq++) store.append([batch(lease, seq)]);
    const rest = Array.from({ length: 9_000 }, (_, at) => batch(lease, 1_000 + at));
    expect(store.append(rest).every(Boolean)).toBe(true);
    expect(store.read('r').map((one) => one.seq)).toEqual(Array.from({ length: 10_000 }, (_, seq) => seq));
  });
});
