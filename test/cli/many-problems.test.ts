import { expect, test } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

test('[XS5] a file with 2,000 problems has all of them told, in the same order each time', async () => {
  const steps = Array.from({ length: 1_000 }, (_, i) => `  - { id: s${i}, agent: a, prompt: p, wron: 1, fals: 2 }`);
  const text = `name: t\nagents: { a: { inline: { prompt: p } } }\nsteps:\n${steps.join('\n')}\n`;
  const cwd = await makeProject({ 'flow.yaml': text });
  const ends = [await served(['validate', 'flow.yaml'], { cwd }), await served(['validate', 'flow.yaml'], { cwd })];
  const [first, second] = ends.map((end) => end.stderr);
  expect(first).toBe(second);
  expect(first).toContain('flow.yaml is not valid: 2000 errors');
  const lines = (first ?? '').split('\n').flatMap((line) => /^flow\.yaml:(\d+):/.exec(line)?.[1] ?? []);
  expect(lines).toHaveLength(2_000);
  expect(lines.map(Number)).toEqual(lines.map(Number).toSorted((a, b) => a - b));
});
