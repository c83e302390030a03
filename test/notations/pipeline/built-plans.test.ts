import { describe, expect, it } from 'vitest';
import { resultNodes } from '../../../src/plan/result-nodes.js';
import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { agents, block, loadText, runPipeline, schema } from './run-pipeline.js';

async function planOf(text: string, files: Readonly<Record<string, string>> = {}): Promise<Plan> {
  const { plan, problems } = await loadText(text, files);
  if (plan === undefined) throw new Error(problems.map((problem) => problem.message).join('\n'));
  return plan;
}

function nodeOf(plan: Plan, id: string): PlanNode {
  const node = plan.nodes.find((each) => each.id === id);
  if (node === undefined) throw new Error(`no node ${id} among ${plan.nodes.map((each) => each.id).join()}`);
  return node;
}

const echo = (step: string): string => `<${step}>`;

describe('the plan of a pipeline', () => {
  const NESTED = `${agents('a', 'b')}workflow:
  - {id: gen, type: agent, name: a}
  - type: parallel
    id: outer
    steps:
      - {type: agent, name: b}
      - {id: inner, type: parallel, steps: [{id: x, type: agent, name: a}, {id: y, type: agent, name: b}]}
  - {id: last, type: agent, name: a}
`;

  it('labels every output, in declared order, and blocks see what came before under the same names', async () => {
    const plan = await planOf(NESTED);
    const labels = plan.channels.flatMap(({ name, label }) => (label === undefined ? [] : [`${name} = ${label}`]));
    expect(labels).toEqual([
      'steps.gen.output = gen (agent: a)',
      'steps.outer/step_1.output = outer/step_1 (agent: b)',
      'steps.outer/inner/x.output = outer/inner/x (agent: a)',
      'steps.outer/inner/y.output = outer/inner/y (agent: b)',
      'steps.last.output = last (agent: a)',
    ]);
    const outer = nodeOf(plan, 'outer');
    expect(outer).toMatchObject({
      kind: 'call',
      writes: ['steps.outer/step_1.output', 'steps.outer/inner/x.output', 'steps.outer/inner/y.output'],
      plan: {
        inputs: [{ channel: 'prompt' }, { channel: 'steps.gen.output' }],
        edges: [],
        nodes: [
          { id: 'step_1', kind: 'agent' },
          { id: 'inner', kind: 'call' },
        ],
      },
    });
  });

  it('says how deep it can get, with the rounds of its loops', async () => {
    const plan = await planOf(`${agents('a')}workflow:
  max_loop_iterations: 7
  steps:
    - {id: x, type: agent, name: a}
    - {id: c, type: condition, condition: "{{ $steps.x.output }}", false: [{id: back, type: goto, goto: x}]}
`);
    expect(plan.limits).toEqual({ maxSteps: 3 * (1 + 7) });
    expect(nodeOf(plan, 'back')).toMatchObject({
      kind: 'pass',
      maxVisits: 7,
      onMaxVisits: {
        fail: 'workflow: max loop iterations exceeded (step: x, limit: 7)',
        hint: 'raise max_loop_iterations, or look at what the condition reads',
      },
    });
    expect(plan.routes).toMatchObject([{ from: 'c', cases: [{ to: ['END'] }], otherwise: ['back'] }]);
  });

  it('knows where its flow ends', async () => {
    const ends = async (steps: string): Promise<readonly string[]> =>
      resultNodes(await planOf(`${agents('a')}workflow:\n  - {id: x, type: agent, name: a}\n${steps}`));
    expect(await ends('')).toEqual(['x']);
    expect(await ends('  - {id: y, type: agent, name: a}\n')).toEqual(['y']);
    const condition = (branches: string): string =>
      `  - {type: condition, condition: "{{ $steps.x.output }}", ${branches}}\n`;
    const yes = 'true: [{id: y, type: agent, name: a}]';
    expect(await ends(condition(`${yes}, false: [{id: z, type: agent, name: a}]`))).toEqual(['y', 'z']);
    expect(await ends(condition(yes))).toEqual(['x', 'y']);
    expect(await ends(condition('false: [{goto: x}]'))).toEqual(['x']);
    expect(await ends(`  - {id: p, type: parallel, steps: [{type: agent, name: a}]}\n`)).toEqual(['p']);
  });

  it('retries by what a class stands for, and by parts of messages; without classes what may go away', async () => {
    const retry = async (keys: string): Promise<unknown> =>
      nodeOf(await planOf(`${agents('a')}workflow:\n  - {id: x, type: agent, name: a, retry: {${keys}}}\n`), 'x').retry;
    expect(await retry('max_attempts: 2')).toEqual({ retries: 2, backoff: 'fixed', delayMs: 1000 });
    expect(await retry('max_attempts: 2, on: [server, "HTTP 418", timeout]')).toMatchObject({
      on: ['SKEIN_MODEL_FAILED', 'HTTP 418', 'SKEIN_TIMEOUT', 'answered 408', 'timeout'],
    });
    expect(await retry('max_attempts: 0')).toBeUndefined();
  });
});

