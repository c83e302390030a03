import { describe, expect, test } from 'vitest';
import { definePlan } from '../../../src/plan/builder.js';
import type { TaskStep } from '../../../src/plan/builder-input.js';
import { deliveredAnswer } from '../../../src/journal/delivered.js';
import { readHistory } from '../../../src/journal/session.js';
import type { Store } from '../../../src/journal/store.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { FakeClock } from '../../../src/testing/index.js';
import { sessionAt } from './by-clock.js';

const START = Date.UTC(2026, 0, 1);
const TEN = 10_000;

type Asker = Parameters<typeof definePlan>[0]['nodes'][number];
const asked = (how: object) => ({ id: 'q', kind: 'ask' as const, question: 'Now?', output: 'said', ...how });
const event = (how: object) => ({ id: 'q', kind: 'wait' as const, event: 'paid', output: 'said', ...how });
const inside = (how: object) => ({
  id: 'q',
  output: 'said',
  run: (_state: unknown, step: TaskStep) => step.ask({ text: 'Now?' }, how),
});

/** What asks, and then a step that may fail. */
function flowOf(node: object, fails: () => boolean = () => false) {
  const after = (): string => {
    if (fails()) throw new Error('not yet');
    return 'after';
  };
  return definePlan({
    name: 'flow',
    nodes: [node as Asker, { id: 'after', output: 'after', run: after }],
    edges: [['q', 'after']],
  });
}

const openIn = (store: Store) => [...readHistory(store, 'r').pauses.values()];

function answerAt(store: Store, at: number): void {
  const [pause] = openIn(store);
  if (pause === undefined) throw new Error('nothing is asked');
  expect(store.answer('r', { key: pause.key, id: pause.id, value: '"now"', at, by: 'command' })).toBe(true);
}

describe('a run that failed since an answer did not come in time', () => {
  test.each([
    ['a question', asked({ expiresMs: TEN })],
    ['an event', event({ ms: TEN })],
    ['a question of a function', inside({ expires: TEN })],
  ])('waits again when it is resumed, for as long as the first time: %s', async (_, node) => {
    const [flow, store] = [flowOf(node), memoryStore()];
    const at = (time: number) => sessionAt(flow, store, new FakeClock(START + time));
    expect((await at(0)).outcome).toBe('paused');
    expect(await at(TEN)).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_TIMEOUT' } });
    for (const again of [3 * TEN, 3 * TEN + 5]) {
      expect((await at(again)).outcome).toBe('paused');
      expect(openIn(store).map(({ due }) => due)).toEqual([START + 4 * TEN]);
    }
    expect(await at(4 * TEN)).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_TIMEOUT' } });
    expect((await at(6 * TEN)).outcome).toBe('paused');
    answerAt(store, START + 6 * TEN + 1);
    expect(await at(6 * TEN + 2)).toMatchObject({ outcome: 'succeeded', state: { said: 'now', after: 'after' } });
  });

  test.each([
    ['a question', asked({ expiresMs: TEN, onExpire: { answer: 'late' } })],
    ['an event', event({ ms: TEN, onExpire: { answer: 'late' } })],
    ['a question of a function', inside({ expires: TEN, default: 'late' })],
  ])('does not wait again for what has a default, if something else failed: %s', async (_, node) => {
    let fails = true;
    const [flow, store] = [flowOf(node, () => fails), memoryStore()];
    const at = (time: number) => sessionAt(flow, store, new FakeClock(START + time));
    expect((await at(0)).outcome).toBe('paused');
    expect(await at(TEN)).toMatchObject({ outcome: 'failed', state: { said: 'late' } });
    fails = false;
    expect(await at(3 * TEN)).toMatchObject({ outcome: 'succeeded', state: { said: 'late', after: 'after' } });
  });

  test.each([
    ['a question', asked({ expiresMs: TEN, onError: 'ignore' })],
    ['an event', event({ ms: TEN, onError: 'ignore' })],
    ['a question of a function', { ...inside({ expires: TEN }), onError: 'ignore' as const }],
  ])('does not wait again for what may fail, also after another failure: %s', async (_, node) => {
    let fails = false;
    const [flow, store] = [flowOf(node, () => fails), memoryStore()];
    const at = (time: number) => sessionAt(flow, store, new FakeClock(START + time));
    expect((await at(0)).outcome).toBe('paused');
    fails = true;
    expect((await at(TEN)).outcome).toBe('failed');
    fails = false;
    for (const later of [3 * TEN, 5 * TEN])
      expect(await at(later)).toMatchObject({ outcome: 'degraded', state: { after: 'after' } });
  });

  test('takes an event that came after the first wait', async () => {
    const [flow, store] = [flowOf(event({ ms: TEN })), memoryStore()];
    const at = (time: number) => sessionAt(flow, store, new FakeClock(START + time));
    await at(0);
    await at(TEN);
    store.answer('r', deliveredAnswer('paid', 1, '"now"', START + TEN + 1));
    expect(await at(2 * TEN)).toMatchObject({ outcome: 'succeeded', state: { said: 'now' } });
  });
});
