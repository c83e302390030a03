import { describe, expect, it } from 'vitest';
import { checkPlan, definePlan, run } from '../../src/index.js';
import { agentFields } from '../../src/plan/agent-fields.js';
import { fieldsOf } from '../../src/plan/fields.js';
import type { NodeKind, Plan } from '../../src/plan/plan.js';

const inner = { format: 1, name: 'inner', inputs: [], channels: [], nodes: [], edges: [], routes: [] };
const agent = { name: 'a', instructions: [], models: [] };

/** What the nodes of each kind can't be without. */
const NODES: Readonly<Record<NodeKind, object>> = {
  task: {},
  agent: { agent, prompt: [] },
  call: { plan: inner },
  map: { plan: inner, over: { channel: 'x' }, item: 'i', result: '*', maxItems: 1 },
  loop: { plan: inner, until: [], maxRounds: 1 },
  ask: { question: [] },
  wait: { ms: 1 },
  pass: {},
  end: {},
  set: { values: {} },
};
const KINDS = Object.keys(NODES) as NodeKind[];

/** The places of what has the wrong form in a plan with one node. */
function wrongPlaces(node: object): readonly (string | undefined)[] {
  const plan = { ...inner, nodes: [{ id: 'n', ...node }] };
  return checkPlan(plan as unknown as Plan)
    .filter(({ code }) => code === 'bad-plan')
    .map(({ path }) => path);
}

/** Fields, of all those of a table, for which a value of no sensible type is taken. */
function takersOfAnything(names: Iterable<string>, place: string, nodeWith: (field: object) => object): string[] {
  return [...names].filter((name) => {
    const refused = [null, [[7]]].map((value) =>
      wrongPlaces(nodeWith({ [name]: value })).some((path) => path?.startsWith(`${place}.${name}`)),
    );
    const [asNumber, asText] = [7, '7'].map((value) => wrongPlaces(nodeWith({ [name]: value })).length > 0);
    return refused.includes(false) || !(asNumber === true || asText === true);
  });
}

describe('a field of the wrong type', () => {
  it.each(KINDS)('is a problem with its place, whichever field of a node of the kind %s it is', (kind) => {
    expect(wrongPlaces({ kind, ...NODES[kind] })).toEqual([]);
    const names = [...fieldsOf(kind).keys()].filter((name) => name !== 'kind');
    expect(names.length).toBeGreaterThan(10);
    const takers = takersOfAnything(names, 'nodes[0]', (field) => ({ kind, ...NODES[kind], ...field }));
    // A JSON Schema is looked at by itself.
    expect(takers).toEqual(kind === 'ask' || kind === 'wait' ? ['schema'] : []);
  });

  it('is a problem with its place, whichever field of an agent it is', () => {
    const names = [...agentFields().keys()];
    expect(names).toContain('skills');
    const takers = takersOfAnything(names, 'nodes[0].agent', (field) => ({
      kind: 'agent',
      prompt: [],
      agent: { ...agent, ...field },
    }));
    expect(takers).toEqual([]);
  });

  it('keeps a workflow of definePlan from starting', () => {
    const settings: object = { skills: 7, settings: { temperature: 'hot' }, extraDirs: 'docs', memory: true };
    const definition = definePlan({ name: 'p', nodes: [{ id: 'a', kind: 'agent', prompt: 'x', agent: settings }] });
    expect(checkPlan(definition.plan, definition.bindings).map(({ message }) => message)).toEqual([
      'nodes[0].agent.skills must be a list',
      'nodes[0].agent.extraDirs must be a list',
      'nodes[0].agent.memory must be an object',
      'nodes[0].agent.settings.temperature must be a number',
    ]);
    expect(() => run(definition, {})).toThrow(/error bad-plan: nodes\[0\]\.agent\.skills must be a list/);
  });
});

describe('a number that is out of its bounds', () => {
  it.each([
    ['timeoutMs', { kind: 'pass', timeoutMs: 0 }],
    ['retry.retries', { kind: 'task', retry: { retries: 1.5, backoff: 'fixed', delayMs: 1 } }],
    ['join.quorum', { kind: 'pass', join: { quorum: 0 } }],
    ['maxItems', { kind: 'map', ...NODES.map, maxItems: 0 }],
    ['maxRounds', { kind: 'loop', ...NODES.loop, maxRounds: Number.NaN }],
    ['agent.maxTurns', { kind: 'agent', prompt: [], agent: { ...agent, maxTurns: 0 } }],
    ['expiresMs', { kind: 'ask', question: [], expiresMs: -1 }],
    ['prompt[0].truncate.limit', { kind: 'agent', agent, prompt: [cut('x')] }],
    ['inputs.i.template[0].truncate.limit', { kind: 'call', plan: inner, inputs: { i: { template: [cut('x')] } } }],
  ])('is a bad limit at %s, whatever else is wrong', (path, node) => {
    const plan = { ...inner, nodes: [{ id: 'n', ...node }], edges: [{ from: 'n', to: 'nowhere' }] };
    const problems = checkPlan(plan as unknown as Plan);
    expect(problems.filter(({ code }) => code === 'bad-limit')).toMatchObject([{ path: `nodes[0].${path}` }]);
    expect(problems.map(({ code }) => code)).not.toContain('bad-plan');
  });
});

function cut(channel: string): object {
  return { channel, truncate: { strategy: 'chars', limit: -1 } };
}
