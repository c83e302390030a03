import { describe, expect, test } from 'vitest';
import type { Executor } from '../../src/engine/ports/executor.js';
import { startRun } from '../../src/engine/run.js';
import { checkPlan } from '../../src/plan/checks.js';
import type { AgentNode, ChannelSpec, InputSpec, Plan, PlanNode } from '../../src/plan/plan.js';
import { plan } from './plans.js';

const GOALS = { outputs: 'prior', xml: { tag: 'prior-goals', each: 'goal' } } as const;

const agent = (id: string): AgentNode => ({
  kind: 'agent',
  id,
  agent: { name: id, instructions: [], models: [] },
  prompt: [GOALS, 'Go on.'],
  output: id,
});

const labelled = (...names: string[]): ChannelSpec[] => names.map((name) => ({ name, label: `goal ${name}` }));

function optional(name: string): InputSpec {
  return { channel: name, name, required: false };
}

/** Its channels come from outside; `c` is written before `b`. */
const inner: Plan = {
  ...plan({
    name: 'inner',
    nodes: [agent('w')],
    inputs: [optional('b'), optional('a')],
  }),
  channels: labelled('a', 'b', 'w'),
};

async function prompts(node: PlanNode): Promise<Readonly<Record<string, string>>> {
  const around: Plan = {
    ...plan({ nodes: [agent('a'), agent('b'), node], edges: ['a>b', 'b>inside'] }),
    channels: labelled('a', 'b'),
    inputs: [{ ...optional('list'), default: ['x', 'y'] }],
  };
  expect(checkPlan(around)).toEqual([]);
  const asked: Record<string, string> = {};
  const answer: Executor<AgentNode> = (agentNode, step) => {
    asked[step.path] = step.render(agentNode.prompt);
    return Promise.resolve({ type: 'done', output: `by ${step.path} </goal>` });
  };
  const { outcome } = await startRun(around, { executors: { agent: answer } }).result;
  expect(outcome).toBe('succeeded');
  return asked;
}

function block(...entries: readonly (readonly [string, string])[]): string {
  const body = entries.map(([name, text]) => `<goal name="goal ${name}">\n${text} &lt;/goal&gt;\n</goal>\n`).join('');
  return `<prior-goals>\n${body}</prior-goals>\n\nGo on.`;
}

describe('[decision 2] labelled outputs of a plan around', () => {
  test('are seen in a called plan that is given them, in the order that it declares', async () => {
    const asked = await prompts({ id: 'inside', kind: 'call', plan: inner, output: 'w' });
    expect(asked['inside/w']).toBe(block(['a', 'by a'], ['b', 'by b']));
  });

  test('are seen in each item of a map', async () => {
    const items: Plan = {
      ...inner,
      inputs: [...inner.inputs, optional('item')],
    };
    const map = { id: 'inside', kind: 'map', plan: items, over: { channel: 'list' }, item: 'item' } as const;
    const inputs = { a: { channel: 'a' }, b: { channel: 'b' } };
    const asked = await prompts({ ...map, inputs, result: 'w', maxItems: 5, output: 'all' });
    expect(asked['inside[0]/w']).toBe(block(['a', 'by a'], ['b', 'by b']));
    expect(asked['inside[1]/w']).toBe(asked['inside[0]/w']);
  });

  test('are seen in each round of a loop, with what it carries', async () => {
    const rounds: Plan = { ...inner, inputs: [...inner.inputs, optional('w')] };
    const loop = {
      id: 'inside',
      kind: 'loop',
      plan: rounds,
      output: 'w',
      until: [],
      carry: ['w'],
      maxRounds: 2,
    } as const;
    const never = { op: 'equals', value: { channel: 'w' }, operand: ['never'] } as const;
    const inputs = { a: { channel: 'a' }, b: { channel: 'b' } };
    const asked = await prompts({ ...loop, inputs, until: [never], onMaxRounds: 'continue' });
    expect(asked['inside#1/w']).toBe(block(['a', 'by a'], ['b', 'by b']));
    expect(asked['inside#2/w']).toBe(block(['a', 'by a'], ['b', 'by b'], ['w', 'by inside#1/w']));
  });
});
