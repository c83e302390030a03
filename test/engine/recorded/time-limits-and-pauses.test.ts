import { describe, expect, test } from 'vitest';
import { definePlan } from '../../../src/plan/builder.js';
import type { Definition, TaskStep } from '../../../src/plan/builder-input.js';
import { readHistory } from '../../../src/journal/session.js';
import type { Store } from '../../../src/journal/store.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { FakeClock } from '../../../src/testing/index.js';
import { sessionAt, turns } from './by-clock.js';
import { storeWith } from './in-process.js';

const START = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
const LIMIT = 1000;

function answer(store: Store, at: number): void {
  for (const { key, id } of readHistory(store, 'r').pauses.values())
    store.answer('r', { key, id, value: '"yes"', at, by: 'command' });
}

/** Asks, and then works for half of the limit. */
const asks = (clock: () => FakeClock) => async (_state: unknown, step: TaskStep) => {
  const said = await step.ask({ text: 'Sure?' });
  await new Promise<void>((resolve) => clock().setTimer(LIMIT / 2, resolve));
  return said;
};

type Shape = (clock: () => FakeClock) => Definition;
const inside = (clock: () => FakeClock, timeoutMs?: number) =>
  definePlan({
    name: 'inside',
    openInputs: true,
    nodes: [{ id: 'q', output: 'said', run: asks(clock), ...(timeoutMs === undefined ? {} : { timeoutMs }) }],
  });
const around = (node: object): Definition =>
  definePlan({
    name: 'around',
    nodes: [
      { id: 'items', output: 'items', run: () => [1] },
      { id: 'limited', timeoutMs: LIMIT, output: 'said', ...node } as never,
    ],
    edges: [['items', 'limited']],
  });

const shapes: Readonly<Record<string, Shape>> = {
  'a function': (clock) => inside(clock, LIMIT),
  'a workflow around it': (clock) =>
    around({ kind: 'call', plan: inside(clock), inputs: {}, outputs: { said: 'said' } }),
  'a map around it': (clock) =>
    around({ kind: 'map', over: { channel: 'items' }, plan: inside(clock), inputs: {}, result: 'said' }),
  'a loop around it': (clock) =>
    around({
      kind: 'loop',
      plan: inside(clock),
      inputs: {},
      until: ['said == "yes"'],
      maxRounds: 1,
      outputs: { said: 'said' },
    }),
};

describe('time in which a question is open counts toward no timeout, also between two sessions', () => {
  test.each(Object.entries(shapes))('%s', async (_name, shape) => {
    let clock = new FakeClock(START);
    const workflow = shape(() => clock);
    const store = memoryStore();
    expect((await sessionAt(workflow, store, clock)).outcome).toBe('paused');
    clock = new FakeClock(START + DAY);
    answer(store, START + DAY);
    const ended = sessionAt(workflow, store, clock);
    await turns();
    clock.advance(LIMIT / 2);
    expect((await ended).error).toBeUndefined();
    expect((await ended).outcome).toBe('succeeded');
  });

  test.each(Object.entries(shapes))('but the work after the answer does: %s', async (_name, shape) => {
    let clock = new FakeClock(START);
    const workflow = shape(() => new FakeClock(0));
    const store = memoryStore();
    await sessionAt(workflow, store, clock);
    clock = new FakeClock(START + DAY);
    answer(store, START + DAY);
    const ended = sessionAt(workflow, store, clock);
    await turns();
    clock.advance(LIMIT);
    expect((await ended).error?.code).toBe('SKEIN_TIMEOUT');
  });
});

test('the time between a crash and a resume counts toward no limit either, when the attempt then asks', async () => {
  let clock = new FakeClock(START);
  let dies = true;
  const ask = asks(() => clock);
  const plan = definePlan({
    name: 'inner',
    nodes: [
      { id: 'first', output: 'first', run: () => 1 },
      { id: 'q', output: 'said', run: (state, step) => (dies ? new Promise(() => undefined) : ask(state, step)) },
    ],
    edges: [['first', 'q']],
  });
  const workflow = around({ kind: 'call', plan, inputs: {}, outputs: { said: 'said' } });
  let store = memoryStore();
  void sessionAt(workflow, store, clock);
  await turns();
  store = storeWith('r', store.read('r'));
  clock = new FakeClock(START + DAY);
  dies = false;
  expect((await sessionAt(workflow, store, clock)).outcome).toBe('paused');
  answer(store, START + DAY);
  const ended = sessionAt(workflow, store, clock);
  await turns();
  clock.advance(LIMIT / 2);
  expect(await ended).toMatchObject({ outcome: 'succeeded', state: { said: 'yes' } });
});

test('an attempt that took too long after an answer is over: after a crash its retry continues', async () => {
  let clock = new FakeClock(START);
  const attempts: number[] = [];
  const ask = asks(() => clock);
  const workflow = definePlan({
    name: 'retried',
    nodes: [
      {
        id: 'q',
        output: 'said',
        timeoutMs: LIMIT,
        retry: { retries: 1, delayMs: 0 },
        run: async (state, step) => {
          attempts.push(step.attempt);
          if (step.attempt === 2) return await new Promise(() => undefined);
          const said = await ask(state, step);
          await new Promise<void>((resolve) => clock.setTimer(LIMIT, resolve));
          return said;
        },
      },
    ],
  });
  let store = memoryStore();
  await sessionAt(workflow, store, clock);
  answer(store, START);
  void sessionAt(workflow, store, clock);
  await turns();
  clock.advance(LIMIT);
  await turns();
  clock.advance(1);
  await turns();
  expect(attempts).toEqual([1, 1, 2]);
  store = storeWith('r', store.read('r'));
  clock = new FakeClock(START + DAY);
  const ended = sessionAt(workflow, store, clock);
  await turns();
  clock.advance(LIMIT);
  expect((await ended).error?.code).toBe('SKEIN_TIMEOUT');
  expect(attempts.slice(3)).toEqual([2]);
});
