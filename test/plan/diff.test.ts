import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StepChange } from '../../src/plan/diff.js';
import { diffPlans } from '../../src/plan/diff.js';
import { affected } from '../../src/plan/downstream.js';
import type { AgentNode, Plan, PlanNode } from '../../src/plan/plan.js';

function agent(id: string, reads: readonly string[] = [], more: Partial<AgentNode> = {}): AgentNode {
  return {
    id,
    kind: 'agent',
    output: `steps.${id}`,
    agent: { name: 'writer', instructions: ['You write.'], models: ['a/b'] },
    prompt: ['About ', ...reads.map((channel) => ({ channel }))],
    ...more,
  };
}

function plan(nodes: readonly PlanNode[], edges: string = '', more: Partial<Plan> = {}): Plan {
  const pairs = edges.split(' ').filter(Boolean);
  return {
    format: 1,
    name: 'p',
    inputs: [{ channel: 'inputs.topic', name: 'topic', required: true }],
    channels: [{ name: 'inputs.topic' }, ...nodes.map((node) => ({ name: `steps.${node.id}` }))],
    nodes,
    edges: pairs.map((pair) => ({ from: pair.charAt(0), to: pair.charAt(1) })),
    routes: [],
    ...more,
  };
}

const BASE = plan([agent('a', ['inputs.topic']), agent('b', ['steps.a']), agent('c')], 'ab bc');

function edit(id: string, change: object): Plan {
  const nodes = BASE.nodes.map((node) => (node.id === id ? Object.assign({}, node, change) : node));
  return { ...BASE, nodes };
}

function editAgent(id: string, change: object): Plan {
  const node = BASE.nodes.find((one) => one.id === id);
  return edit(id, { agent: { ...(node?.kind === 'agent' ? node.agent : {}), ...change } });
}

const changed = (path: string, effect: StepChange['effect'], ...parts: readonly string[]): StepChange => ({
  path,
  change: 'changed',
  parts,
  effect,
});

describe('what is different between two plans', () => {
  test.each<readonly [string, Plan, readonly StepChange[]]>([
    ['a prompt', edit('b', { prompt: ['Other'] }), [changed('b', 'result', 'prompt')]],
    ['a model', editAgent('a', { models: ['c/d'] }), [changed('a', 'result', 'model')]],
    [
      'tools and schema',
      editAgent('a', { tools: ['shell'], output: { schema: {} } }),
      [changed('a', 'result', 'tools', 'schema')],
    ],
    ['a retry', edit('c', { retry: { retries: 1, backoff: 'fixed', delayMs: 1 } }), [changed('c', 'policy', 'retry')]],
    ['a condition', edit('c', { when: [{ op: 'code' }] }), [changed('c', 'course', 'when')]],
    [
      'a prompt and a timeout',
      edit('c', { prompt: ['x'], timeoutMs: 5 }),
      [changed('c', 'result', 'prompt', 'timeout')],
    ],
    [
      'another kind',
      edit('c', { kind: 'task', prompt: undefined, agent: undefined }),
      [changed('c', 'result', 'kind', 'prompt', 'name', 'system prompt', 'model')],
    ],
    ['an edge', { ...BASE, edges: [{ from: 'a', to: 'b' }] }, [changed('c', 'course', 'order')]],
    ['a route', { ...BASE, routes: [{ from: 'b', otherwise: ['c'] }] }, [changed('b', 'course', 'routes')]],
    [
      'a new step',
      { ...BASE, nodes: [...BASE.nodes, agent('d')] },
      [{ path: 'd', change: 'added', parts: [], effect: 'result' }],
    ],
    [
      'a step less',
      { ...BASE, nodes: BASE.nodes.slice(0, 2) },
      [{ path: 'c', change: 'removed', parts: [], effect: 'course' }],
    ],
    ['a place in the file', edit('a', { at: { line: 9, column: 1 } }), []],
    ['a label', edit('a', { label: 'First' }), []],
    ['a description', { ...BASE, description: 'other' }, []],
  ])('%s', (_, after, steps) => {
    expect(diffPlans(BASE, after)).toEqual({ steps, inputs: [], plan: [] });
  });

  test('inputs, limits and reducers are told apart from steps', () => {
    const after: Plan = {
      ...BASE,
      inputs: [{ channel: 'inputs.topic', name: 'topic', required: true, default: 'x' }],
      limits: { concurrency: 2 },
      channels: BASE.channels.map((channel) =>
        channel.name === 'steps.a' ? { ...channel, reducer: 'append' } : channel,
      ),
    };
    expect(diffPlans(BASE, after)).toEqual({ steps: [], inputs: ['topic'], plan: ['limits', 'channel steps.a'] });
  });

  test('steps of a sub-plan have their path, and functions belong to their step', () => {
    const inner = (prompt: string): PlanNode => ({
      id: 'call',
      kind: 'call',
      plan: plan([agent('x', [], { prompt: [prompt] })]),
    });
    const code = { t: '1', 'when:t': '1', 'call/x': '1' };
    const before = plan([{ id: 't', kind: 'task' }, inner('one')]);
    const after = plan([{ id: 't', kind: 'task' }, inner('two')]);
    expect(diffPlans(before, after, code, { ...code, t: '2' }).steps).toEqual([
      changed('t', 'result', 'code'),
      changed('call/x', 'result', 'prompt'),
    ]);
    expect(diffPlans(before, before, code, { ...code, 'when:t': '2' }).steps).toEqual([changed('t', 'course', 'when')]);
  });
});

