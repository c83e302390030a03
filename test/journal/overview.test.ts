import { describe, expect, test } from 'vitest';
import { FIRST_SUM, chainSum, encodeRecord } from '../../src/journal/codec.js';
import { readMoments, readRun } from '../../src/journal/overview.js';
import { listRuns } from '../../src/journal/run-list.js';
import type { JournalRecord } from '../../src/journal/record.js';
import type { Store } from '../../src/journal/store.js';
import { LEASE_MS } from '../../src/journal/store.js';
import { definePlan } from '../../src/plan/builder.js';
import { memoryStore } from '../../src/stores/memory.js';
import { chain, lookingModel, record } from './support/recorded-runs.js';
import { thrown } from '../thrown.js';

function outcomes(store: Store, id: string): Readonly<Record<string, string>> {
  return Object.fromEntries(readRun(store, id).steps.map((step) => [step.path, step.outcome]));
}

describe('the overview of a run', () => {
  test('names the steps in the order in which they began, with kinds and outputs', async () => {
    const store = memoryStore();
    const { id } = await record(store, chain('a', 'b'), { origin: { file: 'x.yaml' } });
    const overview = readRun(store, id, { outputs: true });
    expect(overview).toMatchObject({
      id,
      name: 'chain',
      status: 'succeeded',
      modelCalls: 0,
      origin: { file: 'x.yaml' },
    });
    expect(overview.steps).toMatchObject([
      { path: 'a', node: 'a', kind: 'task', outcome: 'succeeded', attempts: 1, output: 'a done' },
      { path: 'b', outcome: 'succeeded', output: 'b done' },
    ]);
    expect(overview.census?.succeeded).toBe(2);
    expect(overview.sessions).toHaveLength(1);
    expect(readRun(store, id).steps[0]).not.toHaveProperty('output');
  });

  test('counts turns, tokens, models and tool calls of agents', async () => {
    const store = memoryStore();
    const plan = definePlan({
      name: 'agents',
      nodes: [
        {
          id: 'look',
          kind: 'agent',
          prompt: 'Look',
          output: 'seen',
          agent: { tools: ['list_dir'], models: ['test/looker'] },
        },
      ],
    });
    const { id } = await record(store, plan, { models: { env: {}, noProbe: true, providers: { test: lookingModel } } });
    const overview = readRun(store, id, { outputs: true });
    const usage = { inputTokens: 300, outputTokens: 20 };
    expect(overview.steps).toMatchObject([
      { path: 'look', kind: 'agent', outcome: 'succeeded', modelCalls: 2, toolCalls: 1, usage, output: 'all is well' },
    ]);
    expect(overview).toMatchObject({
      usage,
      modelCalls: 2,
      toolCalls: 1,
      models: [{ model: 'test/looker', calls: 2, usage }],
    });
    const told = readMoments(store, id).map((moment) => `${moment.kind} ${moment.text}`);
    expect(told).toEqual([
      'session the run began',
      'model test/looker: 100 tokens in, 10 out, cost unknown, calls list_dir',
      'tool tool list_dir done',
      'model test/looker: 200 tokens in, 10 out, cost unknown',
      'step succeeded',
      'session the session ended succeeded: 1 succeeded',
    ]);
  });

  test('says what failed after how many attempts, what was skipped, and what a resume made of it', async () => {
    const store = memoryStore();
    let broken = true;
    const plan = definePlan({
      name: 'trouble',
      nodes: [
        { id: 'a', output: 'a', run: () => 1 },
        { id: 'off', output: 'off', when: () => false, run: () => 1 },
        {
          id: 'b',
          output: 'b',
          retry: { retries: 1, backoff: 'fixed', delayMs: 1, on: 'any' },
          run: () => {
            if (broken) throw new Error('no luck');
            return 2;
          },
        },
      ],
      edges: [['a', 'b']],
    });
    const { id } = await record(store, plan);
    expect(outcomes(store, id)).toEqual({ a: 'succeeded', off: 'skipped', b: 'failed' });
    const failed = readRun(store, id).steps.find((step) => step.path === 'b');
    expect(failed).toMatchObject({ attempts: 2, error: { message: 'no luck' } });
    expect(readRun(store, id)).toMatchObject({ status: 'failed', error: { message: 'no luck' } });
    expect(readMoments(store, id).map((moment) => moment.text)).toContainEqual(
      expect.stringMatching(/^tries again .*no luck$/),
    );

    broken = false;
    await record(store, plan, { resume: id });
    const after = readRun(store, id);
    expect(outcomes(store, id)).toEqual({ a: 'succeeded', off: 'skipped', b: 'succeeded' });
    expect(after.status).toBe('succeeded');
    expect(after.error).toBeUndefined();
    expect(after.sessions.map((session) => session.status)).toEqual(['failed', 'succeeded']);
    expect(after.ms).toBeLessThanOrEqual((after.endedAt ?? 0) - after.beganAt);
  });

  test('shows what a paused run waits for, inside of maps too', async () => {
    const store = memoryStore();
    const asking = definePlan({
      name: 'asking',
      inputs: ['it'],
      nodes: [{ id: 'publish', kind: 'ask', question: 'Publish {{ it }}?', output: 'verdict' }],
    });
    const plan = definePlan({
      name: 'many',
      inputs: ['list'],
      nodes: [
        {
          id: 'each',
          kind: 'map',
          plan: asking,
          over: { channel: 'list' },
          item: 'it',
          result: 'verdict',
          maxItems: 5,
          output: 'all',
        },
      ],
    });
    const { id } = await record(store, plan, { inputs: { list: ['x', 'y'] } });
    const { questions, status, steps } = readRun(store, id);
    expect(status).toBe('paused');
    expect(questions.map((pause) => [pause.key, pause.path, pause.name, pause.question])).toEqual([
      ['each[0]/publish@answer', 'each[0]/publish', 'publish', 'Publish x?'],
      ['each[1]/publish@answer', 'each[1]/publish', 'publish', 'Publish y?'],
    ]);
    expect(steps.find((step) => step.path === 'each[1]/publish')).toMatchObject({ kind: 'ask', outcome: 'paused' });
  });

  test('a fork names the run that its steps were taken from, and not what was to be forgotten', async () => {
    const store = memoryStore();
    const parent = await record(store, chain('a', 'b', 'c'));
    const fork = await record(store, chain('a', 'b', 'c'), { fork: { run: parent.id, forget: ['b'] } });
    const { steps, parent: from } = readRun(store, fork.id);
    expect(from).toEqual({ id: parent.id, forgotten: ['b'] });
    expect(steps.find((step) => step.path === 'a')?.from).toBe(parent.id);
    expect(steps.find((step) => step.path === 'b')).toMatchObject({ outcome: 'succeeded' });
    expect(steps.find((step) => step.path === 'b')?.from).toBeUndefined();
  });

  test('a fork with another definition takes no steps that it does not have', async () => {
    const store = memoryStore();
    const parent = await record(store, chain('a', 'b', 'c'));
    const fork = await record(store, chain('a', 'd'), { fork: { run: parent.id } });
    expect(readRun(store, fork.id).steps.map((step) => step.path)).toEqual(['a', 'd']);
  });
});

