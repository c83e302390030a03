import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.js';
import type { SkeinEvent } from '../../src/events/event.js';
import { definePlan } from '../../src/plan/builder.js';
import type { TaskStep } from '../../src/plan/builder-input.js';
import { run } from '../../src/runtime.js';
import type { RunOptions } from '../../src/runtime/options.js';
import { memoryStore } from '../../src/stores/memory.js';

function telling(fn: (step: TaskStep) => unknown, more: object = {}) {
  const inner = definePlan({ name: 'inner', nodes: [{ id: 'deep', run: (_state, step) => fn(step), ...more }] });
  return definePlan({ name: 'outer', nodes: [{ id: 'tell', kind: 'call', plan: inner }] });
}

/** The notes of a run, with its outcome. */
async function notes(workflow: ReturnType<typeof telling>, options: RunOptions = {}) {
  const events: SkeinEvent[] = [];
  const { outcome } = await run(workflow, { ...options, listeners: [(event) => events.push(event)] }).result;
  return {
    outcome,
    notes: events.flatMap((event) => (event.type === 'step.note' ? [[event.path, event.parent, event.note]] : [])),
  };
}

describe('what a function tells', () => {
  test('reaches listeners with the path of the step and of the one around it, in order', async () => {
    const event = { done: 1, list: ['x'] };
    const ran = await notes(
      telling(async (step) => {
        step.emit(event);
        event.done = 2;
        await Promise.resolve();
        step.emit({ done: 3 });
      }),
    );
    expect(ran).toEqual({
      outcome: 'succeeded',
      notes: [
        ['tell/deep', 'tell', { kind: 'event', event: { done: 1, list: ['x'] } }],
        ['tell/deep', 'tell', { kind: 'event', event: { done: 3 } }],
      ],
    });
  });

  test('is dropped after its attempt is over, also while another one is under way', async () => {
    const steps: TaskStep[] = [];
    const ran = await notes(
      telling(
        async (step) => {
          steps.push(step);
          for (const each of steps) each.emit({ attempt: each.attempt });
          if (step.attempt === 1) throw new Error('no');
        },
        { retry: { retries: 1, backoff: 'fixed', delayMs: 0, on: 'any' } },
      ),
    );
    for (const step of steps) step.emit({ late: true });
    expect(ran.notes.map(([, , note]) => note)).toEqual([
      { kind: 'event', event: { attempt: 1 } },
      { kind: 'event', event: { attempt: 2 } },
    ]);
  });

  test('that is not JSON is dropped with a warning: the step does not notice, whether anybody listens or not', async () => {
    const workflow = telling((step) => step.emit({ at: 1n } as unknown as JsonObject));
    const ran = await notes(workflow);
    expect(ran).toEqual({
      outcome: 'succeeded',
      notes: [
        [
          'tell/deep',
          'tell',
          {
            kind: 'warning',
            code: 'bad-event',
            message: 'an event was dropped: the value at .at is a bigint, which is not JSON',
          },
        ],
      ],
    });
    expect((await run(workflow).result).outcome).toBe('succeeded');
  });

  test('is not recorded: a step whose result is taken from the record tells nothing again', async () => {
    const store = memoryStore();
    const workflow = telling((step) => step.emit({ told: true }));
    expect((await notes(workflow, { store, runId: 'r' })).notes).toHaveLength(1);
    expect((await notes(workflow, { store, resume: 'r' })).notes).toEqual([]);
    const lines = store.read('r').map(({ text }) => text);
    expect(lines.join('\n')).not.toContain('told');
  });
});
