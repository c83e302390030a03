import { describe, expect, it } from 'vitest';
import { loadDagText, loadPipelineText, loadWorkflowText } from '../../../src/yaml.js';
import { readFile, readWorkflow, stepsOf, told, wrong } from './read-pipeline.js';
import { brief } from './run-pipeline.js';

const STEP = '{type: agent, name: a}';
const SHAPE = "workflow: expected a list of steps or a map with 'steps' and optional 'max_loop_iterations'";

describe('the forms of workflow', () => {
  it.each([`  - ${STEP}\n`, `  [${STEP}]\n`, `  steps: [${STEP}]\n`, `  {steps: [${STEP}], max_loop_iterations: 7}\n`])(
    '%j has one step',
    (text) => {
      expect(stepsOf(text)).toMatchObject([{ type: 'agent', id: 'step_1', agent: { text: 'a' } }]);
    },
  );

  it.each([
    ['  5\n', '5:3'],
    ['  text\n', '5:3'],
    ['  {}\n', '5:3'],
    ['  {foo: 1}\n', '5:3'],
    ['  {steps: {}}\n', '5:11'],
    ['  {steps: 3, max_loop_iterations: 2}\n', '5:11'],
  ])('%j is none of them', (text, place) => {
    expect(wrong(text)).toEqual([`${place} error wrong-type`]);
    expect(readWorkflow(text).problems[0]?.message).toBe(SHAPE);
  });

  it.each([
    ['', '4:10'],
    ['  []\n', '5:3'],
    ['  {steps: []}\n', '5:11'],
    ['  {steps: }\n', '5:11'],
    ['  {max_loop_iterations: 3}\n', '5:3'],
  ])('%j has no steps', (text, place) => {
    expect(wrong(text)).toEqual([`${place} error no-steps`]);
    expect(told(text)[0]).toContain('workflow: no steps configured');
  });

  it('unknown keys of the map are told', () => {
    expect(wrong(`  steps: [${STEP}]\n  overides: {}\n`)).toEqual(['6:3 error unknown-key']);
    expect(told(`  steps: [${STEP}]\n  overides: {}\n`)[0]).toContain('did you mean "overrides"?');
  });
});

describe('max_loop_iterations', () => {
  it.each([
    ['', 100],
    ['max_loop_iterations: 7', 7],
    ['max_loop_iterations: 1', 1],
    ['overrides: {max_loop_iterations: 5}', 5],
    ['max_loop_iterations: 7, overrides: {max_loop_iterations: 5}', 5],
    ['max_loop_iterations: 7, overrides: {}', 7],
  ])('{%s}: %d', (keys, limit) => {
    const { definition, problems } = readWorkflow(`  {steps: [${STEP}], ${keys}}\n`);
    expect(problems).toEqual([]);
    expect(definition?.maxLoopIterations).toBe(limit);
  });

  it.each([
    ['max_loop_iterations: 0', 0, '5:58'],
    ['max_loop_iterations: -3', -3, '5:58'],
    ['max_loop_iterations: 7, overrides: {max_loop_iterations: 0}', 0, '5:94'],
  ])('{%s}: the default, with a warning', (keys, value, place) => {
    const text = `  {steps: [${STEP}], ${keys}}\n`;
    expect(readWorkflow(text).definition?.maxLoopIterations).toBe(100);
    expect(wrong(text)).toEqual([`${place} warning no-effect`]);
    expect(told(text)[0]).toContain(`max_loop_iterations ${value} has no effect: it means the default, 100`);
  });

  it.each([
    ['max_loop_iterations: ten', '6:24 error wrong-type'],
    ['max_loop_iterations: 1.5', '6:24 error wrong-type'],
    ['max_loop_iterations: 9000000', '6:24 error out-of-range'],
    ['overrides: {max_loop_iteration: 2}', '6:15 error unknown-key'],
    ['overrides: 3', '6:14 error wrong-type'],
  ])('%s is a problem', (line, place) => {
    expect(wrong(`  steps: [${STEP}]\n  ${line}\n`)).toEqual([place]);
  });
});

describe('keys that older YAML takes for truth values', () => {
  it.each([
    ['true', 'false', 'on'],
    ['"true"', "'false'", '"on"'],
  ])('%s, %s and %s are text', (yes, no, on) => {
    const steps = stepsOf(`  - {type: agent, name: a, retry: {max_attempts: 1, ${on}: [timeout]}}
  - type: condition
    condition: c
    ${yes}: [{type: agent, name: b}]
    ${no}:
      goto: step_1
`);
    expect(steps).toMatchObject([
      { retry: { on: ['timeout'] } },
      { cases: [{ steps: [{ id: 'cond_2_true_1' }] }], otherwise: [{ type: 'goto', target: { text: 'step_1' } }] },
    ]);
  });
});

