import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAIN, makeProject, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const SCRIPT = `rules:
  - { step: facts, answer: They weave. }
  - { step: text, answer: { text: Looms weave., delay: 600s } }
`;
const MEMORY = `name: remembering
config: { shared_memory: { enabled: true, inject_into_prompt: true, initial_file: notes.txt } }
agents:
  writer: { inline: { prompt: You write., tools: [] } }
steps:
  - { id: facts, agent: writer, prompt: Facts }
  - { id: text, agent: writer, depends_on: [facts], prompt: "Text from {{steps.facts.output}}" }
`;

describe('[XR3] resume --model', () => {
  it('is for what still has to run: a killed run keeps what is finished, and says so before it goes on', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SCRIPT });
    const running = startSkein(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    await running.seen('step text started');
    running.child.kill('SIGKILL');
    await running.ended;
    const end = await served(['resume', '-1', '--model', 'mock/echo'], { cwd });
    expect(end.stderr).toMatch(
      /^what still has to run is answered by mock\/echo \(before: the script answers\.yaml\); finished steps keep their results, .*\n/,
    );
    expect(end.stderr).toContain('step facts reused\n');
    expect(end.stderr).toContain('\n1 reused, 1 run\n');
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('Text from They weave.') as string });
    // It is answered from its record from now on.
    expect((await served(['resume', '-1'], { cwd })).stderr).toContain('\n2 reused, 0 run\n');
  });

  it('of a finished run runs nothing, and names what does; fork --model runs it again', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const first = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    const again = await served(['resume', '-1', '--model', 'openai/gpt-5'], { cwd });
    expect(again).toMatchObject({ code: 0, stdout: first.stdout });
    expect(again.stderr).toMatch(
      /^what still has to run is answered by openai\/gpt-5 .* a fork has them answered again\n/,
    );
    expect(again.stderr).toContain('\n2 reused, 0 run\n');
    await writeFile(join(cwd, 'answers.yaml'), SCRIPT.replace(', delay: 600s', ''));
    const fork = await served(['fork', '-1', '--model', 'script/answers.yaml'], { cwd });
    expect(fork.stderr).toMatch(/^runs again: facts, text\nwhat runs here is answered by script\/answers\.yaml\n/);
    expect(fork.stderr).toContain('\n0 reused, 2 run\n');
    expect(fork.stdout).toContain('Looms weave.');
    // A fork that says nothing new takes all of it.
    expect((await served(['fork', '-1'], { cwd })).stderr).toContain('\n2 reused, 0 run\n');
  });
});

describe('[XR3] an edit of the first text of the memory', () => {
  it.each([[[]], [['--quiet']]])('is told before anything runs again, with %j too', async (flags) => {
    const cwd = await makeProject({ 'flow.yaml': MEMORY, 'notes.txt': 'Be brief.' });
    await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    expect((await served(['resume', '-1'], { cwd })).stderr).toContain('\n2 reused, 0 run\n');
    await writeFile(join(cwd, 'notes.txt'), 'Be long.');
    const end = await served(['resume', '-1', ...flags], { cwd });
    expect(end.stderr).toMatch(
      /^.*flow\.yaml is not what the run of remembering was recorded with:\n {2}the first text of the shared memory changed\nruns again: facts, text\n/,
    );
    expect(end.code).toBe(0);
    expect((await served(['resume', '-1'], { cwd })).stderr).toContain('\n2 reused, 0 run\n');
  });
});
