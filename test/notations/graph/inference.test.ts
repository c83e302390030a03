import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { run } from 'skein';
import { END, graph } from 'skein/graph';
import { codesOf, problemsOf } from './support.js';

type Anything = Record<string, unknown>;

describe('what follows from the names that a node reads', () => {
  test('[21] the name of a node is an edge, whatever was added first, and none twice', () => {
    const flow = graph<Anything>()
      .node('last', ({ first, second }) => [first, second])
      .node('second', ({ first }) => first)
      .node('first', () => 1)
      .addEdge('first', 'second')
      .setEntry('first');
    expect(flow.edges).toEqual([
      { from: 'first', to: 'second', inferred: false },
      { from: 'first', to: 'last', inferred: true },
      { from: 'second', to: 'last', inferred: true },
    ]);
    expect(flow.compile().plan.inputs).toEqual([]);
  });

  test('[22] its own name is an input, the first value of what it keeps', async () => {
    const flow = graph<{ n: number }>()
      .node('n', ({ n }) => n + 1)
      .route('n', ({ n }) => (n < 5 ? 'n' : END), { targets: ['n', END] })
      .setEntry('n');
    expect(flow.edges).toEqual([]);
    expect(flow.dryRun().inputsRequired).toEqual(['n']);
    expect((await run(flow.compile(), { inputs: { n: 1 } }).result).state).toEqual({ n: 5 });
  });

  test('[23] any other name is an input, which must be given', async () => {
    const flow = graph<{ query: string }>()
      .node('search', ({ query }) => query)
      .setEntry('search');
    expect(flow.compile().plan.inputs).toEqual([{ name: 'query', channel: 'query', required: true }]);
    expect(() => run(flow.compile(), { inputs: {} })).toThrow("'query' is missing");
  });

  test('[24] a router reads in the same way, and makes no edges', () => {
    const flow = graph<{ limit: number }>()
      .node('a', () => 1)
      .node('b', ({ a }) => a)
      .route('b', ({ a, b, limit }) => (a + b > limit ? 'a' : END))
      .setEntry('a');
    expect(flow.edges).toEqual([{ from: 'a', to: 'b', inferred: true }]);
    expect(flow.dryRun().inputsRequired).toEqual(['limit']);
  });

  test('[25] an input with a default wherever it is read need not be given', async () => {
    const flow = graph<{ query?: string; limit?: number }>()
      .node('search', ({ query = 'x' }) => `${query}!`)
      .node('cut', ({ search, limit = 1 }) => search.slice(0, limit))
      .setEntry('search');
    expect(flow.dryRun().inputsRequired).toEqual([]);
    expect((await run(flow.compile(), { inputs: {} }).result).state).toEqual({ search: 'x!', cut: 'x' });
    flow.node('both', ({ limit }) => limit ?? 0);
    expect(flow.dryRun().inputsRequired).toEqual(['limit']);
    expect(flow.dryRun({ limit: 5 }).inputsRequired).toEqual([]);
  });

  test('[26] a result is kept under the name of its node, and the schema lists nodes and inputs', async () => {
    const flow = graph<{ query: string }>()
      .node('search', ({ query }) => [query])
      .setEntry('search');
    expect(flow.derivedStateSchema).toEqual({ search: { from: 'node' }, query: { from: 'input' } });
    expect((await run(flow.compile(), { inputs: { query: 'x' } }).result).state).toEqual({ query: 'x', search: ['x'] });
  });

  test('[26] a declared schema is the schema', () => {
    const state = { query: z.string(), search: z.array(z.string()), extra: z.number() };
    const flow = graph({ state }).node('search', ({ query }) => [query]);
    expect(flow.derivedStateSchema).toEqual({
      query: { from: 'declared', schema: state.query },
      search: { from: 'declared', schema: state.search },
      extra: { from: 'declared', schema: state.extra },
    });
  });

  test('[26] with a declared schema a wrong type and an undeclared key fail their step, and name the key', async () => {
    const state = { query: z.string(), docs: z.array(z.string()) };
    const flow = graph({ state })
      .node('docs', (() => [5]) as never)
      .setEntry('docs');
    const wrong = await run(flow.compile(), { inputs: { query: 'x' } }).result;
    expect(wrong.error?.code).toBe('SKEIN_BAD_UPDATE');
    expect(wrong.error?.message).toContain("'docs'");
    const other = graph({ state })
      .addNode('a', (() => ({ dosc: [] })) as never)
      .setEntry('a');
    const undeclared = await run(other.compile(), { inputs: { query: 'x' } }).result;
    expect(undeclared.error).toMatchObject({ code: 'SKEIN_BAD_UPDATE', hint: 'did you mean "docs"?' });
    expect(() => run(other.compile(), { inputs: { qery: 'x' } })).toThrow("'qery' is neither an input nor a channel");
  });

  test('[7] a function that does not name what it reads is refused with advice, unless it is said', async () => {
    const flow = graph<{ query: string }>()
      .node('search', (state) => state.query)
      .setEntry('search');
    const [problem] = problemsOf(flow);
    expect(problem).toMatchObject({ code: 'unreadable-parameters' });
    expect(problem?.hint).toContain("{ inputs: ['name'] }");
    const said = graph<{ query: string }>()
      .node('search', (state) => state.query, { inputs: ['query'] })
      .node('more', (state) => `${state.search}!`, { inputs: ['search'] })
      .node('nothing', (state) => Object.keys(state).length, { inputs: [] })
      .setEntry('search');
    expect(said.edges).toEqual([{ from: 'search', to: 'more', inferred: true }]);
    expect((await run(said.compile(), { inputs: { query: 'x' } }).result).state).toMatchObject({ more: 'x!' });
  });

  test('[7] so is a router', () => {
    const flow = graph<{ query: string }>()
      .node('a', () => 1)
      .setEntry('a');
    expect(codesOf(flow.route('a', (state) => state.query))).toEqual(['unreadable-parameters']);
  });

  test('a name that an update node declares to write is no input', async () => {
    const flow = graph<{ query: string; docs: string[] }>()
      .addNode('retrieve', ({ query }) => ({ docs: [query] }), { writes: ['docs'] })
      .node('count', ({ docs }) => docs.length)
      .addEdge('retrieve', 'count')
      .setEntry('retrieve');
    expect(flow.compile().plan.inputs).toEqual([]);
  });

  test('a name that a node before it may write need not be given, and one at the start must be', () => {
    const flow = graph<{ query: string; docs: string[] }>()
      .node('search', ({ query }) => query)
      .addNode('retrieve', () => ({ docs: [] }))
      .node('count', ({ docs }) => docs.length)
      .addEdge('search', 'retrieve')
      .addEdge('retrieve', 'count')
      .setEntry('search');
    expect(flow.compile().plan.inputs).toEqual([
      { name: 'query', channel: 'query', required: true },
      { name: 'docs', channel: 'docs', required: false },
    ]);
  });

  test('declared inputs come first, with their defaults', async () => {
    const flow = graph<{ query: string; limit: number }>({ inputs: [{ name: 'limit', default: 2 }, 'query'] })
      .node('cut', ({ query, limit }) => query.slice(0, limit))
      .setEntry('cut');
    expect(flow.compile().plan.inputs).toEqual([
      { name: 'limit', channel: 'limit', required: false, default: 2 },
      { name: 'query', channel: 'query', required: true },
    ]);
    expect((await run(flow.compile(), { inputs: { query: 'abc' } }).result).state['cut']).toBe('ab');
  });

  test('both layers of one graph make the same plan as either alone', () => {
    const named = graph<{ query: string }>()
      .node('search', ({ query }) => query)
      .node('sum', ({ search }) => search)
      .setEntry('search');
    const mixed = graph<{ query: string; search: string; sum: string }>()
      .node('search', ({ query }) => query)
      .addNode('sum', ({ search }) => ({ sum: search }), { writes: ['sum'] })
      .addEdge('search', 'sum')
      .setEntry('search');
    const { nodes, ...rest } = mixed.compile().plan;
    expect(named.compile().plan).toMatchObject(rest);
    expect(nodes.map((node) => node.id)).toEqual(['search', 'sum']);
  });
});
