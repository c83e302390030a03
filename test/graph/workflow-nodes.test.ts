import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { definePlan, memoryStore } from 'skein';
import { agent, agentNode, graph, workflowNode } from 'skein/graph';
import type { InnerWorkflow, WorkflowNodeOptions } from 'skein/graph';
import { loadDag, loadPipelineText } from 'skein/yaml';
import { rejected } from '../thrown.js';
import { ownModels } from './support-agents.js';

type Loose = Record<string, unknown>;

/** The result of a graph with one workflow in it, or its error. */
async function ran(inner: InnerWorkflow, options: WorkflowNodeOptions, inputs: Loose) {
  const flow = graph<Loose>()
    .node('r', workflowNode(inner, 'r', options))
    .setEntry('r');
  const { success, state, error } = await flow.run(inputs);
  return success ? state['r'] : `${error?.code}: ${error?.message}`;
}

const shout = () =>
  graph<{ task: string; mark?: string }>()
    .node('upper', ({ task }) => task.toUpperCase())
    .node('loud', ({ upper, mark = '!' }) => `${upper}${mark}`)
    .setEntry('upper');

const define = (nodes: Parameters<typeof definePlan>[0]['nodes'], inputs = ['task']) =>
  definePlan({ name: 'inner', inputs, nodes });

