import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { END, graph } from '../../src/graph.js';
import { definePlan, run } from '../../src/index.js';
import { SkeinError } from '../../src/base/errors.js';
import { madeOf } from '../../src/plan/made-of.js';
import { cases, seedOf } from '../thorough.js';

/** A node of a random graph: what it reads are earlier nodes, what it may choose are later ones. */
interface Raw {
  readonly reads: number;
  readonly targets: number;
  /** Which of its targets it chooses; none ends its branch. */
  readonly choice: number;
  readonly chooses: boolean;
}

interface Node {
  readonly name: string;
  readonly reads: readonly string[];
  readonly targets: readonly string[] | undefined;
  readonly chosen: readonly string[];
}

const rawGraph = fc.array(
  fc.record({ reads: fc.nat(255), targets: fc.nat(255), choice: fc.nat(255), chooses: fc.boolean() }),
  { minLength: 3, maxLength: 7 },
);

const picked = (list: readonly string[], bits: number): readonly string[] =>
  list.filter((_, at) => (bits >> at) % 2 === 1);

/** Names of a graph, in an order in which its nodes can run. */
function nodesOf(raw: readonly Raw[]): readonly Node[] {
  const names = raw.map((_, at) => `n${at}`);
  return raw.map(({ reads, targets, choice, chooses }, at): Node => {
    const may = chooses ? picked(names.slice(at + 1), targets) : [];
    const name = names[at] ?? '';
    return {
      name,
      reads: picked(names.slice(0, at), reads),
      targets: may.length === 0 ? undefined : may,
      chosen: picked(may, choice),
    };
  });
}

/** What a node gives: any difference in what it saw shows. */
function valueOf({ name, reads }: Node, state: Readonly<Record<string, unknown>>): string {
  return `${name}(${reads.map((read) => (typeof state[read] === 'string' ? state[read] : '-')).join(' ')})`;
}

/** What a node waits for: what it reads, unless a route leads there, or the other node chooses by itself what is next. */
function waitsOf(nodes: readonly Node[]): ReadonlyMap<string, readonly string[]> {
  const targets = new Set(nodes.flatMap((node) => node.targets ?? []));
  const choosers = new Set(nodes.filter((node) => node.targets !== undefined).map(({ name }) => name));
  return new Map(
    nodes.map(({ name, reads }) => [name, targets.has(name) ? [] : reads.filter((read) => !choosers.has(read))]),
  );
}

/** What must happen, worked out in the most literal way: who starts (E6), who runs (E2, E3), what each sees (S2). */
function expectedOf(nodes: readonly Node[]): Record<string, string> {
  const waits = waitsOf(nodes);
  const isTarget = (name: string): boolean => nodes.some((node) => node.targets?.includes(name) === true);
  const follows = (from: string, to: string): boolean =>
    waits.get(to)?.includes(from) === true || nodes.find(({ name }) => name === from)?.targets?.includes(to) === true;
  const closure = (from: Iterable<string>, leads: (from: string, to: string) => boolean): Set<string> => {
    const seen = new Set(from);
    for (const one of seen) for (const { name } of nodes) if (leads(one, name)) seen.add(name);
    return seen;
  };
  const isRoot = (name: string): boolean => waits.get(name)?.length === 0 && !isTarget(name);
  const starts = new Set(['n0']);
  for (let before = 0; before < starts.size;) {
    before = starts.size;
    const reachable = closure(starts, follows);
    for (const { name } of nodes) {
      const dependents = closure([name], (from, to) => waits.get(to)?.includes(from) === true);
      if (isRoot(name) && [...dependents].some((one) => reachable.has(one))) starts.add(name);
    }
  }
  const ran = new Set<string>();
  /** What each node passes on, live or dead: what ran before it, and itself if it ran. */
  const known = new Map<string, ReadonlySet<string>>();
  const values: Record<string, string> = {};
  for (const node of nodes) {
    const sends = ({ name, chosen }: Node): boolean =>
      ran.has(name) && (waits.get(node.name)?.includes(name) === true || chosen.includes(node.name));
    const before = new Set(nodes.flatMap(({ name }) => (follows(name, node.name) ? [...(known.get(name) ?? [])] : [])));
    const runs = nodes.some(sends) || starts.has(node.name);
    known.set(node.name, runs ? new Set([...before, node.name]) : before);
    if (!runs) continue;
    ran.add(node.name);
    values[node.name] = valueOf(node, Object.fromEntries(Object.entries(values).filter(([name]) => before.has(name))));
  }
  return values;
}

