import { describe, expect, it } from 'vitest';
import { checkPlan, definePlan, memoryStore, run } from 'skein';
import type { RunOptions } from 'skein';
import { limitsOf } from '../../src/budget/limits.js';
import { budgetText } from '../../src/plan/budget.js';
import type { BudgetInput } from '../../src/plan/budget.js';
import { parseBudget, readCount } from '../../src/plan/budget-text.js';
import { diffPlans } from '../../src/plan/diff.js';

type NodeInput = Parameters<typeof definePlan>[0]['nodes'][number];

const planWith = (budget: BudgetInput | undefined, node: Partial<NodeInput> = {}): ReturnType<typeof definePlan> =>
  definePlan({
    name: 'p',
    ...(budget === undefined ? {} : { budget }),
    nodes: [{ id: 'a', run: () => 1, output: 'a', ...node } as NodeInput],
  });

const problems = (definition: ReturnType<typeof definePlan>): readonly string[] =>
  checkPlan(definition.plan, definition.bindings).map(
    ({ code, path, message, hint }) => `${code} ${path}: ${message} (${hint})`,
  );

describe('the budget of a plan', () => {
  it('is dollars, a text, or its fields', () => {
    expect(planWith(0.5).plan.budget).toEqual({ usd: 0.5 });
    expect(planWith('200k-tokens, 20-calls').plan.budget).toEqual({ tokens: 200_000, calls: 20 });
    expect(planWith({ time: 5, onLimit: 'stop' }).plan.budget).toEqual({ time: 5, onLimit: 'stop' });
    expect(planWith(undefined, { budget: '10m' }).plan.nodes[0]?.budget).toEqual({ time: 600_000 });
  });

  it.each([
    [0, 'bad-plan budget: budget is not a budget: "0" is not above zero'],
    [-1, 'bad-plan budget: budget is not a budget: "-1" is negative'],
    ['+0.50', 'bad-plan budget: budget is not a budget: there is no limit to add to'],
    ['5-coins', 'bad-plan budget: budget is not a budget: "5-coins" has an unknown unit'],
    [{ usd: 0 }, 'bad-limit budget.usd: budget.usd is 0, not an amount above 0, up to 1000000 dollars'],
    [{ calls: 1.5 }, 'bad-limit budget.calls: budget.calls is 1.5, not a whole number from 1 to'],
    [{ tokens: 5, day: { usd: -1 } }, 'bad-limit budget.day.usd: budget.day.usd is -1'],
    [{ usd: 1, onLimit: 'wait' }, 'bad-plan budget.onLimit: budget.onLimit must be one of "pause", "stop", "ask"'],
    [{ usd: 1, call: 2 }, 'bad-budget budget.call: a budget has no "call" (did you mean "calls"?)'],
    [{ usd: 1, day: { time: 5 } }, 'bad-budget budget.day.time: a budget has no "time"'],
    [{ onLimit: 'stop' }, 'bad-budget budget: the budget limits nothing (give usd, tokens, calls, toolCalls, time)'],
    [{ usd: 1, thread: {} }, 'bad-budget budget.thread: the budget limits nothing (give usd,'],
  ])('that is %j is a problem with its place', (budget, text) => {
    expect(problems(planWith(budget as BudgetInput)).join('\n')).toContain(text);
  });

  it.each([
    [{ kind: 'pass' }, { usd: 1 }, '"a" can\'t have a budget: a node of kind "pass" spends nothing'],
    [
      {},
      { usd: 1, day: { usd: 1 } },
      'bad-budget nodes[0].budget.day: "day" limits all runs of a workflow, not a step',
    ],
  ])('of a node %j is checked as such', (node, budget, text) => {
    expect(problems(planWith(undefined, { ...node, budget } as Partial<NodeInput>)).join('\n')).toContain(text);
  });

  it('holds at the place where it stands, also that of a workflow inside of another', () => {
    const inner = planWith({ calls: 2 }, { budget: { usd: 1 } });
    const outer = definePlan({
      name: 'outer',
      budget: 5,
      nodes: [{ id: 'each', kind: 'map', plan: inner, over: { channel: 'list' }, item: 'x', result: 'a', maxItems: 3 }],
      inputs: ['list'],
    });
    expect(limitsOf(outer.plan)).toEqual([
      { name: 'run', path: '', budget: { usd: 5 } },
      { name: 'workflow each', path: 'each', budget: { calls: 2 } },
      { name: 'step each/a', path: 'each/a', budget: { usd: 1 } },
    ]);
    expect(limitsOf(outer.plan, { tokens: 7 })[0]).toEqual({ name: 'run', path: '', budget: { tokens: 7 } });
  });

  it('is said in words', () => {
    expect(budgetText({ usd: 0.5, tokens: 200_000, calls: 1, time: 90_000, onLimit: 'stop', day: { usd: 5 } })).toBe(
      '$0.50, 200,000 tokens, 1 call, 1m 30s, $5.00 a day, then stop',
    );
    expect(budgetText({ usd: 0.000_1, onLimit: { model: 'a/b' } })).toBe('$0.0001, then a/b');
  });
});