describe('a run whose process died', () => {
  const begin = (id: string): readonly JournalRecord[] => [
    {
      t: 'begin',
      at: 1_000,
      run: id,
      name: 'chain',
      seed: id,
      plan: { value: chain('a', 'b').plan as never },
      code: {},
      inputs: { value: {} },
      origin: {},
    },
    { t: 'open', at: 1_000, fence: 1 },
    { t: 'done', at: 1_200, key: 'a', ms: 150, value: { a: 1 } },
    { t: 'start', at: 1_300, key: 'b' },
  ];

  function died(id: string): Store {
    const store = memoryStore();
    const lease = store.create({ id, name: 'chain', createdAt: 1_000 }, { id: 'x', host: 'elsewhere', pid: 1 }, 1_000);
    const text = begin(id).map(encodeRecord).join('\n');
    store.append([{ lease, seq: 0, text, sum: chainSum(FIRST_SUM, id, 0, text) }]);
    return store;
  }

  test('is running as long as its lease is good, then interrupted; so are the steps that had no end', () => {
    const store = died('r');
    const [before, after] = [readRun(store, 'r', { now: 2_000 }), readRun(store, 'r', { now: 1_001 + LEASE_MS })];
    expect(before).toMatchObject({
      status: 'running',
      ms: 1_000,
      steps: [
        { path: 'a', ms: 150 },
        { path: 'b', outcome: 'running' },
      ],
    });
    expect(after).toMatchObject({ status: 'interrupted', ms: 300, endedAt: 1_300 });
    expect(after.steps[1]).toMatchObject({ outcome: 'interrupted' });
  });

  test('is in the list, and so is one whose record is damaged, with what is the matter', async () => {
    const store = died('r');
    store.create({ id: 'empty', name: 'lost', createdAt: 5_000 }, { id: 'x', host: 'elsewhere', pid: 1 }, 5_000);
    const { id } = await record(store, chain('a'));
    expect(listRuns(store).map((run) => [run.id, run.status, run.steps])).toEqual([
      [id, 'succeeded', 1],
      ['empty', 'interrupted', 0],
      ['r', 'interrupted', 1],
    ]);
    expect(listRuns(store)[1]?.problem).toContain('empty');
    expect(listRuns(store, 1)).toHaveLength(1);
  });

  test('a run that is not there is refused', () => {
    expect(thrown(() => readRun(memoryStore(), 'nobody')).code).toBe('SKEIN_NO_RUN');
  });
});
