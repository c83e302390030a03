import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { definePlan } from '../../src/plan/builder.js';
import { checkPlan } from '../../src/plan/checks.js';

describe('a plan written by hand', () => {
  const greet = ({ who }: { who: string }): string => `Hello ${who}`;
  const add = (a: number, b: number): number => a + b;
  const definition = definePlan({
    name: 'greeting',
    description: 'Says hello',
    inputs: ['who', { name: 'language', channel: 'inputs.language', default: 'French', description: 'Which one' }],
    channels: { total: add, log: 'append', text: { schema: z.string() } },
    nodes: [
      { id: 'greet', output: 'text', run: greet },
      {
        id: 'translate',
        kind: 'agent',
        prompt: 'Into {{ inputs.language }}: {{ text }} {{ text.a.0 }}',
        output: 'french',
      },
    ],
    edges: [['greet', 'translate']],
    exits: ['translate'],
    limits: { maxSteps: 5 },
  });

  it('is plain JSON data, frozen all the way down', () => {
    expect(JSON.parse(JSON.stringify(definition.plan))).toEqual(definition.plan);
    expect(Object.isFrozen(definition.plan.nodes[1])).toBe(true);
    expect(Object.isFrozen(definition.bindings)).toBe(true);
    expect(definition.plan).toMatchObject({
      format: 1,
      name: 'greeting',
      inputs: [
        { name: 'who', channel: 'who', required: true },
        { name: 'language', channel: 'inputs.language', required: false, default: 'French' },
      ],
      channels: [{ name: 'total', reducer: 'code' }, { name: 'log', reducer: 'append' }, { name: 'text' }],
      edges: [{ from: 'greet', to: 'translate' }],
      exits: ['translate'],
      limits: { maxSteps: 5 },
    });
  });

  it('keeps its functions under the documented keys', () => {
    expect(Object.keys(definition.bindings)).toEqual(['channel:total', 'schema:text', 'greet']);
    expect(definition.bindings['greet']).toBe(greet);
    expect(definition.bindings['channel:total']).toBe(add);
    expect(definition.bindings['constructor']).toBeUndefined();
  });

  it('reads references as channels, the longest name first, and the rest as a path', () => {
    const [, translate] = definition.plan.nodes;
    expect(translate).toMatchObject({
      agent: { name: 'translate', models: [], instructions: [] },
      prompt: [
        'Into ',
        { channel: 'inputs.language' },
        ': ',
        { channel: 'text' },
        ' ',
        { channel: 'text', path: ['a', '0'] },
      ],
    });
    expect(checkPlan(definition.plan, definition.bindings)).toEqual([]);
  });

  it('leaves an unknown reference for the checks to find', () => {
    const { plan } = definePlan({
      name: 'p',
      nodes: [{ id: 'a', kind: 'agent', prompt: '{{ nope.x }}', output: 'y' }],
    });
    expect(checkPlan(plan).map((problem) => problem.code)).toEqual(['unknown-reference']);
  });
});

describe('the type of the state', () => {
  interface State {
    readonly who: string;
    readonly count: number;
  }

  it('can be named for all functions, or be annotated for each', () => {
    const named = definePlan<State>({
      name: 'p',
      nodes: [
        {
          id: 'a',
          run: (state, step) => state.who.repeat(state.count) + step.path,
          output: 'x',
          when: (state) => state.count > 0,
        },
      ],
      routes: [{ from: 'a', choose: (state) => state.who, targets: [] }],
    });
    expect(Object.keys(named.bindings)).toEqual(['when:a', 'a', 'route:a']);
    const annotated = definePlan({
      name: 'p',
      nodes: [
        { id: 'a', run: ({ who }: { who: string }) => who, output: 'x' },
        { id: 'b', run: ({ count }: { count: number }) => count, output: 'y' },
      ],
    });
    expect(annotated.plan.nodes).toHaveLength(2);
  });
});

