import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const AGAIN = `agents:
  builder: { instruction: You build. }
workflow:
  - { id: build, type: agent, name: builder, on_error: continue }
  - { type: condition, condition: '{{ $steps.build.status == "failed" }}', true: { goto: build, max: 3 } }
`;

const SECOND_TIME = `rules:
  - { step: build, once: true, answer: { error: { status: 400, message: broken } } }
  - { step: build, answer: It works. }
`;

it('the results have what a step gave at its last visit, though an earlier one failed', async () => {
  const cwd = await makeProject({ 'flow.yaml': AGAIN, 'script.yaml': SECOND_TIME });
  const ran = await served(['run', 'flow.yaml', '--mock=script.yaml', '--audit-dir', 'runs'], { cwd });
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stdout).toBe('# Workflow Results\n\n## Step: build\n\nIt works.\n');
  const [folder = ''] = await readdir(join(cwd, 'runs'));
  expect(await readFile(join(cwd, 'runs', folder, 'final_output.md'), 'utf8')).toBe(ran.stdout);
  const resumed = await served(['resume', '-1', '--mock=script.yaml'], { cwd });
  expect(resumed.stdout).toBe(ran.stdout);
});

it('the results say that a step ran out of budget, not that it failed', async () => {
  const flow = `name: short
budget: 1-calls
agents: { worker: { inline: { prompt: You work., tools: [] } } }
steps:
  - { id: one, agent: worker, prompt: Work. }
  - { id: two, agent: worker, depends_on: [one], prompt: Work on. }
`;
  const cwd = await makeProject({ 'flow.yaml': flow });
  const ran = await served(['run', 'flow.yaml', '--mock'], { cwd });
  expect(ran.code, ran.stderr).toBe(6);
  expect(ran.stdout).toMatch(/## Step: two\n\n\*Out of budget: the budget of the run is used up/);
});
