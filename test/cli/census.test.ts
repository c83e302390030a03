import { expect, it } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

it('[XD7] a failure that is allowed counts once: the counts of the census are the steps of the run', async () => {
  const flow = `name: allowed
agents: { w: { inline: { prompt: You answer., tools: [] } } }
steps:
  - { id: a, agent: w, prompt: A, on_error: continue }
  - { id: b, agent: w, depends_on: [a], prompt: B }
  - { id: c, agent: w, prompt: C, on_error: skip, timeout: 1s }
  - { id: d, agent: w, depends_on: [c], prompt: D }
`;
  const script = `rules:
  - { step: a, answer: { error: { status: 401, message: no } } }
  - { step: b, answer: fine }
  - { step: c, answer: { error: { status: 401, message: no } } }
`;
  const cwd = await makeProject({ 'flow.yaml': flow, 'script.yaml': script });
  const end = await served(['run', 'flow.yaml', '--mock=script.yaml', '--json'], { cwd });
  const { outcome, census, steps } = documentOf(end);
  expect([end.code, outcome]).toEqual([0, 'degraded']);
  expect(census).toMatchObject({ succeeded: 1, degraded: 2, failed: 0, skipped: 1 });
  const total = Object.values(census as Record<string, number>).reduce((sum, count) => sum + count, 0);
  expect(total).toBe(Object.keys(steps).length);
  expect(end.stderr).toContain('1 succeeded, 2 failed as allowed, 1 skipped');
});
