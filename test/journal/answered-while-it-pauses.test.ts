import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { graph } from '../../src/graph.js';
import { answerRun, memoryStore, readRun, SkeinError, type Store } from '../../src/index.js';
import { openSqliteStore } from '../../src/sqlite.js';
import { folder } from '../tools/support/session.js';

const stores: Readonly<Record<string, () => Promise<Store> | Store>> = {
  memory: () => memoryStore(),
  SQLite: async () => {
    const store = await openSqliteStore(join(await folder(), 'runs.db'));
    onTestFinished(() => store.close());
    return store;
  },
};

const order = graph<{ item: string }>({ name: 'order' })
  .node('may', ({ item }, step) => step.ask({ text: `Buy ${item}?`, choices: ['yes', 'no'] }))
  .node('receipt', ({ item, may }) => `${item}: ${may}`);

/** Goes on after `turns` turns of the event loop. */
async function later(turns: number): Promise<void> {
  for (let left = turns; left > 0; left -= 1) await new Promise((next) => setImmediate(next));
}

function codeOf(error: unknown): string {
  return SkeinError.isInstance(error) ? error.code : String(error);
}

/** Whether the question of a run was open, and took the answer. */
function answered(store: Store, id: string): boolean {
  try {
    answerRun(store, id, { value: 'yes' });
    return true;
  } catch {
    return false;
  }
}

describe.each(Object.keys(stores))(
  'an answer in the moment in which a run pauses, with a store of the kind %s',
  (kind) => {
    test('is found by a resume right after it, in whatever turn of the event loop it comes', async () => {
      const store = (await stores[kind]?.()) ?? memoryStore();
      // What a run needs is loaded: from here on, turns of the event loop are its own.
      await order.run({ item: 'tea' }, { store });
      const ends: string[] = [];
      for (let turns = 0; turns < 12; turns += 1) {
        const id = `order-${turns}`;
        const first = order.run({ item: 'tea' }, { store, runId: id });
        await later(turns);
        if (!answered(store, id)) continue;
        const second = await order.run({}, { store, resume: id }).then(({ outcome }) => outcome, codeOf);
        ends.push(`${(await first).outcome}, ${second}, ${readRun(store, id).status}`);
      }
      // A run that still worked took the answer itself.
      const expected = ['paused, succeeded, succeeded', 'succeeded, SKEIN_LEASE, succeeded'];
      expect(ends.filter((end) => !expected.includes(end))).toEqual([]);
      expect(ends).toContain(expected[0]);
    });

    test('waits for a function that takes its time to end', async () => {
      const store = (await stores[kind]?.()) ?? memoryStore();
      let leave: () => void = () => undefined;
      const leaving = new Promise<void>((resolve) => (leave = resolve));
      let isLeaving: () => void = () => undefined;
      const reached = new Promise<void>((resolve) => (isLeaving = resolve));
      const slow = graph<{ item: string }>({ name: 'slow' }).node('may', async ({ item }, step) => {
        try {
          return await step.ask({ text: `Buy ${item}?` });
        } finally {
          isLeaving();
          await leaving;
        }
      });
      const first = slow.run({ item: 'tea' }, { store, runId: 'slow' });
      await Promise.race([reached, first]);
      answerRun(store, 'slow', { value: 'yes' });
      const second = slow.run({}, { store, resume: 'slow' });
      await later(3);
      leave();
      expect([(await first).outcome, (await second).state.may]).toEqual(['paused', 'yes']);
      expect(readRun(store, 'slow').status).toBe('succeeded');
    });
  },
);

test('a resume of a run that works is refused, and the run takes the answer itself', async () => {
  const store = memoryStore();
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const busy = graph<{ item: string }>({ name: 'busy' })
    .node('may', ({ item }, step) => step.ask({ text: `Buy ${item}?` }))
    .node('work', async ({ item }) => {
      await finished;
      return item;
    });
  const first = busy.run({ item: 'tea' }, { store, runId: 'busy' });
  await later(2);
  answerRun(store, 'busy', { value: 'yes' });
  await expect(busy.run({}, { store, resume: 'busy' })).rejects.toMatchObject({ code: 'SKEIN_LEASE' });
  finish();
  expect(await first).toMatchObject({ outcome: 'succeeded', state: { may: 'yes', work: 'tea' } });
});
