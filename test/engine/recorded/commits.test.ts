import { describe, expect, test } from 'vitest';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import type { Store } from '../../../src/journal/store.js';
import { readHistory } from '../../../src/journal/session.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { faultyStore } from '../../../src/testing/index.js';
import { complete } from '../../fault/support/session.js';
import { SHAPES } from '../../fault/support/shapes.js';
import { doneKeys, isDone, linesOf, memoryWorld, storeWith } from './in-process.js';

/** A store, and how often it was appended to. */
function counted(): { store: Store; appends: () => number } {
  const inner = memoryStore();
  let appends = 0;
  const store = new Proxy(inner, {
    get(target, name: keyof Store) {
      const method = target[name] as (...values: unknown[]) => unknown;
      return (...values: unknown[]) => {
        if (name === 'append') appends += 1;
        return method.apply(target, values);
      };
    },
  });
  return { store, appends: () => appends };
}

describe('R1: an outcome is committed before anything knows of it', () => {
  test('a store that fails at the k-th commit: no later step has started, and the run goes on later', async () => {
    for (let k = 1; k <= 8; k++) {
      const world = memoryWorld(k);
      const built = await SHAPES['chain']?.(world, 1);
      if (built === undefined) throw new Error('no shape');
      const inner = memoryStore();
      let commits = 0;
      const failing = new Proxy(inner, {
        get(target, name: keyof Store) {
          const method = target[name] as (...values: unknown[]) => unknown;
          return (...values: unknown[]) => {
            // The first commit is the beginning of the run.
            const commit = name === 'create' || name === 'append';
            if (commit && commits++ === k) throw Object.assign(new Error('no'), { code: 'SKEIN_STORE' });
            return method.apply(target, values);
          };
        },
      });
      const result = await run(built.workflow, { store: failing, runId: 'r' }).result;
      expect([k, result.outcome, result.error?.message]).toEqual([k, 'failed', 'no']);
      const steps = Array.from({ length: k }, (_, at) => `s${at}`);
      expect(world.performed).toEqual(steps);
      expect(doneKeys(linesOf(inner, 'r'))).toEqual(steps.slice(0, -1));
      const later = storeWith('r', inner.read('r'));
      const resumed = await run(built.workflow, { store: later, resume: 'r' }).result;
      expect([resumed.outcome, resumed.state['log']]).toEqual([
        'succeeded',
        ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7'],
      ]);
      expect(world.performed.slice(k)).toEqual(Array.from({ length: 9 - k }, (_, at) => `s${at + k - 1}`));
    }
  });

  test.each(Object.keys(SHAPES))(
    '%s: each operation of the store fails in turn, once and for good',
    { timeout: 60_000 },
    async (name) => {
      const shape = SHAPES[name];
      if (shape === undefined) throw new Error(`no shape ${name}`);
      const calm = memoryWorld(name);
      const wanted = await complete(await shape(calm, 1), memoryStore(), { runId: 'r' }, () => false);
      let failures = 0;
      for (let at = 1; at < 200; at++) {
        const world = memoryWorld(`${name} ${at}`);
        const inner = memoryStore();
        const kind = at % 2 === 0 ? 'after' : 'before';
        const store = faultyStore(inner, { failAt: at, kind, once: at % 3 === 0 });
        const built = await shape(world, 1);
        const done = (key: string): boolean => isDone(world, key);
        let told: unknown;
        try {
          const result = await complete(built, store, { runId: 'r' }, done);
          told = result.error?.code ?? result.outcome;
        } catch (error) {
          told = (error as { code?: string }).code;
        }
        if (!store.failed) {
          expect(told).toBe('succeeded');
          break;
        }
        failures += 1;
        expect({ at, told }).toEqual({ at, told: 'SKEIN_STORE' });
        const batches = inner.read('r');
        if (batches.length === 0) continue;
        readHistory(inner, 'r');
        const recorded = doneKeys(linesOf(inner, 'r'));
        const before = world.performed.length;
        const later = storeWith('r', batches, inner);
        for (const answer of inner.answers('r')) later.answer('r', answer);
        const result = await complete(built, later, { resume: 'r' }, done);
        expect({ at, state: result.state, outcome: result.outcome }).toEqual({
          at,
          state: wanted.state,
          outcome: 'succeeded',
        });
        const again = world.performed.slice(before).filter((key) => recorded.includes(key));
        // What failed for want of the store is tried again; what had succeeded is not.
        if (name !== 'retry') expect({ at, again }).toEqual({ at, again: [] });
        const received = world.received();
        expect(new Set(received).size).toBe(received.length);
      }
      expect(failures).toBeGreaterThan(5);
    },
  );
});

describe('J5: records of the same tick share a commit', () => {
  test('1,000 steps at once take a few appends', async () => {
    const { store, appends } = counted();
    const ids = Array.from({ length: 1_000 }, (_, at) => `n${at}`);
    const later = (): Promise<object> => new Promise((resolve) => setImmediate(() => resolve({ sum: 1 })));
    const workflow = definePlan({
      name: 'wide',
      channels: { sum: 'add' },
      nodes: ids.map((id) => ({ id, run: later })),
    });
    const { outcome, state } = await run(workflow, { store, runId: 'r' }).result;
    expect([outcome, state['sum']]).toEqual(['succeeded', 1_000]);
    expect(doneKeys(linesOf(store, 'r'))).toHaveLength(1_000);
    expect(appends()).toBeLessThan(30);
  });

  test('so do several runs of a store', async () => {
    const { store, appends } = counted();
    const ids = Array.from({ length: 20 }, (_, at) => `n${at}`);
    const node = (id: string) => ({ id, run: async () => Promise.resolve({}), writes: [] });
    const workflow = definePlan({ name: 'chain', nodes: ids.map(node), edges: [ids] });
    const runs = Array.from({ length: 50 }, (_, at) => run(workflow, { store, runId: `r${at}` }).result);
    const results = await Promise.all(runs);
    expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'succeeded'));
    expect(results.map(({ runId }) => doneKeys(linesOf(store, runId)).length)).toEqual(results.map(() => 20));
    // Each run begins and ends with an append of its own; their 1,000 steps share theirs.
    expect(appends() - 2 * results.length).toBeLessThan(100);
  });
});
