import { expect, test } from 'vitest';
import type { Model, ModelTurn } from '../../../src/agent/index.js';
import type { AgentSpec } from '../../../src/plan/agent-spec.js';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';

type Said = string | Pick<ModelTurn, 'text' | 'toolCalls'>;

/** A model that gives the next of these answers to each call, and writes down which steps asked. */
function saying(answers: Said[]): { models: Record<string, unknown>; asked: string[] } {
  const asked: string[] = [];
  const model: Model = {
    id: 'say/one',
    async *stream({ caller }) {
      asked.push(`${caller.path} ${caller.turn}`);
      await Promise.resolve();
      const answer = answers.shift() ?? 'nothing more';
      const { text, toolCalls } = typeof answer === 'string' ? { text: answer, toolCalls: [] } : answer;
      if (text !== '') yield { type: 'text', text };
      for (const call of toolCalls) yield { type: 'tool-call', call };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
  return { models: { env: {}, noProbe: true, override: 'say/one', providers: { say: () => model } }, asked };
}

const SCHEMA = {
  schema: { type: 'object', required: ['vote'], properties: { vote: { enum: ['yes', 'no'] } } },
} as const;
const NO_MAYBE = { checks: [{ kind: 'bannedWords', words: ['maybe'] }] } as const;

const REFUSED: readonly [why: string, agent: Partial<AgentSpec>, bad: readonly Said[], good: string][] = [
  ['does not match its schema', { output: SCHEMA }, ['{"vote":"maybe"}', 'still not'], '{"vote":"yes"}'],
  ['is empty', {}, [''], 'yes'],
];

function voting(agent: Partial<AgentSpec>, more: { onError?: 'continue'; retry?: object } = {}) {
  return definePlan({
    name: 'voting',
    nodes: [
      { id: 'first', kind: 'agent', output: 'first', prompt: 'Say hello', agent: { tools: [], instructions: 'A' } },
      {
        id: 'vote',
        kind: 'agent',
        output: 'vote',
        prompt: 'Vote',
        agent: { tools: [], instructions: 'B', ...agent },
        ...more,
      },
    ],
    edges: [['first', 'vote']],
  });
}

for (const [why, agent, bad, good] of REFUSED) {
  test(`a resume asks again for an answer that ${why}, and for no other`, async () => {
    const store = memoryStore();
    const first = await run(voting(agent), { store, runId: 'r', models: saying(['hello', ...bad]).models }).result;
    expect(first.outcome).toBe('failed');
    const again = saying([good]);
    const second = await run(voting(agent), { store, resume: 'r', models: again.models }).result;
    expect([second.outcome, again.asked]).toEqual(['succeeded', [`vote ${bad.length}`]]);
    expect(second.state['vote']).toEqual(good.startsWith('{') ? JSON.parse(good) : good);
    const third = saying([]);
    await run(voting(agent), { store, resume: 'r', models: third.models }).result;
    expect(third.asked).toEqual([]);
  });

  test(`a fork asks again for an answer that ${why}, and for no other`, async () => {
    const store = memoryStore();
    await run(voting(agent), { store, runId: 'r', models: saying(['hello', ...bad]).models }).result;
    const again = saying([good]);
    const fork = await run(voting(agent), { store, fork: { run: 'r' }, models: again.models }).result;
    expect([fork.outcome, again.asked]).toEqual(['succeeded', [`vote ${bad.length}`]]);
  });
}

test('an answer that violates a check is judged anew, and not paid for again', async () => {
  const store = memoryStore();
  await run(voting(NO_MAYBE), { store, runId: 'r', models: saying(['hello', 'maybe', 'well, maybe']).models }).result;
  const again = saying([]);
  const second = await run(voting(NO_MAYBE), { store, resume: 'r', models: again.models }).result;
  const third = await run(voting({ checks: [] }), { store, resume: 'r', models: again.models }).result;
  expect([second.error?.code, third.outcome, again.asked]).toEqual(['SKEIN_CHECK', 'succeeded', []]);
});

test('an answer that is refused again is asked for again by each resume', async () => {
  const store = memoryStore();
  const workflow = voting({ output: SCHEMA });
  await run(workflow, { store, runId: 'r', models: saying(['hello', 'a', 'b']).models }).result;
  for (const word of ['c', 'd']) {
    const again = saying([word]);
    const { outcome } = await run(workflow, { store, resume: 'r', models: again.models }).result;
    expect([outcome, again.asked]).toEqual(['failed', ['vote 2']]);
  }
  const last = saying(['{"vote":"no"}']);
  const { outcome, state } = await run(workflow, { store, resume: 'r', models: last.models }).result;
  expect([outcome, state['vote'], last.asked]).toEqual(['succeeded', { vote: 'no' }, ['vote 2']]);
});

test('answers that a later attempt took up stay refused, and are not asked for again', async () => {
  const store = memoryStore();
  const workflow = voting({}, { retry: { retries: 1, backoff: 'fixed', delayMs: 1 } });
  const first = await run(workflow, { store, runId: 'r', models: saying(['hello', '', '']).models }).result;
  expect(first.outcome).toBe('failed');
  const again = saying(['yes']);
  const second = await run(workflow, { store, resume: 'r', models: again.models }).result;
  expect([second.outcome, second.state['vote'], again.asked.length]).toEqual(['succeeded', 'yes', 1]);
});

test('a refused answer that the workflow allowed is asked for again, too', async () => {
  const store = memoryStore();
  const workflow = voting({}, { onError: 'continue' });
  const first = await run(workflow, { store, runId: 'r', models: saying(['hello', '']).models }).result;
  expect(first.outcome).toBe('degraded');
  const again = saying(['yes']);
  const second = await run(workflow, { store, resume: 'r', models: again.models }).result;
  expect([second.outcome, again.asked]).toEqual(['succeeded', ['vote 1']]);
});
