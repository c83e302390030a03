import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '../../src/yaml.js';
import { makeProject, supervised } from './project.js';

async function loaded(text: string, files: Readonly<Record<string, string>> = {}) {
  const cwd = await makeProject({ ...files, 'flow.yaml': text });
  const { plan, problems } = await loadWorkflow('flow.yaml', { cwd });
  return {
    nodes: supervised(plan),
    problems: problems.map(
      ({ at, code, message, hint }) =>
        `${at?.file}:${at?.line}:${at?.column} ${code}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
    ),
  };
}

const dag = (step: string, top = ''): string =>
  `name: t
${top}inputs: { topic: {} }
agents: { w: { inline: { prompt: You write. } } }
steps:
  - { id: a, agent: w, prompt: "{{inputs.topic}}" }
  - { id: b, agent: w, prompt: p, depends_on: [a]${step} }
`;

const pipeline = (step: string, top = ''): string =>
  `${top}agents: { w: { instruction: You write. } }
workflow:
  - { id: a, type: agent, name: w }
  - { id: b, type: agent, name: w${step} }
`;

/** Of both notations: what stands at the top, at the step, and what comes of it. */
const WRITTEN: readonly (readonly [top: string, step: string, a: unknown, b: unknown])[] = [
  ['', 'true', undefined, { by: 'model' }],
  ['', 'false', undefined, 'nobody'],
  ['', '{}', undefined, { by: 'model' }],
  ['', '{human: true}', undefined, { by: 'human' }],
  [
    '',
    '{model: openai/gpt-5, max_reorients: 3, instruction: Do it.}',
    undefined,
    { by: 'model', model: 'openai/gpt-5', maxReorients: 3, instruction: ['Do it.'] },
  ],
  ['true', '', { by: 'model' }, { by: 'model' }],
  ['false', '', 'nobody', 'nobody'],
  ['{human: true}', '', { by: 'human' }, { by: 'human' }],
  ['{human: true}', '{human: true}', { by: 'human' }, { by: 'human' }],
  ['true', 'false', { by: 'model' }, 'nobody'],
  ['true', '{human: true}', { by: 'model' }, { by: 'human' }],
  ['false', 'true', 'nobody', { by: 'model' }],
  ['false', '{max_reorients: 0}', 'nobody', { by: 'model', maxReorients: 0 }],
  [
    '{max_reorients: 2, model: mock/echo, instruction: All.}',
    '{instruction: One.}',
    { by: 'model', model: 'mock/echo', maxReorients: 2, instruction: ['All.'] },
    { by: 'model', model: 'mock/echo', maxReorients: 2, instruction: ['One.'] },
  ],
  [
    '{human: true, max_reorients: 2}',
    '{max_reorients: 3}',
    { by: 'human', maxReorients: 2 },
    { by: 'human', maxReorients: 3 },
  ],
];

describe.each([
  ['dag', dag],
  ['pipeline', pipeline],
] as const)('supervise in a %s', (_, text) => {
  it.each(WRITTEN)('[addition 3] [decision 7] [S1] %s at the top, %s at the step', async (top, step, a, b) => {
    const ofStep = step === '' ? '' : `, supervise: ${step}`;
    const { nodes, problems } = await loaded(text(ofStep, top === '' ? '' : `supervise: ${top}\n`));
    expect(problems).toEqual([]);
    expect([nodes['a'], nodes['b']]).toEqual([a, b]);
  });

  it.each([
    ['false', 'step "b" opts out of the supervision by a person that the workflow around it requires'],
    ['true', 'step "b" lets a model take over the supervision by a person that the workflow around it requires'],
    [
      '{human: false}',
      'step "b" lets a model take over the supervision by a person that the workflow around it requires',
    ],
  ])('[decision 7] under the gate of a person %s is a problem with its place', async (step, message) => {
    const { problems } = await loaded(text(`, supervise: ${step}`, 'supervise: {human: true}\n'));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^flow\.yaml:\d+:\d+ human-gate: /);
    expect(problems[0]).toContain(message);
    expect(problems[0]).toContain('write supervise: {human: true}');
  });

  it.each([
    ['human', /wrong-type: supervise of step "b" must be true, false or a map .*write supervise: \{human: true\}/],
    ['yes please', /wrong-type: .*\(write supervise: true, or a map/],
    ['3', /wrong-type/],
    ['[human]', /wrong-type: .*, not a list/],
    ['""', /wrong-type/],
    ['{human: maybe}', /wrong-type: human of supervise of step "b" must be true or false/],
    ['{max_reorients: -1}', /out-of-range: max_reorients of supervise of step "b"/],
    ['{max_reorients: 1.5}', /wrong-type: max_reorients/],
    ['{max_reorients: 5000}', /out-of-range/],
    ['{maxReorients: 2}', /unknown-key: .*did you mean "max_reorients"\?/],
    ['{humans: true}', /unknown-key: .*did you mean "human"\?/],
    ['{model: [a, b]}', /wrong-type: model of supervise of step "b"/],
    ['{instruction: {a: b}}', /wrong-type: instruction of supervise of step "b"/],
    ['{instruction: "{{inputs.gone}}{{ $steps.gone.output }}"}', /unknown-input|bad-reference/],
  ])('[addition 3] %s is a problem with file, line and column', async (step, expected) => {
    const { problems } = await loaded(text(`, supervise: ${step}`));
    expect(problems[0]).toMatch(/^flow\.yaml:[1-9]\d*:[1-9]\d* /);
    expect(problems[0]).toMatch(expected);
    const atTop = await loaded(text('', `supervise: ${step}\n`));
    expect(atTop.problems[0]).toMatch(/^flow\.yaml:[1-9]\d*:[1-9]\d* /);
  });
});

describe('supervise of steps that contain others', () => {
  const block = (type: string, key: string, top = ''): string => {
    const more = type === 'map' ? 'over: $prompt, ' : '';
    return `${top}agents: { w: { instruction: You write. } }
workflow:
  - { id: x, type: ${type}, ${more}steps: [{ id: a, type: agent, name: w }]${key} }
`;
  };

  it.each(['parallel', 'sequence', 'map'])(
    '[addition 3] %s: supervised as a whole where the key stands on it, and its agents are not',
    async (type) => {
      const { nodes, problems } = await loaded(block(type, ', supervise: {instruction: Do all., human: true}'));
      expect(problems).toEqual([]);
      expect(nodes).toEqual({ x: { by: 'human', instruction: ['Do all.'] } });
    },
  );

  it.each(['parallel', 'sequence', 'map'])(
    '[addition 3] %s: what stands at the top is for its agents, not for it',
    async (type) => {
      expect((await loaded(block(type, '', 'supervise: true\n'))).nodes).toEqual({ 'x/a': { by: 'model' } });
      const own = await loaded(
        block(type, ', supervise: {instruction: All.}', 'supervise: {model: mock/echo, human: true}\n'),
      );
      expect(own).toEqual({
        problems: [],
        nodes: {
          x: { by: 'model', model: 'mock/echo', instruction: ['All.'] },
          'x/a': { by: 'human', model: 'mock/echo' },
        },
      });
    },
  );

  it('[addition 3] false takes its agents out, and is a problem below a person', async () => {
    const { nodes } = await loaded(block('parallel', ', supervise: false', 'supervise: true\n'));
    expect(nodes).toEqual({ x: 'nobody', 'x/a': 'nobody' });
    const { problems } = await loaded(block('parallel', ', supervise: false', 'supervise: {human: true}\n'));
    expect(problems).toEqual([expect.stringMatching(/^flow\.yaml:4:\d+ human-gate: step "x" opts out/)]);
  });

  it.each(['true', '{human: true}', '{instruction: ""}'])(
    '[addition 3] without an instruction %s is a problem: nothing says what it promises',
    async (key) => {
      const { problems } = await loaded(block('sequence', `, supervise: ${key}`));
      expect(problems).toEqual([
        expect.stringMatching(/^flow\.yaml:3:\d+ missing-instruction: supervise of step "x" needs an instruction/),
      ]);
    },
  );

  it.each([
    ['{ id: q, type: ask, question: May I?, supervise: true }', 'ask'],
    ['{ id: q, type: goto, goto: end, supervise: true }', 'goto'],
    ['{ id: q, type: condition, condition: $prompt, true: {goto: end}, supervise: {human: true} }', 'condition'],
  ])('[addition 3] %s is a problem with file, line and column', async (step, type) => {
    const text = `agents: { w: {} }\nworkflow:\n  - { id: a, type: agent, name: w }\n  - ${step}\n  - { id: end, type: agent, name: w }\n`;
    const { problems } = await loaded(text);
    expect(problems).toEqual([
      expect.stringMatching(
        new RegExp(`^flow\\.yaml:4:\\d+ not-supported: supervise of step "q": a step of the type ${type} can't`),
      ),
    ]);
  });
});

