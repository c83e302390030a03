import { describe, expect, test } from 'vitest';
import type { ErrorData } from '../../src/base/errors.js';
import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import { startRun } from '../../src/engine/run.js';
import type { CheckedStep } from '../../src/engine/services.js';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';
import { FakeClock } from '../../src/testing/index.js';
import { sessionAt, turns } from './recorded/by-clock.js';
import { storeWith } from './recorded/in-process.js';

const inner = definePlan({ name: 'inner', nodes: [{ id: 'deep', output: 'deep', run: () => 1 }] });

const line = definePlan({
  name: 'line',
  nodes: [
    { id: 'a', output: 'a', run: () => 1 },
    { id: 'b', kind: 'call', plan: inner, outputs: { b: 'deep' } },
    { id: 'here', kind: 'pass' },
    { id: 'c', output: 'c', run: () => 3 },
  ],
  edges: [['a', 'b', 'here', 'c']],
});

const STOP: ErrorData = { code: 'SKEIN_STEP_FAILED', message: 'enough' };

describe('a check', () => {
  test('sees each step of the run’s own plan when its output is part of the state', async () => {
    const seen: unknown[] = [];
    const check = ({ node, path, state, census }: CheckedStep): undefined =>
      void seen.push([node, path, { ...state }, census.succeeded]);
    const { outcome } = await run(line, { check }).result;
    expect(outcome).toBe('succeeded');
    expect(seen).toEqual([
      ['a', 'a', { a: 1 }, 1],
      ['b', 'b', { a: 1, b: 1 }, 3],
      ['c', 'c', { a: 1, b: 1, c: 3 }, 4],
    ]);
  });

  test('ends the run there with its error; what the step wrote is kept, and nothing goes on', async () => {
    const check = ({ node }: CheckedStep): ErrorData | undefined => (node === 'b' ? STOP : undefined);
    const { outcome, error, state, census } = await run(line, { check }).result;
    expect([outcome, error, state]).toEqual(['failed', STOP, { a: 1, b: 1 }]);
    expect([census.succeeded, census.failed, census.notRun]).toEqual([3, 0, 1]);
  });

  test('aborts what still runs', async () => {
    let aborted = false;
    const pair = definePlan({
      name: 'pair',
      nodes: [
        {
          id: 'slow',
          output: 'x',
          run: (_state, { signal }) =>
            new Promise(() => signal.addEventListener('abort', () => void (aborted = true), { once: true })),
        },
        { id: 'quick', output: 'y', run: () => 1 },
      ],
    });
    const { outcome, steps } = await run(pair, { check: () => STOP }).result;
    expect([outcome, aborted, steps.map((step) => [step.path, step.outcome])]).toEqual([
      'failed',
      true,
      [['slow', 'cancelled']],
    ]);
  });

  test('that throws ends the run with what it threw', async () => {
    const check = (): never => {
      throw new TypeError('a bad check');
    };
    const { outcome, error } = await run(line, { check }).result;
    expect([outcome, error?.message, error?.name]).toEqual(['failed', 'a bad check', 'TypeError']);
  });

  test('can’t change the state, and is not asked about steps that failed', async () => {
    const plan = definePlan({
      name: 'p',
      nodes: [
        { id: 'bad', onError: 'ignore', run: () => Promise.reject(new Error('no')) },
        { id: 'good', output: 'x', run: () => ({ n: 1 }) },
      ],
      edges: [['bad', 'good']],
    });
    const seen: string[] = [];
    const check = ({ node, state }: CheckedStep): undefined => {
      seen.push(node);
      expect(() => Object.assign(state, { x: 2 })).toThrow(TypeError);
    };
    expect([(await run(plan, { check }).result).state, seen]).toEqual([{ x: { n: 1 } }, ['good']]);
  });

  test('in memory, time goes by the clock', async () => {
    const clock = new FakeClock();
    const plan = definePlan({
      name: 'p',
      nodes: [
        { id: 'a', output: 'a', run: () => clock.advance(40) },
        { id: 'b', output: 'b', run: async () => clock.advance(2) },
      ],
      edges: [['a', 'b']],
    });
    const times: number[] = [];
    const check = ({ elapsedMs }: CheckedStep): undefined => void times.push(elapsedMs);
    await startRun(plan.plan, { bindings: plan.bindings, check, durable: new MemoryDurable('r', { clock }) }).result;
    expect(times).toEqual([40, 42]);
  });
});

