import { Transcript } from '../../src/agent/transcript.js';
import { describe, expect, it } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { runAgentLoop } from '../../src/agent/loop/agent-loop.js';
import { ConversationTrust } from '../../src/agent/loop/conversation-trust.js';
import { RunTrust } from '../../src/agent/run-trust.js';
import type { Model } from '../../src/agent/model.js';
import { agentSession } from '../../src/agent/session.js';
import type { Tool } from '../../src/agent/tool.js';
import { FakeProvider } from './support/fake-provider.js';
import { errorOf, fixedTools, outputOf, runAgent, tool } from './support/run-agent.js';
import { agentNode, fakeStep } from './support/step.js';

/** Lets a model make one call, then answer; gives what the model was told of the call. */
async function callOnce(call: { name: string; input: string }, tools: readonly Tool[]) {
  await using provider = await FakeProvider.start({ calls: [{ id: 'c1', ...call }] }, { text: 'Done.' });
  const env = { OPENAI_BASE_URL: provider.baseUrl };
  const { result, step } = await runAgent({ spec: { models: ['openai/m'] }, models: { env }, tools });
  expect(outputOf(result)).toBe('Done.');
  const messages = provider.requests[1]?.body['messages'] as { role: string; content: string; tool_call_id?: string }[];
  const told = messages.find((message) => message.role === 'tool');
  expect(told?.tool_call_id).toBe('c1');
  return { told: told?.content ?? '', step };
}

describe('a tool call that is wrong goes back to the model as an error', () => {
  const grep = tool('grep', () => 'never');

  it('an unknown tool, with the nearest name', async () => {
    const { told, step } = await callOnce({ name: 'grp', input: '{}' }, [grep]);
    expect(told).toContain('there is no tool "grp"');
    expect(told).toContain('did you mean "grep"?');
    expect(step.of('tool.ended').map((note) => note.status)).toEqual(['error']);
  });

  it('input that is not JSON', async () => {
    const { told } = await callOnce({ name: 'grep', input: '{"path": ' }, [grep]);
    expect(told).toContain('the input of grep is not JSON');
  });

  it('input that is no object', async () => {
    const { told } = await callOnce({ name: 'grep', input: '["a"]' }, [grep]);
    expect(told).toContain('must be a JSON object');
  });

  it('input that does not match the schema', async () => {
    const { told } = await callOnce({ name: 'grep', input: '{"path": 5}' }, [grep]);
    expect(told).toContain('/path');
    expect(told).toMatch(/string/);
  });

  it('a whole number that would be rounded, for an argument that is a number', async () => {
    const close: Tool = {
      ...tool('close', () => 'never'),
      inputSchema: { type: 'object', properties: { id: { type: 'integer' } } },
    };
    const { told } = await callOnce({ name: 'close', input: '{"id": 9007199254740993}' }, [close]);
    expect(told).toContain('the input of close does not match its schema');
  });

  it('an error that the tool throws, with its hint', async () => {
    const broken = tool('grep', () => {
      throw new SkeinError('SKEIN_TOOL_REFUSED', '/etc is outside of the folder', { hint: 'stay inside' });
    });
    const { told, step } = await callOnce({ name: 'grep', input: '{"path":"/etc"}' }, [broken]);
    expect(told).toBe('Error: /etc is outside of the folder (stay inside)');
    expect(step.effects).toContain('tool#1.1');
  });

  it('a name that is a property of every object', async () => {
    const { told } = await callOnce({ name: 'constructor', input: '{}' }, [grep]);
    expect(told).toContain('there is no tool "constructor"');
  });
});

