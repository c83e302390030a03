import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyzeShape, routeTargets } from '../../src/plan/graph-shape.js';
import { END } from '../../src/plan/plan.js';
import type { Edge, Plan, PlanNode, Route } from '../../src/plan/plan.js';

function planOf(ids: readonly string[], edges: readonly string[], rest: Partial<Plan> = {}): Plan {
  const split = (edge: string): Edge => {
    const [from = '', to = ''] = edge.split('>');
    return { from, to };
  };
  const nodes = ids.map((id): PlanNode => ({ kind: 'task', id }));
  return { format: 1, name: 'p', inputs: [], channels: [], nodes, edges: edges.map(split), routes: [], ...rest };
}

function startsOf(plan: Plan): readonly (string | undefined)[] {
  return analyzeShape(plan).starts.map((at) => plan.nodes[at]?.id);
}

describe('where a plan starts (E6)', () => {
  it('starts every node without in-edges when there is no entry', () => {
    expect(startsOf(planOf(['a', 'b', 'c'], ['a>c', 'b>c']))).toEqual(['a', 'b']);
  });

  it('starts no declared target of a route, and no handler', () => {
    const routes: Route[] = [{ from: 'a', choose: 'code', targets: ['b', END] }];
    const plan = planOf(['a', 'b', 'h'], [], { routes });
    const nodes = plan.nodes.map((node): PlanNode => (node.id === 'a' ? { ...node, onError: { to: 'h' } } : node));
    expect(startsOf({ ...plan, nodes })).toEqual(['a']);
  });

  it('starts the entry and the roots that a reachable node depends on, however far up', () => {
    const edges = ['in>join', 'r1>mid', 'mid>join', 'stray>other'];
    expect(startsOf(planOf(['in', 'r1', 'mid', 'join', 'stray', 'other'], edges, { entry: 'in' }))).toEqual([
      'in',
      'r1',
    ]);
  });

  it('follows what a started root reaches: its dependents may need further roots', () => {
    const edges = ['in>a', 'r1>a', 'r1>b', 'r2>b'];
    expect(startsOf(planOf(['r2', 'in', 'r1', 'a', 'b'], edges, { entry: 'in' }))).toEqual(['r2', 'in', 'r1']);
  });

  it('starts an entry that has in-edges', () => {
    const routes: Route[] = [{ from: 'b', choose: 'code', targets: ['a', END] }];
    expect(startsOf(planOf(['a', 'b'], ['a>b'], { entry: 'a', routes }))).toEqual(['a']);
  });
});

describe('edges of a plan', () => {
  it('lists static edges as declared, then route targets, then handlers', () => {
    const routes: Route[] = [{ from: 'a', choose: 'code', map: { x: 'c', y: 'b', z: 'c', w: END } }];
    const plan = planOf(['a', 'b', 'c'], ['b>c', 'a>b'], { routes });
    const nodes = plan.nodes.map((node): PlanNode => (node.id === 'b' ? { ...node, onMaxVisits: { to: 'c' } } : node));
    const shape = analyzeShape({ ...plan, nodes });
    expect(shape.edges.map((edge) => [edge.from, edge.to, edge.kind, edge.route])).toEqual([
      [1, 2, 'static', -1],
      [0, 1, 'static', -1],
      [0, 2, 'route', 0],
      [0, 1, 'route', 0],
      [1, 2, 'handler', -1],
    ]);
    expect(shape.outEdges[0]).toEqual([1, 2, 3]);
    expect(shape.inEdges[2]).toEqual([0, 2, 4]);
  });

  it('tells a route that may choose any node from one that chooses none', () => {
    expect(routeTargets({ from: 'a', choose: 'code' })).toBeUndefined();
    expect(routeTargets({ from: 'a', choose: 'code', targets: [] })).toEqual([]);
    expect(analyzeShape(planOf(['a'], [], { routes: [{ from: 'a', choose: 'code' }] })).openRoutes).toEqual([0]);
  });

  it('marks the edge that leads back, whatever the order of declaration (E3)', () => {
    const routes: Route[] = [{ from: 'review', choose: 'code', targets: ['draft', 'publish'] }];
    const shape = analyzeShape(planOf(['publish', 'review', 'draft'], ['draft>review'], { entry: 'draft', routes }));
    expect(shape.edges.map((edge) => edge.closesCycle)).toEqual([false, true, false]);
    expect(shape.order).toEqual([2, 1, 0]);
    expect(shape.longestPath).toBe(3);
  });

  it('leaves out edges of unknown nodes, and takes the first of two nodes with one id', () => {
    const shape = analyzeShape(planOf(['a', 'a'], ['a>ghost', 'a>a']));
    expect(shape.edges).toHaveLength(1);
    expect(shape.edges[0]).toMatchObject({ from: 0, to: 0, closesCycle: true });
  });
});

