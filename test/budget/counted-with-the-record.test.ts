import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import type { Store } from 'skein';
import { openSqliteStore } from 'skein/sqlite';
import { dayOf } from '../../src/base/clock.js';
import type { Counts, SharedSpending } from '../../src/journal/store.js';
import { closing, tempFolder } from '../stores/support/stores.js';
import { billing, PRICES } from './billed.js';
import { chain, many, mapped } from './plans.js';

interface Line {
  readonly t: string;
  readonly key: string;
  readonly reserved?: Counts;
  readonly spent?: Counts;
  readonly value?: { readonly usage?: { readonly inputTokens: number; readonly outputTokens: number } };
}

/** What the records of runs say together: tokens of calls that ended, and those held for calls that have not. */
function recordedIn(store: Store): { readonly spent: number; readonly held: number } {
  let [spent, held] = [0, 0];
  for (const { id } of store.list()) {
    const open = new Map<string, number>();
    for (const text of store.read(id).flatMap((batch) => batch.text.split('\n'))) {
      const { t, key, reserved, value } = JSON.parse(text) as Line;
      if (t === 'start') open.set(key, reserved?.['tokens'] ?? 0);
      if (t !== 'done' || !open.delete(key)) continue;
      spent += (value?.usage?.inputTokens ?? 0) + (value?.usage?.outputTokens ?? 0);
    }
    for (const tokens of open.values()) held += tokens;
  }
  return { spent, held };
}

/** A store that looks after each of its operations whether the account says what the records say. */
function compared(inner: Store, key: string, seen: { held: number; looked: number }): Store {
  const tokens = ({ spent, reserved }: SharedSpending) => ({
    spent: spent['tokens'] ?? 0,
    held: reserved['tokens'] ?? 0,
  });
  const compare = (): void => {
    const account = tokens(inner.spending(key, Date.now()));
    seen.looked += 1;
    if (account.held > 0) seen.held += 1;
    expect(account).toEqual(recordedIn(inner));
  };
  return new Proxy(inner, {
    get(_, name) {
      const part: unknown = Reflect.get(inner, name, inner);
      if (typeof part !== 'function' || name === 'close') return part;
      return (...values: unknown[]): unknown => {
        const result: unknown = Reflect.apply(part, inner, values);
        compare();
        return result;
      };
    },
  });
}

const STORES = [
  { name: 'memory', open: () => Promise.resolve(memoryStore()) },
  { name: 'SQLite', open: async () => closing(await openSqliteStore(`${tempFolder()}/skein.db`)) },
];

describe.each(STORES)('the account of a day in a store: $name', ({ open }) => {
  it.each([
    ['steps in a row', chain(), { task: 'x' }],
    ['a map whose items wait for each other', mapped(), { items: many(6) }],
  ])('changes in the transaction that records the call and its outcome: %s', async (_, plan, inputs) => {
    const seen = { held: 0, looked: 0 };
    const store = compared(await open(), `day:${dayOf(Date.now())}\n${plan.plan.name}`, seen);
    const own = billing({ say: async () => await new Promise((later) => setImmediate(() => later('done'))) });
    const options = { inputs, models: own.models, prices: PRICES, budget: { day: { usd: 0.0141 } }, store };
    const runs = await Promise.all([run(plan, options).result, run(plan, options).result]);
    expect(runs.map(({ outcome }) => outcome)).toContain('succeeded');
    expect(seen.held).toBeGreaterThan(5);
  });

  it('takes back what the run around has no budget for, and so does the record', async () => {
    const store = await open();
    const own = billing();
    const around = definePlan({
      name: 'around',
      channels: { how: 'last' },
      nodes: [
        {
          id: 'starts',
          kind: 'task',
          output: 'how',
          run: async (_state, step) => {
            const day = { prices: PRICES, store, runId: 'inner', budget: { day: { calls: 9 } } };
            const { outcome } = await run(chain(), { ...day, inputs: { task: 'x' }, ...step.runOptions }).result;
            return outcome;
          },
        },
      ],
    });
    const { outcome: how } = await run(around, { models: own.models, prices: PRICES, budget: '2-calls' }).result;
    expect([how, own.asked.length]).toEqual(['out_of_budget', 2]);
    const account = store.spending(`day:${dayOf(Date.now())}\n${chain().plan.name}`, Date.now());
    expect([account.spent['calls'], account.reserved]).toEqual([2, {}]);
    const more = { models: own.models, prices: PRICES, store, resume: 'inner', budget: '3-calls' };
    expect(await run(chain(), more).result).toMatchObject({ outcome: 'succeeded' });
    expect(own.asked).toHaveLength(3);
  });
});
