import { describe, expect, it } from 'vitest';
import { memoryStore, runWorkflow } from 'skein';
import { graph, workflowNode } from 'skein/graph';
import { loadWorkflow, loadWorkflowText } from 'skein/yaml';
import { makeProject } from './project.js';
import { dag, pipeline, ran, step, wrong } from './loops.js';

const ASK = (ref: string): string => `output: { values: { ${ref} } }\n`;
const BOTH = {
  dag: (values: string) =>
    `${dag(step('a', 'A', 'schema: { n: number, list: [string] }'), step('b', 'B', 'depends_on: [a], condition: { step: a, cel: output.n > 5 }'))}${ASK(values)}`,
  pipeline: (values: string) =>
    `${pipeline(
      '{ id: a, type: agent, name: w, prompt: A, schema: { n: number, list: [string] } }',
      '{ type: condition, condition: "{{ $steps.a.output.n > 5 }}", true: [{ id: b, type: agent, name: w, prompt: B }] }',
    )}${ASK(values).replaceAll('{{ steps', '{{ $steps')}`,
} as const;
const LOW = { a: ['{"n":3,"list":["x"]}'], b: ['said'] };
const HIGH = { a: ['{"n":7,"list":["x"]}'], b: ['said'] };

describe.each(Object.entries(BOTH))('[G5] [addition 3] output.values of a %s', (notation, file) => {
  it('are the result, with the types that they have', async () => {
    const values =
      'n: "{{ steps.a.output.n }}", list: "{{ steps.a.output.list }}", text: "n is {{ steps.a.output.n }}", b: "{{ steps.b.output }}", deep: [1, { x: "{{ steps.a.output.list.0 }}" }]';
    const written = notation === 'dag' ? values : values.replace('list.0', 'list[0]');
    const { result, state } = await ran(file(written), HIGH);
    expect(result).toEqual({ n: 7, list: ['x'], text: 'n is 7', b: 'said', deep: [1, { x: 'x' }] });
    expect(state['steps.b.output']).toBe('said');
  });

  it('leave out what a step that did not run would have given', async () => {
    const { outcome, result } = await ran(file('n: "{{ steps.a.output.n }}", b: "{{ steps.b.output? }}"'), LOW);
    expect([outcome, result]).toEqual(['succeeded', { n: 3 }]);
  });

  it('are not there when the run has failed', async () => {
    const { outcome, result } = await ran(file('n: "{{ steps.a.output.n }}"'), { a: ['nothing'] });
    expect([outcome, result]).toEqual(['failed', undefined]);
  });

  it('[unknown-step] [no-such-path] are checked before anything runs', async () => {
    expect(await wrong(file('x: "{{ steps.c.output }}"'))).toEqual([
      'unknown-step: output refers to the step "c", which does not exist',
    ]);
    expect((await wrong(file('x: "{{ steps.a.output.m }}"'))).join('\n')).toContain('no-such-path: output looks into');
    expect((await wrong(file(''))).join('\n')).toContain('missing-values: values of output is empty');
    expect((await wrong(file('"a b": 1'))).join('\n')).toContain('bad-name: "a b" is not a valid name of a value');
    expect((await wrong(file('x: 1').replace('{ x: 1 }', 'word'))).join('\n')).toContain(
      'wrong-type: values of output',
    );
  });

  it('come out the same of a run that is recorded, of one that is resumed, and of a fork', async () => {
    const store = memoryStore();
    const text = file('n: "{{ steps.a.output.n }}", b: "{{ steps.b.output }}"');
    const first = await ran(text, HIGH, { store });
    const again = await ran(text, {}, { store, resume: first.runId });
    const forked = await ran(text, {}, { store, fork: { run: first.runId } });
    expect([first.result, again.result, forked.result]).toEqual([0, 1, 2].map(() => ({ n: 7, b: 'said' })));
    expect([forked.reused, forked.ran]).toEqual([2, 0]);
  });

  it('are the answer of the file as a node of a graph', async () => {
    const inner = await loadWorkflowText(file('n: "{{ steps.a.output.n }}"'), { file: 'w.yaml', cwd: '/' });
    const flow = graph<{ task: string }>().node('inner', workflowNode(inner, 'inner'));
    const { models } = (await import('../graph/support-agents.js')).ownModels({ m: () => '{"n":3,"list":[]}' });
    const { state } = await flow.run({ task: 'x' }, { models: { ...models, override: 'own/m' } });
    expect(state).toMatchObject({ inner: { n: 3 } });
  });
});

