import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import type { NodeInput, PlanInput, StateOf } from '../../src/plan/builder-input.js';
import { estimateCalls } from '../../src/plan/envelope.js';
import { outlinePlan } from '../../src/plan/outline.js';
import type { Plan } from '../../src/plan/plan.js';

const run = (): object => ({});

function planOf(ids: string, edges: string, rest: Partial<PlanInput> = {}): Plan {
  const nodes = ids.split('').map((id) => ({ id, run }));
  return definePlan({
    name: 'p',
    nodes,
    edges: edges
      .split(' ')
      .filter(Boolean)
      .map((chain) => chain.split('')),
    ...rest,
  }).plan;
}

describe('the outline of a plan', () => {
  it('has the levels of a diamond and of a join (statement 22)', () => {
    expect(outlinePlan(planOf('abcd', 'abd acd')).levels).toEqual([['a'], ['b', 'c'], ['d']]);
    expect(outlinePlan(planOf('abc', 'ac bc')).levels).toEqual([['a', 'b'], ['c']]);
  });

  it('keeps plan order within a level and among ties', () => {
    const outline = outlinePlan(planOf('dcba', 'ab'));
    expect(outline.levels).toEqual([['d', 'c', 'a'], ['b']]);
    expect(outline.order).toEqual(['d', 'c', 'a', 'b']);
  });

  it('ends at an edge that leads back, and knows what only a route or a failure leads to', () => {
    const routes = [{ from: 'b', choose: () => 'a', targets: ['a', 'c'] }];
    const outline = outlinePlan(planOf('abc', 'ab', { routes, entry: 'a' }));
    expect(outline).toMatchObject({ levels: [['a'], ['b'], ['c']], starts: ['a'], conditional: ['c'] });
  });

  it('lists the inputs that must be given', () => {
    const inputs = ['x', { name: 'y', default: 1 }, { name: 'z', required: false }];
    expect(outlinePlan(planOf('a', '', { inputs })).required.map((input) => input.name)).toEqual(['x']);
  });

  it('puts every node below those that it waits for', () => {
    const pairs = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 25 });
    fc.assert(
      fc.property(pairs, (list) => {
        const edges = list
          .filter(([from, to]) => from !== to)
          .map(([a, b]): [number, number] => (a < b ? [a, b] : [b, a]));
        const { levels } = outlinePlan(
          planOf('abcdefghij', edges.map(([a, b]) => 'abcdefghij'[a] + ('abcdefghij'[b] ?? '')).join(' ')),
        );
        const levelOf = (at: number): number => levels.findIndex((level) => level.includes('abcdefghij'[at] ?? ''));
        for (const [from, to] of edges) expect(levelOf(from)).toBeLessThan(levelOf(to));
        for (const [at, level] of levels.entries()) {
          if (at === 0) continue;
          const inside = (node: number): boolean => level.includes('abcdefghij'[node] ?? '');
          const above = edges.filter(([from, to]) => inside(to) && levelOf(from) === at - 1).map(([, to]) => to);
          expect(new Set(above).size).toBe(level.length);
        }
      }),
    );
  });
});

