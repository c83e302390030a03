import { describe, expect, test } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import { checkPlan } from '../../src/plan/checks.js';
import { diffPlans } from '../../src/plan/diff.js';
import { affected } from '../../src/plan/downstream.js';
import type { Plan, PlanNode, Route } from '../../src/plan/plan.js';

function plan(nodes: readonly PlanNode[], more: Partial<Plan> = {}): Plan {
  return { format: 1, name: 'p', inputs: [], channels: [], nodes, edges: [], routes: [], ...more };
}

const ASK: PlanNode = { id: 'ask', kind: 'ask', question: ['About ', { channel: 'topic' }, '?'], output: 'answer' };
const TASK: PlanNode = { id: 'a', kind: 'task', output: 'a' };
const NEXT: PlanNode = { id: 'b', kind: 'task', output: 'b' };
const JUMP: Route = { from: 'a', choose: 'result', targets: ['b'] };

function found(checked: Plan): readonly string[] {
  return checkPlan(checked).map(({ code, path }) => `${code} ${path ?? ''}`.trim());
}

describe('open inputs', () => {
  test('what nobody declares may be given, so a reference to it is no error', () => {
    expect(found(plan([ASK]))).toEqual(['unknown-reference nodes[0].question[1]']);
    expect(found(plan([ASK], { openInputs: true }))).toEqual([]);
  });

  test('of a sub-plan: its node may give any value, and may take any from its final state', () => {
    const call = (inner: Plan): PlanNode => ({
      id: 'call',
      kind: 'call',
      plan: inner,
      inputs: { topic: { value: 1 } },
      outputs: { out: 'topic', all: '*' },
    });
    expect(found(plan([call(plan([TASK]))]))).toEqual([
      'unknown-channel nodes[0].inputs.topic',
      'unknown-channel nodes[0].outputs.out',
    ]);
    expect(found(plan([call(plan([TASK], { openInputs: true }))]))).toEqual([]);
  });

  test('of a sub-plan: a name that means something to JavaScript is refused', () => {
    const inputs = JSON.parse('{ "__proto__": { "value": 1 } }') as Record<string, { value: number }>;
    const inner = plan([TASK], { openInputs: true });
    expect(found(plan([{ id: 'call', kind: 'call', plan: inner, inputs, outputs: {} }]))).toEqual([
      'unknown-channel nodes[0].inputs.__proto__',
    ]);
  });

  test('may give a sub-plan an input that it needs', () => {
    const inner = plan([TASK], { inputs: [{ name: 'topic', channel: 'topic', required: true }] });
    const call: PlanNode = { id: 'call', kind: 'call', plan: inner };
    expect(found(plan([call]))).toEqual(['missing-input nodes[0].inputs']);
    expect(found(plan([call], { openInputs: true }))).toEqual([]);
  });

  test('are true or false, as is whether the state is closed', () => {
    const wrong = { ...plan([TASK]), openInputs: 1, closedState: 'yes' } as unknown as Plan;
    expect(checkPlan(wrong).map((problem) => problem.message)).toEqual([
      'openInputs must be true or false',
      'closedState must be true or false',
    ]);
  });

  test('are part of what a plan is, and come with definePlan', () => {
    const nodes = [{ id: 'a', output: 'a', run: () => 1 }];
    const before = definePlan({ name: 'p', nodes }).plan;
    const after = definePlan({ name: 'p', nodes, openInputs: true, closedState: true }).plan;
    expect([after.openInputs, after.closedState, 'openInputs' in before]).toEqual([true, true, false]);
    expect(diffPlans(plan([TASK]), plan([TASK], { openInputs: true, closedState: true })).plan).toEqual([
      'open inputs',
      'closed state',
    ]);
  });

  test('another value of one reaches every function, like that of a declared one', () => {
    const nodes = [TASK, { ...ASK, id: 'other' }];
    expect(affected(plan(nodes, { openInputs: true }), { steps: [], inputs: ['topic'] })).toEqual(['a', 'other']);
    expect(affected(plan(nodes), { steps: [], inputs: ['topic'] })).toEqual([]);
  });
});

describe('a route that the result decides', () => {
  test('comes from a function: no other kind of node may lead a run by what it answers', () => {
    const next = { ...NEXT };
    expect(found(plan([TASK, next], { routes: [JUMP], entry: 'a' }))).toEqual([]);
    const agent: PlanNode = {
      id: 'a',
      kind: 'agent',
      output: 'a',
      prompt: ['Hello'],
      agent: { name: 'a', models: [], instructions: [] },
    };
    const problems = checkPlan(plan([agent, next], { routes: [JUMP], entry: 'a' }));
    expect(problems.map(({ code, message, path }) => [code, message, path])).toEqual([
      [
        'bad-route',
        `"a" is of kind 'agent': only the result of a function can choose the next node`,
        'routes[0].choose',
      ],
    ]);
  });

  test('is one of a kind, beside one with a function', () => {
    const coded: Route = { from: 'a', choose: 'code', targets: ['b'] };
    const routes = [JUMP, coded, JUMP];
    const problems = checkPlan(plan([TASK, NEXT], { routes, entry: 'a' }));
    expect(problems.map(({ code, path }) => [code, path])).toEqual([['duplicate-route', 'routes[2].choose']]);
    expect(problems[0]?.message).toBe('"a" has two routes that its result decides');
  });

  test('needs no function of its own, and definePlan knows it by its word', () => {
    const { plan: made, bindings } = definePlan({
      name: 'p',
      entry: 'a',
      nodes: [
        { id: 'a', run: () => ({}) },
        { id: 'b', output: 'b', run: () => 1 },
      ],
      routes: [{ from: 'a', choose: 'result', targets: ['b'], otherwise: 'b' }],
    });
    expect(made.routes).toEqual([{ from: 'a', choose: 'result', otherwise: ['b'], targets: ['b'] }]);
    expect([Object.keys(bindings), checkPlan(made, bindings)]).toEqual([['a', 'b'], []]);
  });

  test('names known nodes, and any other word for choosing is refused', () => {
    const routes: Route[] = [{ from: 'a', choose: 'result', targets: ['b'], otherwise: ['c'] }];
    expect(found(plan([TASK, NEXT], { routes, entry: 'a' }))).toEqual([
      'unknown-node routes[0].otherwise[0]',
      'undeclared-target routes[0].otherwise',
    ]);
    const wrong = plan([TASK, NEXT], { routes: [{ ...JUMP, choose: 'model' } as unknown as Route] });
    expect(checkPlan(wrong)[0]?.message).toBe('routes[0].choose must be one of "code", "result"');
  });

  test('makes another result of a step: what was recorded of it does not count', () => {
    const one = plan([TASK, NEXT], { entry: 'a' });
    const effects = (before: Plan, after: Plan): unknown =>
      diffPlans(before, after).steps.map(({ path, parts, effect }) => [path, parts, effect]);
    expect(effects(one, { ...one, routes: [JUMP] })).toEqual([['a', ['routes'], 'result']]);
    expect(effects({ ...one, routes: [JUMP] }, { ...one, routes: [{ ...JUMP, otherwise: ['b'] }] })).toEqual([
      ['a', ['routes'], 'course'],
    ]);
  });
});
