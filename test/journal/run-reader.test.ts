import { describe, expect, test } from 'vitest';
import { FIRST_SUM, chainSum, encodeRecord } from '../../src/journal/codec.js';
import { answerRun, listRuns, memoryStore, readMoments, readRun } from '../../src/index.js';
import type { Store } from '../../src/index.js';
import type { RunReader } from '../../src/journal/run-reader.js';
import { storeReader } from '../../src/journal/run-reader.js';
import { run } from '../../src/runtime.js';
import { FULL } from './examples.js';
import { ASKING, chain, record } from './support/recorded-runs.js';

/** Texts of the moments from a position on, and where they end. */
async function told(runs: RunReader, id: string, from?: number) {
  const { moments, next } = await runs.moments(id, from);
  return { texts: moments.map(({ text }) => text), next };
}

/** A store that counts the batches that are read from it. */
function counting(store: Store): { readonly store: Store; read: number } {
  const counted = { store, read: 0 };
  const read: Store['read'] = (...given) => {
    const batches = store.read(...given);
    counted.read += batches.length;
    return batches;
  };
  counted.store = new Proxy(store, {
    get: (target, name) => {
      const value: unknown = name === 'read' ? read : Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return counted;
}

describe('a reader of the runs of a store', () => {
  test('says what the functions say that read the store, as JSON', async () => {
    const store = memoryStore();
    const first = await record(store, chain('a', 'b'));
    const asking = await record(store, ASKING);
    const runs = storeReader(store);
    const now = Date.now();
    const said = [
      await runs.ids(),
      await runs.list(1),
      await runs.read(first.id, { outputs: true, now }),
      await runs.moments(first.id),
      await runs.read(asking.id, { now }),
    ];
    expect(said).toEqual([
      [asking.id, first.id],
      listRuns(store, 1),
      readRun(store, first.id, { outputs: true, now }),
      { moments: readMoments(store, first.id), next: readMoments(store, first.id).length },
      readRun(store, asking.id, { now }),
    ]);
    expect(JSON.parse(JSON.stringify(said))).toEqual(said);
  });

  test('answers questions; what is wrong rejects', async () => {
    const store = memoryStore();
    const { id } = await record(store, ASKING);
    const runs = storeReader(store);
    await expect(runs.answer(id, { text: 'perhaps' })).rejects.toMatchObject({ code: 'SKEIN_ANSWER' });
    await expect(runs.read('other')).rejects.toMatchObject({ code: 'SKEIN_NO_RUN' });
    await expect(runs.moments('other')).rejects.toMatchObject({ code: 'SKEIN_NO_RUN' });
    expect(await runs.answer(id, { text: 'yes' })).toMatchObject({ path: 'publish', value: 'yes', left: [] });
    expect((await runs.read(id)).questions).toEqual([]);
    expect((await run(ASKING, { store, resume: id }).result).state).toMatchObject({ verdict: 'yes' });
  });
});

describe('moments from a position', () => {
  test('are those after it: nothing is missing, nothing comes twice', async () => {
    const store = memoryStore();
    const { id } = await record(store, ASKING);
    const runs = storeReader(store);
    const before = await told(runs, id);
    expect(await told(runs, id, before.next)).toEqual({ texts: [], next: before.next });
    answerRun(store, id, { value: 'yes' });
    await run(ASKING, { store, resume: id }).result;
    const after = await told(runs, id, before.next);
    expect(after.texts.at(0)).toBe('session 2 began');
    expect([...before.texts, ...after.texts]).toEqual(readMoments(store, id).map(({ text }) => text));
    for (let from = 0; from <= after.next; from += 1) {
      const all = [...before.texts, ...after.texts];
      expect(await told(runs, id, from)).toEqual({ texts: all.slice(from), next: after.next });
      expect(await told(storeReader(store), id, from)).toEqual({ texts: all.slice(from), next: after.next });
    }
  });

  test('cost what has come since, however long the record is', async () => {
    const { id, store } = { store: memoryStore(), id: 'long' };
    await record(store, ASKING, { runId: id });
    const counted = counting(store);
    const runs = storeReader(counted.store);
    const { next } = await told(runs, id);
    const { read } = counted;
    await told(runs, id, next);
    expect(read).toBeGreaterThan(1);
    expect(counted.read - read).toBe(1);
  });

  test('are right after a session was cut off that only looked through the record', async () => {
    const store = memoryStore();
    const { id } = await record(store, chain('a'));
    const runs = storeReader(store);
    const { texts, next } = await told(runs, id);
    const lease = store.lease(id, { id: 'other', host: 'here', pid: 1 }, Date.now());
    const { batches } = store.run(id) ?? { batches: 0 };
    const last = store.read(id, batches - 1)[0]?.sum ?? '';
    const text = encodeRecord({ t: 'open', at: Date.now(), fence: lease.fence });
    store.append([{ lease, seq: batches, text, sum: chainSum(last, id, batches, text) }]);
    expect(await told(runs, id, next)).toEqual({ texts: ['session 2 began'], next: next + 1 });
    store.cut(lease, batches);
    expect(await told(runs, id, next + 1)).toEqual({ texts: [], next });
    expect(await told(runs, id)).toEqual({ texts, next });
  });
});

test('a run that no process has leased yet has no sessions and no moments', async () => {
  const store = memoryStore();
  const plan = { format: 1, name: 'later', inputs: [], channels: [], nodes: [], edges: [], routes: [] };
  const text = encodeRecord({ ...FULL.begin, run: 'later', parent: undefined, plan: { value: plan } } as never);
  const lease = store.create({ id: 'later', name: 'later', createdAt: 1 }, { id: 'x', host: 'h', pid: 1 }, 1, {
    text,
    sum: chainSum(FIRST_SUM, 'later', 0, text),
  });
  expect(lease.fence).toBe(1);
  const runs = storeReader(store);
  expect(await runs.ids()).toEqual(['later']);
  expect(await runs.read('later')).toMatchObject({ name: 'later', sessions: [], steps: [], questions: [] });
  expect(await runs.moments('later')).toEqual({ moments: [], next: 0 });
  expect((await runs.list()).map(({ id, steps }) => ({ id, steps }))).toEqual([{ id: 'later', steps: 0 }]);
});
