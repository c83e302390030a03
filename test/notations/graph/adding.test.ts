import { describe, expect, test } from 'vitest';
import { run } from 'skein';
import { graph, reducers } from 'skein/graph';
import { codesOf } from './support.js';
import { thrown } from '../../thrown.js';

type Anything = Record<string, unknown>;

/** Calls as JavaScript makes them, where no type stops them. */
interface Untyped {
  addNode(...args: unknown[]): Untyped;
  node(...args: unknown[]): Untyped;
  route(...args: unknown[]): Untyped;
  addEdge(...args: unknown[]): Untyped;
  setEntry(...args: unknown[]): Untyped;
}

function untyped(): Untyped {
  const flow: object = graph<Anything>();
  return flow as Untyped;
}

describe('adding nodes', () => {
  test('[1] a name and a function make a node that returns an update; options stand behind', () => {
    const flow = graph<Anything>().addNode('a', () => ({ x: 1 }), { timeoutMs: 50, retry: 2, label: 'First' });
    expect(flow.setEntry('a').compile().plan.nodes).toEqual([
      {
        id: 'a',
        kind: 'task',
        label: 'First',
        retry: { retries: 2, backoff: 'exponential', delayMs: 1000 },
        timeoutMs: 50,
      },
    ]);
  });

  test('[1] a function alone is added under its name, or under one that is given', () => {
    function search(): number {
      return 1;
    }
    const flow = graph<Anything>().node(search).node(search, { name: 'again', timeoutMs: 5 }).setEntry('search');
    expect(flow.compile().plan.nodes).toEqual([
      { id: 'search', kind: 'task', output: 'search' },
      { id: 'again', kind: 'task', output: 'again', timeoutMs: 5 },
    ]);
  });

  test('[1] what is no name, and a name without a function, is refused at once', () => {
    for (const wrong of [5, null, undefined, {}]) {
      const { code, message } = thrown(() => untyped().addNode(wrong, () => 1));
      expect(code).toBe('SKEIN_USAGE');
      expect(message).toContain('must be a node name');
    }
    expect(thrown(() => untyped().addNode(() => 1)).hint).toBe('a function alone is added with .node(fn)');
    for (const add of [untyped().addNode.bind(untyped()), untyped().node.bind(untyped())]) {
      expect(thrown(() => add('a')).message).toContain('fn argument is required');
    }
  });

  test('[2] empty names and names that are taken are refused at once, also across layers', () => {
    const problemOf = (call: () => unknown): unknown => thrown(call).details;
    const empty = { problems: [expect.objectContaining({ code: 'empty-name' })] };
    expect(problemOf(() => graph().addNode('', () => null))).toMatchObject(empty);
    expect(problemOf(() => graph().node(() => null))).toMatchObject(empty);
    const flow = graph<Anything>().node('a', () => 1);
    expect(thrown(() => flow.addNode('a', () => null)).message).toContain('duplicate node name "a"');
    expect(thrown(() => flow.node('a', () => 2)).message).toContain('duplicate');
    expect([...flow.nodes.keys()]).toEqual(['a']);
  });

  test('[2] names that can not be told from other things are refused at once', () => {
    for (const name of ['END', '__proto__', 'constructor']) {
      expect(thrown(() => graph<Anything>().addNode(name, () => null)).message).toContain(JSON.stringify(name));
    }
  });

  test('names that no address can hold are refused when the graph is compiled', () => {
    const flow = graph<Anything>()
      .addNode('a b', () => null)
      .addNode('a/b', () => null);
    expect(codesOf(flow.setEntry('a b'))).toEqual(['bad-id', 'bad-id']);
  });

  test('options that do not exist are refused at once, with what was probably meant', () => {
    expect(thrown(() => untyped().node('a', () => 1, { timeoutMS: 5 }))).toMatchObject({
      code: 'SKEIN_USAGE',
      hint: 'did you mean "timeoutMs"?',
    });
    expect(thrown(() => untyped().addNode('a', () => 1, { inputs: [] })).message).toContain('no option "inputs"');
    expect(thrown(() => untyped().route('a', () => 1, { target: [] })).hint).toBe('did you mean "targets"?');
  });

  test('[3] edges, choices, entry and exits may name nodes that come later', () => {
    const flow = graph<Anything>()
      .setEntry('a')
      .setExit('c')
      .addEdge('a', 'b')
      .addConditionalEdge('b', () => 'c', { c: 'c' })
      .addNode('a', () => null)
      .addNode('b', () => null)
      .addNode('c', () => null);
    expect(flow.compile().plan).toMatchObject({ entry: 'a', exits: ['c'], edges: [{ from: 'a', to: 'b' }] });
  });

  test('[3] a second choice after a node is refused at once, across layers too', () => {
    const flow = graph<Anything>().addConditionalEdge('a', () => 'b');
    for (const again of [() => flow.addConditionalEdge('a', () => 'c'), () => flow.route('a', () => 'c')]) {
      expect(thrown(again).message).toContain('"a" already has a conditional outgoing edge');
    }
  });

  test('[4] the last entry counts, exits add up, and an edge that is declared twice is one edge', () => {
    const flow = graph<Anything>()
      .addNode('a', () => null)
      .addNode('b', () => null)
      .addEdge('a', 'b')
      .addEdge('a', 'b');
    flow.setEntry('b').setEntry('a').setExit('a').setExit('b').setExit('a');
    expect(flow.compile().plan).toMatchObject({ entry: 'a', exits: ['a', 'b'], edges: [{ from: 'a', to: 'b' }] });
  });

  test('[5] functions stay as they are, and may be asynchronous', async () => {
    const double = async ({ n }: { readonly n: number }): Promise<number> => Promise.resolve(n * 2);
    const flow = graph<{ n: number }>().node('double', double).setEntry('double');
    const compiled = flow.compile();
    expect(compiled.bindings['double']).toBe(double);
    expect(await double({ n: 4 })).toBe(8);
    expect((await run(compiled, { inputs: { n: 4 } }).result).state).toEqual({ n: 4, double: 8 });
  });

  test('[6] a route is a choice without a map, whose function names what it reads', () => {
    const router = ({ a }: { readonly a: number }): string => (a > 0 ? 'b' : 'c');
    const flow = graph()
      .node('a', () => 1)
      .node('b', () => 2)
      .node('c', () => 3)
      .route('a', router)
      .setEntry('a');
    expect(flow.conditionalEdges).toEqual([{ from: 'a', router }]);
    expect(flow.compile().plan.routes).toEqual([{ from: 'a', choose: 'code', mentions: ['b', 'c'] }]);
    expect(thrown(() => untyped().route('', router)).code).toBe('SKEIN_USAGE');
    expect(thrown(() => untyped().route('a')).code).toBe('SKEIN_USAGE');
  });

  test('[8] what can be looked at are copies', () => {
    const flow = graph<Anything>()
      .addNode('a', () => null, { writes: ['x'] })
      .addNode('b', () => null)
      .addNode('c', () => null)
      .addEdge('a', 'b')
      .addConditionalEdge('b', () => 'yes', { yes: 'c' })
      .setEntry('a')
      .setExit('c');
    const { plan } = flow.compile();
    flow.nodes.delete('a');
    Object.assign(flow.nodes.get('a')?.options ?? {}, { timeoutMs: 5 });
    flow.edges.pop();
    flow.conditionalEdges.pop();
    Object.assign(flow.conditionalEdges[0]?.map ?? {}, { no: 'a' });
    flow.exits.push('b');
    delete flow.derivedStateSchema['x'];
    expect(flow.nodes.get('a')).toMatchObject({ name: 'a', layer: 'update', options: { writes: ['x'] } });
    expect(flow.edges).toEqual([{ from: 'a', to: 'b', inferred: false }]);
    expect(flow.conditionalEdges).toMatchObject([{ from: 'b', map: { yes: 'c' } }]);
    expect(flow.exits).toEqual(['c']);
    expect(flow.derivedStateSchema).toEqual({ x: { from: 'node' } });
    expect(
      flow
        .addNode('d', () => null)
        .compile()
        .plan.nodes.slice(0, 3),
    ).toEqual(plan.nodes);
  });

  test('[8] what a caller changes afterwards in what it gave changes nothing', () => {
    const map: Record<string, string> = { yes: 'b' };
    const options = { goto: ['b'], timeoutMs: 5 };
    const flow = graph<Anything>()
      .addNode('a', () => null)
      .addNode('b', () => null)
      .addNode('c', () => null, options)
      .addConditionalEdge('a', () => 'yes', map)
      .setEntry('a');
    map['no'] = 'nowhere';
    options.timeoutMs = -1;
    expect(flow.compile().plan.routes[0]?.map).toEqual({ yes: 'b' });
    expect(flow.compile().plan.nodes[2]?.timeoutMs).toBe(5);
  });

  test('[9] compiling twice gives the same object, until anything is changed', () => {
    const flow = graph<Anything>()
      .addNode('a', () => null)
      .addNode('b', () => null)
      .setEntry('a');
    const changes: (() => unknown)[] = [
      () => flow.addEdge('a', 'b'),
      () => flow.setExit('b'),
      () => flow.setEntry('a'),
      () => flow.addNode('c', () => null),
      () => flow.node('d', () => 1),
      () => flow.addConditionalEdge('b', () => 'c'),
      () => flow.route('c', () => 'd'),
    ];
    let before = flow.compile();
    for (const change of changes) {
      expect(flow.compile()).toBe(before);
      change();
      const after = flow.compile();
      expect(after).not.toBe(before);
      before = after;
    }
    expect(Object.isFrozen(before.plan.nodes)).toBe(true);
  });
});