describe('[60] a workflow as a node', () => {
  test('[60] its result is the answer of the workflow', async () => {
    expect(await ran(shout(), {}, { task: 'hey' })).toBe('HEY!');
    expect(await ran(shout().compile(), {}, { task: 'hey' })).toBe('HEY!');
  });

  test('[60] or the whole final state', async () => {
    expect(await ran(shout(), { projectState: true }, { task: 'hey' })).toEqual({
      task: 'hey',
      upper: 'HEY',
      loud: 'HEY!',
    });
  });

  test('[60] or the value that was asked for', async () => {
    expect(await ran(shout(), { answerKey: 'upper' }, { task: 'hey' })).toBe('HEY');
  });

  test('[60] the task comes from another key of the state', async () => {
    expect(await ran(shout(), { taskParam: 'text' }, { text: 'hey', task: 'no' })).toBe('HEY!');
  });

  test('[60] a workflow that names its own task input gets the task there', async () => {
    const inner = graph<{ query: string }>({ taskParam: 'query' })
      .node('out', ({ query }) => `q ${query}`)
      .setEntry('out');
    expect(await ran(inner, { taskParam: 'task' }, { task: 'hey' })).toBe('q hey');
    expect(await ran(inner, { taskParam: 'query' }, { query: 'hey' })).toBe('q hey');
  });

  test('[60] without a task each input takes the value of its name, also where it is optional', async () => {
    expect(await ran(shout(), { taskParam: null }, { task: 'hey', mark: '?' })).toBe('HEY?');
    expect(await ran(shout(), { taskParam: null }, { task: 'hey' })).toBe('HEY!');
    const two = graph<{ a: number; b: number }>()
      .node('sum', ({ a, b }) => a + b)
      .setEntry('sum');
    expect(await ran(two, {}, { a: 1, b: 2 })).toBe(3);
  });

  test('[60] a default of the workflow counts where nothing is given', async () => {
    const inner = graph<{ n: number }>({ inputs: [{ name: 'n', default: 7 }] })
      .node('out', ({ n }) => n * 2)
      .setEntry('out');
    expect(await ran(inner, { taskParam: null }, {})).toBe(14);
    expect(await ran(inner, { taskParam: null }, { n: 1 })).toBe(2);
  });

  test('[60] what it reads makes edges like the names of a function', async () => {
    const flow = graph<{ topic: string }>()
      .node('task', ({ topic }) => `about ${topic}`)
      .node('loud', workflowNode(shout(), 'loud'))
      .node('end', ({ loud }) => `${String(loud)} end`)
      .setEntry('task');
    expect(flow.edges.map(({ from, to }) => `${from} ${to}`)).toEqual(['task loud', 'loud end']);
    expect((await flow.run({ topic: 'x' })).state.end).toBe('ABOUT X! end');
  });

  test('[60] a failure inside fails the node around it, and says so', async () => {
    const inner = graph<{ task: string }>()
      .node('bad', ({ task }) => {
        throw new TypeError(`no ${task}`);
      })
      .setEntry('bad');
    expect(await ran(inner, {}, { task: 'way' })).toBe(
      "SKEIN_STEP_FAILED: workflowNode('r'): inner workflow failed: no way",
    );
  });

  test('[60] a workflow without an answer is a definition error, not an empty answer', async () => {
    const inner = graph<{ task: string }>()
      .node('a', ({ task }) => task)
      .node('b', ({ task }) => task)
      .node('start', ({ task }) => task)
      .route('start', () => ['a', 'b'], { targets: ['a', 'b'] })
      .setEntry('start');
    expect(() => workflowNode(inner, 'r')).toThrow(/workflowNode\('r'\): the inner workflow has no answer key/);
    expect(() => workflowNode(inner, 'r')).toThrow(/answerKey: "a" or "b" or "start"/);
    expect(() => workflowNode(inner, 'r', { answerKey: 'c' })).toThrow(/nothing is called "c"/);
    expect(await ran(inner, { answerKey: 'b' }, { task: 'x' })).toBe('x');
    expect(await ran(inner, { projectState: true }, { task: 'x' })).toMatchObject({ a: 'x', b: 'x' });
  });

  test('[60] what is no workflow, or has problems, is refused where the node is made', async () => {
    expect(() => workflowNode({} as never, 'r')).toThrow(/workflowNode\('r'\) needs a workflow/);
    expect(() => workflowNode(Promise.resolve(shout()) as never, 'r')).toThrow(/needs a workflow[^]*await/);
    expect(() =>
      workflowNode(
        graph().addNode('a', () => null),
        'r',
      ),
    ).toThrow(/no entry node set/);
    const problems = [{ code: 'bad', severity: 'error' as const, message: 'line 3 is wrong' }];
    expect(() => workflowNode({ plan: undefined, problems }, 'r')).toThrow(/workflowNode\('r'\): line 3 is wrong/);
    const strict = graph<{ task: string }>({ invariants: [{ predicate: () => true, message: 'm' }] })
      .node('out', ({ task }) => task)
      .setEntry('out');
    expect(() => workflowNode(strict, 'r')).toThrow(/invariants of a graph are not checked inside of another graph/);
    expect(() =>
      workflowNode(define([{ id: 'a', run: () => 1, output: 'a' }], ['x', 'y']), 'r', { taskParam: 'task' }),
    ).toThrow(/has no input "task" for the task.*x, y/s);
  });

  test('[60] what definePlan gives is a workflow too', async () => {
    const inner = define([{ id: 'out', output: 'said', run: ({ task }: Loose) => `said ${String(task)}` }]);
    expect(await ran(inner, {}, { task: 'hey' })).toBe('said hey');
    expect(await ran(inner, { answerKey: 'out' }, { task: 'hey' })).toBe('said hey');
  });

  test('[48][60] three levels deep every event has the node around it as its source', async () => {
    const middle = graph<{ task: string }>().node('inner', workflowNode(shout(), 'inner')).setEntry('inner');
    const flow = graph<{ task: string }>().node('middle', workflowNode(middle, 'middle')).setEntry('middle');
    const { events } = await flow.run({ task: 'hey' });
    const starts = events.filter(({ type }) => type === 'node_start');
    expect(starts.map(({ node, source }) => [node, source])).toEqual([
      ['middle', null],
      ['inner', 'middle'],
      ['upper', 'inner'],
      ['loud', 'inner'],
    ]);
    expect(
      starts.slice(1).map(({ parentEventId }) => starts.find(({ eventId }) => eventId === parentEventId)?.node),
    ).toEqual(['middle', 'inner', 'inner']);
  });

  test('[61] one workflow in two nodes, and in many runs at once', async () => {
    const spec = workflowNode(shout(), 'loud', { taskParam: null });
    const flow = graph<{ task: string; mark: string }>()
      .node('one', spec)
      .node('two', spec)
      .node('end', ({ one, two }) => `${String(one)} ${String(two)}`)
      .setEntry('one')
      .compile();
    const runs = await Promise.all(Array.from({ length: 50 }, (_, at) => flow.run({ task: `t${at}`, mark: '.' })));
    expect(runs.map(({ state }) => state['end'])).toEqual(runs.map((_, at) => `T${at}. T${at}.`));
  });

  test('a recorded run goes on inside of it', async () => {
    let broken = true;
    const done: string[] = [];
    const inner = graph<{ task: string }>()
      .node('first', ({ task }) => done.push('first') && task)
      .node('second', ({ first }) => {
        done.push('second');
        if (broken) throw new Error('no connection');
        return `${first}!`;
      })
      .setEntry('first');
    const flow = graph<{ task: string }>().node('r', workflowNode(inner, 'r')).setEntry('r');
    const store = memoryStore();
    const { runId, success } = await flow.run({ task: 'x' }, { store });
    broken = false;
    const second = await flow.run({}, { store, resume: runId });
    expect([success, second.state['r'], done]).toEqual([false, 'x!', ['first', 'second', 'second']]);
  });

  test('[63] it is drawn as a subgraph', () => {
    const flow = graph<{ task: string }>().node('r', workflowNode(shout(), 'r')).setEntry('r');
    expect(flow.toMermaid()).toMatch(/subgraph[\s\S]*upper[\s\S]*loud[\s\S]*end/);
    expect(flow.toDot()).toMatch(/subgraph[\s\S]*upper/);
  });
});

