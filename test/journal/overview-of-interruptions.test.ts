import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { answerRun } from '../../src/journal/answering.js';
import { chainSum, encodeRecord } from '../../src/journal/codec.js';
import { readMoments, readRun } from '../../src/journal/overview.js';
import type { JournalRecord } from '../../src/journal/record.js';
import type { Holder, Store } from '../../src/journal/store.js';
import { definePlan } from '../../src/plan/builder.js';
import { memoryStore } from '../../src/stores/memory.js';
import { thisProcess } from '../../src/stores/holder.js';
import { record } from './support/recorded-runs.js';

const ELSEWHERE: Holder = { id: 'x', host: 'elsewhere', pid: 1 };

const SENDING = definePlan({
  name: 'sending',
  nodes: [
    { id: 'send', effect: 'once', output: 'sent', run: () => 'sent' },
    { id: 'tell', output: 'told', run: () => 'told' },
  ],
  edges: [['send', 'tell']],
});

/** A run that began and of which these records were written before its process died. */
function died(holder: Holder, ...more: readonly JournalRecord[]): Store {
  const store = memoryStore();
  const now = Date.now();
  const lease = store.create({ id: 'r', name: 'sending', createdAt: now }, holder, now);
  const plan = { value: SENDING.plan as never };
  const begin: JournalRecord = {
    t: 'begin',
    at: now,
    run: 'r',
    name: 'sending',
    seed: 'r',
    plan,
    code: {},
    inputs: { value: {} },
    origin: {},
  };
  const text = [begin, { t: 'open', at: now, fence: 1 } as const, ...more].map(encodeRecord).join('\n');
  store.append([{ lease, seq: 0, text, sum: chainSum('', 'r', 0, text) }]);
  return store;
}

test('a run whose process is known to be dead is interrupted while its lease is still good', () => {
  const { pid } = spawnSync(process.execPath, ['-e', '0']);
  expect(readRun(died({ ...thisProcess(), id: 'dead', pid }), 'r').status).toBe('interrupted');
  expect(readRun(died(thisProcess()), 'r').status).toBe('running');
});

test('what became of an effect is asked of its step, and is no end of it', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '0']);
  const store = died({ ...thisProcess(), id: 'dead', pid }, { t: 'start', at: Date.now(), key: 'send' });
  expect(readRun(store, 'r').steps).toMatchObject([{ path: 'send', outcome: 'interrupted' }]);
  expect((await record(store, SENDING, { resume: 'r' })).outcome).toBe('paused');
  const { questions, steps, sessions } = readRun(store, 'r');
  expect(questions).toMatchObject([{ key: 'send@outcome', path: 'send', choices: ['run it', 'it was done', 'fail'] }]);
  expect(steps).toMatchObject([{ path: 'send', outcome: 'paused' }]);
  expect(sessions.map((session) => session.status)).toEqual(['interrupted', 'paused']);
  expect(answerRun(store, 'r', { key: 'send', text: '1' }).value).toBe('run it');
  expect((await record(store, SENDING, { resume: 'r' })).outcome).toBe('succeeded');
  expect(readRun(store, 'r', { outputs: true }).steps).toMatchObject([
    { path: 'send', outcome: 'succeeded', output: 'sent' },
    { path: 'tell', outcome: 'succeeded' },
  ]);
  const told = readMoments(store, 'r').map((moment) => moment.text);
  expect(told).toContain('the process that ran it died');
  expect(told).toContain('answered by the program: "run it"');
});

test('a torn tail is told, and what is before it is shown', () => {
  const store = died(ELSEWHERE, { t: 'done', at: Date.now(), key: 'send', value: { sent: 'sent' } });
  store.append([{ lease: { runId: 'r', fence: 1 }, seq: 1, text: '{"v":1,"t":"do', sum: 'torn' }]);
  const { cut, steps } = readRun(store, 'r');
  expect(cut).toContain('batch 1');
  expect(steps).toMatchObject([{ path: 'send', outcome: 'succeeded' }]);
});

test('an agent that asked and was answered by another process ends with its last turn, and pays for each turn once', async () => {
  const plan = definePlan({
    name: 'asking',
    nodes: [
      {
        id: 'ask',
        kind: 'agent',
        prompt: 'Ask',
        output: 'x',
        agent: { tools: [], interactive: true, models: ['test/asker'] },
      },
    ],
  });
  const asker = () => ({
    id: 'test/asker',
    async *stream({ messages }: { readonly messages: readonly { readonly role: string }[] }) {
      await Promise.resolve();
      const answered = messages.some((message) => message.role === 'tool');
      const call = { id: 'c', name: 'ask_user', input: '{"question":"Which?","choices":["red","blue"]}' };
      if (answered) yield { type: 'text', text: 'done' } as const;
      else yield { type: 'tool-call', call } as const;
      yield {
        type: 'finish',
        reason: answered ? 'stop' : 'tool-calls',
        usage: { inputTokens: 10, outputTokens: 1 },
      } as const;
    },
  });
  const store = memoryStore();
  const models = { env: {}, noProbe: true, providers: { test: asker } };
  const { id, outcome } = await record(store, plan, { models });
  expect(outcome).toBe('paused');
  expect(readRun(store, id)).toMatchObject({
    questions: [{ path: 'ask', question: 'Which?' }],
    steps: [{ outcome: 'paused' }],
  });
  expect(answerRun(store, id, { text: '2' }).value).toBe('blue');
  expect((await record(store, plan, { resume: id, models })).outcome).toBe('succeeded');
  expect(readRun(store, id, { outputs: true })).toMatchObject({
    usage: { inputTokens: 20, outputTokens: 2 },
    questions: [],
    steps: [{ path: 'ask', outcome: 'succeeded', modelCalls: 2, output: 'done' }],
  });
});