const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1 });
const plans = fc.tuple(ids, fc.array(fc.tuple(fc.nat(5), fc.nat(5)))).map(([names, pairs]) => {
  const edges = pairs.flatMap(([from, to]) => {
    const [one, other] = [names[from % names.length], names[to % names.length]];
    return one === undefined || other === undefined || from % names.length >= to % names.length ? [] : [one + other];
  });
  return plan(
    names.map((id) => agent(id)),
    edges.join(' '),
  );
});

describe('for all plans', () => {
  test('a plan is no different from itself', () => {
    fc.assert(
      fc.property(plans, (one) => {
        const copy = JSON.parse(JSON.stringify(one)) as Plan;
        expect(diffPlans(one, copy)).toEqual({ steps: [], inputs: [], plan: [] });
      }),
    );
  });

  test('what is added one way is removed the other way, and what changed is the same', () => {
    fc.assert(
      fc.property(plans, plans, (one, other) => {
        const sorted = (steps: readonly StepChange[], change: StepChange['change']): readonly string[] =>
          steps
            .filter((step) => step.change === change)
            .map((step) => step.path)
            .toSorted();
        const [there, back] = [diffPlans(one, other).steps, diffPlans(other, one).steps];
        expect(sorted(there, 'added')).toEqual(sorted(back, 'removed'));
        expect(sorted(there, 'removed')).toEqual(sorted(back, 'added'));
        expect(sorted(there, 'changed')).toEqual(sorted(back, 'changed'));
      }),
    );
  });

  test('a step with another name is one removed and one added', () => {
    fc.assert(
      fc.property(plans, (one) => {
        const [first] = one.nodes;
        const nodes = one.nodes.map((node) => (node === first ? { ...node, id: 'z' } : node));
        const { steps } = diffPlans(one, { ...one, nodes });
        expect(
          steps.filter(({ change }) => change !== 'changed').map(({ path, change }) => `${change} ${path}`),
        ).toEqual(['added z', `removed ${first?.id ?? ''}`]);
      }),
    );
  });

  test('a change reaches exactly what can be walked to along edges', () => {
    fc.assert(
      fc.property(plans, (one) => {
        const start = one.nodes[0]?.id ?? '';
        const reached = new Set<string>();
        const walk = (id: string): void => {
          for (const edge of one.edges) {
            if (edge.from !== id || reached.has(edge.to)) continue;
            reached.add(edge.to);
            walk(edge.to);
          }
        };
        walk(start);
        expect(new Set(affected(one, { steps: [start] }))).toEqual(reached);
      }),
    );
  });
});

describe('what a change can reach', () => {
  const loop: PlanNode = {
    id: 'l',
    kind: 'loop',
    until: [],
    maxRounds: 3,
    inputs: {},
    plan: plan([agent('x'), agent('y', ['steps.x']), agent('z')], 'xy'),
  };
  const outer = plan([agent('a', ['inputs.topic']), loop, agent('d'), agent('e', ['steps.a'])], 'al ld');

  test.each<readonly [string, readonly string[], readonly string[], readonly string[]]>([
    ['who reads what it writes, without an edge', ['a'], [], ['l', 'd', 'e']],
    ['what follows inside of its sub-plan, then what follows that', ['l/x'], [], ['l/y', 'd']],
    ['nothing more from the last step', ['d'], [], []],
    ['an input: who reads it, and what follows', [], ['topic'], ['a', 'l', 'd', 'e']],
    ['steps that are not there: nothing', ['nope'], ['nope'], []],
  ])('%s', (_, steps, inputs, expected) => {
    expect(affected(outer, { steps, inputs })).toEqual(expected);
  });

  test('targets of routes and handlers', () => {
    const routed = plan([agent('a', [], { onError: { to: 'h' } }), agent('b'), agent('h')], '', {
      routes: [
        {
          from: 'a',
          cases: [{ when: [{ op: 'equals', value: { channel: 'inputs.topic' }, operand: ['x'] }], to: ['b'] }],
        },
      ],
    });
    expect(affected(routed, { steps: ['a'] })).toEqual(['b', 'h']);
    expect(affected(routed, { steps: [], inputs: ['topic'] })).toEqual(['b']);
  });
});
