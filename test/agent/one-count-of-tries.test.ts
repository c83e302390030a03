import { describe, expect, it } from 'vitest';
import { definePlan, estimateCalls, memoryStore, run } from 'skein';
import type { RunOptions, SkeinEvent, Store } from 'skein';
import { chainSum, FIRST_SUM } from '../../src/journal/codec.js';
import type { StoredBatch } from '../../src/journal/store.js';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { quickTime } from '../quick-time.js';
import type { Reply } from './support/fake-provider.js';
import { FakeProvider } from './support/fake-provider.js';

quickTime();

const DOWN: Reply = { status: 503, body: { error: { message: 'later' } } };
const EMPTY: Reply = { text: '' };
const DONE: Reply = { text: 'Done.' };
const LOOK: Reply = { calls: [{ id: 'c1', name: 'no_such_tool', input: '{}' }] };

const QUICK = { retries: 2, backoff: 'fixed', delayMs: 1 } as const;

const agentOf = (...models: string[]) => ({
  name: 'a',
  instructions: ['Write.'],
  models: models.length === 0 ? ['openai/first'] : models,
  tools: [],
});
const work = (more: object = {}) => ({
  id: 'w',
  kind: 'agent' as const,
  agent: agentOf(),
  prompt: ['Write.'],
  output: 'text',
  ...more,
});
const planOf = (...nodes: object[]) => definePlan({ name: 'p', nodes: nodes as never });

interface Ran {
  readonly outcome: string;
  readonly requests: number;
  /** Delays before tries, and before attempts of steps. */
  readonly delays: readonly (readonly [kind: string, ms: number])[];
  readonly models: readonly unknown[];
  readonly error: string | undefined;
}

/** Runs a plan against a server that gives these answers, the last of them for ever. */
async function ranAgainst(
  replies: readonly Reply[],
  plan: ReturnType<typeof planOf>,
  options: RunOptions = {},
): Promise<Ran> {
  await using provider = await FakeProvider.start(...replies);
  const delays: [string, number][] = [];
  const listener = (event: SkeinEvent): void => {
    if (event.type === 'step.retrying') delays.push(['step', event.delayMs]);
    if (event.type === 'step.note' && event.note.kind === 'model.retrying') delays.push(['call', event.note.delayMs]);
  };
  const env = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'sk-test-key' };
  const { outcome, error } = await run(plan, { models: { env }, listeners: [listener], ...options }).result;
  return {
    outcome,
    requests: provider.requests.length,
    delays,
    models: provider.requests.map(({ body }) => body['model']),
    error: error?.code,
  };
}

