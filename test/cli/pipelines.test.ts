import { describe, expect, test } from 'vitest';
import { LOOP, PARALLEL, loopScript } from './support/pipelines.js';
import { documentOf, filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, screenOf, startOnTerminal } from './support/terminal.js';

describe('pipelines with the other commands', () => {
  test('run prints where the flow ends; show and logs name steps by their paths, and leave out what only decides', async () => {
    const answers = 'strict: false\nrules:\n  - { step: last, answer: The second one. }\n';
    const cwd = await makeProject({ 'flow.yaml': PARALLEL, 'answers.yaml': answers });
    const end = await served(['run', 'flow.yaml', '--input', 'prompt=Hi.', '--mock=answers.yaml', '--no-audit'], {
      cwd,
    });
    expect(end).toMatchObject({ code: 0, stdout: '# Workflow Results\n\n## Step: last\n\nThe second one.\n' });
    const shown = await served(['show', '-1'], { cwd });
    expect(shown.stdout).toMatch(/ ✔ par_gen\/gen_1 +succeeded/);
    expect(shown.stdout).toMatch(/ ✔ par_gen\/inner\/gen_2 +succeeded/);
    expect((await served(['logs', '-1'], { cwd })).stdout).toMatch(/ par_gen\/inner\/gen_2 succeeded/);
    expect(documentOf(await served(['resume', '-1', '--json'], { cwd })).steps).toMatchObject({
      'par_gen/gen_1': { status: 'succeeded', output: 'Hi.', reused: true },
      last: { output: 'The second one.' },
    });
  });

  test('conditions are told by what they decide, and are no steps of the summary; a way that is not taken is no failure', async () => {
    const flow = `agents: { a: { instruction: x } }
workflow:
  - { id: ask, type: agent, name: a }
  - id: fits
    type: condition
    condition: "{{ $steps.ask.output }}"
    true: [{ id: yes_step, type: agent, name: a }]
    false: [{ id: no_step, type: agent, name: a }]
  - { id: end, type: agent, name: a }
`;
    const answers = 'strict: false\nrules:\n  - { step: ask, answer: "no" }\n';
    const cwd = await makeProject({ 'flow.yaml': flow, 'answers.yaml': answers });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stderr).toContain('\nstep fits: false -> no_step\n');
    expect(end.stderr).toMatch(/\n {2}○ yes_step +skipped, no path from 'fits' was taken\n/);
    expect(end.stderr).not.toMatch(/[✔✖○] fits|failed|fits started/);
    expect((await served(['show', '-1'], { cwd })).stdout).not.toMatch(/failed|fits +succeeded/);
  });

  test('a condition that is neither true nor false fails the run by its name', async () => {
    const flow = LOOP.replace('{{ $steps.review.output.ok }}', '{{ size($steps.review.output) }}');
    const cwd = await makeProject({ 'flow.yaml': flow, 'answers.yaml': loopScript() });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toMatch(/\n {2}✖ good +failed/);
    expect(end.stderr).toMatch(/\nerror \S+ in step good: workflow: condition did not resolve to boolean: /);
  });

  test('plan lists steps from top to bottom, with ways, jumps and what is inside of blocks', async () => {
    const cwd = await makeProject({ 'loop.yaml': LOOP, 'parallel.yaml': PARALLEL });
    const loop = await served(['plan', 'loop.yaml', '--input', 'prompt=Write.'], { cwd });
    expect(loop).toMatchObject({ code: 0, stderr: '' });
    expect(loop.stdout).toContain('input prompt: given\n');
    expect(loop.stdout).toContain(
      '\n  good (condition)\n    if steps.review.output.ok is true: publish\n    otherwise: goto draft, at most 5 times\n  publish (',
    );
    expect(loop.stdout).toContain('      │ Write.\n');
    expect(loop.stdout).not.toMatch(/level|good_false|\(pass/);
    const parallel = await served(['plan', 'parallel.yaml'], { cwd });
    expect(parallel.stdout).toMatch(/\n {2}par_gen \(parallel\)\n {4}par_gen\/gen_1 \(agent generator;/);
    expect(parallel.stdout).toMatch(/\n {4}par_gen\/inner \(parallel\)\n {6}par_gen\/inner\/gen_2 \(agent generator;/);
    const json = JSON.parse((await served(['plan', 'parallel.yaml', '--json'], { cwd })).stdout) as unknown;
    expect(json).toMatchObject({
      notation: 'pipeline',
      steps: [{ id: 'par_gen', kind: 'parallel', steps: [{ id: 'gen_1' }, { id: 'inner' }] }, { id: 'last' }],
    });
  });

  test('plan names values of inner steps as their file does', async () => {
    const cwd = await makeProject({
      'flow.yaml': `agents: { w: { instruction: Write. } }
workflow:
  - { id: p, type: parallel, steps: [{ id: x, type: agent, name: w }, { id: y, type: agent, name: w }] }
  - { id: l, type: loop, max_rounds: 2, until: "{{ $steps.z.output == 'x' }}", steps: [{ id: z, type: agent, name: w }] }
  - { type: agent, name: w, prompt: "{{ $steps.p.outputs.x.output }} {{ $steps.l.output }} {{ $steps.l.status }}" }
`,
      'dag.yaml': `name: dag
agents: { w: { inline: { prompt: Write. } } }
steps:
  - { id: l, type: loop, max_rounds: 2, until: "steps.z.output == 'x'", steps: [{ id: z, agent: w, prompt: Hi }] }
  - { id: m, type: map, over: steps.l.output.items, depends_on: [l], as: file, steps: [{ id: k, agent: w, prompt: "{{file}} {{file.name?}} {{index}}" }] }
  - { id: b, agent: w, depends_on: [m], prompt: "{{steps.l.outputs.z.output}} {{steps.l.status}}" }
`,
    });
    const pipeline = await served(['plan', 'flow.yaml'], { cwd });
    expect(pipeline.stdout).toContain('{{steps.p.outputs.x.output}} {{steps.l.output}} {{steps.l.status}}');
    const dag = await served(['plan', 'dag.yaml'], { cwd });
    expect(dag.stdout).toContain('{{file}} {{file.name}} {{index}}');
    expect(dag.stdout).toContain('{{steps.l.outputs.z.output}} {{steps.l.status}}');
  });

  test('exec --dry-run shows the prompt that would be asked, and runs nothing', async () => {
    const cwd = await makeProject({ 'flow.yaml': LOOP });
    const given = await served(['exec', 'flow.yaml', 'Write a poem.', '--dry-run'], { cwd });
    expect(given.stdout).toContain('│ Write a poem.\n');
    expect((await served(['exec', 'flow.yaml', '--dry-run'], { cwd })).stdout).toContain('│ Please proceed.\n');
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test('graph draws blocks as frames and conditions as diamonds', async () => {
    const cwd = await makeProject({ 'loop.yaml': LOOP, 'parallel.yaml': PARALLEL });
    const parallel = await served(['graph', 'parallel.yaml', '--format', 'mermaid'], { cwd });
    expect(parallel.stdout).toMatch(
      /\n {2}subgraph n0\["par#95;gen"\]\n[^]*\n {4}subgraph n0_1\["inner"\]\n[^]*\n {2}end\n/,
    );
    expect((await served(['graph', 'loop.yaml', '--format', 'mermaid'], { cwd })).stdout).toMatch(
      /\n {2}n\d\{"good"\}\n/,
    );
    expect((await served(['graph', 'loop.yaml', '--format', 'dot'], { cwd })).stdout).toMatch(/"good", shape=diamond/);
  });
});

describe('what is wrong is told before anything runs', () => {
  test.each([['run'], ['exec'], ['validate'], ['plan'], ['graph']])(
    '%s of a broken pipeline: all of it, exit 2',
    async (command) => {
      const broken = `agents: { a: { instruction: x } }
workflow:
  - { type: agent, name: b }
  - { type: condition, condition: $steps.zz.output, true: [{ goto: 7 }] }
`;
      const cwd = await makeProject({ 'broken.yaml': broken });
      const end = await served([command, 'broken.yaml'], { cwd });
      expect(end).toMatchObject({ code: 2, stdout: '' });
      expect(end.stderr).toMatch(/broken\.yaml:3:\d+: error unknown-agent: [^]*broken\.yaml:4:\d+: error /);
      expect(await filesIn(cwd)).toEqual(['broken.yaml']);
    },
  );

  test('a file with steps of both notations is refused where the second begins', async () => {
    const both = `agents: { a: { instruction: x } }
steps: [{ id: one, agent: a, prompt: hi }]
workflow: [{ type: agent, name: a }]
`;
    const cwd = await makeProject({ 'both.yaml': both });
    const end = await served(['exec', 'both.yaml', '--json'], { cwd });
    expect(end.code).toBe(2);
    expect(JSON.parse(end.stdout)).toMatchObject({ outcome: 'invalid', problems: [{ at: { line: 2, column: 1 } }] });
  });

  test.each([
    [['exec', 'flow.yaml', '--jsn'], 'did you mean --json?'],
    [['exec', 'flow.yaml', '--yess'], 'did you mean --yes?'],
    [['exce', 'flow.yaml'], 'did you mean skein exec?'],
    [['exec'], "missing required argument 'file'"],
  ])('%j is wrong usage', async (words, told) => {
    const cwd = await makeProject({ 'flow.yaml': LOOP });
    const end = await served(words, { cwd });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toContain(told);
  });
});

const missing = noTerminal();
if (missing !== undefined) console.log(`tests of the terminal are skipped: ${missing}`);

describe.skipIf(missing !== undefined)('exec on a terminal', () => {
  test('what agents say stays above the lines of running steps, whole', async () => {
    const cwd = await makeProject({ 'flow.yaml': LOOP, 'answers.yaml': loopScript() });
    const running = startOnTerminal(['exec', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    const end = await running.ended;
    expect(end.code).toBe(0);
    const screen = screenOf(end.stdout).join('\n');
    expect(screen).toContain('--- Agent: writer (draft#2) ---\n\nSecond draft.\n');
    expect(screen.indexOf('Second draft.')).toBeLessThan(screen.indexOf('Third draft.'));
    expect(screen).toMatch(/step good: false -> goto draft\n/);
    expect(screen).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  });
});
