import { expect, test } from 'vitest';
import type { RunResult } from '../../../src/engine/run.js';
import { readHistory } from '../../../src/journal/session.js';
import type { Store } from '../../../src/journal/store.js';
import { definePlan } from '../../../src/plan/builder.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { FakeClock } from '../../../src/testing/index.js';
import { sessionAt, turns } from './by-clock.js';

const START = Date.UTC(2026, 0, 1);

/** How a session stands: undefined while it goes on. */
function watched(session: Promise<RunResult>): () => RunResult | undefined {
  let ended: RunResult | undefined;
  void session.then((result) => {
    ended = result;
  });
  return () => ended;
}

function answer(store: Store, value: string, at: number): boolean {
  const [pause] = readHistory(store, 'r').pauses.values();
  if (pause === undefined) throw new Error('nothing is asked');
  return store.answer('r', { key: pause.key, id: pause.id, value: JSON.stringify(value), at, by: 'command' });
}

const besideATimer = definePlan({
  name: 'beside',
  nodes: [
    { id: 'q', kind: 'ask', question: 'Now?', output: 'said' },
    { id: 'nap', kind: 'wait', ms: 60_000 },
    { id: 'after', output: 'after', run: () => 'rested' },
  ],
  edges: [['nap', 'after']],
});

test('a question does not pause a run in which a timer is set; what comes after the timer happens first', async () => {
  const [store, clock] = [memoryStore(), new FakeClock(START)];
  const ended = watched(sessionAt(besideATimer, store, clock));
  await turns();
  clock.advance(59_999);
  await turns();
  expect(ended()).toBeUndefined();
  clock.advance(1);
  await turns();
  expect(ended()).toMatchObject({ outcome: 'paused', state: { after: 'rested' } });
});

const slow = definePlan({
  name: 'slow',
  nodes: [{ id: 'q', kind: 'ask', question: 'Now?', expiresMs: 10_000, output: 'said' }],
});

test('the time to answer goes on while nobody runs the run; it does not begin anew with a session', async () => {
  const store = memoryStore();
  expect((await sessionAt(slow, store, new FakeClock(START))).outcome).toBe('paused');
  expect([...readHistory(store, 'r').pauses.values()].map(({ due }) => due)).toEqual([START + 10_000]);
  expect((await sessionAt(slow, store, new FakeClock(START + 9_999))).outcome).toBe('paused');
  const late = await sessionAt(slow, store, new FakeClock(START + 10_000));
  expect([late.outcome, late.error?.code]).toEqual(['failed', 'SKEIN_TIMEOUT']);
});

const urgent = definePlan({
  name: 'urgent',
  nodes: [
    { id: 'q', kind: 'ask', question: 'Now?', expiresMs: 1_100, onExpire: { answer: 'nobody' }, output: 'said' },
    { id: 'nap', kind: 'wait', ms: 60_000 },
  ],
});

test.each([
  ['an answer that came in time, and was not seen yet, counts', true, 'me'],
  ['an answer that comes after the expiry does not', false, 'nobody'],
])('%s', async (_what, inTime, said) => {
  const [store, clock] = [memoryStore(), new FakeClock(START)];
  const ended = watched(sessionAt(urgent, store, clock));
  await turns();
  // The store is asked every 250 ms: not between these.
  clock.advance(1_099);
  await turns();
  if (inTime) expect(answer(store, 'me', START + 1_099)).toBe(true);
  clock.advance(1);
  if (!inTime) expect(answer(store, 'me', START + 1_101)).toBe(false);
  await turns();
  clock.advance(60_000);
  await turns();
  expect(ended()).toMatchObject({ outcome: 'succeeded', state: { said } });
});
