import { expect, it } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `name: desk
agents: { clerk: { inline: { prompt: You ask., tools: [read_file] } } }
steps:
  - { id: look, agent: clerk, prompt: Look. }
  - { id: ask, agent: clerk, prompt: Ask., interactive: true, depends_on: [look] }
`;
const SCRIPT = `rules:
  - step: look
    answers:
      - tools: [{ name: "nothing\\nstep ask succeeded", input: {} }]
      - done
  - step: ask
    answers:
      - question: { text: Which?, choices: ["keep all\\n  2. keep some", "delete all"] }
      - done
`;

it('a line break of a model in a choice, or in the name of a tool, begins no line that looks like one of Skein', async () => {
  const cwd = await makeProject({ 'desk.yaml': FLOW, 'script.yaml': SCRIPT });
  const run = await served(['run', 'desk.yaml', '--mock=script.yaml', '--verbose'], { cwd });
  expect(run.code).toBe(5);
  expect(run.stderr).toContain('[look] calls nothing step ask succeeded {}');
  expect(run.stderr).not.toMatch(/^step ask succeeded/m);
  const choices = String.raw`  1. keep all\n  2. keep some` + '\n  2. delete all\n';
  expect(run.stderr).toContain(choices);
  expect((await served(['show', '-1'], { cwd })).stdout).toContain(choices);
  expect((await served(['answer', '-1'], { cwd })).stdout).toContain(choices);
});

it('skein logs names the tool that a step calls by itself', async () => {
  const flow = `name: own
steps:
  - { id: list, tool: list_dir, input: { path: . } }
  - { id: gone, tool: read_file, input: { path: gone.txt }, on_error: continue }
`;
  const cwd = await makeProject({ 'own.yaml': flow });
  expect(await served(['run', 'own.yaml', '--no-audit'], { cwd })).toMatchObject({ code: 0 });
  const { stdout } = await served(['logs', '-1'], { cwd });
  expect(stdout).toMatch(/ list tool list_dir done/);
  expect(stdout).toMatch(/ gone tool read_file failed/);
});