describe('the file', () => {
  it('gives its name and what its metadata says', () => {
    const { definition } = readFile(
      `version: "4"\nmetadata: {description: Hello}\nagents: {a: {}}\nworkflow: [${STEP}]\n`,
    );
    expect(definition).toMatchObject({ name: 'flow', description: 'Hello' });
  });

  it.each([
    ['agents: {x: {}, root: {}}\n', 'root'],
    ['agents: {x: {}, y: {}}\n', 'x'],
  ])('%j without a workflow runs one agent', (text, name) => {
    const { definition, problems } = readFile(text);
    expect(problems).toEqual([]);
    expect(definition?.steps).toMatchObject([{ type: 'agent', id: 'step_1', agent: { text: name } }]);
  });

  it.each(['agents: {}\n', 'agents:\n'])('%j has nothing to run', (text) => {
    expect(brief(readFile(text).problems)).toEqual([expect.stringMatching(/^1:\d+ error no-steps$/)]);
  });

  it('unknown keys are told with what was most likely meant', () => {
    const { problems } = readFile(`agents: {a: {}}\nworkfow: []\nagnts: {}\n`);
    expect(brief(problems)).toEqual(['2:1 error unknown-key', '3:1 error unknown-key']);
    expect(problems.map(({ hint }) => hint)).toEqual(['did you mean "workflow"?', 'did you mean "agents"?']);
  });

  it('sections of cagent that mean nothing here are told with their line', () => {
    const { problems } = readFile(`agents: {a: {}}\nworkflow: [${STEP}]\nrag: {x: {}}\nhooks: {y: {}}\n`);
    expect(brief(problems)).toEqual(['3:1 warning not-supported', '4:1 error not-supported']);
  });
});

describe('which notation a file is written in', () => {
  const notation = async (text: string): Promise<string | undefined> =>
    (await loadWorkflowText(text, { cwd: '/nowhere' })).plan?.notation;

  it.each([
    [`agents: {a: {instruction: x}}\nworkflow: [${STEP}]\n`, 'pipeline'],
    ['agents: {a: {instruction: x}}\n', 'pipeline'],
    ['name: n\nagents: {a: {inline: {prompt: p}}}\nsteps: [{id: s, agent: a, prompt: p}]\n', 'dag'],
  ])('%j', async (text, expected) => {
    expect(await notation(text)).toBe(expected);
  });

  it.each([
    ['agents: {a: {inline: {}}}\nstpes: []\n', 'missing-name'],
    ['name: n\nagents: {a: {inline: {}}}\n', 'no-steps'],
    ['agents: {a: {inline: {}}}\nconfig: {}\n', 'no-steps'],
    ['id: a\nprompts: {}\nworkflow: {version: 1, states: {}}\n', 'missing-key'],
    ['- a\n', 'not-a-dag'],
    ['', 'empty-file'],
    ['a: [', 'yaml-syntax'],
    ['workflow: 3\n', 'wrong-type'],
    ['steps: []\nworkflow: []\n', 'unknown-key'],
  ])('%j has its own problems', async (text, code) => {
    const { plan, problems } = await loadWorkflowText(text, { cwd: '/nowhere' });
    expect(plan).toBeUndefined();
    expect(problems.map((problem) => problem.code)).toContain(code);
  });

  it.each(['- a\n', 'text\n', 'name: n\nsteps: []\nagents: {}\n', 'openapi: 3\n'])(
    '%j is said to be no pipeline, and nothing else',
    async (text) => {
      const { problems } = await loadPipelineText(text, { cwd: '/nowhere' });
      expect(brief(problems)).toEqual(['1:1 error not-a-pipeline']);
    },
  );

  it('a DAG workflow is not asked for first', async () => {
    const text = `agents: {a: {instruction: x}}\nworkflow: [${STEP}]\n`;
    expect((await loadDagText(text, { cwd: '/nowhere' })).problems).toMatchObject([{ code: 'not-a-dag' }]);
    expect((await loadWorkflowText(text, { cwd: '/nowhere' })).problems).toEqual([]);
  });

  it('inputs that a pipeline does not have are told', async () => {
    const text = `agents: {a: {instruction: x}}\nworkflow: [${STEP}]\n`;
    const { plan, problems } = await loadWorkflowText(text, { cwd: '/nowhere', inputs: ['promt', 'prompt'] });
    expect(plan).toBeUndefined();
    expect(problems).toMatchObject([{ code: 'unknown-input', hint: 'did you mean "prompt"?' }]);
  });
});