describe('the calls that a run can cost', () => {
  const agent = (id: string, spec: object = {}, rest: object = {}): NodeInput<StateOf> => {
    const base = { id, prompt: 'x', output: id };
    return { ...base, kind: 'agent', agent: { tools: [], ...spec }, ...rest };
  };
  const costOf = (nodes: readonly NodeInput<StateOf>[], rest: Partial<PlanInput> = {}): (number | string)[] => {
    const { modelCalls, toolCalls } = estimateCalls(definePlan({ name: 'p', nodes, ...rest }).plan);
    return [modelCalls.typical, modelCalls.worst, toolCalls.typical, toolCalls.worst];
  };

  // A call that fails for a while is made three times.
  it('are one for an agent without tools, and its turns with tools', () => {
    expect(costOf([agent('a')])).toEqual([1, 3, 0, 0]);
    expect(costOf([agent('a', { tools: undefined })])).toEqual([2, 3 * 25, 1, 100]);
    expect(costOf([agent('a', { tools: ['fetch'], maxTurns: 4, maxToolCalls: 7 })])).toEqual([2, 3 * 4, 1, 7]);
    expect(costOf([agent('a', { interactive: true })])).toEqual([2, 3 * 25, 1, 100]);
    expect(costOf([agent('a', { mcpServers: { s: { command: 'x' } } })])).toEqual([2, 3 * 25, 1, 100]);
  });

  it('have the tries of each further model once', () => {
    expect(costOf([agent('a', { models: ['x/a', 'x/b', 'x/c'] })])).toEqual([1, 3 * 3, 0, 0]);
    expect(costOf([agent('a', { models: ['x/a', 'x/b'], tools: ['fetch'], maxTurns: 4 })])).toEqual([2, 3 * 5, 1, 100]);
  });

  it('have one more for the repair of a structured output', () => {
    expect(costOf([agent('a', { output: { schema: {} } })])).toEqual([1, 3 * 2, 0, 0]);
  });

  it('multiply with rounds and items, and with retries in place of the tries of a call', () => {
    const retry = { retries: 2, backoff: 'fixed', delayMs: 1 } as const;
    expect(costOf([agent('a', {}, { retry })])).toEqual([1, 3, 0, 0]);
    const inner = definePlan({ name: 'i', inputs: ['x'], nodes: [agent('a', {}, { retry })] });
    const loop: NodeInput<StateOf> = { id: 'l', kind: 'loop', plan: inner, until: [], maxRounds: 4 };
    const map: NodeInput<StateOf> = {
      id: 'm',
      kind: 'map',
      plan: inner,
      over: { channel: 'l' },
      item: 'x',
      result: 'a',
      maxItems: 3,
    };
    expect(costOf([loop])).toEqual([2, 3 * 4, 0, 0]);
    expect(costOf([map])).toEqual([3, 3 * 3, 0, 0]);
    expect(costOf([{ ...loop, retry }])).toEqual([2, 3 * 12, 0, 0]);
    expect(costOf([{ id: 'c', kind: 'call', plan: inner }, loop, map])).toEqual([6, 3 * 8, 0, 0]);
  });

  it('are unbounded where nothing bounds them, and nothing costs nothing', () => {
    const loopOf = (nodes: readonly NodeInput<StateOf>[]): Plan => {
      const { plan } = definePlan({
        name: 'p',
        nodes: [{ id: 'l', kind: 'loop', plan: definePlan({ name: 'i', nodes }), until: [], maxRounds: 1 }],
      });
      const [loop] = plan.nodes;
      return { ...plan, nodes: [{ ...loop, maxRounds: undefined } as never] };
    };
    expect(estimateCalls(loopOf([agent('a')])).modelCalls).toEqual({ typical: 2, worst: 'unbounded' });
    expect(estimateCalls(loopOf([{ id: 'a', run }])).modelCalls).toEqual({ typical: 0, worst: 0 });
  });

  it('of a cycle are bounded by visits, or by the steps of the run', () => {
    const routes = [{ from: 'b', choose: () => 'a', targets: ['a', 'c'] }];
    const edges = [['a', 'b']];
    const cycle = (rest: object): (number | string)[] =>
      costOf([agent('a', {}, rest), agent('b'), agent('c')], { routes, edges, entry: 'a' });
    // a three times, b after each of them, c after each of those.
    expect(cycle({ maxVisits: 3 })).toEqual([3, 3 * 9, 0, 0]);
    expect(
      costOf([agent('a'), agent('b'), agent('c')], { routes, edges, entry: 'a', limits: { maxSteps: 10 } }),
    ).toEqual([3, 3 * 30, 0, 0]);
    expect(cycle({})).toEqual([3, 3 * 3 * 103, 0, 0]);
  });
});
