import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `inputs: { n: { type: number }, mode: { enum: [quick, slow], default: quick } }
agents: { w: { instruction: You write. } }
workflow: [{ id: a, type: agent, name: w, prompt: "{{ $inputs.n }} {{ $inputs.mode }}" }]
output: { values: { said: "{{ $steps.a.output }}", n: "{{ $inputs.n }}" } }
`;

test('[addition 3] output.values are printed as JSON, are result of --json and final_output.md; another format is taken at its word', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW });
  const words = ['run', 'flow.yaml', '--mock', '--no-store', '-i', 'n=3'];
  const printed = await served(words, { cwd });
  expect([printed.code, JSON.parse(printed.stdout)]).toEqual([0, { said: '3 quick', n: 3 }]);
  const json = documentOf(await served([...words, '--json'], { cwd }));
  expect(json['result']).toEqual({ said: '3 quick', n: 3 });
  const markdown = await served([...words, '--format', 'markdown'], { cwd });
  expect(markdown.stdout).toBe('# Workflow Results\n\n## Step: a\n\n3 quick\n');
});

test.each([
  ['run', ['--mock']],
  ['exec', ['--mock']],
  ['plan', []],
])(
  '[bad-input] %s refuses a value that is not one of its input: exit 2, nothing ran, nothing was written',
  async (verb, flags) => {
    const cwd = await makeProject({ 'flow.yaml': FLOW });
    const ended = await served([verb, 'flow.yaml', ...flags, '-i', 'n=abc', '-i', 'mode=slo'], { cwd });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('flow.yaml:1:11: error bad-input: the input "n" must be a number, not "abc"\n');
    expect(ended.stderr).toContain('error bad-input: the input "mode" must be one of quick, slow, not "slo"');
    expect(ended.stderr).toContain('did you mean "slow"?');
    expect(await readdir(cwd)).toEqual(['flow.yaml']);
  },
);

test('[unknown-input] an input that a pipeline does not declare is refused with what was meant', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW });
  const ended = await served(['run', 'flow.yaml', '--mock', '-i', 'n=1', '-i', 'mod=slow'], { cwd });
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('unknown-input') as string]);
  expect(ended.stderr).toContain('did you mean "mode"?');
});

const DAG = `name: d
inputs: { n: { type: number }, mode: { enum: [quick, slow], default: quick } }
agents: { w: { inline: { prompt: Write. } } }
steps: [{ id: a, agent: w, prompt: "{{inputs.n}} {{inputs.mode}}" }]
`;
const AGENTFILE = 'NAME d\nINPUT topic\nGOAL write "Write about $topic."\nRUN all USING write\n';

test.each([
  ['a pipeline', 'flow.yaml', FLOW, ['bad-input: the input "n"', 'bad-input: the input "mode"']],
  ['a DAG', 'flow.yaml', DAG, ['bad-input: the input "n"', 'bad-input: the input "mode"']],
  ['an Agentfile', 'Agentfile', AGENTFILE, ['missing-input: the input "topic"']],
])('an unknown input of %s hides no problem of the others', async (_, file, text, others) => {
  const cwd = await makeProject({ [file]: text });
  const ended = await served(['run', file, '--mock', '-i', 'n=abc', '-i', 'mode=slo', '-i', 'foo=1'], { cwd });
  expect(ended.code).toBe(2);
  for (const problem of ['error unknown-input', ...others]) expect(ended.stderr).toContain(problem);
});

test('[addition 3] a fork sets a typed input from text, and what is the same number changes nothing', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW });
  const first = documentOf(await served(['run', 'flow.yaml', '--mock', '-i', 'n=3', '--json'], { cwd }));
  const id = String(first['runId']);
  const same = documentOf(await served(['fork', id, '--set', 'n=3.0', '--json'], { cwd }));
  expect([same['reused'], same['result']]).toEqual([1, { said: '3 quick', n: 3 }]);
  const other = documentOf(await served(['fork', id, '--set', 'n=4', '--json'], { cwd }));
  expect([other['ran'], other['result']]).toEqual([1, { said: '4 quick', n: 4 }]);
  const wrong = await served(['fork', id, '--set', 'n=x'], { cwd });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('bad-input') as string]);
});
