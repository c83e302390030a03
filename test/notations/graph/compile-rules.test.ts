import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { END, graph } from 'skein/graph';
import type { Graph } from 'skein/graph';
import { codesOf, problemsOf } from './support.js';

type Anything = Record<string, unknown>;

/** A graph of nodes that return nothing, with edges `a>b`. */
function flowOf(names: string, edges = ''): Graph<Anything> {
  const flow = graph<Anything>();
  for (const name of names.split(' ')) flow.addNode(name, () => null);
  for (const edge of edges.split(' ').filter(Boolean)) flow.addEdge(edge.split('>')[0] ?? '', edge.split('>')[1] ?? '');
  return flow;
}

function messagesOf(flow: { compile(): unknown }): readonly string[] {
  return problemsOf(flow).map((problem) => problem.message);
}

describe('definition errors', () => {
  test('[10] a graph needs an entry, and the hint says which node could be it', () => {
    const [problem, ...others] = problemsOf(flowOf('b a', 'a>b'));
    expect(problem).toMatchObject({ code: 'no-entry', message: 'no entry node set' });
    expect(problem?.hint).toContain('setEntry("a")');
    expect(others).toEqual([]);
    expect(codesOf(graph())).toContain('no-entry');
  });

  test.each([
    ['an ending in the key of the result', graph().node('a', () => 1, { ending: 'a' }), 'written-twice'],
    [
      'an answer that nothing writes',
      graph<Anything>({ answerKey: 'sumary' }).node('summary', () => 1),
      'unknown-channel',
    ],
    ['a last visit without a number', graph().node('a', () => 1, { onMaxVisits: 'skip' }), 'bad-limit'],
  ])('%s', (_, flow, code) => {
    expect(codesOf(flow)).toEqual([code]);
  });

  test.each([
    ['an input', graph<Anything>({ answerKey: 'b' }).node('a', ({ b }) => b)],
    ['an ending', graph<Anything>({ answerKey: 'how' }).node('a', () => 1, { ending: 'how' })],
    [
      'what a node that returns updates writes',
      graph<Anything>({ answerKey: 'b' })
        .addNode('a', () => ({ b: 1 }))
        .setEntry('a'),
    ],
  ])('an answer may be %s', (_, flow) => {
    expect(() => flow.compile()).not.toThrow();
  });

  test('a run, and a graph as an agent, refuse an answer that nothing writes, too', async () => {
    const flow = graph<Anything>().node('summary', ({ task }) => task);
    const said = { code: 'SKEIN_USAGE', message: 'the answer is "sumary", which nothing writes' };
    await expect(flow.run({ task: 'x' }, { answerKey: 'sumary' })).rejects.toMatchObject(said);
    await expect(flow.asAgent({ answerKey: 'sumary' }).run('x')).rejects.toMatchObject(said);
    expect((await flow.run({ task: 'x' }, { answerKey: 'task' })).answer).toBe('x');
  });

  test('a condition that is a text is refused by its name', () => {
    const said = 'the option "when" of the node "a" must be a function, or an object, or a list';
    expect(() => graph().node('a', () => 1, { when: 'n > 1' as never })).toThrow(said);
  });

  test('[10] an entry that does not exist', () => {
    const [problem] = problemsOf(flowOf('search').setEntry('serach'));
    expect(problem).toMatchObject({ code: 'unknown-node', hint: 'did you mean "search"?' });
    expect(problem?.message).toContain('the entry is "serach"');
  });

  test('[11] edges and choices from and to nodes that do not exist', () => {
    const flow = flowOf('a', 'a>b c>a').setEntry('a');
    flow.addConditionalEdge('d', () => END, { x: 'e' });
    expect(messagesOf(flow)).toEqual([
      'an edge from "a" leads to "b", which is not a node of the plan',
      'an edge to "a" comes from "c", which is not a node of the plan',
      'a route comes from "d", which is not a node of the plan',
      'the route after "d" leads to "e", which is not a node of the plan',
    ]);
  });

  test('[12] static and conditional edges from one node, whoever declared or inferred the others', () => {
    const flow = flowOf('a b c', 'a>b').setEntry('a');
    flow.addConditionalEdge('a', () => 'c');
    expect(messagesOf(flow)).toEqual([
      'node "a" has both static and conditional outgoing edges; pick one routing style',
    ]);
    expect(
      codesOf(
        flowOf('a b', 'a>b')
          .addNode('j', () => null, { goto: ['b'] })
          .addEdge('j', 'a')
          .setEntry('j'),
      ),
    ).toEqual(['mixed-routing']);
  });

  test('[12] an edge that follows from a parameter never conflicts with a choice', () => {
    const flow = graph()
      .node('a', () => 1)
      .node('b', ({ a }) => a)
      .route('a', () => 'b', { targets: ['b'] })
      .setEntry('a');
    expect(flow.compile().plan).toMatchObject({ edges: [], routes: [{ from: 'a', targets: ['b'] }] });
  });

  test('[13] targets of a map are names of nodes or END', () => {
    const map = { yes: 'b', no: END, maybe: 'nowhere', never: 5 as unknown as string, true: 'b' };
    const flow = flowOf('a b')
      .addConditionalEdge('a', () => 'yes', map)
      .setEntry('a');
    expect(messagesOf(flow)).toEqual([
      'the map of the route after "a" gives "never" a number',
      'the route after "a" leads to "nowhere", which is not a node of the plan',
    ]);
    expect(problemsOf(flow)[0]?.hint).toBe('a target must be a node name or END');
  });

  test('[14] an exit that does not exist', () => {
    expect(messagesOf(flowOf('a').setEntry('a').setExit('b'))).toEqual([
      'an exit is "b", which is not a node of the plan',
    ]);
  });

  test('[15] a cycle of edges is printed as one real path, without what only lies behind it', () => {
    const flow = flowOf('a b c d', 'a>b b>c c>b c>d').setEntry('a');
    expect(messagesOf(flow)).toEqual(['these nodes wait for one another: b -> c -> b']);
    expect(messagesOf(flowOf('a', 'a>a').setEntry('a'))).toEqual(['these nodes wait for one another: a -> a']);
  });

  test('[15] a cycle of parameters, too', () => {
    const flow = graph<{ a: number; b: number }>()
      .node('a', ({ b }) => b)
      .node('b', ({ a }) => a)
      .setEntry('a');
    expect(messagesOf(flow)).toEqual(['these nodes wait for one another: a -> b -> a']);
  });

  test('[16] two parallel nodes that declare the same key', () => {
    const flow = graph<{ x: number }>()
      .addNode('a', () => null)
      .addNode('b', () => ({ x: 1 }), { writes: ['x'] })
      .addNode('c', () => ({ x: 2 }), { writes: ['x'] })
      .addEdge('a', 'b')
      .addEdge('a', 'c')
      .setEntry('a');
    expect(messagesOf(flow)).toEqual(['"b" and "c" both write "x", and neither runs before the other']);
  });

  test('[16] a parallel node that declares the key which another node owns by its name', () => {
    const flow = graph<{ x: number }>()
      .addNode('a', () => null)
      .node('x', () => 1)
      .addNode('c', () => ({ x: 2 }), { writes: ['x'] })
      .addEdge('a', 'x')
      .addEdge('a', 'c')
      .setEntry('a');
    expect(codesOf(flow)).toEqual(['unordered-writers']);
  });

  test('[16] one after the other, on branches that exclude each other, or with a reducer, several nodes may write a key', () => {
    const both = (): Graph<{ x: number }> =>
      graph<{ x: number }>()
        .addNode('a', () => null)
        .addNode('b', () => ({ x: 1 }), { writes: ['x'] })
        .addNode('c', () => ({ x: 2 }), { writes: ['x'] })
        .setEntry('a');
    both().addEdge('a', 'b').addEdge('b', 'c').compile();
    both()
      .addConditionalEdge('a', () => 'b', { b: 'b', c: 'c' })
      .compile();
    const reduced = graph<{ x: number }>({ reducers: { x: 'add' } })
      .addNode('a', () => null)
      .addNode('b', () => ({ x: 1 }), { writes: ['x'] })
      .addNode('c', () => ({ x: 2 }), { writes: ['x'] });
    expect(reduced.addEdge('a', 'b').addEdge('a', 'c').setEntry('a').compile().problems).toEqual([]);
  });

  test('[17] with a declared state, keys that it does not have', () => {
    const state = { query: z.string(), docs: z.array(z.string()) };
    const flow = graph({ state, inputs: ['qery'], answerKey: 'answer' }) as unknown as Graph<Anything>;
    flow.node('docs', ({ query, dosc }) => [query, dosc]);
    flow.node('summary', ({ docs }) => docs);
    flow.addNode('b', () => null, { writes: ['doc'] });
    expect(
      problemsOf(flow.addEdge('docs', 'b').setEntry('docs')).map(({ code, message, hint }) => [code, message, hint]),
    ).toEqual([
      ['undeclared-key', 'an input is "qery", which is not a key of the state', 'did you mean "query"?'],
      ['undeclared-key', 'the answer is "answer", which is not a key of the state', 'keys are: query, docs'],
      ['undeclared-key', '"docs" reads "dosc", which is not a key of the state', 'did you mean "docs"?'],
      ['undeclared-key', '"summary" writes "summary", which is not a key of the state', 'keys are: query, docs'],
      ['undeclared-key', '"b" writes "doc", which is not a key of the state', 'did you mean "docs"?'],
    ]);
  });

  test('[18] a target that only choices lead to is fine', () => {
    expect(
      flowOf('a b c')
        .addConditionalEdge('a', () => 'b', { b: 'b', c: 'c' })
        .setEntry('a')
        .compile().problems,
    ).toEqual([]);
  });

  test('[18] a choice that reads what no path leads from, and a node that its source never leads to', () => {
    const flow = graph()
      .node('a', () => 1)
      .node('b', ({ a }) => a)
      .node('c', ({ a }) => a)
      .node('d', ({ b, c }) => [b, c])
      .route('a', ({ d }) => (d === undefined ? 'b' : 'b'), { targets: ['b'] })
      .setEntry('a');
    expect(problemsOf(flow).map(({ code, message }) => [code, message])).toEqual([
      ['not-upstream', '"c" reads "a", and no path leads from "a" to it'],
      ['not-upstream', 'the router after "a" reads "d", and no path leads from "d" to it'],
    ]);
  });

  test('[19] a node that nothing leads to is a warning, and does not become an exit', () => {
    const compiled = flowOf('a b lost', 'a>b').setEntry('a').compile();
    expect(compiled.problems).toMatchObject([{ code: 'unreachable-node', severity: 'warning' }]);
    expect(compiled.answerKey).toBe('b');
  });

  test('[20] without declared exits, nodes without a way out are exits; the only exit names the answer', () => {
    const one = flowOf('a b', 'a>b').setEntry('a');
    expect([one.dryRun().exits, one.compile().answerKey]).toEqual([['b'], 'b']);
    const two = flowOf('a b c', 'a>b a>c').setEntry('a');
    expect([two.dryRun().exits, two.compile().answerKey]).toEqual([['b', 'c'], undefined]);
    expect(two.setExit('b').compile().answerKey).toBe('b');
    const named = graph<Anything>({ answerKey: 'x' })
      .addNode('a', () => null)
      .setEntry('a');
    expect(named.compile().answerKey).toBe('x');
  });

  test('[33] an entry that waits for another node', () => {
    const [problem] = problemsOf(flowOf('a b', 'a>b').setEntry('b'));
    expect(problem).toMatchObject({ code: 'entry-waits', message: 'the entry "b" waits for "a"' });
  });

  test('a reducer that is none', () => {
    const reducers = { x: 'sum' as 'add' };
    expect(
      codesOf(
        graph<{ x: number }>({ reducers })
          .addNode('a', () => null)
          .setEntry('a'),
      ),
    ).toEqual(['bad-reducer']);
  });

  test('everything that is wrong is told at once, in the same order each time, whole graph first', () => {
    const broken = (): Graph<Anything> =>
      flowOf('a b c', 'a>b b>c c>b a>x')
        .node('f', (state) => state)
        .addConditionalEdge('a', () => 'b', { q: 'y' })
        .setExit('z');
    const codes = codesOf(broken());
    expect(codes).toEqual([
      'no-entry',
      'mixed-routing',
      'unreadable-parameters',
      'unknown-node',
      'unknown-node',
      'unknown-node',
      'static-cycle',
    ]);
    expect(problemsOf(broken())).toEqual(problemsOf(broken()));
  });
});
