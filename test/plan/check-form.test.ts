import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Problem } from '../../src/base/problem.js';
import { definePlan } from '../../src/plan/builder.js';
import { checkPlan } from '../../src/plan/checks.js';
import { toDot, toMermaid } from '../../src/plan/draw.js';
import { estimateCalls } from '../../src/plan/envelope.js';
import { analyzeShape } from '../../src/plan/graph-shape.js';
import { outlinePlan } from '../../src/plan/outline.js';
import type { Plan } from '../../src/plan/plan.js';

function checkAnything(value: unknown): readonly Problem[] {
  return checkPlan(value as Plan, {});
}

const run = (): object => ({});
const inner = definePlan({ name: 'inner', inputs: ['x'], nodes: [{ id: 'w', run, output: 'y' }] });

/** A plan with every kind of node and policy. */
const full = definePlan({
  name: 'full',
  inputs: ['list', { name: 'n', default: 1 }],
  channels: { log: 'append', own: (a: unknown) => a },
  entry: 'a',
  exits: ['w'],
  limits: { maxSteps: 50, concurrency: 2 },
  nodes: [
    {
      id: 'a',
      run,
      output: 'oa',
      when: ['n == 1', () => true],
      retry: { retries: 1, backoff: 'fixed', delayMs: 1 },
      timeoutMs: 5,
    },
    {
      id: 'b',
      kind: 'agent',
      prompt: '{{ oa }}',
      output: 'ob',
      onError: { to: 'q' },
      maxVisits: 3,
      onMaxVisits: { to: 'w' },
    },
    { id: 'm', kind: 'map', plan: inner, over: { channel: 'list' }, item: 'x', result: 'y', maxItems: 4, output: 'om' },
    {
      id: 'l',
      kind: 'loop',
      plan: inner,
      until: 'y == 1',
      maxRounds: 2,
      inputs: { x: { channel: 'n' } },
      join: { quorum: 1 },
    },
    { id: 'c', kind: 'call', plan: inner, inputs: { x: { value: 1 } }, outputs: { oc: 'y' } },
    { id: 'q', kind: 'ask', question: 'Go on with {{ oa }}?', output: 'oq', choices: ['yes', 'no'] },
    { id: 'w', kind: 'wait', ms: 10, join: 'settled' },
  ],
  edges: [['a', 'b', 'm', 'l', 'c', 'w']],
  routes: [
    {
      from: 'c',
      cases: [{ when: { op: 'equals', value: { channel: 'oc' }, operand: ['1'] }, to: 'a' }],
      otherwise: 'END',
    },
  ],
});

describe('the form of a plan', () => {
  it('is right for a plan with everything', () => {
    expect(checkPlan(full.plan, full.bindings)).toEqual([]);
    expect(
      checkAnything(JSON.parse(JSON.stringify(full.plan))).every((problem) => problem.code === 'missing-binding'),
    ).toBe(true);
  });

  it('is reported where it is wrong, all at once, and nothing else is looked at', () => {
    const plan = {
      ...full.plan,
      name: 7,
      edges: [{ from: 'a' }, 3],
      nodes: [{ kind: 'robot', id: 'x' }, { kind: 'agent', id: 'y', prompt: 'text' }, null],
      routes: [{ from: 'a', cases: [{ when: [{ op: 'contains', value: {} }], to: 'x' }] }],
    };
    expect(checkAnything(plan).map((problem) => problem.message)).toEqual([
      'name must be text',
      'nodes[0].kind must be one of task, agent, call, map, loop, ask, wait, pass, end, set',
      'nodes[1].agent is missing',
      'nodes[1].prompt must be a list',
      'nodes[2] must be an object',
      'edges[0].to is missing',
      'edges[1] must be an object',
      'routes[0].cases[0].when[0].value.channel is missing',
      'routes[0].cases[0].when[0].operand is missing',
      'routes[0].cases[0].to must be a list',
    ]);
    expect(checkAnything(plan).every((problem) => problem.code === 'bad-plan')).toBe(true);
  });

  it('is reported inside a sub-plan too', () => {
    const nodes = [{ kind: 'call', id: 'c', plan: { ...inner.plan, inputs: 3 } }];
    expect(
      checkAnything({ ...full.plan, nodes, edges: [], routes: [], channels: [], entry: 'c', exits: [] }),
    ).toMatchObject([{ code: 'bad-plan', path: 'nodes[0].plan.inputs' }]);
  });

  it('may be anything: no check throws', () => {
    for (const value of [undefined, null, 1, 'x', [], {}, () => {}, Symbol('x'), new Date(), new Map()]) {
      expect(checkAnything(value).map((problem) => problem.code)).toContain('bad-plan');
    }
    fc.assert(fc.property(fc.anything({ maxDepth: 4 }), (value) => void checkAnything(value)));
  });

  it('is stable: the same plan gives the same problems', () => {
    const broken = { ...full.plan, entry: 'nope', exits: ['x', 'y'] };
    expect(checkAnything(broken)).toEqual(checkAnything(structuredClone(broken)));
  });
});

