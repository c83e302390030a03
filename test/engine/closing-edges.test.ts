import fc from 'fast-check';
import { expect, test } from 'vitest';
import { analyzeShape } from '../../src/plan/graph-shape.js';
import type { Plan, PlanNode } from '../../src/plan/plan.js';
import { cases } from '../thorough.js';
import { shapeOf } from './oracle/shape.js';

const AT = fc.nat(6);

/** Plans whose static edges lead from lower to higher names, with nodes in any order and up to three routes. */
const plans = fc
  .record({
    names: fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6], { minLength: 2 }),
    pairs: fc.uniqueArray(fc.tuple(AT, AT), { maxLength: 10, selector: String }),
    choices: fc.uniqueArray(fc.tuple(AT, fc.uniqueArray(AT, { minLength: 1, maxLength: 3 })), {
      maxLength: 3,
      selector: ([from]) => from,
    }),
    hasEntry: fc.boolean(),
  })
  .map(({ names, pairs, choices, hasEntry }): Plan => {
    const id = (at: number): string => `n${at}`;
    const has = (at: number): boolean => names.includes(at);
    return {
      format: 1,
      name: 'p',
      inputs: [],
      channels: [],
      nodes: names.map((at): PlanNode => ({ kind: 'task', id: id(at) })),
      edges: pairs.filter(([a, b]) => a < b && has(a) && has(b)).map(([a, b]) => ({ from: id(a), to: id(b) })),
      routes: choices
        .filter(([from]) => has(from))
        .map(([from, to]) => ({ from: id(from), choose: 'code', targets: [...to.filter(has).map(id), 'END'] })),
      ...(hasEntry ? { entry: id(Math.min(...names)) } : {}),
    };
  });

test('the edges that close a cycle are those of the reference, and all others lead forwards (E3)', () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const { edges, order } = analyzeShape(plan);
      const name = (at: number): string => plan.nodes[at]?.id ?? '';
      const closing = edges
        .filter((edge) => edge.closesCycle)
        .map(({ from, to, kind }) => [name(from), name(to), kind]);
      const wanted = shapeOf(plan).edges.filter((edge) => edge.closing);
      expect(closing.map(String).toSorted()).toEqual(
        wanted.map(({ from, to, kind }) => String([from, to, kind])).toSorted(),
      );
      const place = new Map(order.map((node, at) => [node, at] as const));
      for (const { from, to, closesCycle } of edges)
        if (!closesCycle) expect(place.get(from)).toBeLessThan(place.get(to) ?? -1);
    }),
    { numRuns: cases(1_000) },
  );
});