describe('conditions written by hand', () => {
  it('are expressions over the channels that they name', () => {
    const { plan } = definePlan({
      name: 'p',
      inputs: ['n', { name: 'mode', channel: 'inputs.mode' }, 'list', 'type'],
      nodes: [{ id: 'a', run: () => ({}), writes: [], when: 'n > 1 && inputs.mode == "fast"' }],
    });
    expect(plan.nodes[0]?.when).toEqual([
      {
        op: 'cel',
        expression: 'n > 1 && inputs.mode == "fast"',
        vars: { n: { channel: 'n' }, inputs: { fields: { mode: { channel: 'inputs.mode' } } } },
      },
    ]);
    expect(checkPlan(plan)).toEqual([]);
  });

  it('may be functions, of which all must answer true', () => {
    const { plan, bindings } = definePlan({
      name: 'p',
      nodes: [
        { id: 'a', run: () => ({}), when: [(state) => state['x'] === 1, 'true', ({ y }: { y?: number }) => y === 2] },
      ],
    });
    expect(plan.nodes[0]?.when?.map((condition) => condition.op)).toEqual(['cel', 'code']);
    const test = bindings['when:a'] as (state: object) => boolean;
    expect([test({ x: 1, y: 2 }), test({ x: 1 }), test({ y: 2 })]).toEqual([true, false, false]);
  });

  it('of a loop look at the channels of its sub-plan, and get the round', () => {
    const inner = definePlan({ name: 'i', nodes: [{ id: 'w', run: () => 1, output: 'score' }] });
    const { plan, bindings } = definePlan({
      name: 'p',
      nodes: [
        { id: 'l', kind: 'loop', plan: inner, maxRounds: 3, until: ['score > 3', (_state, round) => round === 2] },
      ],
    });
    expect(plan.nodes[0]).toMatchObject({
      until: [{ op: 'cel', vars: { score: { channel: 'score' } } }, { op: 'code' }],
    });
    expect(Object.keys(bindings)).toEqual(['until:l', 'l/w']);
    expect(checkPlan(plan, bindings)).toEqual([]);
  });
});

describe('routes and sub-plans written by hand', () => {
  it('take one target or several, functions or cases', () => {
    const choose = (): string => 'b';
    const { plan, bindings } = definePlan({
      name: 'p',
      inputs: ['n'],
      nodes: ['a', 'b', 'c'].map((id) => ({ id, run: () => ({}), writes: [] })),
      entry: 'a',
      routes: [
        { from: 'a', choose, map: { yes: 'b', no: 'END' } },
        { from: 'b', cases: [{ when: ['n == 1', 'n < 2'], to: 'c' }], otherwise: ['c', 'END'] },
      ],
    });
    expect(plan.routes).toMatchObject([
      { from: 'a', choose: 'code', map: { yes: 'b', no: 'END' } },
      { from: 'b', cases: [{ to: ['c'] }], otherwise: ['c', 'END'] },
    ]);
    expect(plan.routes[1]?.cases?.[0]?.when).toHaveLength(2);
    expect(bindings['route:a']).toBe(choose);
    expect(checkPlan(plan, bindings)).toEqual([]);
  });

  it('carry the functions of what they contain, at any depth', () => {
    const leaf = definePlan({ name: 'leaf', nodes: [{ id: 'x', run: () => ({}), writes: [] }] });
    const middle = definePlan({ name: 'middle', nodes: [{ id: 'm', kind: 'call', plan: leaf }] });
    const { plan, bindings } = definePlan({ name: 'top', nodes: [{ id: 't', kind: 'call', plan: middle }] });
    expect(Object.keys(bindings)).toEqual(['t/m/x']);
    expect(checkPlan(plan, bindings)).toEqual([]);
    expect(definePlan({ name: 'again', nodes: [{ id: 't', kind: 'call', plan }] }).plan.nodes[0]).toMatchObject({
      plan,
    });
  });
});
