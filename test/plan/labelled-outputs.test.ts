import { describe, expect, it } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import type { NodeInput, StateOf } from '../../src/plan/builder-input.js';
import { checkPlan } from '../../src/plan/checks.js';
import { diffPlans } from '../../src/plan/diff.js';
import { affected } from '../../src/plan/downstream.js';
import type { Plan } from '../../src/plan/plan.js';

const inner = definePlan({
  name: 'inner',
  inputs: ['prompt'],
  nodes: [{ id: 'x', kind: 'agent', prompt: '{{ prompt }}', output: 'y' }],
}).plan;

const BLOCK = { outputs: 'prior' } as const;

function planOf(node: NodeInput<StateOf>): Plan {
  return definePlan({
    name: 'p',
    inputs: ['topic'],
    channels: { a: { label: 'a (agent: a)' }, b: {} },
    nodes: [
      { id: 'a', kind: 'agent', prompt: 'x', output: 'a' },
      { id: 'b', kind: 'agent', prompt: 'x', output: 'b' },
      node,
    ],
    edges: [['a', 'n']],
  }).plan;
}

const agent = { id: 'n', kind: 'agent', output: 'o' } as const;
const call = { id: 'n', kind: 'call', plan: inner, outputs: { o: 'y' } } as const;
const when = { op: 'equals', value: { channel: 'topic' }, operand: [BLOCK] } as const;

describe('labels of channels', () => {
  it('are part of the plan, and a change of one is told', () => {
    const plan = planOf({ ...agent, prompt: 'x' });
    expect(plan.channels).toEqual([{ name: 'a', label: 'a (agent: a)' }, { name: 'b' }]);
    const renamed = { ...plan, channels: [{ name: 'a', label: 'other' }, { name: 'b' }] };
    expect(diffPlans(plan, renamed).plan).toEqual(['channel a']);
    expect(diffPlans(plan, plan).plan).toEqual([]);
  });

  it('are text', () => {
    const plan = planOf({ ...agent, prompt: 'x' });
    const odd = { ...plan, channels: [{ name: 'a', label: 7 }] } as unknown as Plan;
    expect(checkPlan(odd).map((problem) => problem.message)).toEqual(['channels[0].label must be text']);
  });
});

describe('a block of outputs', () => {
  it.each<readonly [string, NodeInput<StateOf>]>([
    ['a prompt', { ...agent, prompt: [BLOCK, 'Go on.'] }],
    ['instructions', { ...agent, prompt: 'x', agent: { instructions: [BLOCK] } }],
    ['a question', { id: 'n', kind: 'ask', question: [BLOCK], output: 'o' }],
    ['an input of a workflow', { ...call, inputs: { prompt: { template: [BLOCK] } } }],
    ['a condition', { ...agent, prompt: 'x', when }],
  ])('in %s reads all labelled channels, and no others', (_, node) => {
    const plan = planOf(node);
    expect(checkPlan(plan)).toEqual([]);
    const free = { ...plan, edges: [] };
    expect(affected(free, { steps: ['a'] })).toEqual(['n']);
    expect(affected(free, { steps: ['b'] })).toEqual([]);
  });

  it('has one form', () => {
    const plan = planOf({ ...agent, prompt: [{ outputs: 'all' } as never, {} as never] });
    expect(checkPlan(plan).map((problem) => problem.message)).toEqual([
      'nodes[2].prompt[0].outputs must be one of "prior"',
      'nodes[2].prompt[1].channel is missing',
    ]);
  });
});

describe('a text as the input of a workflow', () => {
  it('is checked like any text', () => {
    const inputs = {
      prompt: { template: ['On ', { channel: 'topik' }, { channel: 'o' }, { channel: 'a', truncate: cut(-1) }] },
    };
    const problems = checkPlan(planOf({ ...call, inputs }));
    expect(problems.map(({ code, path, hint }) => [code, path, hint])).toEqual([
      ['bad-limit', 'nodes[2].inputs.prompt.template[3].truncate.limit', 'give a whole number 0 or more'],
      ['unknown-reference', 'nodes[2].inputs.prompt.template[1]', 'did you mean "topic"?'],
      ['not-upstream', 'nodes[2].inputs.prompt.template[2]', 'read something that is written before'],
    ]);
    const odd = planOf({ ...call, inputs: { prompt: { template: 'text' as never } } });
    expect(checkPlan(odd).map((problem) => problem.message)).toEqual([
      'nodes[2].inputs.prompt.template must be a list',
    ]);
  });
});

function cut(limit: number) {
  return { strategy: 'chars', limit } as const;
}
