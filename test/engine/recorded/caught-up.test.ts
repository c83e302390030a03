import { expect, test } from 'vitest';
import { definePlan, memoryStore, run } from '../../../src/index.js';
import type { SkeinEvent } from '../../../src/index.js';

/** Three steps, of which the second fails while `broken`. */
function threeSteps(broken: () => boolean) {
  return definePlan({
    name: 'three',
    nodes: [
      { id: 'a', output: 'a', run: () => 1 },
      {
        id: 'b',
        output: 'b',
        run: async (state) => {
          if (broken()) throw new Error('not yet');
          return Number(state['a']) + 1;
        },
      },
      { id: 'c', output: 'c', run: (state) => Number(state['b']) + 1 },
    ],
    edges: [['a', 'b', 'c']],
  });
}

test('a run that goes on says when it has gone through its record, before anything new has ended', async () => {
  const store = memoryStore();
  let broken = true;
  const plan = threeSteps(() => broken);
  const told: string[] = [];
  const listen = (event: SkeinEvent): void => {
    const again = event.replayed === true ? ' again' : '';
    told.push(`${event.type}${event.path === '' ? '' : ` ${event.path}`}${again}`);
  };
  const first = await run(plan, { store, listeners: [listen] }).result;
  expect(told.filter((line) => line.startsWith('run.'))).toEqual(['run.started', 'run.ended']);
  told.length = 0;
  broken = false;
  const second = await run(plan, { store, resume: first.runId, listeners: [listen] }).result;
  expect(told).toEqual([
    'run.started again',
    'step.started a again',
    'step.ended a again',
    'step.started b again',
    'run.resumed',
    'step.ended b',
    'step.started c',
    'step.ended c',
    'run.ended',
  ]);
  expect([second.reused, second.ran]).toEqual([1, 2]);
  told.length = 0;
  await run(plan, { store, resume: first.runId, listeners: [listen] }).result;
  expect(told.includes('run.resumed')).toBe(false);
});