describe('[60] a workflow of a file as a node', () => {
  const FILE = `name: review
inputs:
  diff: { description: what changed }
steps:
  - id: look
    agent: reader
    prompt: "Look at {{inputs.diff}}"
  - id: judge
    agent: reader
    depends_on: [look]
    prompt: "Judge {{steps.look.output}}"
agents:
  reader:
    inline: { description: reads, prompt: You read., model: own/m }
`;

  test('takes its inputs by name, and gives what its last step says', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'skein-'));
    await writeFile(join(cwd, 'review.yaml'), FILE);
    const review = await loadDag('review.yaml', { cwd });
    expect(review.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    const { models, asked } = ownModels({ m: ({ caller }) => `said in ${caller.path}` });
    const flow = graph<{ file: string }>()
      .node('diff', ({ file }) => `+ ${file}`)
      .node('review', workflowNode(review, 'review'))
      .node('end', ({ review: said }) => `end: ${String(said)}`)
      .setEntry('diff');
    const { state, error } = await flow.run({ file: 'a.ts' }, { models });
    expect(error).toBeUndefined();
    expect(state.end).toBe('end: said in review/judge');
    expect(asked).toEqual(['m: Look at + a.ts', 'm: Judge said in review/look']);
  });

  test('a pipeline takes the task as its prompt', async () => {
    const text = 'agents: { echo: { model: own/m } }\nproviders: { own: {} }\nworkflow: [{ type: agent, name: echo }]';
    const review = await loadPipelineText(text, { cwd: '.' });
    expect(review.problems).toEqual([]);
    const { models, asked } = ownModels({ m: () => 'fine' });
    const flow = graph<{ task: string }>().node('review', workflowNode(review, 'review')).setEntry('review');
    expect((await flow.run({ task: 'looms' }, { models })).answer).toBe('fine');
    expect(asked).toEqual(['m: looms']);
  });

  test('tells its problems where the node is made', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'skein-'));
    await writeFile(join(cwd, 'bad.yaml'), FILE.replace('depends_on: [look]', 'depends_on: [lok]'));
    const bad = await loadDag('bad.yaml', { cwd });
    expect(() => workflowNode(bad, 'review')).toThrow(/workflowNode\('review'\): .*lok/);
  });
});

test('options in place of the name are refused, not ignored', async () => {
  const misplaced = { taskParam: null } as unknown as string;
  const error = await rejected(async () => await Promise.resolve(workflowNode(shout(), misplaced)));
  expect([error.code, error.message]).toEqual([
    'SKEIN_USAGE',
    'the second argument of workflowNode is a name, not an object',
  ]);
  expect(error.hint).toContain("workflowNode(inner, 'review', { ... })");
});

test('an agent inside of a workflow inside of a graph goes on at the first model call that is not recorded', async () => {
  let broken = true;
  const { models, asked } = ownModels({
    a: () => 'draft',
    b: () => {
      if (broken) throw new Error('the power fails');
      return 'final';
    },
  });
  const inner = graph<{ task: string }>()
    .node('a', agentNode(agent({ name: 'a', model: 'own/a' })))
    .node('b', agentNode(agent({ name: 'b', model: 'own/b' }), { taskParam: 'a' }))
    .setEntry('a');
  const flow = graph<{ task: string }>().node('r', agentNode(inner.asAgent())).setEntry('r');
  const store = memoryStore();
  const { runId } = await flow.run({ task: 'x' }, { store, models });
  broken = false;
  const { state } = await flow.run({}, { store, models, resume: runId });
  expect([state.r, asked]).toEqual(['final', ['a: x', 'b: draft', 'b: draft']]);
});
