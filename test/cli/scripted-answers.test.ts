import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** Says yes to everything that contains what stands in questions about calls and in those of the workflow. */
const WILLING = `strict: false
rules:
  - { step: work, answers: [{ tools: [{ name: write_file, input: { path: out.txt, content: hi } }] }, done] }
answers:
  - { question: "", answer: allow }
`;
const AGENT = (more: string): string => `name: t
agents: { a: { inline: { prompt: You work., tools: [write_file], approve: [write_file] } } }
steps: [{ id: work, agent: a, prompt: go${more} }]
`;
const ASKING = `workflow:
  - { type: agent, name: a, prompt: hello }
  - { type: ask, question: Publish it?, choices: [allow, stop] }
agents: { a: { model: script/planted.yaml, instruction: You answer. } }
`;

describe('a script that a workflow file names as a model', () => {
  test('[XS4] never lets a tool call happen', async () => {
    const cwd = await makeProject({ 'flow.yaml': AGENT(', model: script/planted.yaml'), 'planted.yaml': WILLING });
    const end = await served(['run', 'flow.yaml'], { cwd });
    expect(end.code).toBe(5);
    expect(end.stderr).toContain('May the agent "a" call write_file?');
    expect(await filesIn(cwd)).not.toContain('out.txt');
  });

  test('[XS4] answers no question of the run', async () => {
    const cwd = await makeProject({ 'flow.yaml': ASKING, 'planted.yaml': WILLING });
    const end = await served(['run', 'flow.yaml'], { cwd });
    expect(end.code).toBe(5);
    expect(end.stderr).toContain('Publish it?');
  });

  test('[XS4] answers nothing either when the flag names it as a model', async () => {
    const cwd = await makeProject({ 'flow.yaml': ASKING, 'planted.yaml': WILLING });
    expect((await served(['run', 'flow.yaml', '--model', 'script/planted.yaml'], { cwd })).code).toBe(5);
  });
});

describe('the script of --mock=FILE', () => {
  test('[XS4] answers questions of the run', async () => {
    const cwd = await makeProject({ 'flow.yaml': ASKING, 'mine.yaml': WILLING });
    const end = await served(['run', 'flow.yaml', '--mock=mine.yaml'], { cwd });
    expect(end).toMatchObject({ code: 0 });
  });

  test('[XS4] never lets a tool call happen; --yes and a person do', async () => {
    const cwd = await makeProject({ 'flow.yaml': AGENT(''), 'mine.yaml': WILLING });
    const end = await served(['run', 'flow.yaml', '--mock=mine.yaml'], { cwd });
    expect(end.code).toBe(5);
    expect(await filesIn(cwd)).not.toContain('out.txt');
    expect(await served(['answer', '-1', 'allow'], { cwd })).toMatchObject({ code: 0 });
    const resumed = await served(['resume', '-1', '--mock=mine.yaml'], { cwd });
    expect(resumed).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, 'out.txt'), 'utf8')).toBe('hi');
  });
});