describe('[41] reducers', () => {
  test('can be called by hand', () => {
    expect(reducers.append(undefined, 'a')).toEqual(['a']);
    expect(reducers.append(['a'], 'b')).toEqual(['a', 'b']);
    expect(reducers.extend(undefined, ['a'])).toEqual(['a']);
    expect(reducers.extend(['a'], null)).toEqual(['a']);
    expect(reducers.mergeDict({ a: 1, b: 1 }, { b: 2 })).toEqual({ a: 1, b: 2 });
    expect(reducers.add(undefined, 2)).toBe(2);
    expect(reducers.add(1, 2)).toBe(3);
    expect(reducers.last('a', 'b')).toBe('b');
  });

  test('stand in the plan by name, and functions of the user in the bindings', () => {
    const longest = (a: unknown, b: unknown): unknown => (String(a).length < String(b).length ? b : a);
    const flow = graph<{ log: string[]; n: number; text: string }>({
      reducers: { log: reducers.append, n: 'add', text: longest },
    });
    const { plan, bindings } = flow
      .addNode('a', () => null)
      .setEntry('a')
      .compile();
    expect(plan.channels).toEqual([
      { name: 'log', reducer: 'append' },
      { name: 'n', reducer: 'add' },
      { name: 'text', reducer: 'code' },
    ]);
    expect(bindings['channel:text']).toBe(longest);
  });
});
