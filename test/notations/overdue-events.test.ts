import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { answerRun, deliverEvent, memoryStore, readRun } from 'skein';
import { dag, pipeline, ran, step } from './loops.js';

/** Waits an hour for a payment, and has a way for one that does not come. */
const FILES = {
  pipeline: pipeline(
    '{ id: paid, type: wait, event: payment, for: 1h, on_error: continue }',
    `{ type: condition, cases: [{ when: '{{ $steps.paid.status == "timed_out" }}', steps: [{ id: late, type: agent, name: w, prompt: "Late: {{ $steps.paid.error.code }}" }] }], else: [{ id: ship, type: agent, name: w, prompt: "Ship for {{ $steps.paid.output.amount }}" }] }`,
    '{ id: end, type: agent, name: w, prompt: "End: {{ $steps.paid.status }}" }',
  ),
  dag: dag(
    '{ id: paid, type: wait, event: payment, for: 1h, on_error: continue }',
    step(
      'late',
      'Late: {{steps.paid.error.code}}',
      `depends_on: [paid], condition: { cel: 'steps.paid.status == "timed_out"' }`,
    ),
    step(
      'ship',
      'Ship for {{steps.paid.output.amount?}}',
      `depends_on: [paid], condition: { cel: 'steps.paid.status == "succeeded"' }`,
    ),
    step('end', 'End: {{steps.paid.status}}', 'depends_on: [late, ship, paid]'),
  ),
} as const;

/** From here on to the end of the test it is two hours later. */
function twoHoursLater(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7_200_000 });
  onTestFinished(() => void vi.useRealTimers());
}

describe.each(Object.entries(FILES))('[addition 8] an outside event that a %s waits for', (_notation, file) => {
  it('takes the way of an overdue one, over a resume, and is no longer taken then', async () => {
    const store = memoryStore();
    const first = await ran(file, {}, { store, runId: 'r' });
    expect([first.outcome, first.asked]).toEqual(['paused', []]);
    twoHoursLater();
    // It is kept for another wait.
    expect(deliverEvent(store, 'r', 'payment', { amount: 40 })).toEqual({});
    const { outcome, asked } = await ran(file, {}, { store, resume: 'r' });
    expect([outcome, asked]).toEqual(['degraded', ['late: Late: SKEIN_TIMEOUT', 'end: End: timed_out']]);
    expect(readRun(store, 'r').questions).toEqual([]);
    expect(() => answerRun(store, 'r', { key: 'payment', value: 1 })).toThrow();
    const again = await ran(file, {}, { store, resume: 'r' });
    expect([again.outcome, again.asked]).toEqual(['degraded', []]);
  });

  it('takes the other way when it comes in time, also when the run is resumed later', async () => {
    const store = memoryStore();
    await ran(file, {}, { store, runId: 'r' });
    deliverEvent(store, 'r', 'payment', { amount: 40 });
    twoHoursLater();
    const { outcome, asked } = await ran(file, {}, { store, resume: 'r' });
    expect([outcome, asked]).toEqual(['succeeded', ['ship: Ship for 40', 'end: End: succeeded']]);
  });

  it('fails the run with SKEIN_TIMEOUT where nothing says that it continues', async () => {
    const store = memoryStore();
    const strict = file.replace(', on_error: continue', '');
    expect((await ran(strict, {}, { store, runId: 'r' })).outcome).toBe('paused');
    twoHoursLater();
    const { outcome, error, asked } = await ran(strict, {}, { store, resume: 'r' });
    expect([outcome, error?.code, asked]).toEqual(['failed', 'SKEIN_TIMEOUT', []]);
    expect(error?.message).toContain('payment');
  });
});
