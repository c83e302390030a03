import { describe, expect, it, test } from 'vitest';
import { definePlan } from 'skein';
import { agent, agentNode, graph, tool, workflowNode } from 'skein/graph';
import { z } from 'zod';
import { thrown } from '../thrown.js';

type Anything = Record<string, unknown>;

/** Calls as JavaScript makes them, where no type stops them. */
type Untyped = Record<'node' | 'addNode', (name: string, body: unknown) => unknown>;

const inner = graph<{ task: string }>().node('size', ({ task }) => task.length);
const clerk = agent({ name: 'clerk', model: 'mock/echo' });
const foreign = { run: async (task: string) => task };
const count = tool({ name: 'count', inputSchema: z.object({ a: z.string() }), execute: ({ a }) => a.length });

const THINGS: readonly (readonly [string, unknown, string])[] = [
  ['a graph', inner, 'workflowNode('],
  ['a compiled graph', inner.compile(), 'workflowNode('],
  ['a plan', definePlan({ name: 'p', nodes: [{ id: 'a', run: () => null }] }), 'workflowNode('],
  ['an agent', clerk, 'agentNode('],
  ['a graph as an agent', inner.asAgent(), 'agentNode('],
  ['any other agent', foreign, 'agentNode('],
  ['a tool', count, 'toolNode('],
];

describe.each(['node', 'addNode'] as const)('what is no function, added with .%s', (method) => {
  it.each(THINGS)('is refused, and the hint says how it becomes a node: %s', (_, thing, call) => {
    const flow: object = graph<Anything>();
    const { code, message, hint } = thrown(() => (flow as Untyped)[method]('a', thing));
    expect([code, message]).toEqual(['SKEIN_USAGE', 'the fn argument is required: "a" needs a function']);
    expect(hint).toContain(`.${method}(name, ${call}`);
  });
});

test('a graph is no agent, and a node is no workflow for each item', () => {
  expect(thrown(() => agentNode(inner as never)).message).toContain('workflowNode(flow, name)');
  const each = workflowNode(inner, 'each') as never;
  expect(thrown(() => graph<{ list: string[] }>().map('all', { over: 'list' }, each)).message).toContain(
    'graph().node(',
  );
});

test('an agent answers each item of a list as its task, with the type of its answer', async () => {
  const judge = agent({ name: 'judge', model: 'mock/echo', output: z.object({ good: z.boolean() }) });
  const flow = graph<{ texts: string[] }>()
    .map('echoes', { over: 'texts', item: 'task' }, clerk)
    .map('verdicts', { over: 'texts', item: 'task', onItemError: 'continue' }, judge)
    .node('good', ({ echoes, verdicts }) => [
      echoes.map((one) => one.length),
      verdicts.map((verdict) => verdict?.good ?? 'none'),
    ]);
  const { state } = await flow.run({ texts: ['{"good": true}', 'well'] }, { models: { env: {} } });
  expect(state.good).toEqual([
    [14, 4],
    [true, 'none'],
  ]);
});

describe('a choice', () => {
  const flow = () =>
    graph<Anything>()
      .addNode('write', () => null)
      .addNode('print', () => null);

  it('takes no list as its map, and says what a list is for', () => {
    const { code, hint } = thrown(() => flow().addConditionalEdge('write', () => 'print', ['print'] as never));
    expect([code, hint]).toEqual(['SKEIN_USAGE', expect.stringContaining('{ targets: [...] }')]);
  });

  it('names the type of what its map gives in place of a name', () => {
    const made = flow().addConditionalEdge('write', () => 'print', { print: ['print'] } as never);
    expect(thrown(() => made.setEntry('write').compile()).message).toContain('gives "print" a list');
  });

  it('that answers with no node is told which nodes there are', async () => {
    const answering = (name: string) =>
      flow()
        .addConditionalEdge('write', () => name)
        .setEntry('write')
        .run();
    expect((await answering('nowhere')).error?.hint).toBe('nodes are: write, print');
    expect((await answering('prnt')).error?.hint).toBe('did you mean "print"?');
  });
});
