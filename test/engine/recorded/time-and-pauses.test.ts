import { describe, expect, test } from 'vitest';
import { readHistory } from '../../../src/journal/session.js';
import { definePlan } from '../../../src/plan/builder.js';
import type { Definition } from '../../../src/plan/builder-input.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { FakeClock, seededRandom } from '../../../src/testing/index.js';
import { sessionAt, turns } from './by-clock.js';
import { linesOf, storeWith } from './in-process.js';

const napping = definePlan({
  name: 'nap',
  nodes: [
    { id: 'a', output: 'a', run: () => 1 },
    { id: 'nap', kind: 'wait', ms: 3_600_000 },
    { id: 'b', output: 'b', run: ({ a }) => Number(a) + 1 },
  ],
  edges: [['a', 'nap', 'b']],
});

describe('timers over a restart', () => {
  test.each([
    ['half of the time later', 1_800_000, 1_800_000],
    ['400 days later', 400 * 86_400_000, 0],
    ['with a clock that was put back by two hours', -7_200_000, 3_600_000 + 7_200_000],
  ])('%s: what is left of the wait is waited for', async (_name, jump, left) => {
    const start = Date.UTC(2026, 0, 1);
    const store = memoryStore();
    void sessionAt(napping, store, new FakeClock(start));
    await turns();
    const copy = storeWith('r', store.read('r'));
    const clock = new FakeClock(start + jump);
    const ended = sessionAt(napping, copy, clock);
    let over = false;
    void ended.then(() => {
      over = true;
    });
    await turns();
    if (left > 0) {
      clock.advance(left - 1);
      await turns();
      expect(over).toBe(false);
    }
    clock.advance(1);
    await turns();
    expect(over).toBe(true);
    expect([(await ended).outcome, (await ended).state]).toEqual(['succeeded', { a: 1, b: 2 }]);
    for (const line of linesOf(copy, 'r'))
      expect((JSON.parse(line) as { ms?: number }).ms ?? 0).toBeGreaterThanOrEqual(0);
  });
});

const asks = definePlan({
  name: 'asks',
  nodes: Array.from({ length: 50 }, (_, at) => ({
    id: `q${at}`,
    kind: 'ask' as const,
    question: `Question ${at}?`,
    output: `a${at}`,
  })),
});

describe('J10: fifty questions at once', () => {
  test.each(['while it runs', 'after it has paused'])('are answered in any order from outside, %s', async (when) => {
    const random = seededRandom(when);
    const store = memoryStore();
    const alive = when === 'while it runs';
    // Something that runs keeps the run from pausing.
    let stop: (() => void) | undefined;
    const busy = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const keep = { id: 'keep', output: 'kept', run: async () => (await busy, true) };
    const workflow = alive ? withNode(asks, keep) : asks;
    const first = run(workflow, { store, runId: 'r' }).result;
    if (!alive) expect((await first).outcome).toBe('paused');
    else await turns();
    const pauses = [...readHistory(store, 'r').pauses.values()];
    expect(pauses).toHaveLength(50);
    const order = pauses.map((pause) => ({ pause, place: random() })).toSorted((a, b) => a.place - b.place);
    for (const { pause } of order) {
      const answer = { key: pause.key, id: pause.id, at: 1, by: 'command' };
      expect(store.answer('r', { ...answer, id: 'of another question', value: '"wrong"' })).toBe(true);
      expect(store.answer('r', { ...answer, value: JSON.stringify(`re ${pause.name}`) })).toBe(true);
      expect(store.answer('r', { ...answer, value: '"too late"' })).toBe(false);
    }
    if (alive) {
      while (readHistory(store, 'r').pauses.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      stop?.();
    }
    const result = alive ? await first : await run(workflow, { store, resume: 'r' }).result;
    expect(result.outcome).toBe('succeeded');
    const wanted = Array.from({ length: 50 }, (_, at) => [`a${at}`, `re q${at}`]);
    expect(wanted.map(([name]) => [name, result.state[name ?? '']])).toEqual(wanted);
  });

  test('one that is not answered keeps the run paused, and the others are not asked again', async () => {
    const store = memoryStore();
    await run(asks, { store, runId: 'r' }).result;
    for (const { key, id } of readHistory(store, 'r').pauses.values()) {
      if (key !== 'q7@answer') store.answer('r', { key, id, value: '"yes"', at: 1, by: 'command' });
    }
    const result = await run(asks, { store, resume: 'r' }).result;
    expect([result.outcome, result.census.paused, result.census.succeeded]).toEqual(['paused', 1, 49]);
    expect([...readHistory(store, 'r').pauses.keys()]).toEqual(['q7@answer']);
  });
});

function withNode(
  { plan, bindings }: Definition,
  node: { id: string; output: string; run: () => unknown },
): Definition {
  const more = definePlan({ name: 'more', nodes: [node] });
  const whole = { ...plan, nodes: [...plan.nodes, ...more.plan.nodes] };
  return { plan: whole, bindings: { ...bindings, ...more.bindings } };
}

describe('J9: a question that expired while nobody ran the run', () => {
  const gate = {
    id: 'q',
    kind: 'ask' as const,
    question: 'Sure?',
    choices: ['yes', 'no'],
    expiresMs: 1000,
    output: 'a',
  };
  test.each([
    ['fails its step', {}, ['failed', undefined]],
    ['is answered by its definition', { onExpire: { answer: 'no' } }, ['succeeded', 'no']],
  ])('%s when the run is resumed, and is not asked again', async (_name, more, [outcome, answer]) => {
    const plan = definePlan({ name: 'late', nodes: [{ ...gate, ...more }] });
    const store = memoryStore();
    expect((await sessionAt(plan, store, new FakeClock(0))).outcome).toBe('paused');
    const result = await sessionAt(plan, store, new FakeClock(1000));
    expect([result.outcome, result.state['a']]).toEqual([outcome, answer]);
  });
});