describe('a step with `retry` whose model fails', () => {
  it('[15.5] `retry: 2` makes three calls and not nine', async () => {
    const ran = await ranAgainst([DOWN], planOf(work({ retry: QUICK })));
    expect(ran).toMatchObject({ outcome: 'failed', requests: 3, error: 'SKEIN_MODEL_FAILED' });
    expect(ran.delays).toEqual([
      ['call', 1],
      ['call', 1],
    ]);
    expect(
      estimateCalls(planOf(work({ agent: { ...agentOf(), maxTurns: 1 }, retry: QUICK })).plan).modelCalls.worst,
    ).toBe(3);
  });

  it('[15.5] makes as many calls as it says, also more than a step without it, and waits as it says', async () => {
    const retry = { retries: 5, backoff: 'exponential', delayMs: 1, maxDelayMs: 5 } as const;
    const ran = await ranAgainst([DOWN], planOf(work({ retry })));
    expect(ran.requests).toBe(6);
    expect(ran.delays.map(([, ms]) => ms)).toEqual([1, 2, 4, 5, 5]);
    expect((await ranAgainst([DOWN], planOf(work({ retry: { ...retry, retries: 0 } })))).requests).toBe(1);
  });

  it('[15.5] does not pay the finished turns of the step again', async () => {
    const ran = await ranAgainst([LOOK, DOWN, DOWN, DONE], planOf(work({ retry: QUICK })));
    expect(ran).toMatchObject({ outcome: 'succeeded', requests: 4 });
    const again = await ranAgainst([LOOK, DOWN, LOOK, DOWN, LOOK, DOWN], planOf(work({ retry: QUICK })));
    // One count for all turns.
    expect(again).toMatchObject({ outcome: 'failed', requests: 6 });
  });

  it('[15.5] has what is left of the count for its other failures, and the other way round', async () => {
    const node = planOf(work({ retry: QUICK }));
    // An empty answer has the whole step done again.
    expect(await ranAgainst([DOWN, EMPTY, DONE], node)).toMatchObject({ outcome: 'succeeded', requests: 3 });
    const mixed = await ranAgainst([DOWN, EMPTY, DOWN, DONE], node);
    expect(mixed).toMatchObject({ outcome: 'failed', requests: 3, error: 'SKEIN_MODEL_FAILED' });
    expect(mixed.delays.map(([kind]) => kind)).toEqual(['call', 'step']);
    const empty = await ranAgainst([DOWN, DOWN, EMPTY, DONE], node);
    expect(empty).toMatchObject({ outcome: 'failed', requests: 3, error: 'SKEIN_MODEL_EMPTY' });
    expect(await ranAgainst([EMPTY, DOWN, DOWN, DONE], node)).toMatchObject({ outcome: 'failed', requests: 3 });
  });

  it('[15.5] has the whole count for each model of its list', async () => {
    const node = work({ agent: agentOf('openai/first', 'openai/second'), retry: { ...QUICK, retries: 1 } });
    const ran = await ranAgainst([DOWN], planOf(node));
    expect(ran).toMatchObject({ outcome: 'failed', models: ['first', 'first', 'second', 'second'] });
    const worst = estimateCalls(planOf({ ...node, agent: { ...node.agent, maxTurns: 1 } }).plan).modelCalls.worst;
    expect(worst).toBe(4);
  });

  it('[15.5] does not count the time between two tries toward its timeout', async () => {
    const node = work({ retry: { ...QUICK, delayMs: 30_000 }, timeoutMs: 25_000 });
    const ran = await ranAgainst([DOWN, DONE], planOf(node));
    expect(ran).toMatchObject({ outcome: 'succeeded', requests: 2, delays: [['call', 30_000]] });
  });

  it('[15.5] [XP9] is tried again only after failures that `on` names', async () => {
    const busy = { status: 429, body: { error: { message: 'slow down' } } };
    const retry = { ...QUICK, on: [503] };
    expect((await ranAgainst([busy, DONE], planOf(work({ retry })))).requests).toBe(1);
    const failing = ({ status }: { status?: number }): boolean => status === 429;
    const decided = planOf(work({ retry: { ...QUICK, on: failing } }));
    expect(await ranAgainst([busy, busy, DONE], decided)).toMatchObject({ outcome: 'succeeded', requests: 3 });
    expect((await ranAgainst([DOWN, DONE], decided)).requests).toBe(1);
  });

  it('[15.5] without it the tries of each turn are three, as ever', async () => {
    const ran = await ranAgainst([DOWN, LOOK, DOWN, DONE], planOf(work()));
    expect(ran).toMatchObject({ outcome: 'succeeded', requests: 4 });
    expect(ran.delays).toEqual([
      ['call', 500],
      ['call', 500],
    ]);
  });
});

describe('a workflow with `retry` around steps without it', () => {
  const inside = planOf(work()).plan;

  it('[15.5] tries the failing call again and nothing else, as often as it says', async () => {
    const node = { id: 'sub', kind: 'call', plan: inside, inputs: {}, retry: { ...QUICK, retries: 3 } };
    const ran = await ranAgainst([DOWN], planOf(node));
    expect(ran).toMatchObject({ outcome: 'failed', requests: 4 });
    expect(ran.delays.map(([kind]) => kind)).toEqual(['call', 'call', 'call']);
    expect(await ranAgainst([DOWN, DOWN, DOWN, DONE], planOf(node))).toMatchObject({
      outcome: 'succeeded',
      requests: 4,
    });
    expect(
      estimateCalls(planOf({ ...node, plan: planOf(work({ agent: { ...agentOf(), maxTurns: 1 } })).plan }).plan)
        .modelCalls.worst,
    ).toBe(4);
  });

  it('[15.5] gives each item of a map the count', async () => {
    const node = {
      id: 'm',
      kind: 'map',
      plan: definePlan({ name: 'i', inputs: ['one'], nodes: [work()] as never }).plan,
      inputs: {},
      over: { channel: 'list', path: [] },
      item: 'one',
      result: 'text',
      output: 'texts',
      maxItems: 2,
      concurrency: 1,
      retry: QUICK,
    };
    const plan = definePlan({ name: 'p', inputs: ['list'], nodes: [node] as never });
    const ran = await ranAgainst([DOWN, DOWN, DONE, DOWN, DOWN, DONE], plan, { inputs: { list: ['x', 'y'] } });
    expect(ran).toMatchObject({ outcome: 'succeeded', requests: 6 });
  });

  it('[15.5] starts a step with a `retry` of its own again, which has its own count', async () => {
    const own = planOf(work({ retry: { ...QUICK, retries: 1 } })).plan;
    const node = { id: 'sub', kind: 'call', plan: own, inputs: {}, retry: { ...QUICK, retries: 1 } };
    expect((await ranAgainst([DOWN], planOf(node))).requests).toBe(4);
  });
});

