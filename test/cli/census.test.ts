import { expect, it, test } from 'vitest';
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

const BAD = 'answer: { error: { status: 401, message: no } }';
const W = 'agents: { w: { inline: { prompt: You answer., tools: [] } } }\n';

test.each([
  [
    'a map that may fail',
    `  - { id: m, type: map, over: inputs.xs, on_error: continue, steps: [{ id: b, agent: w, prompt: "{{item}}" }] }\n`,
    { succeeded: 0, degraded: 2, failed: 0 },
  ],
  [
    'an item that may fail, in a loop',
    `  - id: m\n    type: map\n    over: inputs.xs\n    on_item_error: continue\n    steps:\n      - { id: r, type: loop, max_rounds: 1, on_limit: continue, until: { line: X }, steps: [{ id: b, agent: w, prompt: "{{item}}" }] }\n`,
    { succeeded: 1, degraded: 2, failed: 0 },
  ],
  [
    'a map that fails the run: both are counted, as both would be that succeed',
    `  - { id: m, type: map, over: inputs.xs, steps: [{ id: b, agent: w, prompt: "{{item}}" }] }\n`,
    { succeeded: 0, degraded: 0, failed: 2 },
  ],
])('a failure inside of %s', async (_, steps, expected) => {
  const flow = `name: f\ninputs: { xs: { default: "[1]" } }\n${W}steps:\n${steps}`;
  const cwd = await makeProject({ 'flow.yaml': flow, 'script.yaml': `rules:\n  - { step: b, ${BAD} }\n` });
  const end = await served(['run', 'flow.yaml', '--mock=script.yaml', '--json'], { cwd });
  const { census, outcome } = documentOf(end);
  expect(census).toMatchObject(expected);
  expect(outcome).toBe(expected.failed > 0 ? 'failed' : 'degraded');
  const shown = await served(['show', '-1', '--json'], { cwd });
  expect((JSON.parse(shown.stdout) as { census: unknown }).census).toEqual(census);
});

test('a block that may fail in a pipeline counts what failed in it as allowed', async () => {
  const flow = `agents: { w: { instruction: Write. } }
workflow:
  - { id: par, type: parallel, on_error: continue, steps: [{ id: a, type: agent, name: w }, { id: b, type: agent, name: w }] }
`;
  const script = `rules:\n  - { step: a, ${BAD} }\n  - { step: b, answer: fine, optional: true }\n`;
  const cwd = await makeProject({ 'flow.yaml': flow, 'script.yaml': script });
  const end = await served(['run', 'flow.yaml', '--mock=script.yaml', '--json'], { cwd });
  expect(documentOf(end)).toMatchObject({ outcome: 'degraded', census: { degraded: 2, failed: 0 } });
});
