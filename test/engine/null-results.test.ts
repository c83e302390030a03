import { describe, expect, test } from 'vitest';
import type { SkeinEvent } from '../../src/events/event.js';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';

function giving(value: unknown, more: object = {}) {
  return definePlan({
    name: 'giving',
    nodes: [
      { id: 'first', output: 'x', run: () => 1 },
      { id: 'second', run: () => value, ...more },
      { id: 'seen', output: 'seen', run: (state) => ['x' in state, state['x'] ?? String(state['x'])] },
    ],
    edges: [['first', 'second', 'seen']],
  });
}

describe('a step that returns null', () => {
  test('writes null where it has an output; undefined is nothing', async () => {
    expect((await run(giving(null, { output: 'x' })).result).state).toEqual({ x: null, seen: [true, 'null'] });
    expect((await run(giving(undefined, { output: 'x' })).result).state).toEqual({ x: 1, seen: [true, 1] });
  });

  test('gives no update where it has none', async () => {
    expect((await run(giving(null)).result).state).toEqual({ x: 1, seen: [true, 1] });
    expect((await run(giving({ x: null })).result).state).toEqual({ x: null, seen: [true, 'null'] });
  });

  test('tells it in its event', async () => {
    const updates: unknown[] = [];
    const listener = (event: SkeinEvent): void => {
      if (event.type === 'step.ended' && event.node === 'second') updates.push(event.update);
    };
    await run(giving(null, { output: 'x' }), { listeners: [listener] }).result;
    await run(giving(undefined, { output: 'x' }), { listeners: [listener] }).result;
    await run(giving(null), { listeners: [listener] }).result;
    expect(updates).toEqual([{ x: null }, {}, {}]);
  });

  test.each([[null], [undefined]])('J3: %s is the same from the record', async (value) => {
    const store = memoryStore();
    const workflow = giving(value, { output: 'x' });
    const first = await run(workflow, { store, runId: 'r' }).result;
    const again = await run(workflow, { store, resume: 'r' }).result;
    expect([again.ran, again.state]).toEqual([0, first.state]);
  });
});