describe('the text of a budget', () => {
  it.each([
    ['0.50', { set: { usd: 0.5 }, add: {} }],
    ['$2', { set: { usd: 2 }, add: {} }],
    ['1.5k-tokens', { set: { tokens: 1_500 }, add: {} }],
    ['2M-tokens', { set: { tokens: 2_000_000 }, add: {} }],
    ['1-call, 50-tool-calls', { set: { calls: 1, toolCalls: 50 }, add: {} }],
    ['+0.50,1h30m', { set: { time: 5_400_000 }, add: { usd: 0.5 } }],
  ])('%s', (text, read) => {
    expect(parseBudget(text)).toEqual(read);
  });

  it.each([
    ['', /"" is not an amount/],
    ['0', /"0" is not above zero/],
    ['-0.50', /"-0.50" is negative/],
    ['+-1', /is negative/],
    ['0.5x', /"0.5x" has an unknown unit/],
    ['200-coins', /"200-coins" has an unknown unit/],
    ['1.5-calls', /"1.5-calls" is not a whole number of calls/],
    ['0.5,0.6', /dollars are limited twice/],
    ['0.5,', /"" is not an amount/],
    ['NaN', /"NaN" is not an amount/],
    ['1e3', /"1e3" has an unknown unit/],
    ['0.0000000001', /is not above zero/],
  ])('%j is refused, with the units that exist', (text, message) => {
    expect(() => parseBudget(text)).toThrow(message);
    expect(() => parseBudget(text)).toThrow(
      expect.objectContaining({ code: 'SKEIN_USAGE', hint: expect.stringContaining('50-tool-calls') as string }),
    );
  });

  it('counts have thousands and millions', () => {
    expect(['200k', '1.5m', '7', '1.2345k', 'k'].map(readCount)).toEqual([200_000, 1_500_000, 7, undefined, undefined]);
  });
});

describe('what is recorded holds when a budget', () => {
  const inner = (budget?: BudgetInput): ReturnType<typeof definePlan> => planWith(budget);
  const workflow = (ofRun?: BudgetInput, ofNode?: BudgetInput, ofInner?: BudgetInput): ReturnType<typeof definePlan> =>
    definePlan({
      name: 'p',
      ...(ofRun === undefined ? {} : { budget: ofRun }),
      nodes: [
        { id: 'one', kind: 'agent', output: 'one', prompt: 'x', ...(ofNode === undefined ? {} : { budget: ofNode }) },
        { id: 'two', kind: 'call', plan: inner(ofInner), outputs: { two: 'a' } },
        {
          id: 'three',
          run: () => {
            throw new Error('no');
          },
        },
      ],
      edges: [['one', 'two', 'three']],
    });

  it.each([
    ['is added', workflow(), workflow(5, '20-calls', 1)],
    ['is changed', workflow(5, '20-calls', 1), workflow(6, '30-calls', 2)],
    ['is removed', workflow(5, '20-calls', 1), workflow()],
  ])('%s', async (_name, before, after) => {
    const options: RunOptions = { models: { mock: true, env: {} }, store: memoryStore() };
    const first = run(before, options);
    await first.result;
    const again = await run(after, { ...options, resume: first.runId }).result;
    expect(again.reused).toBe(2);
    expect(diffPlans(before.plan, after.plan).steps.map(({ effect }) => effect)).toEqual(['policy', 'policy']);
  });
});
