import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openSqliteStore } from 'skein/sqlite';
import { LEASE_MS, SPENDING_MS } from '../../src/journal/store.js';
import type { Lease, Store } from '../../src/journal/store.js';
import { loadDriver } from '../../src/stores/sqlite-driver.js';
import { thrown } from '../thrown.js';
import { batch, begin, closing, ME, OTHER, STORES, tempFolder, textsOf } from './support/stores.js';

const NOW = 1_000;
const KEY = 'day:2026-11-23\nreview';

/** Holds so many calls of a model, where there are no more than ten in all. */
function hold(store: Store, lease: Lease, calls: number, now = NOW) {
  return store.spend(lease, [{ key: KEY, reserved: { calls }, most: { calls: 10 } }], now)?.[0];
}

function settle(store: Store, lease: Lease, held: number, calls: number, now = NOW) {
  return store.spend(lease, [{ key: KEY, spent: { calls }, reserved: { calls: -held } }], now)?.[0];
}

/** A process that has died. */
function deadHolder() {
  const pid = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
  return pid;
}

describe.each(STORES)('what runs spend under a key: $name', ({ open }) => {
  test('is summed over runs, and held up to a limit', async () => {
    const store = await open();
    const [a, b] = [begin(store, 'a'), begin(store, 'b')];
    expect(store.spending(KEY, NOW)).toEqual({ spent: {}, reserved: {} });
    expect(hold(store, a, 6)).toEqual({ spent: {}, reserved: { calls: 6 } });
    expect(hold(store, b, 5)).toBeUndefined();
    expect(store.spending(KEY, NOW)).toEqual({ spent: {}, reserved: { calls: 6 } });
    expect(hold(store, b, 4)).toMatchObject({ reserved: { calls: 10 } });
    expect(settle(store, a, 6, 2)).toEqual({ spent: { calls: 2 }, reserved: { calls: 4 } });
    expect(hold(store, b, 5)).toBeUndefined();
    expect(hold(store, b, 4)).toBeDefined();
    expect(store.spending(KEY, NOW)).toEqual({ spent: { calls: 2 }, reserved: { calls: 8 } });
    expect(store.spending('day:2026-11-24\nreview', NOW)).toEqual({ spent: {}, reserved: {} });
  });

  test('a limit holds up nothing of which no more is wanted, and what is billed above it still counts', async () => {
    const store = await open();
    const lease = begin(store, 'a');
    hold(store, lease, 10);
    expect(settle(store, lease, 10, 14)).toMatchObject({ spent: { calls: 14 } });
    const tools = { key: KEY, reserved: { toolCalls: 1 }, most: { calls: 10, toolCalls: 2 } };
    expect(store.spend(lease, [tools], NOW)).toMatchObject([{ reserved: { calls: 0, toolCalls: 1 } }]);
    expect(hold(store, lease, 1)).toBeUndefined();
  });

  test('changes together with the batches that record it, or neither does', async () => {
    const store = await open();
    const [a, b] = [begin(store, 'a'), begin(store, 'b')];
    const holds = (calls: number) => [{ key: KEY, reserved: { calls }, most: { calls: 10 } }];
    const settles = { at: NOW, changes: [{ key: KEY, spent: { calls: 1 }, reserved: { calls: -6 } }] };
    expect(store.spend(a, holds(6), NOW, [batch(a, 0)])).toEqual([{ spent: {}, reserved: { calls: 6 } }]);
    expect(store.spend(b, holds(5), NOW, [batch(b, 0)])).toBeUndefined();
    expect([textsOf(store, 'a').length, textsOf(store, 'b').length]).toEqual([1, 0]);
    // What is settled by the batches makes room, and is not settled where there is none all the same.
    expect(store.spend(a, holds(10), NOW, [batch(a, 1, { spending: settles })])).toBeUndefined();
    expect(store.spending(KEY, NOW)).toEqual({ spent: {}, reserved: { calls: 6 } });
    expect(store.spend(a, holds(9), NOW, [batch(a, 1, { spending: settles }), batch(a, 2)])).toBeDefined();
    expect(store.spending(KEY, NOW)).toEqual({ spent: { calls: 1 }, reserved: { calls: 9 } });
    expect(thrown(() => store.spend(a, [], NOW, [batch(a, 7, { spending: settles })])).code).toBe('SKEIN_STORE');
    expect(store.spending(KEY, NOW)).toEqual({ spent: { calls: 1 }, reserved: { calls: 9 } });
    expect(textsOf(store, 'a')).toHaveLength(3);
    expect(store.append([batch(a, 3), batch(b, 0)])).toEqual([true, true]);
  });

  test('of several keys changes under all of them, or under none', async () => {
    const store = await open();
    const lease = begin(store, 'a');
    const both = (calls: number) =>
      [KEY, 'day:2026-11-23\nother'].map((key, at) => ({ key, reserved: { calls }, most: { calls: 10 - 5 * at } }));
    expect(store.spend(lease, both(6), NOW)).toBeUndefined();
    expect(store.spending(KEY, NOW)).toEqual({ spent: {}, reserved: {} });
    expect(store.spend(lease, both(5), NOW)).toHaveLength(2);
    expect(store.spending(KEY, NOW)).toEqual({ spent: {}, reserved: { calls: 5 } });
  });

  test('is settled with a batch that is appended; one of a stale lease settles nothing', async () => {
    const store = await open();
    const lease = begin(store, 'a');
    hold(store, lease, 6);
    const spending = { at: NOW, changes: [{ key: KEY, spent: { calls: 2 }, reserved: { calls: -6 } }] };
    expect(store.append([batch(lease, 0, { spending })])).toEqual([true]);
    expect(store.spending(KEY, NOW)).toEqual({ spent: { calls: 2 }, reserved: { calls: 0 } });
    const later = NOW + 2 * LEASE_MS;
    store.lease('a', OTHER, later);
    expect(store.append([batch(lease, 1, { spending })])).toEqual([false]);
    expect(store.spending(KEY, later)).toEqual({ spent: { calls: 2 }, reserved: {} });
  });

  test('what a session held that is over counts as spent, once, also when its run goes on', async () => {
    const store = await open();
    const [a, b] = [begin(store, 'a'), begin(store, 'b')];
    hold(store, a, 3);
    hold(store, b, 2);
    store.release(b, { outcome: 'failed', endedAt: NOW });
    expect(store.spending(KEY, NOW)).toEqual({ spent: { calls: 2 }, reserved: { calls: 3 } });
    const later = NOW + 2 * LEASE_MS;
    expect(store.spending(KEY, later)).toEqual({ spent: { calls: 5 }, reserved: {} });
    const again = store.lease('a', OTHER, later);
    expect(hold(store, again, 1, later)).toMatchObject({ spent: { calls: 5 }, reserved: { calls: 1 } });
    expect(settle(store, again, 1, 1, later)).toMatchObject({ spent: { calls: 6 }, reserved: { calls: 0 } });
    expect(thrown(() => settle(store, a, 3, 1, later)).code).toBe('SKEIN_LEASE');
    expect(store.spending(KEY, later)).toEqual({ spent: { calls: 6 }, reserved: { calls: 0 } });
  });

  test('what a process held that has died counts as spent before its lease ends', async () => {
    const store = await open();
    const { hostname } = await import('node:os');
    const dead = { id: 'dead', host: hostname(), pid: deadHolder() };
    const lease = store.create({ id: 'a', name: 'a', createdAt: NOW }, dead, NOW);
    hold(store, lease, 3);
    expect(store.spending(KEY, NOW)).toEqual({ spent: { calls: 3 }, reserved: {} });
  });

  test('stays when the run is removed, until nobody asks for it any more; that of a thread as long as the thread', async () => {
    const store = await open();
    begin(store, 'thread:t');
    const lease = begin(store, 'a');
    const keys = [KEY, 'thread:t', 'thread:t\ninner', 'thread:gone'];
    for (const key of keys) store.spend(lease, [{ key, spent: { calls: 2 } }], NOW);
    store.release(lease, { outcome: 'succeeded', endedAt: NOW });
    const left = (now: number) => keys.filter((key) => store.spending(key, now).spent['calls'] === 2);
    expect(store.remove(['a'], NOW + 1)).toEqual(['a']);
    expect(left(NOW)).toEqual([KEY, 'thread:t', 'thread:t\ninner']);
    store.remove([], NOW + SPENDING_MS + 1);
    expect(left(NOW)).toEqual(['thread:t', 'thread:t\ninner']);
    store.remove(['thread:t'], NOW + SPENDING_MS + 1);
    expect(left(NOW)).toEqual([]);
  });

  test('sums are those of a slow account, whatever sessions end, die and go on', async () => {
    const store = await open();
    let round = 0;
    const steps = fc.array(fc.record({ run: fc.nat(2), does: fc.nat(3), calls: fc.nat(4) }), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (all) => {
        const key = `day:${(round += 1)}`;
        const [leases, held, spent] = [new Map<string, Lease>(), new Map<string, number>(), { calls: 0 }];
        let now = NOW;
        const over = (id: string) => {
          spent.calls += held.get(id) ?? 0;
          held.set(id, 0);
        };
        for (const { run, does, calls } of all) {
          const id = `${round}-${run}`;
          const lease = leases.get(id) ?? store.create({ id, name: id, createdAt: now }, ME, now);
          leases.set(id, lease);
          const mine = held.get(id) ?? 0;
          const sum = spent.calls + [...held.values()].reduce((a, b) => a + b, 0);
          if (does === 0) {
            const fits = store.spend(lease, [{ key, reserved: { calls }, most: { calls: 12 } }], now) !== undefined;
            expect(fits).toBe(calls === 0 || sum + calls <= 12);
            if (fits) held.set(id, mine + calls);
          } else if (does === 1 && mine > 0) {
            store.spend(lease, [{ key, spent: { calls }, reserved: { calls: -mine } }], now);
            spent.calls += calls;
            held.set(id, 0);
          } else if (does === 2) {
            store.release(lease, { outcome: 'paused', endedAt: now });
            over(id);
            leases.set(id, store.lease(id, ME, now));
          } else if (does === 3) {
            // Nobody renews any lease: all sessions are over.
            now += 2 * LEASE_MS;
            for (const [one] of leases) {
              over(one);
              leases.set(one, store.lease(one, OTHER, now));
            }
          }
          const told = store.spending(key, now);
          expect(told.spent['calls'] ?? 0).toBe(spent.calls);
          expect(told.reserved['calls'] ?? 0).toBe([...held.values()].reduce((a, b) => a + b, 0));
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('a store in a file', () => {
  test('of the version before gets the account, with all that it holds', async () => {
    const path = join(tempFolder(), 'skein.db');
    const before = await openSqliteStore(path);
    const lease = begin(before, 'a');
    before.append([batch(lease, 0)]);
    before.close();
    const database = (await loadDriver()).open(path);
    database.exec('DROP TABLE spending; PRAGMA user_version = 2;');
    database.close();
    const store = closing(await openSqliteStore(path));
    expect(store.read('a')).toHaveLength(1);
    expect(hold(store, lease, 3)).toBeDefined();
  });

  test('does not believe an account in which a byte is wrong', async () => {
    const path = join(tempFolder(), 'skein.db');
    const store = closing(await openSqliteStore(path));
    hold(store, begin(store, 'a'), 3);
    const database = (await loadDriver()).open(path);
    database.exec(`UPDATE spending SET counts = '[{},{"calls":1}]'`);
    database.close();
    expect(thrown(() => store.spending(KEY, NOW))).toMatchObject({
      code: 'SKEIN_JOURNAL',
      message: "the store's account of what runs have spent can't be used: its checksum does not match its columns",
    });
  });
});
