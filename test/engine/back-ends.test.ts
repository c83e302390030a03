import { describe, expect, test } from 'vitest';
import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import type { Taker } from '../../src/engine/ports/durable.js';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import type { PlanNode } from '../../src/plan/plan.js';
import { fails, outcomes, plan, run, task } from './plans.js';

/** A back end that can break, and that may say that it replays. */
class OddDurable extends MemoryDurable {
  interpreter: Taker | undefined = undefined;
  isReplaying = false;

  override get replaying(): boolean {
    return this.isReplaying;
  }

  override deliverTo(taker: Taker): void {
    this.interpreter = taker;
    super.deliverTo(taker);
  }
}

describe('a back end that breaks', () => {
  test.each(['SKEIN_STORE', 'SKEIN_LEASE'] as const)('fails the run with %s, and stops its steps', async (code) => {
    const durable = new OddDurable('r');
    let aborted = false;
    const bindings = {
      first: () => 1,
      hangs: (_state: unknown, step: { signal: AbortSignal }) => {
        step.signal.addEventListener('abort', () => (aborted = true));
        return new Promise(() => undefined);
      },
    };
    const one = plan({ nodes: [task('first', { output: 'n' }), 'hangs'], edges: ['first>hangs'] });
    const { result } = startRun(one, { durable, bindings });
    durable.interpreter?.broken({ code, message: 'gone' });
    durable.interpreter?.broken({ code: 'SKEIN_INTERNAL', message: 'again' });
    const ended = await result;
    expect(ended).toMatchObject({ outcome: 'failed', error: { code, message: 'gone' }, state: { n: 1 } });
    expect(outcomes(ended)).toEqual({ hangs: 'cancelled' });
    expect(aborted).toBe(true);
  });

  test('has nothing to say about a run that has ended', async () => {
    const durable = new OddDurable('r');
    const { result } = startRun(plan({ nodes: ['a'] }), { durable, bindings: { a: () => undefined } });
    expect((await result).outcome).toBe('succeeded');
    durable.interpreter?.broken({ code: 'SKEIN_STORE', message: 'gone' });
    expect((await result).outcome).toBe('succeeded');
  });
});

describe('what ran and what was reused', () => {
  const inner = plan({ nodes: ['in'] });
  const nodes: PlanNode[] = [
    task('a'),
    { kind: 'call', id: 'sub', plan: inner },
    { kind: 'wait', id: 'w', ms: 0 },
    task('bad', { onError: 'continue' }),
    task('not', { when: [{ op: 'code' }] }),
  ];
  const bindings = {
    a: () => undefined,
    'sub/in': () => undefined,
    bad: fails(),
    not: fails(),
    'when:not': () => false,
  };

  test('counts steps that do work; what is skipped, paused or around others is none', async () => {
    const { result } = await run(plan({ nodes }), bindings);
    expect(result).toMatchObject({ ran: 4, reused: 0, outcome: 'degraded' });
  });

  test('a success from the record is reused; a failure from there neither ran nor was reused', async () => {
    const durable = new OddDurable('r');
    durable.isReplaying = true;
    const result = await startRun(plan({ nodes }), { durable, bindings }).result;
    expect(result).toMatchObject({ ran: 0, reused: 3 });
  });

  test('events of what was told before say so, and no others', async () => {
    const durable = new OddDurable('r');
    durable.isReplaying = true;
    const events: SkeinEvent[] = [];
    const two = plan({ nodes: ['a', 'b'], edges: ['a>b'] });
    const b = (): void => {
      durable.isReplaying = false;
    };
    const listeners = [(event: SkeinEvent) => events.push(event)];
    await startRun(two, { durable, bindings: { a: () => undefined, b }, listeners }).result;
    const told = events.map((event) => `${event.path} ${event.type} ${String('replayed' in event && event.replayed)}`);
    expect(told).toEqual([
      ' run.started true',
      'a step.started true',
      'a step.ended true',
      'b step.started true',
      'b step.ended false',
      ' run.ended false',
    ]);
    expect(events.map((event) => event.seq)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