describe('plans that were damaged in one place', () => {
  interface Place {
    readonly container: Record<string, unknown>;
    readonly key: string;
  }

  function placesIn(value: unknown): Place[] {
    if (typeof value !== 'object' || value === null) return [];
    const container = value as Record<string, unknown>;
    return Object.keys(container).flatMap((key) => [{ container, key }, ...placesIn(container[key])]);
  }

  const damage = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      undefined,
      '',
      'a',
      'END',
      '__proto__',
      0,
      -1,
      1e9,
      Number.NaN,
      true,
      [],
      {},
      [[]],
      { to: 'a' },
      { channel: 'zz' },
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );

  it('are checked without a throw, and where they pass they can be outlined, measured and drawn', () => {
    const count = placesIn(structuredClone(full.plan)).length;
    fc.assert(
      fc.property(fc.nat(count - 1), damage, (at, value) => {
        const plan = structuredClone(full.plan);
        const place = placesIn(plan)[at];
        if (place !== undefined) place.container[place.key] = value;
        const problems = checkPlan(plan, full.bindings);
        for (const problem of problems) expect(problem.message).toBeTruthy();
        if (problems.some((problem) => problem.severity === 'error')) return;
        expect(analyzeShape(plan).order).toHaveLength(plan.nodes.length);
        expect(outlinePlan(plan).order).toHaveLength(plan.nodes.length);
        expect(estimateCalls(plan).modelCalls.worst).not.toBeNaN();
        expect(toMermaid(plan)).toContain('flowchart');
        expect(toDot(plan)).toContain('digraph');
      }),
      { numRuns: 400 },
    );
  });
});

describe('schemas and reducers', () => {
  const agent = (output: string): object => ({ id: 'a', kind: 'agent', prompt: 'x', output });
  const codesOf = (input: object): readonly string[] => {
    const { plan, bindings } = definePlan({ name: 'p', nodes: [{ id: 'a', run, writes: [] }], ...input });
    return checkPlan(plan, bindings).map((problem) => problem.code);
  };

  it('rule out results of another type where that is known before a run', () => {
    expect(codesOf({ channels: { c: { schema: z.array(z.string()) } }, nodes: [agent('c')] })).toEqual([
      'schema-mismatch',
    ]);
    expect(codesOf({ channels: { c: { schema: z.string() } }, nodes: [agent('c')] })).toEqual([]);
    expect(codesOf({ channels: { c: 'extend' }, nodes: [agent('c')] })).toEqual(['schema-mismatch']);
    expect(codesOf({ channels: { c: 'mergeDict' }, nodes: [agent('c')] })).toEqual(['schema-mismatch']);
    for (const reducer of ['append', 'add', 'last'])
      expect(codesOf({ channels: { c: reducer }, nodes: [agent('c')] })).toEqual([]);
    const structured = { ...agent('c'), agent: { output: { schema: { type: 'object' } } } };
    expect(codesOf({ channels: { c: 'mergeDict' }, nodes: [structured] })).toEqual([]);
  });

  it('rule out defaults of another type', () => {
    expect(codesOf({ inputs: [{ name: 'c', default: 'x' }], channels: { c: 'append' } })).toEqual(['schema-mismatch']);
    expect(codesOf({ inputs: [{ name: 'c', default: ['x'] }], channels: { c: 'append' } })).toEqual([]);
    expect(codesOf({ inputs: [{ name: 'c', default: 1.5 }], channels: { c: { schema: z.number() } } })).toEqual([]);
    expect(codesOf({ inputs: [{ name: 'c', default: null }], channels: { c: { schema: z.number() } } })).toEqual([
      'schema-mismatch',
    ]);
  });

  it('rule out a map over what is no list', () => {
    const nodes = [
      { id: 'm', kind: 'map', plan: inner, over: { channel: 'c' }, item: 'x', result: 'y', maxItems: 2, output: 'o' },
    ];
    const over = (schema: unknown): readonly string[] => codesOf({ inputs: ['c'], channels: { c: { schema } }, nodes });
    expect(over(z.string())).toEqual(['schema-mismatch']);
    expect(over(z.array(z.string()))).toEqual([]);
  });

  it('say nothing where a schema can not say its type', () => {
    expect(codesOf({ channels: { c: { schema: z.custom() } }, nodes: [agent('c')] })).toEqual([]);
    expect(codesOf({ channels: { c: { schema: { '~standard': null } } }, nodes: [agent('c')] })).toEqual([]);
  });
});

describe('large plans', () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => `n${at}`);

  it('of 10,000 nodes in a row, side by side, or behind one route are checked whole', () => {
    const chain = definePlan({ name: 'c', nodes: ids.map((id) => ({ id, writes: ['x'], run })), edges: [ids] });
    expect(checkPlan(chain.plan, chain.bindings)).toEqual([]);
    const nodes = [{ id: 's', output: 's', run }, ...ids.map((id) => ({ id, output: 'same', run }))];
    const fan = definePlan({ name: 'f', nodes, edges: ids.map((id) => ['s', id]) });
    expect(checkPlan(fan.plan).map((problem) => problem.code)).toEqual(['unordered-writers']);
    const choice = definePlan({ name: 'r', nodes, routes: [{ from: 's', choose: () => 'n1', targets: ids }] });
    expect(checkPlan(choice.plan)).toEqual([]);
  });

  it('with a text of more references than a call takes arguments are checked without a throw', () => {
    const agent = { name: 'a', instructions: [], models: [] };
    const prompt = Array.from({ length: 600_000 }, () => ({ channel: 'x' }));
    const inputs = [{ name: 'x', channel: 'x', required: true }];
    const nodes = [{ id: 'n', kind: 'agent', agent, prompt }];
    const plan = { format: 1, name: 'p', inputs, channels: [], nodes, edges: [], routes: [] };
    expect(checkAnything(plan)).toEqual([]);
  });
});