/** A router whose source text names what it may choose, as one does that is written by hand. */
function routerOf({ targets = [], chosen }: Node): () => readonly string[] {
  return madeOf(() => (chosen.length === 0 ? [END] : chosen), [targets.map((name) => `'${name}'`).join(' ')]);
}

type Loose = Record<string, unknown>;

const FORMS: Readonly<Record<string, (nodes: readonly Node[], open: boolean) => Promise<Loose>>> = {
  'nodes that name what they read': async (nodes, open) => {
    const flow = graph<Loose>().setEntry('n0');
    for (const node of nodes) {
      flow.node(node.name, (state) => valueOf(node, state), { inputs: [...node.reads] });
      const targets = open || node.targets === undefined ? {} : { targets: node.targets };
      if (node.targets !== undefined) flow.route(node.name, routerOf(node), { inputs: [], ...targets });
    }
    return await flow.runOrThrow();
  },
  'nodes with edges': async (nodes, open) => {
    const flow = graph<Loose>().setEntry('n0');
    const waits = waitsOf(nodes);
    for (const node of nodes) {
      flow.addNode(node.name, (state) => ({ [node.name]: valueOf(node, state) }));
      for (const from of waits.get(node.name) ?? []) flow.addEdge(from, node.name);
      const map = open ? undefined : Object.fromEntries((node.targets ?? []).map((name) => [name, name]));
      if (node.targets !== undefined) flow.addConditionalEdge(node.name, routerOf(node), map);
    }
    return await flow.runOrThrow();
  },
  'a plan': async (nodes, open) => {
    const waits = waitsOf(nodes);
    const plan = definePlan<Loose>({
      name: 'p',
      entry: 'n0',
      nodes: nodes.map((node) => ({ id: node.name, output: node.name, run: (state) => valueOf(node, state) })),
      edges: nodes.flatMap(({ name }) => (waits.get(name) ?? []).map((from) => [from, name])),
      routes: nodes.flatMap((node) => {
        if (node.targets === undefined) return [];
        const choose = routerOf(node);
        return [open ? { from: node.name, choose } : { from: node.name, choose, targets: node.targets }];
      }),
    });
    const { outcome, state, error } = await run(plan).result;
    if (outcome !== 'succeeded') throw new SkeinError('SKEIN_STEP_FAILED', error?.message ?? outcome);
    return state;
  },
};

/** The same graph, its nodes declared in another order. */
function shuffled(nodes: readonly Node[], order: number): readonly Node[] {
  const rank = (at: number): number => ((at + 1) * (order * 2 + 1)) % 17;
  return nodes
    .map((node, at) => ({ node, rank: rank(at) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ node }) => node);
}

const seed = seedOf(20);

describe('a random graph gives the same run', () => {
  test.each(Object.keys(FORMS).flatMap((form) => [[form, false] as const, [form, true] as const]))(
    '[XG1] [XG15] as %s, routes without declared targets: %s',
    async (form, open) => {
      let compared = 0;
      await fc.assert(
        fc.asyncProperty(rawGraph, fc.nat(7), async (raw, order) => {
          const nodes = nodesOf(raw);
          let state: Loose | undefined;
          try {
            state = await FORMS[form]?.(shuffled(nodes, order), open);
          } catch (error) {
            // Reading what can't have run, and who starts beside routes that may lead anywhere, are problems with words of their own.
            fc.pre(!/not-upstream|ambiguous-start/.test(String(error)));
            throw error;
          }
          compared += 1;
          expect(state).toEqual(expectedOf(nodes));
        }),
        { numRuns: cases(120), seed, maxSkipsPerRun: 1000 },
      );
      expect(compared).toBe(cases(120));
    },
  );
});