function deferred() {
  let resolve: (value: unknown) => void = () => undefined;
  const promise = new Promise<unknown>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe('J1: the time that a check is told', () => {
  /** Two steps beside one another, one of which stays open until a day later. */
  function timed(clock: FakeClock, broken: () => boolean) {
    return definePlan({
      name: 'timed',
      nodes: [
        { id: 'a', output: 'a', run: () => clock.advance(10) },
        { id: 'nap', kind: 'wait', ms: 5_000 },
        {
          id: 'b',
          output: 'b',
          run: () => {
            clock.advance(7);
            if (broken()) throw new Error('no');
          },
        },
      ],
      edges: [['a', 'nap', 'b']],
    });
  }

  test('is the same in every session, whenever that is', async () => {
    const start = Date.UTC(2026, 0, 1);
    const seen: [string, number][][] = [];
    const told = (): ((view: CheckedStep) => undefined) => {
      const times: [string, number][] = [];
      seen.push(times);
      return ({ node, elapsedMs }) => void times.push([node, elapsedMs]);
    };
    let copy = memoryStore();
    for (const [session, later] of [0, 86_400_000, 3 * 86_400_000].entries()) {
      const clock = new FakeClock(start + later);
      const store = copy;
      const ended = sessionAt(
        timed(clock, () => session < 2),
        store,
        clock,
        { check: told() },
      );
      await turns();
      clock.advance(5_000);
      await turns();
      await ended;
      copy = storeWith('r', store.read('r'));
    }
    const recorded = [
      ['a', 10],
      ['nap', 5_010],
    ];
    expect(seen[0]).toEqual(recorded);
    expect(seen[1]).toEqual(recorded);
    expect(seen[2]).toEqual([...recorded, ['b', expect.any(Number)]]);
  });

  test('is the same when a person answered something meanwhile', async () => {
    const start = Date.UTC(2026, 0, 1);
    const times: (readonly [string, number])[][] = [];
    let store = memoryStore();
    for (let session = 0; session < 2; session++) {
      const seen: (readonly [string, number])[] = [];
      times.push(seen);
      const clock = new FakeClock(start);
      const [answered, given] = [deferred(), deferred()];
      const plan = definePlan({
        name: 'asking',
        nodes: [
          { id: 'a', output: 'a', run: (_state, step) => step.ask({ text: 'Which?' }) },
          { id: 'b', output: 'b', run: () => given.promise },
        ],
      });
      const check = ({ node, elapsedMs }: CheckedStep): undefined => void seen.push([node, elapsedMs]);
      const ended = sessionAt(plan, store, clock, { check, answer: () => answered.promise });
      await turns();
      clock.advance(4);
      given.resolve('b');
      while (seen.length === 0) await turns();
      clock.advance(50);
      answered.resolve('a');
      await turns();
      await ended;
      store = storeWith('r', store.read('r'));
    }
    expect(times[0]).toEqual([
      ['b', 4],
      ['a', 54],
    ]);
    expect(times[1]).toEqual(times[0]);
  });

  test('what a fork takes over took no time', async () => {
    const store = memoryStore();
    await run(line, { store, runId: 'r' }).result;
    const times: number[] = [];
    const check = ({ elapsedMs }: CheckedStep): undefined => void times.push(elapsedMs);
    await run(line, { store, fork: { run: 'r' }, check }).result;
    expect(times).toEqual([0, 0, 0]);
  });

  test('a run that a check ended is ended again when it goes on', async () => {
    const store = memoryStore();
    const check = ({ node }: CheckedStep): ErrorData | undefined => (node === 'b' ? STOP : undefined);
    await run(line, { store, runId: 'r', check }).result;
    const again = await run(line, { store, resume: 'r', check }).result;
    expect([again.outcome, again.error?.message, again.ran]).toEqual(['failed', 'enough', 0]);
    const free = await run(line, { store, resume: 'r' }).result;
    expect([free.outcome, free.state]).toEqual(['succeeded', { a: 1, b: 1, c: 3 }]);
  });
});
