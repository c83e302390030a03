import { describe, expect, test } from 'vitest';
import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import { startRun } from '../../src/engine/run.js';
import type { AskNode } from '../../src/plan/plan.js';
import { FakeClock, ManualDurable } from '../../src/testing/index.js';
import { outcomes, plan, task, type State } from './plans.js';

const ASK: AskNode = { kind: 'ask', id: 'q', question: ['Publish?'], expiresMs: 1_000, output: 'said' };

/** A question and what comes after it. */
function asking(more: Partial<AskNode> = {}): ReturnType<typeof plan> {
  return plan({ nodes: [{ ...ASK, ...more }, task('after', { output: 'after' })], edges: ['q>after'] });
}

const bindings = { after: ({ said }: State) => `after ${String(said)}` };

describe('a question that expires', () => {
  test('fails its step with a timeout', async () => {
    const durable = new ManualDurable({ startAt: 0, choose: () => 0 });
    const result = await startRun(asking(), { durable, bindings }).result;
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_TIMEOUT' }, census: { timed_out: 1 } });
    expect(durable.now()).toBe(1_000);
    expect(durable.delivered).toEqual(['q@answer']);
  });

  test('goes on with the answer that the definition gives', async () => {
    const durable = new ManualDurable({ choose: () => 0 });
    const result = await startRun(asking({ onExpire: { answer: 'no' } }), { durable, bindings }).result;
    expect(result).toMatchObject({ outcome: 'succeeded', state: { said: 'no', after: 'after no' } });
  });

  test('goes the way of its policies: onError, and retries ask again', async () => {
    const durable = new ManualDurable({ choose: () => 0 });
    const retry = { retries: 1, backoff: 'fixed', delayMs: 1 } as const;
    const result = await startRun(asking({ onError: 'continue', retry }), { durable, bindings }).result;
    expect(outcomes(result)).toEqual({ q: 'timed_out', after: 'skipped' });
    expect(durable.delivered).toEqual(['q@answer', 'q@backoff', 'q~2@answer']);
  });

  test('does not when it is answered in time', async () => {
    const durable = new ManualDurable({ startAt: 0 });
    const { result } = startRun(asking(), { durable, bindings });
    expect(durable.answer('q', 'yes')).toBe(true);
    void durable.deliver('q@answer');
    void durable.deliver('after');
    expect((await result).state).toMatchObject({ said: 'yes' });
    expect(durable.now()).toBe(0);
  });

  test('in memory: whoever is asked is told to stop, and what is said later does not count', async () => {
    const clock = new FakeClock(0);
    const given: ((answer: string) => void)[] = [];
    let stopped = false;
    const durable = new MemoryDurable('r', {
      clock,
      answer: (_question, _address, signal) => {
        signal.addEventListener('abort', () => (stopped = true));
        return new Promise((resolve) => given.push(resolve));
      },
    });
    const { result } = startRun(asking({ onExpire: { answer: 'no' } }), { durable, bindings });
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(999);
    expect(stopped).toBe(false);
    clock.advance(1);
    given[0]?.('yes');
    expect((await result).state).toMatchObject({ said: 'no', after: 'after no' });
    expect(stopped).toBe(true);
    expect(clock.waiting).toBe(0);
  });

  test('in memory: an answer in time takes the alarm back', async () => {
    const clock = new FakeClock(0);
    const durable = new MemoryDurable('r', { clock, answer: () => Promise.resolve({ deep: ['JSON'] }) });
    const result = await startRun(asking(), { durable, bindings }).result;
    expect(result.state['said']).toEqual({ deep: ['JSON'] });
    expect(clock.waiting).toBe(0);
  });

  test('where nobody can answer at all the run pauses at once', async () => {
    const clock = new FakeClock(0);
    const result = await startRun(asking(), { durable: new MemoryDurable('r', { clock }), bindings }).result;
    expect(result).toMatchObject({ outcome: 'paused', steps: [{ path: 'q', reason: 'Publish?' }] });
    expect(clock.waiting).toBe(0);
  });
});

describe('an event within a time', () => {
  test('that does not come says so', async () => {
    const durable = new ManualDurable({ choose: () => 0 });
    const one = plan({ nodes: [{ kind: 'wait', id: 'w', event: 'paid', ms: 50 }] });
    const result = await startRun(one, { durable }).result;
    expect(result.error).toMatchObject({
      code: 'SKEIN_TIMEOUT',
      message: "the event 'paid' did not come within 50 ms",
    });
    expect(durable.delivered).toEqual(['w@event']);
  });
});
