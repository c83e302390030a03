import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import { toDot, toMermaid } from '../../src/plan/draw.js';
import type { Plan, PlanNode } from '../../src/plan/plan.js';

const run = (): object => ({});

/** Reads a Mermaid flowchart as this library writes it, and throws at anything else. Gives the node keys and the edges. */
function parseMermaid(text: string): { keys: Set<string>; edges: string[]; depth: number } {
  const keys = new Set<string>();
  const edges: string[] = [];
  let open = 0;
  let depth = 0;
  const label = '"[^"\\\\`{}[\\]|;]*"';
  const node = new RegExp(
    `^(\\w+)(?:\\[${label}\\]|\\(${label}\\)|\\[\\[${label}\\]\\]|\\{\\{${label}\\}\\}|\\[/${label}/\\]|\\(\\(\\(${label}\\)\\)\\)|\\(\\(${label}\\)\\))$`,
  );
  const entities = (line: string): string => line.replace(/#\d+;/g, '').replaceAll('<br/>', '');
  const [head, ...lines] = text.trimEnd().split('\n');
  expect(head).toBe('flowchart TD');
  for (const raw of lines) {
    const line = entities(raw.trim());
    expect(line).not.toMatch(/[#<]|\p{Cc}/u);
    const frame = new RegExp(`^subgraph (\\w+)\\[${label}\\]$`).exec(line);
    const edge = new RegExp(`^(\\w+) (?:-->|-\\.->)(?:\\|${label}\\|)? (\\w+)$`).exec(line);
    const item = node.exec(line);
    if (frame !== null) {
      keys.add(frame[1] ?? '');
      open += 1;
      depth = Math.max(depth, open);
    } else if (line === 'end') open -= 1;
    else if (edge !== null) edges.push(`${edge[1]}>${edge[2]}`);
    else if (item !== null) keys.add(item[1] ?? '');
    else expect(line).toMatch(/^(?:style \w+ stroke(?:-\w+:[\dpx ]+|:\w+)|linkStyle [\d,]+ stroke:\w+)$/);
  }
  expect(open).toBe(0);
  for (const key of edges.flatMap((edge) => edge.split('>'))) expect([...keys]).toContain(key);
  return { keys, edges, depth };
}

/** Splits DOT into tokens by its grammar, and checks brackets and statements. Gives the texts in quotes. */
function parseDot(text: string): { texts: string[]; edges: number } {
  const token = /\s+|"((?:[^"\\\n]|\\[^\n])*)"|->|[{}[\];=,]|[A-Za-z_]\w*|\d+/gy;
  const texts: string[] = [];
  const stack: string[] = [];
  let edges = 0;
  let at = 0;
  while (at < text.length) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (found === null) throw new Error(`no token at ${JSON.stringify(text.slice(at, at + 30))}`);
    at = token.lastIndex;
    if (found[1] !== undefined) texts.push(found[1]);
    if (found[0] === '->') edges += 1;
    if (found[0] === '{' || found[0] === '[') stack.push(found[0]);
    if (found[0] === '}') expect(stack.pop()).toBe('{');
    if (found[0] === ']') expect(stack.pop()).toBe('[');
  }
  expect(stack).toEqual([]);
  return { texts, edges };
}

const inner = definePlan({
  name: 'in',
  inputs: ['x'],
  nodes: [
    { id: 'end', run, output: 'y' },
    { id: 'graph', run, output: 'z' },
  ],
  edges: [['end', 'graph']],
});
const { plan } = definePlan({
  name: 'all',
  inputs: ['x'],
  entry: 'start',
  exits: ['w'],
  nodes: [
    { id: 'start', run, output: 's', label: 'Fetch it' },
    {
      id: 'end',
      kind: 'agent',
      prompt: '{{ s }}',
      output: 'e',
      when: 's.contains("RUN")',
      join: 'any',
      onError: { to: 'q' },
    },
    { id: 'l', kind: 'loop', plan: inner, until: 'y == 1', maxRounds: 3, inputs: { x: { channel: 'x' } } },
    { id: 'm', kind: 'map', plan: inner, over: { channel: 's' }, item: 'x', result: 'y', maxItems: 7, output: 'o' },
    { id: 'q', kind: 'ask', question: 'ok?', output: 'a', join: { quorum: 2 }, onError: 'continue' },
    { id: 'w', kind: 'wait', event: 'go', join: 'settled', maxVisits: 2, onMaxVisits: { to: 'q' } },
  ],
  edges: [['start', 'end', 'l', 'm', 'w']],
  routes: [
    { from: 'm', choose: () => 'q', map: { 'say "yes"': 'q', no: 'END' }, targets: ['q', 'end'] },
    { from: 'q', cases: [{ when: 'a == "b"', to: 'w' }], otherwise: 'END' },
    { from: 'start', choose: () => 'q' },
  ],
});

