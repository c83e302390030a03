import { describe, expect, test } from 'vitest';
import type { Executor } from '../../src/engine/ports/executor.js';
import { startRun, type RunResult } from '../../src/engine/run.js';
import type { Template } from '../../src/lang/values.js';
import type { AgentNode, AskNode, ChannelSpec, InputSpec, Plan, PlanNode } from '../../src/plan/plan.js';
import { checkPlan } from '../../src/plan/checks.js';
import { plan } from './plans.js';

const BLOCK = { outputs: 'prior' } as const;

const agent = (id: string, prompt: Template = [BLOCK, 'Go on.'], more: Partial<AgentNode> = {}): AgentNode => ({
  kind: 'agent',
  id,
  agent: { name: id, instructions: [], models: [] },
  prompt,
  output: id,
  ...more,
});

const labelled = (...names: string[]): ChannelSpec[] => names.map((name) => ({ name, label: `${name} (agent: A)` }));

/** Runs agents that answer with their id and the number of their visit, and keeps what they were asked. */
async function prompts(thePlan: Plan, bindings: Record<string, unknown> = {}, inputs: Record<string, unknown> = {}) {
  const asked: Record<string, string> = {};
  const answer: Executor<AgentNode> = (node, step) => {
    asked[step.path] = step.render(node.prompt);
    return Promise.resolve({ type: 'done', output: `by ${step.path}` });
  };
  const handle = startRun(thePlan, { bindings, inputs, executors: { agent: answer } });
  return { asked, result: await handle.result };
}

function block(...entries: readonly (readonly [string, string])[]): string {
  const body = entries.map(([label, text]) => `\n[${label} (agent: A)]:\n${text}\n`).join('');
  return `--- Prior Step Outputs ---\n${body}\n--- End Prior Step Outputs ---\n\n`;
}

describe('a prompt with a block of outputs', () => {
  test('has every labelled output that came before, in declared order, whoever ran first', async () => {
    const chain: Plan = {
      ...plan({ nodes: [agent('a'), agent('b'), agent('silent'), agent('c')], edges: ['b>a', 'a>silent', 'silent>c'] }),
      channels: [...labelled('a', 'b'), { name: 'silent' }, ...labelled('c')],
    };
    expect(checkPlan(chain)).toEqual([]);
    const { asked } = await prompts(chain);
    expect(asked['b']).toBe('Go on.');
    expect(asked['a']).toBe(`${block(['b', 'by b'])}Go on.`);
    expect(asked['c']).toBe(`${block(['a', 'by a'], ['b', 'by b'])}Go on.`);
  });

  test('has in a loop what came so far, also of the step itself and of those behind it', async () => {
    let rounds = 0;
    const loop: Plan = {
      ...plan({
        nodes: [agent('a'), agent('b')],
        edges: ['a>b'],
        routes: [{ from: 'b', choose: 'code', targets: ['a'] }],
        entry: 'a',
      }),
      channels: labelled('a', 'b'),
    };
    const { asked } = await prompts(loop, { 'route:b': () => ((rounds += 1) === 1 ? 'a' : 'END') });
    expect(asked['a#2']).toBe(`${block(['a', 'by a'], ['b', 'by b'])}Go on.`);
    expect(asked['b#2']).toBe(`${block(['a', 'by a#2'], ['b', 'by b'])}Go on.`);
  });

  test('has no output of a step at its side, and none of a step whose failure was ignored', async () => {
    const fan: Plan = {
      ...plan({
        nodes: [agent('a'), agent('b'), { kind: 'task', id: 't', output: 'c', onError: 'ignore' }, agent('d')],
        edges: ['a>d', 't>d'],
      }),
      channels: labelled('a', 'b', 'c', 'd'),
    };
    const failing = (): never => {
      throw new Error('no');
    };
    const { asked, result } = await prompts(fan, { t: failing });
    expect([asked['b'], asked['d'], result.outcome]).toEqual(['Go on.', `${block(['a', 'by a'])}Go on.`, 'degraded']);
  });

  test('has in a sub-plan what was handed to it, under the labels of the sub-plan', async () => {
    const input = (channel: string): InputSpec => ({ channel, name: channel, required: false });
    const inside: Plan = {
      ...plan({ nodes: [agent('x')], inputs: [input('a'), input('late')] }),
      channels: [...labelled('a', 'late'), { name: 'x', label: 'par/x (agent: A)' }],
    };
    const outer: Plan = {
      ...plan({
        nodes: [agent('a'), { kind: 'call', id: 'par', plan: inside, outputs: { x: 'x' } }, agent('z')],
        edges: ['a>par', 'par>z'],
      }),
      channels: [...labelled('a'), { name: 'x', label: 'par/x (agent: A)' }, ...labelled('late', 'z')],
    };
    const { asked } = await prompts(outer);
    expect(asked['par/x']).toBe(`${block(['a', 'by a'])}Go on.`);
    expect(asked['z']).toBe(`${block(['a', 'by a'], ['par/x', 'by par/x'])}Go on.`);
  });
});

