import { describe, expect, it } from 'vitest';
import { checkPlan, definePlan, hasErrors } from 'skein';
import { analyzeShape } from '../../src/plan/graph-shape.js';

describe('a plan that nobody can change any more', () => {
  const { plan, bindings } = definePlan({ name: 'p', nodes: [{ id: 'a', run: () => 1 }], edges: [] });

  it('is analysed and checked once', () => {
    expect(analyzeShape(plan)).toBe(analyzeShape(plan));
    expect(checkPlan(plan, bindings)).toBe(checkPlan(plan, bindings));
  });

  it('is checked anew for other bindings', () => {
    expect(checkPlan(plan, bindings)).toEqual([]);
    expect(checkPlan(plan, {})).toMatchObject([{ severity: 'error' }]);
    expect(checkPlan(plan, bindings)).toEqual([]);
  });
});

it('a plan that can be changed is checked as it is now', () => {
  const nodes = [{ id: 'a', kind: 'pass' as const }];
  const edges: { from: string; to: string }[] = [];
  const plan = { format: 1, name: 'p', inputs: [], channels: [], nodes, edges, routes: [] } as const;
  expect(checkPlan(plan)).toEqual([]);
  edges.push({ from: 'a', to: 'b' });
  expect(hasErrors(checkPlan(plan))).toBe(true);
});