describe('a recorded step with `retry`', () => {
  const plan = planOf(work({ retry: QUICK }));

  async function recordedRun(replies: readonly Reply[], store: Store, resume?: string): Promise<Ran> {
    return await ranAgainst(replies, plan, { store, ...(resume === undefined ? { runId: 'one' } : { resume }) });
  }

  it('[15.5] goes on with its count after a crash at any record', async () => {
    const whole = memoryStore();
    expect(await recordedRun([DOWN, EMPTY, DOWN], whole)).toMatchObject({ outcome: 'failed', requests: 3 });
    const prefixes = prefixesOf('one', whole.read('one')).filter(
      ({ lines }) => !lines.some((line) => line.includes('"t":"end"')),
    );
    expect(prefixes.length).toBeGreaterThan(5);
    for (const { name, batches, lines } of prefixes) {
      const left = [DOWN, EMPTY, DOWN].slice(lines.filter((line) => /"t":"done".*@model#/.test(line)).length);
      const { outcome, requests } = await recordedRun([...left, DONE], storeWith('one', batches, whole), 'one');
      expect([name, outcome, requests]).toEqual([name, 'failed', left.length]);
    }
  });

  it('[15.5] makes the last try again when a run that failed is resumed', async () => {
    const store = memoryStore();
    expect(await recordedRun([LOOK, DOWN], store)).toMatchObject({ outcome: 'failed', requests: 4 });
    expect(await recordedRun([DOWN], store, 'one')).toMatchObject({ outcome: 'failed', requests: 1 });
    expect(await recordedRun([DONE], store, 'one')).toMatchObject({ outcome: 'succeeded', requests: 1 });
  });

  it('[15.5] uses what a record has where the whole step was tried again for a call that would be made again by itself now', async () => {
    const whole = memoryStore();
    const refused: Reply = { status: 400, body: { error: { message: 'no' } } };
    const edited = planOf(work({ retry: { ...QUICK, on: 'any' } }));
    const first = await ranAgainst([refused, DONE], edited, { store: whole, runId: 'one' });
    expect(first.delays).toEqual([['step', 1]]);
    // As if the server had said 503.
    const batches: StoredBatch[] = [];
    for (const { seq, text } of prefixesOf('one', whole.read('one')).at(-2)?.batches ?? []) {
      const changed = text.replaceAll('"details":{"status":400}', '"details":{"status":503},"retryable":true');
      batches.push({ seq, text: changed, sum: chainSum(batches.at(-1)?.sum ?? FIRST_SUM, 'one', seq, changed) });
    }
    expect(batches.map(({ text }) => text).join('\n')).toContain('"retryable":true');
    const ran = await ranAgainst([DOWN], edited, { store: storeWith('one', batches, whole), resume: 'one' });
    expect(ran).toMatchObject({ outcome: 'succeeded', requests: 0 });
  });

  it('[15.5] keeps a next try that is recorded when its `retry` was taken away since', async () => {
    const whole = memoryStore();
    await recordedRun([DOWN, DOWN, DONE], whole);
    const crashed = prefixesOf('one', whole.read('one')).findLast(
      ({ lines }) => !lines.some((line) => line.includes('model#1.3')),
    );
    const edited = planOf(work({ retry: { ...QUICK, retries: 0 } }));
    const ran = await ranAgainst([DONE], edited, {
      store: storeWith('one', crashed?.batches ?? [], whole),
      resume: 'one',
    });
    expect(ran).toMatchObject({ outcome: 'succeeded', requests: 1 });
  });
});

it('[15.5] a supervised step has the whole count in each of its attempts', async () => {
  const commit = { text: '{"interpretation":"x","plan":["y"],"outputs":["z"],"confidence":"high"}' };
  const replies = [DOWN, commit, DOWN, DONE];
  const node = work({ retry: { ...QUICK, retries: 1 }, supervise: { by: 'human' } });
  const answers = ['revise: shorter', 'approve'];
  let asked = 0;
  const post = { text: '{"metCommitment":false,"deviations":[],"confidence":"low"}' };
  const options: RunOptions = { answer: () => Promise.resolve(answers[asked++]) };
  const ran = await ranAgainst([...replies, DOWN, post, DOWN, DONE, DOWN, post], planOf(node), options);
  expect(ran).toMatchObject({ outcome: 'succeeded', requests: 10 });
  expect(asked).toBe(2);
});