describe('order of a plan', () => {
  const graphs = fc.integer({ min: 1, max: 12 }).chain((size) => {
    const node = fc.integer({ min: 0, max: size - 1 });
    const pairs = fc.array(fc.tuple(node, node), { maxLength: 30 });
    return fc.record({ size: fc.constant(size), pairs, chosen: pairs, entry: fc.option(node, { nil: undefined }) });
  });

  function build({ size, pairs, chosen, entry }: typeof graphs extends fc.Arbitrary<infer T> ? T : never): Plan {
    const routes = chosen.map(([from, to]): Route => ({ from: `n${from}`, choose: 'code', targets: [`n${to}`] }));
    const ids = Array.from({ length: size }, (_, at) => `n${at}`);
    const edges = pairs.map(([from, to]) => `n${from}>n${to}`);
    return planOf(ids, edges, entry === undefined ? { routes } : { routes, entry: `n${entry}` });
  }

  it('has every node once, and no forward edge leads backwards in it', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const shape = analyzeShape(build(graph));
        expect(shape.order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: graph.size }, (_, at) => at));
        const place = new Map(shape.order.map((node, at) => [node, at]));
        for (const edge of shape.edges) {
          if (!edge.closesCycle) expect(place.get(edge.from)).toBeLessThan(place.get(edge.to) ?? -1);
        }
      }),
    );
  });

  it('breaks ties by plan order: no earlier node could have come sooner', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const shape = analyzeShape(build(graph));
        const done = new Set<number>();
        for (const node of shape.order) {
          const ready = (at: number): boolean =>
            (shape.inEdges[at] ?? []).every(
              (e) => shape.edges[e]?.closesCycle === true || done.has(shape.edges[e]?.from ?? -1),
            );
          for (let earlier = 0; earlier < node; earlier += 1) expect(done.has(earlier) || !ready(earlier)).toBe(true);
          done.add(node);
        }
      }),
    );
  });

  it('marks no edge of an acyclic plan, and marks back edges only where a path leads the other way', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const shape = analyzeShape(build(graph));
        for (const edge of shape.edges) {
          if (!edge.closesCycle) continue;
          const seen = new Set([edge.to]);
          for (const node of seen) {
            for (const at of shape.outEdges[node] ?? []) {
              const next = shape.edges[at];
              if (next?.closesCycle === false) seen.add(next.to);
            }
          }
          expect(seen.has(edge.from)).toBe(true);
        }
      }),
    );
  });

  it('follows a chain of 200,000 nodes declared backwards', () => {
    const ids = Array.from({ length: 200_000 }, (_, at) => `n${at}`).toReversed();
    const edges = ids.slice(0, -1).map((id, at) => ({ from: ids[at + 1] ?? '', to: id }));
    const shape = analyzeShape({ ...planOf(ids, []), edges });
    expect(shape.longestPath).toBe(200_000);
    expect(shape.order[0]).toBe(199_999);
  });
});

describe('a cycle with several ways in (E3)', () => {
  const closing = (plan: Plan): readonly string[] =>
    analyzeShape(plan)
      .edges.filter((edge) => edge.closesCycle)
      .map(({ from, to }) => `${plan.nodes[from]?.id}>${plan.nodes[to]?.id}`);
  const route = (from: string, ...targets: string[]): Route => ({ from, choose: 'code', targets });

  it('is closed by the routes that lead back, not by a static edge that the first pass takes', () => {
    const edges = ['s>a', 's>b', 's>c', 'a>j', 'b>j', 'c>j', 'j>r'];
    for (const entry of ['s', undefined]) {
      const plan = planOf(['s', 'a', 'b', 'c', 'j', 'r'], edges, {
        routes: [route('r', 'a', 'b', END)],
        ...(entry === undefined ? {} : { entry }),
      });
      expect(closing(plan)).toEqual(['r>a', 'r>b']);
      expect(analyzeShape(plan).longestPath).toBe(4);
    }
  });

  it('is closed by the same edges in whatever order nodes and edges are declared', () => {
    const edges = ['s>a', 's>b', 'a>x', 'x>j', 'b>j', 'j>r'];
    fc.assert(
      fc.property(
        fc.shuffledSubarray(['s', 'a', 'b', 'x', 'j', 'r'], { minLength: 6 }),
        fc.shuffledSubarray(edges, { minLength: edges.length }),
        (ids, shuffled) => {
          const plan = planOf(ids, shuffled, { entry: 's', routes: [route('r', 'a', 'b', 'x', END)] });
          expect(closing(plan).toSorted()).toEqual(['r>a', 'r>b', 'r>x']);
        },
      ),
    );
  });

  it('is closed by a static edge where nothing else leads to what comes before it', () => {
    expect(
      closing(planOf(['s', 'agent', 'tools'], ['s>agent', 'tools>agent'], { routes: [route('agent', 'tools', END)] })),
    ).toEqual(['tools>agent']);
    expect(
      closing(planOf(['agent', 'tools'], ['tools>agent'], { entry: 'agent', routes: [route('agent', 'tools', END)] })),
    ).toEqual(['tools>agent']);
  });

  it('takes time in the size of the plan, however many ways in there are', () => {
    const many = Array.from({ length: 20_000 }, (_, at) => `w${at}`);
    const edges = many.flatMap((id) => [`s>${id}`, `${id}>j`]);
    const plan = planOf(['s', ...many, 'j'], edges, { entry: 's', routes: [route('j', ...many)] });
    expect(closing(plan)).toHaveLength(many.length);
    expect(closing(plan)[0]).toBe('j>w0');
  });
});