describe('jumps', () => {
  it('go by index to a step of the list, from 0', async () => {
    const ran = await runPipeline(
      `${agents('a')}workflow:
  - {id: x, type: agent, name: a}
  - {id: y, type: agent, name: a}
  - {type: condition, condition: "{{ $steps.y.output }}", false: [{goto: 1}]}
`,
      (step) => (step === 'y#3' ? 'yes' : 'no'),
    );
    expect(ran.asked.map(({ step }) => step)).toEqual(['x', 'y', 'y#2', 'y#3']);
  });

  it('go forward too, and what they pass is skipped', async () => {
    const ran = await runPipeline(
      `${agents('a')}workflow:
  - {id: x, type: agent, name: a}
  - {type: condition, condition: "{{ $steps.x.output }}", true: [{goto: z}]}
  - {id: y, type: agent, name: a}
  - {id: z, type: agent, name: a}
`,
      () => 'yes',
    );
    expect(ran.outcome).toBe('succeeded');
    expect(ran.asked.map(({ step }) => step)).toEqual(['x', 'z']);
    expect(ran.steps).toMatchObject([{ node: 'y', outcome: 'skipped' }]);
  });

  it('go round within a step of a parallel block, while the others run once', async () => {
    const ran = await runPipeline(
      `${agents('a', 'b')}workflow:
  - {id: start, type: agent, name: a}
  - type: parallel
    id: par
    steps:
      - {id: other, type: agent, name: b}
      - id: first
        type: condition
        condition: "{{ $steps.start.output }}"
        true:
          - {id: x, type: agent, name: a}
          - {type: condition, condition: "{{ $steps.x.output }}", false: [{goto: first}]}
`,
      (step) => (step === 'par/x' ? 'no' : 'yes'),
    );
    expect(ran.outcome).toBe('succeeded');
    expect(ran.asked.map(({ step }) => step).toSorted()).toEqual(['par/other', 'par/x', 'par/x#2', 'start']);
    expect(ran.events.filter((event) => event.type === 'run.warning')).toEqual([]);
  });
});