describe('[addition 3] output.values', () => {
  const CALLED = `inputs: { n: { type: number } }
agents: { w: { instruction: You write. } }
workflow: [{ id: a, type: agent, name: w, prompt: "{{ $inputs.n }}" }]
output: { values: { said: "{{ $steps.a.output }}", twice: ["{{ $inputs.n }}", "{{ $inputs.n }}"] } }
`;
  const CALLED_DAG = `name: other
inputs: { n: { type: number } }
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps: [{ id: a, agent: w, prompt: "{{inputs.n}}" }]
output: { values: { said: "{{steps.a.output}}", twice: ["{{inputs.n}}", "{{inputs.n}}"] } }
`;
  const call = (inputs: string, reads: string): string =>
    pipeline(
      `{ id: sub, type: call, file: other.yaml, prompt: go, inputs: ${inputs} }`,
      `{ id: use, type: agent, name: w, prompt: "${reads}" }`,
    ).replace('workflow:', 'inputs: { k: { default: "4" } }\nworkflow:');

  it.each([
    ['a pipeline', CALLED],
    ['a DAG workflow', CALLED_DAG.replace('other.yaml', '')],
  ])('of %s are the output of a call of this file, whose inputs are of their types', async (_, called) => {
    const text = call('{ n: "{{ $inputs.k }}" }', '{{ $steps.sub.output.said }} {{ $steps.sub.output.twice[1] }}');
    const cwd = await makeProject({
      'main.yaml': called === CALLED ? text : text.replace('prompt: go, ', ''),
      'other.yaml': called,
    });
    const { asked, state } = await ran('main.yaml', { a: ['yes'] }, {}, cwd);
    expect(asked).toEqual(['sub/a: 4', 'use: yes 4']);
    expect(state['steps.sub.output']).toEqual({ said: 'yes', twice: [4, 4] });
  });

  it.each([
    [
      'a DAG',
      dag(
        '{ id: sub, type: call, file: other.yaml, inputs: { n: 4 } }',
        step('use', 'U', 'depends_on: [sub], condition: { cel: COND }'),
      ),
    ],
    [
      'a pipeline',
      pipeline(
        '{ id: sub, type: call, file: other.yaml, inputs: { n: 4 } }',
        '{ id: use, type: agent, name: w, context: none, prompt: U, when: COND }',
      ),
    ],
  ])('are read by conditions and expressions of %s', async (notation, text) => {
    const reads = async (condition: string): Promise<readonly string[]> => {
      const written = notation === 'a DAG' ? condition : `{{ ${condition.replaceAll('steps.', '$steps.')} }}`;
      const files = { 'main.yaml': text.replace('COND', JSON.stringify(written)), 'other.yaml': CALLED_DAG };
      return (await ran('main.yaml', { a: ['yes'] }, {}, await makeProject(files))).asked;
    };
    const both = ['sub/a: 4', 'use: U'];
    expect(await reads('steps.sub.output.said == "yes" && steps.sub.output.twice[1] == 4')).toEqual(both);
    expect(await reads('steps.sub.status == "succeeded"')).toEqual(both);
    expect(await reads('steps.sub.status == "failed" || steps.sub.output.said == "no"')).toEqual(['sub/a: 4']);
  });

  it('[bad-input] a value that a call gives is checked, before anything runs where it is written out', async () => {
    const files = (inputs: string) => ({ 'main.yaml': call(inputs, 'x'), 'other.yaml': CALLED });
    const early = await makeProject(files('{ n: abc }'));
    const { problems } = await loadWorkflow('main.yaml', { cwd: early });
    expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'bad-input: step "sub": the input "n" of its file must be a number, not "abc"',
    ]);
    const late = await makeProject(files('{ n: "{{ $prompt }}" }'));
    const ended = await ran('main.yaml', {}, { inputs: { prompt: 'words' } }, late);
    expect([ended.outcome, ended.error?.code, ended.asked]).toEqual(['failed', 'SKEIN_INPUT', []]);
  });

  it('[no-such-path] [missing-output] a called file gives these and nothing else', async () => {
    const problemsOf = async (reads: string): Promise<readonly string[]> => {
      const cwd = await makeProject({ 'main.yaml': call('{ n: 1 }', reads), 'other.yaml': CALLED });
      const { problems } = await loadWorkflow('main.yaml', { cwd });
      return problems.map(({ code, hint }) => `${code} | ${hint ?? ''}`);
    };
    expect(await problemsOf('{{ $steps.sub.output.sad }}')).toEqual(['no-such-path | did you mean "said"?']);
    expect(await problemsOf('{{ $steps.sub.outputs.a.output }}')).toEqual([
      'missing-output | write $steps.sub.output.NAME; it gives: said, twice',
    ]);
  });

  it('that lead to nothing fail the run at its end, or the step that calls the file', async () => {
    const bad =
      'agents: { w: { instruction: x } }\nworkflow: [{ id: a, type: agent, name: w }]\noutput: { values: { x: "{{ $steps.a.output.y }}" } }\n';
    const ended = await ran(bad, { a: ['{"z":1}'] });
    expect([ended.outcome, ended.error?.code]).toEqual(['failed', 'SKEIN_TEMPLATE']);
    const cwd = await makeProject({
      'main.yaml': pipeline(
        '{ id: sub, type: call, file: bad.yaml, on_error: continue }',
        '{ id: b, type: agent, name: w, prompt: B }',
      ),
      'bad.yaml': bad,
    });
    const around = await ran('main.yaml', { a: ['{"z":1}'] }, {}, cwd);
    expect([around.outcome, around.asked.at(-1)]).toEqual(['degraded', 'b: B']);
    expect(around.steps.map(({ path, error }) => [path, error?.code])).toEqual([['sub', 'SKEIN_TEMPLATE']]);
  });

  it('stand alone in a DAG: with steps or a format there is a warning', async () => {
    const text = `${dag(step('a', 'A'))}output: { steps: [a], values: { x: 1 } }\n`;
    const { problems } = await loadWorkflowText(text, { file: 'w.yaml', cwd: '/' });
    expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'no-effect: steps of output has no effect when values is set',
    ]);
  });

  it('carry the labels of what they are made of into the file that calls', async () => {
    const cwd = await makeProject({ 'main.yaml': call('{ n: "{{ $inputs.k }}" }', 'x'), 'other.yaml': CALLED });
    const workflow = await loadWorkflow('main.yaml', { cwd });
    const { models } = (await import('../graph/support-agents.js')).ownModels({ m: () => 'ok' });
    const { result } = await runWorkflow(workflow, {
      audit: false,
      untrusted: ['k'],
      inputs: { k: '4' },
      models: { ...models, override: 'own/m' },
    });
    const { labels } = await result;
    expect(labels?.['steps.sub.output']).toMatchObject({ level: 'untrusted', sources: ['input:k'] });
  });
});

it('[addition 3] [addition 9] output.values are given at an end that was meant, be it a failed one', async () => {
  const file = (status: string): string =>
    `${pipeline('{ id: a, type: agent, name: w, prompt: A }', `{ id: stop, type: condition, condition: "{{ $steps.a.output == 'x' }}", true: [{ type: end, status: ${status}, reason: enough }] }`, '{ id: b, type: agent, name: w, prompt: B }')}${ASK('a: "{{ $steps.a.output }}", b: "{{ $steps.b.output? }}"')}`;
  const ends = await Promise.all(['succeeded', 'failed'].map(async (status) => await ran(file(status), { a: ['x'] })));
  expect(ends.map(({ outcome, error, result }) => [outcome, error?.code, result])).toEqual([
    ['succeeded', undefined, { a: 'x' }],
    ['failed', 'SKEIN_ENDED', { a: 'x' }],
  ]);
});