describe('supervise and files that are called', () => {
  const caller = (top: string, key = ''): string => `${top}agents: { w: {} }
workflow:
  - { id: x, type: call, file: other.yaml, inputs: { topic: tides }${key} }
`;
  const flow = dag('', '');

  it('[addition 3] what stands at the top is for the agents of called files too', async () => {
    const { nodes, problems } = await loaded(caller('supervise: {human: true, instruction: Here alone.}\n'), {
      'other.yaml': flow,
    });
    expect(problems).toEqual([]);
    expect(nodes).toEqual({ 'x/a': { by: 'human' }, 'x/b': { by: 'human' } });
  });

  it('[addition 3] what the called file says of its agents stays', async () => {
    const files = { 'other.yaml': dag(', supervise: false', 'supervise: {max_reorients: 3}\n') };
    const { nodes, problems } = await loaded(caller('supervise: true\n'), files);
    expect(problems).toEqual([]);
    expect(nodes).toEqual({ 'x/a': { by: 'model', maxReorients: 3 }, 'x/b': 'nobody' });
  });

  it('[decision 7] a called file can not remove the gate of a person: the problem has its place there', async () => {
    const files = { 'other.yaml': dag(', supervise: false', '') };
    const { problems } = await loaded(caller('supervise: {human: true}\n'), files);
    expect(problems).toEqual([
      expect.stringMatching(/^other\.yaml:6:\d+ human-gate: step "b" of the file that step "x" calls opts out/),
    ]);
  });

  it('[addition 3] on the call it is for the call as a whole', async () => {
    const { nodes } = await loaded(caller('', ', supervise: {instruction: "About {{ $prompt }}"}'), {
      'other.yaml': flow,
    });
    expect(nodes).toEqual({
      x: { by: 'model', instruction: ['About ', expect.objectContaining({ channel: 'prompt' })] },
    });
    const out = await loaded(caller('supervise: true\n', ', supervise: false'), { 'other.yaml': flow });
    expect(out.nodes).toEqual({ x: 'nobody' });
  });

  it('[addition 3] a file that is called by a called file, twice, and once without', async () => {
    const cwd = await makeProject({ 'other.yaml': flow, 'flow.yaml': '' });
    await writeFile(join(cwd, 'middle.yaml'), caller('', ''));
    const text = `supervise: true
agents: { w: {} }
workflow:
  - { id: one, type: call, file: middle.yaml }
  - { id: two, type: call, file: middle.yaml, supervise: false }
`;
    await writeFile(join(cwd, 'flow.yaml'), text);
    const { plan, problems } = await loadWorkflow('flow.yaml', { cwd });
    expect(problems).toEqual([]);
    expect(supervised(plan)).toEqual({
      'one/x/a': { by: 'model' },
      'one/x/b': { by: 'model' },
      two: 'nobody',
    });
  });
});

describe('the model that supervises, in a pipeline', () => {
  const text = (model: string, more = ''): string =>
    `models: { judge: { provider: openai, model: gpt-5, temperature: 0.1 }${more} }
supervise: { model: ${model} }
agents: { w: {} }
workflow: [{ id: a, type: agent, name: w }]
`;

  it.each([
    ['judge', 'openai/gpt-5'],
    ['anthropic/claude-sonnet-5', 'anthropic/claude-sonnet-5'],
  ])('[addition 3] %s is %s', async (written, model) => {
    expect(await loaded(text(written))).toEqual({ problems: [], nodes: { a: { by: 'model', model } } });
  });

  it('[addition 3] an unknown one, and one with an address of its own, are problems', async () => {
    expect((await loaded(text('jugde'))).problems).toEqual([
      expect.stringMatching(/^flow\.yaml:2:\d+ unknown-model: .*did you mean "judge"/),
    ]);
    const near = ', near: { provider: ollama, model: small, base_url: "http://127.0.0.1:1" }';
    expect((await loaded(text('near', near))).problems).toEqual([
      expect.stringMatching(/^flow\.yaml:2:\d+ not-supported: supervise can't use the model "near"/),
    ]);
  });
});