describe('other texts with a block of outputs', () => {
  test('a question', async () => {
    const ask: AskNode = { kind: 'ask', id: 'q', question: [BLOCK, 'Publish?'], output: 'said' };
    const asking: Plan = { ...plan({ nodes: ['a', ask], edges: ['a>q'] }), channels: labelled('draft', 'said') };
    const { result } = await prompts(asking, { a: () => ({ draft: 'x' }) });
    expect(result.steps).toEqual([
      { path: 'q', node: 'q', outcome: 'paused', reason: `${block(['draft', 'x'])}Publish?` },
    ]);
  });

  test('the conditions of a node, of a route and of a loop', async () => {
    const has = (text: string) => ({ op: 'contains', value: { channel: 'all' }, operand: [BLOCK, text] }) as const;
    const all = `${block(['a', '1'])}?`;
    const bodies = { t: () => ({ log: 't' }), u: () => ({ log: 'u' }), 'l/x': () => ({ a: '1', all, log: 'x' }) };
    const inner: Plan = { ...plan({ nodes: ['x'] }), channels: [{ name: 'all' }, { name: 'log' }, ...labelled('a')] };
    const nodes: PlanNode[] = [
      { kind: 'pass', id: 'p', when: [has('?')] },
      { kind: 'task', id: 't' },
      { kind: 'loop', id: 'l', plan: inner, inputs: {}, until: [has('?')], maxRounds: 1, outputs: { log: 'log' } },
      { kind: 'task', id: 'u', when: [has('!')] },
    ];
    const thePlan: Plan = {
      ...plan({
        nodes,
        edges: ['t>l', 'l>u'],
        inputs: ['all', 'a'].map((name) => ({ channel: name, name, required: true })),
        routes: [{ from: 'p', cases: [{ when: [has('?')], to: ['t'] }] }],
      }),
      channels: [{ name: 'all' }, ...labelled('a'), { name: 'log', reducer: 'append' }],
    };
    const { result } = await prompts(thePlan, bodies, { all, a: '1' });
    expect([result.outcome, result.state['log']]).toEqual(['succeeded', ['t', 'x']]);
  });
});

describe('a text as the input of a sub-plan', () => {
  const inside = plan({
    nodes: ['x'],
    inputs: [
      { channel: 'prompt', name: 'prompt', required: true },
      { channel: 'item', name: 'item', required: false },
    ],
    channels: ['out'],
  });
  const inputs = { prompt: { template: [BLOCK, 'On ', { channel: 'topic', path: ['name'] }] } };
  const kinds: readonly PlanNode[] = [
    { kind: 'call', id: 'n', plan: inside, inputs, outputs: { out: 'out' } },
    { kind: 'loop', id: 'n', plan: inside, inputs, until: [], maxRounds: 1, outputs: { out: 'out' } },
    {
      kind: 'map',
      id: 'n',
      plan: inside,
      inputs,
      over: { channel: 'list' },
      item: 'item',
      result: 'out',
      maxItems: 2,
      output: 'out',
    },
  ];

  async function given(node: PlanNode, topic: unknown): Promise<RunResult> {
    const outer: Plan = {
      ...plan({
        nodes: ['a', node],
        edges: ['a>n'],
        inputs: ['topic', 'list'].map((name) => ({ channel: name, name, required: true })),
      }),
      channels: [...labelled('draft'), { name: 'out' }],
    };
    const bindings = { a: () => ({ draft: 'd' }), 'n/x': ({ prompt }: { prompt: string }) => ({ out: prompt }) };
    return (await prompts(outer, bindings, { topic, list: [1] })).result;
  }

  test.each(kinds)('is rendered when the step starts: $kind', async (node) => {
    const { state } = await given(node, { name: '{{ looms }}' });
    const text = `${block(['draft', 'd'])}On {{ looms }}`;
    expect(state['out']).toEqual(node.kind === 'map' ? [text] : text);
  });

  test('what does not resolve fails the step', async () => {
    for (const node of kinds) {
      const { error } = await given(node, { title: 'x' });
      expect(error).toMatchObject({ code: 'SKEIN_TEMPLATE' });
      expect(error?.message).toMatch(/topic\.name/);
    }
  });
});
