import { describe, expect, it } from 'vitest';
import { checkPlan } from '../../src/plan/checks.js';
import { diffPlans } from '../../src/plan/diff.js';
import { estimateCalls } from '../../src/plan/envelope.js';
import type { AgentNode, NodeOptions, PlanNode } from '../../src/plan/plan.js';
import { plan, task } from '../engine/plans.js';

const AGENT: AgentNode = {
  id: 'a',
  kind: 'agent',
  agent: { name: 'a', instructions: [], models: [], tools: [] },
  prompt: ['Write.'],
  output: 'text',
};
const SUPERVISE = { by: 'model', instruction: ['Do it.'] } as const;

const problems = (node: PlanNode, bindings?: Record<string, unknown>): readonly string[] =>
  checkPlan(plan({ nodes: [node] }), bindings).map(({ code, path = '', message }) => `${code} ${path}: ${message}`);

describe('[addition 3] what can be supervised', () => {
  it('work can, where something says what it promises: an instruction, or the prompt of an agent', () => {
    expect(problems({ ...AGENT, supervise: { by: 'human' } })).toEqual([]);
    expect(problems(task('t', { supervise: SUPERVISE }))).toEqual([]);
    const silent = `nodes[0].supervise.instruction: "t" is supervised, and nothing says what it promises`;
    expect(problems(task('t', { supervise: { by: 'model' } }))).toEqual([`bad-supervision ${silent}`]);
    expect(problems(task('t', { supervise: { by: 'model', instruction: [' '] } }))).toHaveLength(1);
  });

  it('questions, waits and places of routes can not: they do no work', () => {
    const nodes: PlanNode[] = [
      { id: 'n', kind: 'ask', question: ['Well?'], supervise: SUPERVISE },
      { id: 'n', kind: 'wait', ms: 1, supervise: SUPERVISE },
      { id: 'n', kind: 'pass', supervise: SUPERVISE },
    ];
    for (const node of nodes)
      expect(problems(node)).toEqual([
        `bad-supervision nodes[0].supervise: "n" can't be supervised: a node of kind "${node.kind}" does no work`,
      ]);
  });

  it('its instruction is checked as every text, and so is a supervisor in code', () => {
    const reads = task('t', { supervise: { by: 'model', instruction: [{ channel: 'nothing' }] }, writes: [] });
    expect(problems(reads)[0]).toContain('unknown-reference nodes[0].supervise.instruction[0]');
    const coded = task('t', { supervise: { ...SUPERVISE, supervisor: 'code' } });
    const t = (): undefined => undefined;
    expect(problems(coded, { t })).toEqual(['missing-binding nodes[0]: the supervision of "t" has no supervisor']);
    const supervisor = { reconcile: () => ({ triggers: [], escalate: false }), supervise: () => ({ verdict: 'halt' }) };
    expect(problems(coded, { t, 'supervise:t': supervisor })).toEqual([]);
  });
});

describe('[addition 1] what supervision costs at most', () => {
  const callsOf = (more: NodeOptions): object => estimateCalls(plan({ nodes: [{ ...AGENT, ...more }] })).modelCalls;
  /** Each turn of a model is tried so often, here also by `retry`. */
  const tries = 3;
  const body = tries;
  const retry = { retries: 2, backoff: 'fixed', delayMs: 0 } as const;

  it.each([
    ['once', {}, body],
    ['the promise, and each attempt with what two say of it', { supervise: SUPERVISE }, tries + 2 * (body + 2 * tries)],
    ['no correction', { supervise: { ...SUPERVISE, maxReorients: 0 } }, tries + (body + 2 * tries)],
    [
      'retries are whole again',
      { retry, supervise: { ...SUPERVISE, maxReorients: 3 } },
      tries + 4 * (body + 2 * tries),
    ],
    ['a person costs no call', { supervise: { ...SUPERVISE, by: 'human' } }, tries + 2 * (body + tries)],
  ] as const)('%s', (_name, more, worst) => {
    expect(callsOf(more)).toEqual({ worst, typical: 'supervise' in more ? 3 : 1 });
  });
});

describe('[addition 1] an edit of the supervision', () => {
  const changed = (before: NodeOptions, after: NodeOptions) =>
    diffPlans(plan({ nodes: [{ ...AGENT, ...before }] }), plan({ nodes: [{ ...AGENT, ...after }] })).steps;

  it('has finished work judged again, and never done again', () => {
    const step = { path: 'a', change: 'changed', parts: ['supervision'], effect: 'judgement' };
    expect(changed({}, { supervise: SUPERVISE })).toEqual([step]);
    expect(changed({ supervise: SUPERVISE }, { supervise: { ...SUPERVISE, by: 'human' } })).toEqual([step]);
    expect(changed({ supervise: SUPERVISE }, { supervise: SUPERVISE })).toEqual([]);
  });

  it('is one of its code too', () => {
    const one = plan({ nodes: [{ ...AGENT, supervise: { by: 'model', supervisor: 'code' } }] });
    const [step] = diffPlans(one, one, { 'supervise:a': 'x' }, { 'supervise:a': 'y' }).steps;
    expect(step).toMatchObject({ path: 'a', parts: ['supervision'], effect: 'judgement' });
  });
});
