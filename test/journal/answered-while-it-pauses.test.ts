import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { agent, agentNode, graph } from '../../src/graph.js';
import { answerRun, changeBudget, memoryStore, readRun, SkeinError, type Store } from '../../src/index.js';
import { isLeaving } from '../../src/journal/leaving.js';
import { openSqliteStore } from '../../src/sqlite.js';
import { folder } from '../tools/support/session.js';

/** A store as the process of the run has it, and as the one that answers and resumes has it. */
type Sides = readonly [own: Store, other: Store];

async function opened(file: string): Promise<Store> {
  const store = await openSqliteStore(file);
  onTestFinished(() => store.close());
  return store;
}

const stores: Readonly<Record<string, () => Promise<Sides> | Sides>> = {
  memory: () => {
    const store = memoryStore();
    return [store, store];
  },
  SQLite: async () => {
    const file = join(await folder(), 'runs.db');
    return [await opened(file), await opened(file)];
  },
};

const sidesOf = async (kind: string): Promise<Sides> => (await stores[kind]?.()) ?? expect.fail(`no store ${kind}`);

const order = graph<{ item: string }>({ name: 'order' })
  .node('may', ({ item }, step) => step.ask({ text: `Buy ${item}?`, choices: ['yes', 'no'] }))
  .node('receipt', ({ item, may }) => `${item}: ${may}`);

const worker = agent({ name: 'worker', instructions: 'You work.' });
const short = graph<{ item: string }>({ name: 'short', budget: '1-calls' })
  .node('one', agentNode(worker, { taskParam: 'item' }))
  .node('two', agentNode(worker, { taskParam: 'one' }));

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
      const [store, other] = await sidesOf(kind);
      // What a run needs is loaded: from here on, turns of the event loop are its own.
      await order.run({ item: 'tea' }, { store });
      const ends: string[] = [];
      for (let turns = 0; turns < 12; turns += 1) {
        const id = `order-${turns}`;
        const first = order.run({ item: 'tea' }, { store, runId: id });
        await later(turns);
        if (!answered(other, id)) continue;
        const second = await order.run({}, { store: other, resume: id }).then(({ outcome }) => outcome, codeOf);
        ends.push(`${(await first).outcome}, ${second}, ${readRun(store, id).status}`);
      }
      // A run that still worked took the answer itself.
      const expected = ['paused, succeeded, succeeded', 'succeeded, SKEIN_LEASE, succeeded'];
      expect(ends.filter((end) => !expected.includes(end))).toEqual([]);
      expect(ends).toContain(expected[0]);
    });

    test('waits for a function that takes its time to end', async () => {
      const [store, other] = await sidesOf(kind);
      let leave: () => void = () => undefined;
      const leaving = new Promise<void>((resolve) => (leave = resolve));
      let reach: () => void = () => undefined;
      const reached = new Promise<void>((resolve) => (reach = resolve));
      const slow = graph<{ item: string }>({ name: 'slow' }).node('may', async ({ item }, step) => {
        try {
          return await step.ask({ text: `Buy ${item}?` });
        } finally {
          reach();
          await leaving;
        }
      });
      const first = slow.run({ item: 'tea' }, { store, runId: 'slow' });
      await Promise.race([reached, first]);
      answerRun(other, 'slow', { value: 'yes' });
      expect(isLeaving(other, 'slow', Date.now())).toBe(true);
      const stop = new AbortController();
      const stopped = slow.run({}, { store: other, resume: 'slow', signal: stop.signal }).catch(codeOf);
      const second = slow.run({}, { store: other, resume: 'slow' });
      await later(3);
      stop.abort();
      expect(await stopped).toBe('SKEIN_CANCELLED');
      leave();
      expect([(await first).outcome, (await second).state.may]).toEqual(['paused', 'yes']);
      expect(readRun(store, 'slow').status).toBe('succeeded');
    });

    test('or runs out of budget, is found, too', async () => {
      const [store, other] = await sidesOf(kind);
      const models = { env: {}, override: 'mock/echo' };
      const ends: string[] = [];
      for (let turns = 0; turns < 16; turns += 1) {
        const id = `short-${turns}`;
        const first = short.run({ item: 'tea' }, { store, runId: id, models });
        await later(turns);
        if (other.run(id) === undefined) continue;
        changeBudget(other, id, { budget: '+5-calls' });
        const second = await short.run({}, { store: other, resume: id, models }).then(({ outcome }) => outcome, codeOf);
        ends.push(`${(await first).outcome}, ${second}, ${readRun(store, id).status}`);
      }
      const expected = ['out_of_budget, succeeded, succeeded', 'succeeded, SKEIN_LEASE, succeeded'];
      expect(ends.filter((end) => !expected.includes(end))).toEqual([]);
      expect(ends).toContain(expected[0]);
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
