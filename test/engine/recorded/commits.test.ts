import { describe, expect, test } from 'vitest';
import type { Model } from '../../../src/agent/model.js';
import { definePlan } from '../../../src/plan/builder.js';
import { END } from '../../../src/plan/plan.js';
import { run } from '../../../src/runtime.js';
import type { Store } from '../../../src/journal/store.js';
import { readHistory } from '../../../src/journal/session.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { faultyStore } from '../../../src/testing/index.js';
import { complete } from '../../fault/support/session.js';
import { SHAPES } from '../../fault/support/shapes.js';
import { doneKeys, isDone, isTried, linesOf, memoryWorld, storeWith } from './in-process.js';

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

  test.each(Object.keys(SHAPES))('%s: each operation of the store fails in turn, once and for good', async (name) => {
    const shape = SHAPES[name];
    if (shape === undefined) throw new Error(`no shape ${name}`);
    const calm = memoryWorld(name);
    const wanted = await complete(await shape(calm, 1), memoryStore(), { runId: 'r' }, () => false);
    let failures = 0;
    for (let at = 1; at < 200; at++) {
      if (!isTried(name, at)) continue;
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
  });
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

describe('a choice that is made at once waits for the next line', () => {
  const ROUNDS = 100;

  function loop(started: (round: number) => void = () => undefined) {
    return definePlan({
      name: 'loop',
      entry: 'work',
      nodes: [
        {
          id: 'work',
          writes: ['n'],
          run: async (state) => {
            const n = Number(state['n'] ?? 0) + 1;
            started(n);
            // So long that a commit that the choice asks for would be made meanwhile.
            await new Promise((resolve) => setImmediate(resolve));
            return { n };
          },
        },
      ],
      routes: [{ from: 'work', choose: ({ n }) => (Number(n) < ROUNDS ? 'work' : END), targets: ['work', END] }],
      limits: { maxSteps: ROUNDS + 1 },
    });
  }

  test('[XF4] a loop by a route commits once a round, and every choice is in the record in the end', async () => {
    const { store, appends } = counted();
    const { outcome, state } = await run(loop(), { store, runId: 'r' }).result;
    expect([outcome, state['n']]).toEqual(['succeeded', ROUNDS]);
    // The beginning is no append; the last is of the end.
    expect(appends()).toBe(ROUNDS + 1);
    const keys = doneKeys(linesOf(store, 'r'));
    expect([keys.filter((key) => key.includes('@')).length, keys.length]).toEqual([ROUNDS, 2 * ROUNDS]);
    expect(keys.at(-1)).toContain('@');
  });

  test('[XF4] a round starts when the result of the round before is committed, not the choice between them', async () => {
    const store = memoryStore();
    const seen: [results: number, choices: number][] = [];
    await run(
      loop(() => {
        const keys = doneKeys(linesOf(store, 'r'));
        const choices = keys.filter((key) => key.includes('@')).length;
        seen.push([keys.length - choices, choices]);
      }),
      { store, runId: 'r' },
    ).result;
    expect(seen).toEqual(Array.from({ length: ROUNDS }, (_, at) => [at, Math.max(0, at - 1)]));
  });

  test('[XF4] a run that lost its last choice makes it again, and no step twice', async () => {
    const lost = counted();
    const whole = await run(loop(), { store: lost.store, runId: 'r' }).result;
    const batches = lost.store.read('r');
    for (const kept of [2, 3, 50, ROUNDS, ROUNDS + 1]) {
      const rounds: number[] = [];
      const store = storeWith('r', batches.slice(0, kept));
      const result = await run(
        loop((n) => rounds.push(n)),
        { store, resume: 'r' },
      ).result;
      expect([result.outcome, result.state]).toEqual(['succeeded', whole.state]);
      expect(rounds).toEqual(Array.from({ length: ROUNDS + 1 - kept }, (_, at) => kept + at));
    }
  });

  test('[J5] an agent that is visited again commits once a visit, and the record tells of its rounds in the end', async () => {
    const { store, appends } = counted();
    let said = 0;
    const own = (): Model => ({
      id: 'own/m',
      async *stream() {
        await new Promise((resolve) => setImmediate(resolve));
        yield { type: 'text', text: `draft ${(said += 1)}` };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    });
    const workflow = definePlan({
      name: 'drafts',
      entry: 'write',
      nodes: [{ id: 'write', kind: 'agent', prompt: 'Write.', output: 'draft', agent: { name: 'w', tools: [] } }],
      routes: [{ from: 'write', choose: () => (said < ROUNDS ? 'write' : END), targets: ['write', END] }],
      limits: { maxSteps: ROUNDS + 1 },
    });
    const models = { env: {}, noProbe: true, override: 'own/m', providers: { own } };
    const { outcome } = await run(workflow, { store, runId: 'r', models }).result;
    expect([outcome, said, appends()]).toEqual(['succeeded', ROUNDS, ROUNDS + 1]);
    expect(linesOf(store, 'r').filter((line) => line.includes('"loop.round"'))).toHaveLength(ROUNDS - 1);
  });

  test('[XF4] choices alone are committed too before there are many of them', async () => {
    const { store, appends } = counted();
    const ids = Array.from({ length: 1_000 }, (_, at) => `n${at}`);
    const workflow = definePlan({
      name: 'choices',
      entry: 'n0',
      nodes: ids.map((id) => ({ id, kind: 'pass' as const })),
      routes: ids.map((from, at) => {
        const next = ids[at + 1] ?? END;
        return { from, choose: () => next, targets: [next] };
      }),
      limits: { maxSteps: 2_000 },
    });
    const { outcome } = await run(workflow, { store, runId: 'r' }).result;
    expect(outcome).toBe('succeeded');
    expect(doneKeys(linesOf(store, 'r')).length).toBe(1_000);
    expect(appends()).toBeGreaterThan(1);
    expect(appends()).toBeLessThan(50);
  });
});
