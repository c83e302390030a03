import { expect, it } from 'vitest';
import { cases, seedOf } from '../thorough.js';
import { survivesKills } from './support/kills.js';
import { DagDrawing } from './support/dags.js';
import { withProgram } from './support/shown.js';
import { folder, programOf } from './support/yaml.js';

const outcomes = new Set<string>();

it.each(Array.from({ length: cases(4) }, (_, at) => seedOf(1) + at))(
  'DAG workflow %i, killed after some record and resumed or forked, ends the same and does nothing again',
  async (seed) => {
    const drawing = new DagDrawing(`dag ${seed}`);
    const files = { 'flow.yaml': drawing.file(2), ...drawing.files };
    await withProgram(seed, files, async () => {
      const program = await programOf(folder(), files, { go: 'Go.' });
      const { result } = await survivesKills(program, `dag ${seed}`);
      expect(result.outcome).not.toBe('paused');
      outcomes.add(result.outcome);
    });
  },
);

it('most of them end well', () => {
  expect(outcomes.has('succeeded') || cases(4) < 4).toBe(true);
});
