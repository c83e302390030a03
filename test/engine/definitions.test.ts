import { describe, expect, test } from 'vitest';
import { compile } from '../../src/engine/graph/compile.js';
import { codeDigests, definitionOf } from '../../src/engine/durable/identity.js';
import type { Executor, StepContext } from '../../src/engine/ports/executor.js';
import { startRun } from '../../src/engine/run.js';
import type { AgentNode, PlanNode } from '../../src/plan/plan.js';
import { definePlan } from '../../src/index.js';
import { plan, task } from './plans.js';
import { SpyDurable } from './spy-durable.js';

function definition(node: PlanNode, body: unknown = () => 1): string {
  const [compiled] = compile(plan({ nodes: [node, 'other'] }), { [node.id]: body, other: () => 1 }).nodes;
  return compiled === undefined ? '' : definitionOf(compiled);
}

const AT = { file: 'flow.yaml', line: 7, column: 3 };
const AGENT: AgentNode = {
  kind: 'agent',
  id: 'a',
  agent: { name: 'a', instructions: ['Be brief.'], models: ['x/y'], output: { schema: { at: 1 } } },
  prompt: ['About ', { channel: 'topic' }],
};
const ASK: PlanNode = { kind: 'ask', id: 'a', question: ['Well?'] };

describe('the definition of a node (J2)', () => {
  const same: readonly [string, PlanNode, PlanNode][] = [
    ['its id and label', task('a'), task('b', { label: 'B' })],
    ['how it is tried', task('a'), task('a', { retry: { retries: 1, backoff: 'fixed', delayMs: 1 }, timeoutMs: 5 })],
    ['when it runs', task('a'), task('a', { join: 'any', maxVisits: 3 })],
    ['what happens to its result', task('a'), task('a', { output: 'x', onError: 'continue', effect: 'once' })],
    ['its place in a file', AGENT, { ...AGENT, at: AT }],
    [
      'what happens when nobody answers',
      { ...ASK, expiresMs: 5 },
      { ...ASK, expiresMs: 5, onExpire: { answer: 'no' } },
    ],
  ];
  test.each(same)('does not depend on %s', (_what, one, other) => {
    expect(definition(one)).toBe(definition(other));
  });

  const { agent } = AGENT;
  const different: readonly [string, PlanNode, PlanNode][] = [
    ['version', task('a'), task('a', { version: '2' })],
    ['prompt', AGENT, { ...AGENT, prompt: ['About'] }],
    ['model', AGENT, { ...AGENT, agent: { ...agent, models: ['x/z'] } }],
    ['instructions', AGENT, { ...AGENT, agent: { ...agent, instructions: ['Be long.'] } }],
    ['data named like a place in a file', AGENT, { ...AGENT, agent: { ...agent, output: { schema: { at: 2 } } } }],
    ['question', ASK, { ...ASK, question: ['Now?'] }],
    ['choices', ASK, { ...ASK, choices: ['yes'] }],
    ['event', { kind: 'wait', id: 'a', event: 'paid' }, { kind: 'wait', id: 'a', event: 'sent' }],
    ['time', { kind: 'wait', id: 'a', ms: 1 }, { kind: 'wait', id: 'a', ms: 2 }],
  ];
  test.each(different)('changes with its %s', (_what, one, other) => {
    expect(definition(one)).not.toBe(definition(other));
  });

  test('a function is its source text; what it closes over can not be seen', () => {
    const closing =
      (n: number): (() => number) =>
      () =>
        n;
    expect(definition(task('a'), closing(1))).toBe(definition(task('a'), closing(2)));
    expect(definition(task('a'), () => 1)).not.toBe(definition(task('a'), () => 2));
  });

  test('tasks and choosers hand it to a back end that records, executors can ask for it', async () => {
    const told: string[] = [];
    const executor: Executor<AgentNode> = (_node: AgentNode, step: StepContext) => {
      told.push(step.definition());
      return Promise.resolve({ type: 'done', output: {} });
    };
    const durable = new SpyDurable('r');
    const one = plan({
      nodes: ['t', AGENT],
      routes: [{ from: 't', choose: 'code', targets: ['a'] }],
      entry: 't',
    });
    const bindings = { t: () => undefined, 'route:t': () => 'a' };
    await startRun(one, { durable, bindings, executors: { agent: executor } }).result;
    expect(told).toEqual([definition(AGENT)]);
    expect(durable.definition('t')).toBe(definition(task('t'), bindings.t));
    const route = durable.definition('t@route');
    expect(route).not.toBe(durable.definition('t'));
    const again = new SpyDurable('r');
    const edited = { ...bindings, 'route:t': () => ['a'] };
    await startRun(one, { durable: again, bindings: edited, executors: { agent: executor } }).result;
    expect(again.definition('t@route')).not.toBe(route);
    expect(again.definition('t')).toBe(durable.definition('t'));
  });
});

describe('codeDigests', () => {
  const { plan: outer, bindings } = definePlan({
    name: 'all',
    channels: { sum: (a: unknown, b: unknown) => Number(a ?? 0) + Number(b), list: 'append' },
    nodes: [
      { id: 'one', run: () => 1, when: () => true, output: 'sum' },
      {
        id: 'rounds',
        kind: 'loop',
        until: () => true,
        maxRounds: 2,
        plan: definePlan({ name: 'round', nodes: [{ id: 'in', run: () => 2 }] }),
      },
    ],
    routes: [{ from: 'one', choose: () => 'rounds', targets: ['rounds'] }],
  });

  test('has every function that the plan uses, by its key', () => {
    const digests = codeDigests({ ...bindings, unused: () => 3 }, outer);
    const keys = ['channel:sum', 'one', 'rounds/in', 'route:one', 'until:rounds', 'when:one'];
    expect(Object.keys(digests).toSorted()).toEqual(keys);
    expect(new Set(Object.values(digests)).size).toBeGreaterThan(3);
  });

  test('an edit changes the digest of its function alone', () => {
    const before = codeDigests(bindings, outer);
    const after = codeDigests({ ...bindings, 'rounds/in': () => 4 }, outer);
    expect({ ...after, 'rounds/in': '' }).toEqual({ ...before, 'rounds/in': '' });
    expect(after['rounds/in']).not.toBe(before['rounds/in']);
  });
});