describe('maps, questions and calls', () => {
  it('a map runs its steps for each item, by its key, and gives a list', async () => {
    const ran = await runPipeline(
      `${agents(['lister', schema('files')], 'a', 'b')}workflow:
  - {id: list, type: agent, name: lister}
  - type: map
    id: scan
    over: "{{ $steps.list.output.files }}"
    as: file
    key: name
    max_items: 3
    steps:
      - {id: read, type: agent, name: a}
      - {id: judge, type: agent, name: b, prompt: "{{ $file.name }} of {{ $item.size }}: {{ $steps.read.output }}"}
  - {id: sum, type: agent, name: a, prompt: "First {{ $steps.scan.output[0] }}"}
`,
      (step) =>
        step === 'list' ? '{"files": [{"name": "a.ts", "size": 1}, {"name": "b.ts", "size": 2}]}' : echo(step),
      { prompt: 'Scan.' },
    );
    expect(ran.error).toBeUndefined();
    expect(ran.asked.map(({ step }) => step).toSorted()).toEqual([
      'list',
      'scan[a.ts]/judge',
      'scan[a.ts]/read',
      'scan[b.ts]/judge',
      'scan[b.ts]/read',
      'sum',
    ]);
    const list = '{"files": [{"name": "a.ts", "size": 1}, {"name": "b.ts", "size": 2}]}';
    const listed = JSON.stringify(JSON.parse(list));
    expect(ran.prompt('scan[b.ts]/read')).toBe(
      `${block({ 'list (agent: lister)': listed })}Scan.\n\n{"name":"b.ts","size":2}`,
    );
    const both = { 'list (agent: lister)': listed, 'scan/read (agent: a)': '<scan[b.ts]/read>' };
    expect(ran.prompt('scan[b.ts]/judge')).toBe(`${block(both)}b.ts of 2: <scan[b.ts]/read>`);
    expect(ran.output('scan')).toEqual(['<scan[a.ts]/judge>', '<scan[b.ts]/judge>']);
    const results = { 'list (agent: lister)': listed, 'scan (map)': '["<scan[a.ts]/judge>","<scan[b.ts]/judge>"]' };
    expect(ran.prompt('sum')).toBe(`${block(results)}First <scan[a.ts]/judge>`);
  });

  it('a map that ends with several outputs is a problem', async () => {
    const { problems } = await loadText(
      `${agents('a')}workflow:\n  - {id: x, type: agent, name: a}\n  - {id: m, type: map, over: $steps.x.output, max_items: 2, steps: [{id: p, type: parallel, steps: [{type: agent, name: a}]}]}\n`,
    );
    expect(problems.map(({ code }) => code)).toEqual(['map-result']);
  });

  it('the answer to a question is an output like any other', async () => {
    const ran = await runPipeline(
      `${agents('a')}workflow:
  - {id: gen, type: agent, name: a}
  - {id: ok, type: ask, question: "Publish {{ $steps.gen.output }}?", choices: ["yes", "no"]}
  - {type: condition, condition: "{{ $steps.ok.output }}", true: [{id: pub, type: agent, name: a}]}
`,
      echo,
      {
        answer: ({ text }) => Promise.resolve(text === 'Publish <gen>?' ? 'yes' : 'no'),
        problems: ['6:67 warning runs-once'],
      },
    );
    expect(ran.prompt('pub')).toBe(
      `${block({ 'gen (agent: a)': '<gen>', 'ok (answer)': 'yes' })}Please proceed with the workflow step.`,
    );
  });

  const SUB = `${agents('c', 'd')}workflow:
  - {id: one, type: agent, name: c}
  - {id: both, type: parallel, steps: [{id: x, type: agent, name: d}]}
  - {id: two, type: agent, name: c}
`;

  it('a called pipeline is told what an agent would be told, and its steps are addressed like those of a block', async () => {
    const ran = await runPipeline(
      `${agents('a')}workflow:
  - {id: gen, type: agent, name: a}
  - {id: sub, type: call, file: sub.yaml, prompt: "Look at {{ $steps.gen.output }}"}
  - id: last
    type: agent
    name: a
    prompt: "{{ $steps.sub.output }} {{ $steps.sub.outputs.one.output }} {{ $steps.sub.outputs.both.outputs.x.output }} {{ $steps.sub.outputs.both.x.output }}"
`,
      echo,
      { files: { 'sub.yaml': SUB } },
    );
    const inner = `${block({ 'gen (agent: a)': '<gen>' })}Look at <gen>`;
    expect(ran.prompt('sub/one')).toBe(inner);
    expect(ran.prompt('sub/both/x')).toBe(block({ 'one (agent: c)': '<sub/one>' }) + inner);
    const outputs = {
      'gen (agent: a)': '<gen>',
      'sub/one (agent: c)': '<sub/one>',
      'sub/both/x (agent: d)': '<sub/both/x>',
      'sub/two (agent: c)': '<sub/two>',
    };
    expect(ran.prompt('last')).toBe(`${block(outputs)}<sub/two> <sub/one> <sub/both/x> <sub/both/x>`);
  });

  const DAG = `name: d
inputs: {topic: {description: what}}
agents: {w: {inline: {prompt: You write.}}}
config: {model: xai/m}
steps:
  - {id: s, agent: w, prompt: "About {{inputs.topic}}"}
`;

  it('a called DAG gets its inputs by name', async () => {
    const plan = await planOf(
      `${agents('a')}workflow:
  - {id: gen, type: agent, name: a}
  - {id: sub, type: call, file: d.yaml, inputs: {topic: "the {{ $steps.gen.output }}"}}
  - {id: last, type: agent, name: a, prompt: "{{ $steps.sub.outputs.s.output }} {{ $steps.sub.output }}"}
`,
      { 'd.yaml': DAG },
    );
    expect(nodeOf(plan, 'sub')).toMatchObject({
      inputs: { 'inputs.topic': { template: ['the ', { channel: 'steps.gen.output' }] } },
      outputs: { 'steps.sub/s.output': 'steps.s.output' },
    });
    expect(plan.channels).toContainEqual({ name: 'steps.sub/s.output', label: 'sub/s (agent: w)' });
  });

  it.each([
    ['', 'missing-input', 'step "sub" does not give the input "topic", which its file needs'],
    [
      ', inputs: {topic: x, topik: y}',
      'unknown-input',
      'step "sub" gives the input "topik", which its file does not have',
    ],
    [
      ', prompt: go, inputs: {topic: y}',
      'unknown-input',
      'step "sub" has a prompt, and its file has no input with this name',
    ],
  ])('a call with "%s": %s', async (keys, code, message) => {
    const text = `${agents('a')}workflow:\n  - {id: sub, type: call, file: d.yaml${keys}}\n`;
    const { problems } = await loadText(text, { 'd.yaml': DAG });
    expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([{ code, message }]);
  });
});
