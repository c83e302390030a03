import { describe, expect, it } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import { checkPlan } from '../../src/plan/checks.js';
import { diffPlans } from '../../src/plan/diff.js';
import { toDot, toMermaid } from '../../src/plan/draw.js';
import { estimateCalls } from '../../src/plan/envelope.js';
import { outlinePlan } from '../../src/plan/outline.js';
import type { Plan, PlanNode } from '../../src/plan/plan.js';

const fail = 'workflow: max loop iterations exceeded (step: write, limit: 3)';

/** A text is written again until it is approved, at most three times. */
const { plan } = definePlan({
  name: 'approved',
  channels: { draft: { label: 'write (agent: write)' }, verdict: { label: 'qa (agent: qa)' } },
  entry: 'write',
  nodes: [
    { id: 'write', kind: 'agent', prompt: [{ outputs: 'prior' }, 'Write.'], output: 'draft', agent: { tools: [] } },
    { id: 'qa', kind: 'agent', prompt: '{{ draft }}', output: 'verdict', agent: { tools: [] } },
    { id: 'check', kind: 'pass' },
    { id: 'again', kind: 'pass', maxVisits: 3, onMaxVisits: { fail } },
    { id: 'publish', kind: 'agent', prompt: '{{ draft }}', output: 'text', agent: { tools: [] }, onError: 'ignore' },
  ],
  edges: [
    ['write', 'qa', 'check'],
    ['again', 'write'],
  ],
  routes: [
    {
      from: 'check',
      cases: [{ when: { op: 'truthy', value: { channel: 'verdict', path: ['ok'] }, text: 'x' }, to: 'publish' }],
      otherwise: 'again',
    },
  ],
});

/** The plan with another node of this id. */
function withNode(id: string, change: object): Plan {
  return { ...plan, nodes: plan.nodes.map((node) => (node.id === id ? Object.assign({}, node, change) : node)) };
}

describe('a plan with nodes that do nothing', () => {
  it('has no problems, and is what was written', () => {
    expect(checkPlan(plan, {})).toEqual([]);
    expect(plan.nodes.filter((node) => node.kind === 'pass')).toEqual([
      { id: 'check', kind: 'pass' },
      { id: 'again', kind: 'pass', maxVisits: 3, onMaxVisits: { fail } },
    ]);
  });

  it('is outlined with them, and they call no model: what they jump back to may run so often', () => {
    expect(outlinePlan(plan).levels).toEqual([['write'], ['qa'], ['check'], ['again', 'publish']]);
    expect(outlinePlan(plan).conditional).toEqual(['again', 'publish']);
    expect(estimateCalls(plan).modelCalls).toEqual({ typical: 3, worst: 3 * 12 });
    expect(estimateCalls({ ...plan, nodes: [{ kind: 'pass', id: 'p' }], edges: [], routes: [] }).modelCalls).toEqual({
      typical: 0,
      worst: 0,
    });
  });

  it('is drawn with a diamond where paths part, and a circle elsewhere', () => {
    const mermaid = toMermaid(plan);
    expect(mermaid).toContain('  n2{"check"}\n');
    expect(mermaid).toContain('  n3(("again"))\n');
    expect(mermaid).toContain('n2 -.->|"verdict.ok is true"| n4');
    expect(mermaid).toContain('n2 -.->|"otherwise"| n3');
    expect(mermaid).toContain('"publish<br/>may fail"');
    expect(toDot(plan)).toMatch(/n2 \[label="check", shape=diamond\];\n {2}n3 \[label="again", shape=circle, /);
  });

  it('differs by kind, and by what happens at the cap', () => {
    const paths = (after: Plan): unknown => diffPlans(plan, after).steps;
    const other = { fail: 'enough' };
    expect(paths(withNode('again', { onMaxVisits: other }))).toEqual([
      { path: 'again', change: 'changed', parts: ['on max visits'], effect: 'course' },
    ]);
    expect(paths(withNode('check', { kind: 'task' }))).toEqual([
      { path: 'check', change: 'changed', parts: ['kind'], effect: 'result' },
    ]);
    expect(paths(withNode('publish', { onError: 'fail' }))).toMatchObject([{ parts: ['on error'] }]);
  });

  it('has problems like any other: references, targets, caps', () => {
    const nodes: PlanNode[] = [
      { kind: 'pass', id: 'p', output: 'x', maxVisits: 0, onMaxVisits: { to: 'nope' } },
      {
        kind: 'pass',
        id: 'q',
        when: [
          { op: 'truthy', value: { channel: 'x' }, text: '$steps.x' },
          { op: 'contains', value: { channel: 'verdict' }, operand: [{ outputs: 'prior' }] },
        ],
      },
    ];
    const broken: Plan = { ...plan, nodes, edges: [{ from: 'p', to: 'q' }], routes: [], entry: 'p' };
    expect(checkPlan(broken).map((problem) => [problem.code, problem.path])).toEqual([
      ['unknown-node', 'nodes[0].onMaxVisits.to'],
      ['bad-limit', 'nodes[0].maxVisits'],
      ['unknown-reference', 'nodes[1].when[0].value'],
      ['unknown-reference', 'nodes[1].when[1].value'],
    ]);
  });

  it('a circle of them that nothing can leave is a static cycle', () => {
    const nodes: PlanNode[] = ['p', 'q'].map((id) => ({ kind: 'pass', id }));
    const edges = [
      { from: 'p', to: 'q' },
      { from: 'q', to: 'p' },
    ];
    expect(checkPlan({ ...plan, nodes, edges, routes: [], entry: 'p' }).map((problem) => problem.code)).toEqual([
      'static-cycle',
    ]);
  });
});
