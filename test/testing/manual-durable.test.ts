import { describe, expect, test } from 'vitest';
import type { Outcome, StepIo, Ticket } from '../../src/engine/ports/durable.js';
import { FakeClock, ManualDurable, seededChooser, seededRandom } from '../../src/testing/index.js';

/** Takes what a back end hands over, and says when something has come. */
function collect(durable: ManualDurable): {
  readonly keys: string[];
  readonly outcomes: Map<string, Outcome | undefined>;
} {
  const keys: string[] = [];
  const outcomes = new Map<string, Outcome | undefined>();
  durable.deliverTo({
    resting: undefined,
    stepsEnded: 0,
    caughtUp: () => undefined,
    outdated: () => undefined,
    waitsFor: () => undefined,
    unanswered: () => undefined,
    take: (ticket: Ticket) => {
      keys.push(ticket.key);
      outcomes.set(ticket.key, ticket.outcome);
      return undefined;
    },
    broken: (error) => {
      throw new Error(error.message);
    },
  });
  return { keys, outcomes };
}

function start(durable: ManualDurable, key: string, perform: (io: StepIo) => unknown): Ticket {
  return durable.step(key, { perform });
}

describe('ManualDurable', () => {
  test('delivers in the order that the test says, also what is ordered before it is started', async () => {
    const durable = new ManualDurable();
    const { keys, outcomes } = collect(durable);
    const late = durable.deliver('late');
    start(durable, 'quick', () => 1);
    start(durable, 'slow', () => Promise.resolve(2));
    expect(durable.pending.map((one) => one.key)).toEqual(['quick', 'slow']);
    start(durable, 'late', () => 3);
    await late;
    await durable.deliver('slow');
    await durable.deliver('quick');
    expect(keys).toEqual(['late', 'slow', 'quick']);
    expect(outcomes.get('slow')).toEqual({ ok: true, value: 2 });
    expect(durable.pending).toEqual([]);
  });

  test('errors cross as values, thrown or rejected', async () => {
    const durable = new ManualDurable({ choose: () => 0 });
    const { outcomes } = collect(durable);
    start(durable, 'thrown', () => {
      throw new TypeError('bad');
    });
    start(durable, 'rejected', () => Promise.reject(new Error('worse')));
    await until(() => outcomes.size === 2);
    expect(outcomes.get('thrown')).toMatchObject({ ok: false, error: { message: 'bad', name: 'TypeError' } });
    expect(outcomes.get('rejected')).toMatchObject({ ok: false, error: { message: 'worse' } });
  });

  test('timers come in the order of time and move the clock; nothing else does', async () => {
    const durable = new ManualDurable({ startAt: 1_000, choose: () => 0 });
    const { keys } = collect(durable);
    durable.timer('second', 200);
    durable.timer('first', 100);
    expect(durable.now()).toBe(1_000);
    await until(() => keys.length === 2);
    expect(keys).toEqual(['first', 'second']);
    expect(durable.now()).toBe(1_200);
  });

  test('a signal waits for its answer', async () => {
    const durable = new ManualDurable({ choose: () => 0 });
    const { keys, outcomes } = collect(durable);
    durable.signal('ask', { name: 'approve', question: { text: 'Go?' } });
    expect(durable.answer('other', true)).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(keys).toEqual([]);
    expect(durable.pending[0]).toMatchObject({ kind: 'signal', name: 'approve', question: { text: 'Go?' } });
    expect(durable.answer('approve', 'yes')).toBe(true);
    await until(() => keys.length === 1);
    expect(outcomes.get('ask')).toEqual({ ok: true, value: 'yes' });
  });

  test('a dropped ticket is aborted and never delivered, also while it is awaited', async () => {
    const durable = new ManualDurable({ choose: () => 0 });
    const { keys } = collect(durable);
    let aborted = false;
    const hanging = start(durable, 'hanging', (io) => {
      io.signal.addEventListener('abort', () => (aborted = true));
      return new Promise(() => undefined);
    });
    start(durable, 'other', () => 1);
    await new Promise((resolve) => setImmediate(resolve));
    durable.drop(hanging);
    await until(() => keys.length === 1);
    expect(aborted).toBe(true);
    expect(keys).toEqual(['other']);
  });

  test('settles at once where that is asked for', () => {
    const durable = new ManualDurable({ settleAtOnce: (key) => key === 'now' });
    expect(start(durable, 'now', () => 1).outcome).toEqual({ ok: true, value: 1 });
    expect(start(durable, 'later', () => 1).outcome).toBeUndefined();
    expect(start(durable, 'now', () => Promise.resolve(1)).outcome).toBeUndefined();
  });

  test('a seed gives an order, and the same one again', async () => {
    const order = async (seed: number): Promise<string> => {
      const durable = new ManualDurable({ choose: seededChooser(seed) });
      const { keys } = collect(durable);
      for (const key of 'abcdef') start(durable, key, () => key);
      await until(() => keys.length === 6);
      return keys.join('');
    };
    const orders = await Promise.all([1, 2, 3, 4].map(order));
    expect(await Promise.all([1, 2, 3, 4].map(order))).toEqual(orders);
    expect(new Set(orders).size).toBeGreaterThan(1);
  });

  test('an overdue answer is a timeout that moves the clock; one in time is none', async () => {
    const durable = new ManualDurable({ startAt: 0, choose: () => 0 });
    const { keys, outcomes } = collect(durable);
    durable.signal('late', { name: 'late', expiresMs: 50 });
    durable.signal('early', { name: 'early', expiresMs: 70 });
    durable.timer('timer', 60);
    expect(durable.answer('early', 1)).toBe(true);
    await until(() => keys.length === 3);
    expect(keys).toEqual(['late', 'early', 'timer']);
    expect(outcomes.get('late')).toMatchObject({ ok: false, error: { code: 'SKEIN_TIMEOUT' } });
    expect(outcomes.get('early')).toEqual({ ok: true, value: 1 });
    expect(durable.now()).toBe(60);
  });

  test('what an effect asks is pending, and the effect is not chosen before it has its answer', async () => {
    const durable = new ManualDurable({ choose: () => 0 });
    const { outcomes } = collect(durable);
    start(durable, 'a', (io) => io.ask('sure', { text: 'Sure?' }));
    start(durable, 'b', (io) => io.ask('sure', { text: 'Really?' }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(durable.pending.map((one) => one.key)).toEqual(['a@ask:sure', 'a', 'b@ask:sure', 'b']);
    expect(durable.answer('sure', { yes: true })).toBe(true);
    expect(durable.refuse('sure')).toBe(true);
    expect(durable.refuse('sure')).toBe(false);
    await until(() => outcomes.size === 2);
    expect(outcomes.get('a')).toEqual({ ok: true, value: { yes: true } });
    expect(outcomes.get('b')).toMatchObject({ ok: false, error: { code: 'SKEIN_QUESTION' } });
  });

  test('random numbers depend on the run id and the key only', () => {
    const draw = (runId: string, key: string): number => new ManualDurable({ runId }).random(key);
    expect(draw('a', 'k')).toBe(draw('a', 'k'));
    expect(draw('a', 'k')).not.toBe(draw('b', 'k'));
    expect(draw('a', 'k')).not.toBe(draw('a', 'l'));
  });
});

describe('FakeClock', () => {
  test('fires what is due, in the order of time, and then stands still again', () => {
    const clock = new FakeClock(0);
    const rang: string[] = [];
    clock.setTimer(20, () => rang.push(`b at ${clock.now()}`));
    clock.setTimer(10, () => {
      rang.push(`a at ${clock.now()}`);
      clock.setTimer(5, () => rang.push(`c at ${clock.now()}`));
    });
    const takeBack = clock.setTimer(12, () => rang.push('never'));
    takeBack();
    clock.advance(9);
    expect(rang).toEqual([]);
    clock.advance(11);
    expect(rang).toEqual(['a at 10', 'c at 15', 'b at 20']);
    expect(clock.now()).toBe(20);
    expect(clock.waiting).toBe(0);
  });

  test('goes from timer to timer', () => {
    const clock = new FakeClock(0);
    clock.setTimer(60_000, () => undefined);
    expect(clock.advanceToNext()).toBe(true);
    expect(clock.now()).toBe(60_000);
    expect(clock.advanceToNext()).toBe(false);
  });
});

describe('seededRandom', () => {
  test('is the same for the same seed and spread over [0, 1)', () => {
    const numbers = Array.from({ length: 1_000 }, seededRandom('seed'));
    expect(Array.from({ length: 1_000 }, seededRandom('seed'))).toEqual(numbers);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
    const mean = numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
  });
});

/** Lets the event loop turn until something holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