describe('a tool call', () => {
  it('is an effect of its own with the effect class of the tool, and gets a key that is the same on every try (J6)', async () => {
    const keys: string[] = [];
    const write = tool(
      'write',
      (_input, io) => {
        keys.push(io.idempotencyKey);
        return 'written';
      },
      { effect: 'once' },
    );
    const { step } = await callOnce({ name: 'write', input: '{"path":"a"}' }, [write]);
    expect(step.effectKinds.get('tool#1.1')).toBe('once');
    expect(keys).toEqual([expect.stringMatching(/^run-1\/review@tool#1\.1:[\w-]{22}$/)]);
    const [started, ended] = [step.of('tool.started')[0], step.of('tool.ended')[0]];
    expect(started).toMatchObject({ id: 'c1', tool: 'write', input: { path: 'a' } });
    expect(ended).toMatchObject({ id: 'c1', tool: 'write', status: 'ok', output: 'written' });
  });

  it('with a result above 64 KiB is cut at a whole character, with a note', async () => {
    const big = tool('big', () => 'a'.repeat(65_535) + 'é'.repeat(10_000));
    const { told } = await callOnce({ name: 'big', input: '{"path":"x"}' }, [big]);
    expect(told.startsWith('a'.repeat(65_535))).toBe(true);
    expect(told).toContain('[cut: 85535 bytes in all, the first 65535 are shown]');
    expect(told).not.toContain('\uFFFD');
  });

  it('without input counts as one with an empty object', async () => {
    const now = tool('now', () => 'late', { inputSchema: { type: 'object', properties: {} } });
    const { told } = await callOnce({ name: 'now', input: '' }, [now]);
    expect(told).toBe('late');
  });
});

it('the counts of all turns are summed', async () => {
  const script = [
    {
      calls: [{ id: 'c1', name: 'look', input: '{"path":"a"}' }],
      usage: { inputTokens: 10, outputTokens: 3, cachedTokens: 4 },
    },
    { text: 'Done.', usage: { inputTokens: 20, outputTokens: 5, reasoningTokens: 2 } },
  ];
  const model: Model = {
    id: 'own/m',
    async *stream() {
      const turn = script.shift();
      for (const call of turn?.calls ?? []) yield { type: 'tool-call', call };
      if (turn?.text !== undefined) yield { type: 'text', text: turn.text };
      yield { type: 'finish', reason: 'stop', usage: turn?.usage ?? { inputTokens: 0, outputTokens: 0 } };
    },
  };
  const node = agentNode();
  const step = fakeStep(node);
  const spec = node.agent;
  const models = { resolve: () => Promise.resolve([model]) };
  const session = agentSession({ models, tools: fixedTools([tool('look', () => 'seen')]), spec, step });
  const opened = await session.open(step.controller);
  const transcript = new Transcript();
  transcript.begin('', undefined, 'Go.');
  const run = new RunTrust(undefined);
  const result = await runAgentLoop({
    run,
    trust: new ConversationTrust({
      path: step.path,
      influence: step.influence,
      spec,
      opened,
      run,
      own: new Set(),
      shares: false,
    }),
    step,
    spec,
    opened,
    transcript,
    stepTools: [],
    checks: { input: () => undefined, output: () => [] },
    guide: { isOver: () => false, end: () => ({}) },
    use: (effect) => session.use(effect, opened),
    replayed: () => undefined,
  });
  expect(result).toEqual({
    output: 'Done.',
    fields: {},
    text: 'Done.',
    usage: { inputTokens: 30, outputTokens: 8, cachedTokens: 4, reasoningTokens: 2 },
    turns: 2,
    toolCalls: 1,
  });
});

describe('caps', () => {
  const look = tool('look', () => 'seen');
  const again = (count: number) => ({
    calls: Array.from({ length: count }, (_, i) => ({ id: `c${i}`, name: 'look', input: '{"path":"a"}' })),
  });

  it('an agent that never stops is stopped after its turns', async () => {
    await using provider = await FakeProvider.start(again(1));
    const { result } = await runAgent({
      spec: { models: ['openai/m'], maxTurns: 4, maxToolCalls: 1_000 },
      models: { env: { OPENAI_BASE_URL: provider.baseUrl } },
      tools: [look],
    });
    expect(errorOf(result)).toMatchObject({
      code: 'SKEIN_MODEL_CAP',
      hint: expect.stringContaining('maxTurns') as unknown,
    });
    expect(provider.requests).toHaveLength(4);
  });

  it('25 turns and 100 calls are the defaults', async () => {
    await using turns = await FakeProvider.start(again(1));
    const spec = { models: ['openai/m'] };
    const first = await runAgent({ spec, models: { env: { OPENAI_BASE_URL: turns.baseUrl } }, tools: [look] });
    expect(errorOf(first.result).message).toContain('25 model turns');
    await using calls = await FakeProvider.start(again(60));
    const second = await runAgent({ spec, models: { env: { OPENAI_BASE_URL: calls.baseUrl } }, tools: [look] });
    expect(errorOf(second.result).message).toContain('100 tool calls');
    expect(second.step.of('tool.started')).toHaveLength(60);
  });
});

describe('a back end with a tool loop of its own (statement 105, decision 12)', () => {
  it('has its calls dispatched, counted and told', async () => {
    const told: string[] = [];
    const backEnd: Model = {
      id: 'own/model',
      async *stream(request) {
        for (const path of ['a', 'b', 'a']) {
          const result = await request.dispatch({ id: path, name: 'look', input: JSON.stringify({ path }) });
          told.push(result.output);
        }
        yield { type: 'text', text: 'I looked.' };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    };
    const keys = new Set<string>();
    const look = tool('look', (input, io) => {
      keys.add(io.idempotencyKey);
      return `saw ${input['path'] as string}`;
    });
    const { result, step } = await runAgent({
      spec: { models: ['own/model'] },
      models: { providers: { own: () => backEnd } },
      tools: [look],
    });
    expect(outputOf(result)).toBe('I looked.');
    expect([told, keys.size]).toEqual([['saw a', 'saw b', 'saw a'], 3]);
    expect(step.effects).toEqual(['open', 'model#1', 'close']);
    expect(step.of('tool.ended').map((note) => note.output)).toEqual(['saw a', 'saw b', 'saw a']);
  });
});
