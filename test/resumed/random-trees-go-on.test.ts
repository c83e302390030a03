import { expect, it } from 'vitest';
import { cases, seedOf } from '../thorough.js';
import { survivesKills, type Program } from './support/kills.js';
import { withProgram } from './support/shown.js';
import { runtimeOf, TreeDrawing, treeOf, type TreeData } from './support/trees.js';

function programOf(data: TreeData): Program {
  return {
    once: true,
    effectOf: (key) => (/@tool#/.test(key) ? `effect r/${key}` : undefined),
    session: async (its, start) => {
      const flow = treeOf(data, its);
      const inputs = start.resume === undefined ? { who: 'Ada' } : {};
      const result = await flow.execute(runtimeOf(), inputs, { ...start, models: its.models() });
      return { ...result, given: [result.outputs, result.failures] };
    },
  };
}

const outcomes = new Set<string>();

it.each(Array.from({ length: cases(3) }, (_, at) => seedOf(1) + at))(
  'tree %i, killed after some record and resumed or forked, ends the same and does nothing again',
  async (seed) => {
    const data = new TreeDrawing(`tree ${seed}`).tree();
    await withProgram(seed, data, async () => {
      const { result } = await survivesKills(programOf(data), `tree ${seed}`);
      expect(result.outcome).not.toBe('paused');
      outcomes.add(result.outcome);
    });
  },
);

it('most of them end well', () => {
  expect(outcomes.has('succeeded') || cases(3) < 3).toBe(true);
});
