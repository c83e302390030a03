import { expect, it } from 'vitest';
import { makeProject, runFolder } from './support/skein.js';
import { served } from './support/served.js';

const AGENTS = 'agents: { w: { inline: { prompt: You answer., tools: [] } } }\n';

it('[XD7] the second step of a name that is there twice is checked too', async () => {
  const flow = `name: n\n${AGENTS}steps:
  - { id: a, agent: w, prompt: A }
  - { id: a, agent: nobody, prompt: "{{steps.b.output}}", depends_on: [c] }
`;
  const cwd = await makeProject({ 'flow.yaml': flow });
  const { code, stderr } = await served(['validate', 'flow.yaml'], { cwd });
  expect(code).toBe(2);
  for (const told of ['duplicate-step', 'unknown-agent', 'the step "b"', 'the step "c"'])
    expect(stderr).toContain(told);
});

it('[XD7] an unknown name in output.steps is a problem', async () => {
  const cwd = await makeProject({
    'flow.yaml': `name: n\n${AGENTS}steps: [{ id: a, agent: w, prompt: A }]\noutput: { steps: [a, b] }\n`,
  });
  const { code, stderr } = await served(['run', 'flow.yaml', '--mock'], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining('unknown-step: output names the step "b"')]);
});

it('[XD7] an input that is missing is told with the steps that need it', async () => {
  const flow = `name: n\ninputs: { x: { description: what } }\n${AGENTS}steps:
  - { id: first, agent: w, prompt: "{{inputs.x}}" }
  - { id: other, agent: w, prompt: Hi }
`;
  const cwd = await makeProject({ 'flow.yaml': flow });
  const { code, stderr } = await served(['run', 'flow.yaml', '--mock'], { cwd });
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('the input "x" is not given (what); step "first" needs it'),
  ]);
});

it('[XD7] tools that nothing answers to are found by validate and plan, and are errors where they are strict', async () => {
  const flow =
    'name: n\nagents: { w: { inline: { prompt: x, tools: [read_file, reed_file, opik/find] } } }\nsteps: [{ id: a, agent: w, prompt: A }]\n';
  const cwd = await makeProject({ 'flow.yaml': flow });
  for (const command of ['validate', 'plan']) {
    const { code, stderr } = await served([command, 'flow.yaml'], { cwd });
    expect([code, stderr]).toEqual([0, expect.stringContaining('no tool for "reed_file", "opik/find"')]);
  }
  expect((await served(['validate', '--strict', 'flow.yaml'], { cwd })).code).toBe(2);
});

it('[XD7] plan and --dry-run show the model of --model', async () => {
  const cwd = await makeProject({
    'flow.yaml': `name: n\nconfig: { model: openai/gpt-5-mini }\n${AGENTS}steps: [{ id: a, agent: w, prompt: A }]\n`,
  });
  for (const args of [
    ['plan', 'flow.yaml'],
    ['run', 'flow.yaml', '--dry-run'],
  ]) {
    const { stdout, code } = await served([...args, '--json', '--model', 'ollama/qwen3'], { cwd });
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { steps: [{ models: ['ollama/qwen3'] }] }]);
  }
});

it('[XD7] results as JSON stand in the order of the file, also where ids are numbers', async () => {
  const step = (id: string): string => `  - { id: "${id}", agent: w, prompt: A }\n`;
  const cwd = await makeProject({
    'flow.yaml': `name: n\n${AGENTS}steps:\n${step('b')}${step('10')}${step('2')}${step('a')}output: { format: json }\n`,
  });
  const { stdout } = await served(['run', 'flow.yaml', '--mock'], { cwd });
  expect([...stdout.matchAll(/^ {4}"(\w+)": \{$/gm)].map(([, id]) => id)).toEqual(['b', '10', '2', 'a']);
  expect(JSON.parse(stdout)).toMatchObject({ steps: { b: { status: 'completed' }, 10: { status: 'completed' } } });
});

it('[XD7] requested_models names the model that the environment or a flag chose', async () => {
  const cwd = await makeProject({ 'flow.yaml': `name: n\n${AGENTS}steps: [{ id: a, agent: w, prompt: A }]\n` });
  expect((await served(['run', 'flow.yaml', '--mock'], { cwd })).code).toBe(0);
  const meta = (await runFolder(cwd)).get('steps/00_a/step.meta.json') ?? '';
  expect(JSON.parse(meta)).toMatchObject({ requested_models: ['mock/echo'] });
});

it('[XD7] tools take the parameters of the systems whose names they bear', async () => {
  const flow =
    'name: n\nagents: { w: { inline: { prompt: x, tools: [Write, Edit, Read, Bash] } } }\nsteps: [{ id: a, agent: w, prompt: A }]\n';
  const calls: readonly (readonly [string, object])[] = [
    ['Write', { file_path: 'a.txt', content: 'one two' }],
    ['Edit', { file_path: 'a.txt', old_string: 'two', new_string: 'three' }],
    ['Bash', { command: 'cat a.txt', description: 'Shows it' }],
    ['Read', { file_path: 'a.txt' }],
  ];
  const answers = calls.map(([name, input]) => `      - tools: [{ name: ${name}, input: ${JSON.stringify(input)} }]\n`);
  const cwd = await makeProject({
    'flow.yaml': flow,
    's.yaml': `rules:\n  - step: a\n    answers:\n${answers.join('')}      - Done.\n`,
  });
  const end = await served(['run', 'flow.yaml', '--mock=s.yaml', '--stream'], { cwd });
  expect([end.code, end.stderr]).toEqual([0, end.stderr]);
  const stream = (await runFolder(cwd)).get('steps/00_a/stream.jsonl') ?? '';
  const results = stream.split('\n').filter((line) => line.includes('execution_complete'));
  expect(results.map((line) => line.includes('"completed"'))).toEqual([true, true, true, true]);
  expect(results.at(-1)).toContain('one three');
});