describe('a Mermaid drawing', () => {
  const text = toMermaid(plan);

  it('has every node, sub-plan, edge, choice and handler', () => {
    const { keys, edges, depth } = parseMermaid(text);
    expect([...keys]).toEqual([
      'n0',
      'n1',
      'n2',
      'n2_0',
      'n2_1',
      'n3',
      'n3_0',
      'n3_1',
      'n4',
      'n5',
      'n_end',
      'n_anywhere',
    ]);
    expect(depth).toBe(1);
    const inside = 'n2_0>n2_1 n3_0>n3_1';
    const fixed = 'n0>n1 n1>n2 n2>n3 n3>n5';
    const chosen = 'n3>n4 n3>n_end n3>n1 n4>n5 n4>n_end n0>n_anywhere n1>n4 n5>n4';
    expect(edges.join(' ')).toBe(`${inside} ${fixed} ${chosen}`);
  });

  it('shows conditions, joins, bounds and labels, and routes dashed', () => {
    for (const part of [
      'Fetch it (start)',
      'when s.contains(#34;RUN#34;)',
      'waits for the first branch',
      'waits for 2 branches',
      'runs after skipped branches too',
      'until y == 1, at most 3 rounds',
      'for each of s, at most 7',
      'may fail',
      '-.->|"say #34;yes#34;"| n4',
      '-.->|"otherwise"| n_end',
      '-.->|"on error"| n4',
      '-.->|"after 2 visits"| n4',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('says nothing of a join that makes no difference', () => {
    const nodes: PlanNode[] = ['a', 'b', 'c'].map((id) => ({ kind: 'task', id, join: id === 'c' ? 'any' : 'settled' }));
    const edges = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
    ];
    const plain: Plan = { format: 1, name: 'p', inputs: [], channels: [], nodes, edges, routes: [] };
    expect(toMermaid(plain)).not.toMatch(/branch/);
    const failing = nodes.map((node): PlanNode => ({ ...node, onError: 'continue' }));
    expect(toMermaid({ ...plain, nodes: failing }).match(/runs after skipped branches too/g)).toHaveLength(1);
  });

  it('is the same each time', () => {
    expect(toMermaid(structuredClone(plan))).toBe(text);
  });
});

describe('a DOT drawing', () => {
  it('has frames, dashed routes, and edges that hold on to frames', () => {
    const text = toDot(plan);
    const { edges } = parseDot(text);
    expect(edges).toBe(14);
    for (const part of [
      'subgraph cluster_n2 {',
      'lhead=cluster_n2',
      'ltail=cluster_n3',
      'label="say \\"yes\\"", style=dashed',
      'compound=true',
    ]) {
      expect(text).toContain(part);
    }
  });
});

describe('drawings of any name', () => {
  const nasty = fc.oneof(
    fc.constantFrom(
      'end',
      'subgraph',
      'graph',
      'style',
      'class',
      '"',
      '\\',
      '\\"',
      '`',
      '```',
      '#',
      ';',
      '<b>',
      '&quot;',
      '#34;',
      '{{x}}',
      ']',
      '|',
      '-->',
      '%%',
      '1. x',
      '- x',
      '',
      ' ',
      '\n',
      '\r',
      '\0',
      '\ud800',
      '\u202e',
      'ü',
      '日本',
      'a:b',
      '@{',
      '$$x$$',
      '*x*',
      '__x__',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  const names = fc.array(nasty, { minLength: 1, maxLength: 6 });

  function build(ids: readonly string[], texts: readonly string[], name: string): Plan {
    const text = (at: number): string => texts[at % texts.length] ?? '';
    const leaf: Plan = {
      format: 1,
      name: text(1),
      inputs: [],
      channels: [],
      nodes: [{ kind: 'task', id: text(2) }],
      edges: [],
      routes: [],
    };
    const nodes = ids.map((id, at): PlanNode => {
      if (at % 3 === 1) return { kind: 'call', id, label: text(at), plan: leaf };
      if (at % 3 === 2) return { kind: 'wait', id, event: text(at) };
      return {
        kind: 'task',
        id,
        label: text(at),
        when: [{ op: 'contains', value: { channel: text(at) }, operand: [text(at + 1)] }],
      };
    });
    const edges = ids.slice(1).map((to, at) => ({ from: ids[at] ?? '', to }));
    const routes = [{ from: ids[0] ?? '', choose: 'code' as const, map: { [text(0)]: ids.at(-1) ?? '', x: 'END' } }];
    return { format: 1, name, inputs: [], channels: [], nodes, edges, routes };
  }

  it('can be read back, with as many nodes and edges as there are', () => {
    fc.assert(
      fc.property(names, names, nasty, (ids, texts, name) => {
        const drawn = build(ids, texts, name);
        const { keys } = parseMermaid(toMermaid(drawn));
        for (const at of ids.keys()) expect(keys.has(`n${at}`)).toBe(true);
        const { edges } = parseDot(toDot(drawn));
        expect(edges).toBe(parseMermaid(toMermaid(drawn)).edges.length);
      }),
      { numRuns: 300 },
    );
  });

  it('shows in DOT the text that was meant', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 20 }), (name) => {
        const { texts } = parseDot(toDot({ ...build(['a'], ['x'], name) }));
        expect(texts[0]?.replace(/\\(.)/g, '$1').replaceAll('&amp;', '&')).toBe(name);
      }),
    );
  });
});
