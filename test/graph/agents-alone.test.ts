import { expect, expectTypeOf, test } from 'vitest';
import { answerRun, memoryStore } from 'skein';
import { agent, tool } from 'skein/graph';
import { z } from 'zod';
import { thrown } from '../thrown.js';
import { ownModels } from './support-agents.js';

test('an agent that waits says what it asks, and goes on with the answer', async () => {
  const { models } = ownModels({
    m: ({ caller }) => (caller.turn === 1 ? { calls: [['pay', {}]] } : 'paid'),
  });
  const pay = tool({
    name: 'pay',
    inputSchema: { type: 'object' },
    execute: (_input, io) => io.ask({ text: 'How much?', choices: ['1', '2'] }),
  });
  const clerk = agent({ name: 'clerk', model: 'own/m', tools: [pay] });
  const store = memoryStore();
  const first = await clerk.run('Pay.', { store, models });
  expect(first).toMatchObject({ outcome: 'paused', success: false, census: { paused: 1 } });
  expect(first.questions).toMatchObject([{ question: 'How much?', choices: ['1', '2'] }]);
  answerRun(store, first.runId, { key: String(first.questions[0]?.key), value: '2' });
  const second = await clerk.run('Pay.', { store, models, resume: first.runId });
  expect(second).toMatchObject({ outcome: 'succeeded', value: 'paid', questions: [], census: { succeeded: 1 } });
  expect([first.spent.modelCalls, second.spent.modelCalls]).toEqual([1, 1]);
});

test('the value of an answer has the type of its schema', async () => {
  const { models } = ownModels({ m: () => '{"good":true}' });
  const judge = agent({ name: 'judge', model: 'own/m', output: z.object({ good: z.boolean() }) });
  const { value } = await judge.run('Is it?', { models });
  expectTypeOf(value).toEqualTypeOf<{ good: boolean } | undefined>();
  expect(value?.good).toBe(true);
  const poet = await agent({ name: 'poet', model: 'mock/echo' }).run('Rain', { models: { env: {} } });
  expectTypeOf(poet.value).toEqualTypeOf<string | undefined>();
  expect(poet.value).toBe('Rain');
});

test.each([
  [
    'an option that does not exist',
    { modle: 'mock/echo' },
    'SKEIN_USAGE',
    'an agent has no option "modle"',
    'did you mean "model"?',
  ],
  [
    'a tool that does not exist',
    { tools: ['raed_file'] },
    'SKEIN_DEFINITION',
    'the agent "a" has no tool "raed_file"',
    'did you mean "read_file"?',
  ],
  [
    'a tool of a server that it does not have',
    { tools: ['git/log'] },
    'SKEIN_DEFINITION',
    'the agent "a" has no tool "git/log"',
    'mcpServers',
  ],
])('an agent is refused when it is made, with advice: %s', (_, options, code, message, hint) => {
  const error = thrown(() => agent({ name: 'a', ...(options as object) }));
  expect([error.code, error.message.includes(message)]).toEqual([code, true]);
  expect(`${error.hint}${error.message}`).toContain(hint);
});

test('an agent may name built-in tools by their other names, all of a server, and everything', () => {
  const mcpServers = { git: { command: 'git-server' } };
  const names = ['read_file', 'think', 'ask_user', 'git/*', 'git/log', '*'];
  expect(agent({ name: 'a', tools: names, mcpServers }).plan.nodes).toHaveLength(1);
});
