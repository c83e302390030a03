import { describe, expect, test } from 'vitest';
import { END, graph } from 'skein/graph';
import type { Graph, NodeSpec } from 'skein/graph';
import { thrown } from '../../thrown.js';

type Anything = Record<string, unknown>;

/** Every kind of way between nodes. */
function branching(): Graph<Anything> {
  return graph<Anything>({ name: 'branching' })
    .node('search', ({ query }) => query)
    .node('archive', ({ query, limit = 5 }) => [query, limit])
    .node('decide', ({ search, archive }) => [search, archive])
    .node('report', ({ decide }) => decide)
    .node('fallback', () => 'nothing')
    .node('publish', ({ report }) => report)
    .addConditionalEdge('decide', () => 'good', { good: 'report', bad: 'fallback', stop: END })
    .setEntry('search');
}

/** Another workflow as a node. */
function inner(): NodeSpec {
  const { plan, bindings } = graph<Anything>({ name: 'inner' })
    .addNode('first', () => null)
    .addNode('second', () => null)
    .addEdge('first', 'second')
    .setEntry('first')
    .compile();
  return {
    build: (name, output = name) => ({
      node: { id: name, kind: 'call', plan, outputs: { [output]: 'second' } },
      bindings: Object.fromEntries(Object.entries(bindings).map(([key, value]) => [`${name}/${key}`, value])),
    }),
  };
}

describe('[63] Mermaid', () => {
  test('shows entry, exits, edges, choices with their answers, and END', () => {
    expect(branching().toMermaid().trimEnd().split('\n')).toEqual([
      'flowchart TD',
      '  n0["search"]',
      '  style n0 stroke-width:3px',
      '  n1["archive"]',
      '  n2["decide"]',
      '  n3["report"]',
      '  n4["fallback"]',
      '  style n4 stroke-dasharray:6 2',
      '  n5["publish"]',
      '  style n5 stroke-dasharray:6 2',
      '  n_end((("END")))',
      '  n0 --> n2',
      '  n1 --> n2',
      '  n3 --> n5',
      '  n2 -.->|"good"| n3',
      '  n2 -.->|"bad"| n4',
      '  n2 -.->|"stop"| n_end',
    ]);
  });

  test('a choice among all nodes leads to a node of its own', () => {
    const text = graph<Anything>()
      .addNode('a', () => null)
      .addConditionalEdge('a', () => END)
      .setEntry('a')
      .toMermaid();
    expect(text).toContain('n_anywhere(("any node"))');
    expect(text).toContain('n0 -.-> n_anywhere');
  });

  test('names are labels only, whatever they are; another workflow is a subgraph', () => {
    const flow = graph<Anything>()
      .addNode('end', () => null, { label: 'a [b] "c" |d|' })
      .addNode('subgraph', inner())
      .addEdge('end', 'subgraph')
      .setEntry('end');
    expect(flow.toMermaid().trimEnd().split('\n')).toEqual([
      'flowchart TD',
      '  n0["a #91;b#93; #34;c#34; #124;d#124; (end)"]',
      '  style n0 stroke-width:3px',
      '  subgraph n1["subgraph<br/>workflow inner"]',
      '    n1_0["first"]',
      '    style n1_0 stroke-width:3px',
      '    n1_1["second"]',
      '  end',
      '  n1_0 --> n1_1',
      '  n0 --> n1',
    ]);
  });

  test('a graph that is not finished can be drawn', () => {
    expect(
      graph<Anything>()
        .addNode('a', () => null)
        .addEdge('a', 'later')
        .toMermaid(),
    ).toContain('n0["a"]');
  });
});

test('[64] DOT shows the same, with quoted names and clusters', () => {
  expect(branching().toDot()).toContain('digraph "branching" {');
  expect(branching().toDot()).toContain('rankdir=TB');
  expect(branching().toDot()).toContain('n2 -> n3 [label="good", style=dashed];');
  const nested = graph<Anything>()
    .addNode('graph', () => null)
    .addNode('node', inner())
    .addEdge('graph', 'node');
  const text = nested.setEntry('graph').toDot();
  expect(text).toContain('subgraph cluster_n1 {');
  expect(text).toContain('n0 [label="graph", shape=box, penwidth=3];');
  expect(text).toContain('n0 -> n1 [lhead=cluster_n1];');
});

describe('[65] a dry run', () => {
  test('lists levels without what only a choice leads to, and what must be given; nothing is called', () => {
    const dry = branching().dryRun();
    expect(dry).toEqual({
      levels: [['search', 'archive'], ['decide']],
      conditionalNodes: ['report', 'fallback', 'publish'],
      entry: 'search',
      exits: ['fallback', 'publish'],
      inputsRequired: ['query'],
    });
    const never = graph<Anything>()
      .node('a', ({ x }) => {
        throw new Error(`called with ${String(x)}`);
      })
      .setEntry('a');
    expect(never.dryRun().levels).toEqual([['a']]);
  });

  test('what is given need not be given any more', () => {
    expect(branching().dryRun({ query: 'x' }).inputsRequired).toEqual([]);
  });

  test('a node that nothing leads to is on no level', () => {
    const flow = graph<Anything>()
      .addNode('a', () => null)
      .addNode('lost', () => null)
      .setEntry('a');
    expect(flow.dryRun()).toMatchObject({ levels: [['a']], conditionalNodes: [], exits: ['a'] });
  });

  test('a graph with errors has none', () => {
    expect(thrown(() => graph().dryRun()).code).toBe('SKEIN_DEFINITION');
  });
});
