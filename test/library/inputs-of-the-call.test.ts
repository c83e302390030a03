import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { definePlan, memoryStore, run, runWorkflow } from 'skein';
import type { RunOptions } from 'skein';
import { graph } from 'skein/graph';
import { goal, sequence, workflow } from 'skein/tree';
import { loadDag } from 'skein/yaml';

type Inputs = Readonly<Record<'list', string[]>>;

/** Starts a run of a workflow that tells its input `list`, and resolves to what it told. */
type Door = (inputs: Inputs, options: RunOptions) => Promise<unknown>;

const plan = definePlan({
  name: 'tells',
  inputs: ['list'],
  nodes: [{ id: 'told', run: ({ list }) => ({ told: JSON.stringify(list) }) }],
});
const functions = graph<{ list: string[] }>({ name: 'tells' })
  .node('told', ({ list }) => JSON.stringify(list))
  .setEntry('told');
const tree = workflow('tells')
  .input('list')
  .add(sequence('main').steps(goal('told', 'Tell $list.')));
const DAG = `name: tells
inputs: { list: {} }
agents: { a: { inline: { prompt: You tell., tools: [] } } }
steps: [{ id: told, agent: a, prompt: "{{inputs.list}}" }]
`;

const DOORS: Readonly<Record<string, Door>> = {
  run: async (inputs, options) => (await run(plan, { ...options, inputs: { ...inputs } }).result).state,
  graph: async (inputs, options) => (await functions.run(inputs, options)).state,
  tree: async (inputs, options) => (await tree.execute({ model: 'mock/echo' }, inputs, options)).outputs,
  async file(inputs, options) {
    const cwd = mkdtempSync(join(tmpdir(), 'skein-given-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    writeFileSync(join(cwd, 'flow.yaml'), DAG);
    const flow = await loadDag('flow.yaml', { cwd });
    const { list } = inputs;
    const started = runWorkflow(flow, { ...options, inputs: { list }, models: { mock: true }, audit: false });
    // Before it is loaded nothing has been called.
    list.push('changed');
    const { result } = await started;
    list.pop();
    return (await result).state;
  },
};

const KEPT: Readonly<Record<string, () => RunOptions>> = {
  'that is not recorded': () => ({}),
  'that is recorded': () => ({ store: memoryStore() }),
  'on a thread': () => ({ store: memoryStore(), thread: 't' }),
};

const cases = Object.keys(DOORS).flatMap((door) => Object.keys(KEPT).map((kept) => [door, kept] as const));

it.each(cases)('a run (%s) %s reads the inputs of its call, whatever becomes of them', async (door, kept) => {
  const inputs = { list: ['given'] };
  const told = DOORS[door]?.(inputs, KEPT[kept]?.() ?? {});
  if (door !== 'file') inputs.list.push('changed');
  const text = JSON.stringify(await told);
  expect(text).toContain('given');
  expect(text).not.toContain('changed');
});

it('a turn that waits for another one reads the inputs of its call', async () => {
  const store = memoryStore();
  const inputs = { list: ['first'] };
  const turns = ['first', 'second'].map((word) => {
    inputs.list[0] = word;
    return run(plan, { store, thread: 't', inputs }).result;
  });
  inputs.list[0] = 'changed';
  expect((await Promise.all(turns)).map(({ state }) => state['told'])).toEqual(['["first"]', '["second"]']);
});

it.each([1, 3_000])('a fork of a run with %i steps reads the values of its call', async (steps) => {
  const store = memoryStore();
  const long = definePlan({
    name: 'long',
    inputs: ['list'],
    nodes: Array.from({ length: steps }, (_, at) => ({
      id: `told${at}`,
      run: ({ list }: Readonly<Record<string, unknown>>) => ({ told: JSON.stringify(list) }),
    })),
    edges: Array.from({ length: steps - 1 }, (_, at): [string, string] => [`told${at}`, `told${at + 1}`]),
  });
  await run(long, { store, runId: 'r', inputs: { list: ['given'] }, maxSteps: steps }).result;
  const set = { list: ['other'] };
  const forked = run(long, { store, fork: { run: 'r', set }, maxSteps: steps });
  set.list[0] = 'changed';
  expect((await forked.result).state).toMatchObject({ told: '["other"]' });
});
