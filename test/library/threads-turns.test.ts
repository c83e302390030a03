import { describe, expect, it } from 'vitest';
import {
  answerRun,
  cancelRun,
  definePlan,
  getThread,
  listThreads,
  memoryStore,
  pruneRuns,
  run,
  updateThread,
} from 'skein';
import type { RunOptions, RunResult, Store } from 'skein';
import { graph } from 'skein/graph';
import { z } from 'zod';
import { rejected } from '../thrown.js';

/** Fails where it is told to, until the world has mended. */
const world = { broken: true };
const fragile = definePlan({
  name: 'fragile',
  inputs: ['say'],
  channels: { log: 'append' },
  nodes: [
    { id: 'hear', run: ({ say }) => ({ log: `heard ${String(say)}` }) },
    {
      id: 'act',
      run: ({ say }) => {
        if (say === 'bad' && world.broken) throw new Error('the world is broken');
        return { log: `did ${String(say)}` };
      },
    },
  ],
  edges: [['hear', 'act']],
});

const asking = definePlan({
  name: 'asking',
  inputs: ['say'],
  channels: { log: 'append' },
  nodes: [
    { id: 'hear', run: ({ say }) => ({ log: String(say) }) },
    { id: 'sure', kind: 'ask', output: 'answer', question: 'Are you sure?' },
    { id: 'done', run: ({ answer }) => ({ log: String(answer) }) },
  ],
  edges: [['hear', 'sure', 'done']],
});

function turn(store: Store, say: string, more: Partial<RunOptions['thread'] & object> = {}): Promise<RunResult> {
  return run(fragile, { store, thread: { id: 'one', ...more }, inputs: { say } }).result;
}

describe('[XG6] a turn that failed', () => {
  it('does not count: the next one goes on from the last that worked, unless it is tried again first', async () => {
    const store = memoryStore();
    world.broken = true;
    await turn(store, 'a');
    expect((await turn(store, 'bad')).outcome).toBe('failed');
    const { state } = await turn(store, 'b');
    expect(state['log']).toEqual(['heard a', 'did a', 'heard b', 'did b']);
    expect((await turn(store, 'bad')).outcome).toBe('failed');
    const again = await rejected(() => turn(store, 'c', { onFailed: 'retry' }));
    expect([again.code, again.message]).toEqual([
      'SKEIN_THREAD',
      "turn 4 of the thread 'one' was tried again, and failed: the world is broken",
    ]);
    world.broken = false;
    const mended = await turn(store, 'c', { onFailed: 'retry' });
    expect((mended.state['log'] as string[]).slice(4)).toEqual(['heard bad', 'did bad', 'heard c', 'did c']);
    const { turns } = getThread(store, 'one');
    expect(turns.map(({ turn: at, status, counts }) => [at, status, counts])).toEqual([
      [1, 'succeeded', true],
      [2, 'failed', false],
      [3, 'succeeded', true],
      [4, 'succeeded', true],
      [5, 'succeeded', true],
    ]);
    expect(turns[1]?.error?.message).toBe('the world is broken');
  });

  it('may be resumed by itself while it is the last, and then counts; one that others came after is no part of the thread any more', async () => {
    const store = memoryStore();
    world.broken = true;
    await turn(store, 'a');
    const failed = await turn(store, 'bad');
    world.broken = false;
    const resumed = await run(fragile, { store, resume: failed.runId }).result;
    expect([resumed.outcome, resumed.state['log']]).toEqual([
      'succeeded',
      ['heard a', 'did a', 'heard bad', 'did bad'],
    ]);
    const { state, turns } = getThread(store, 'one');
    expect(state).toEqual(resumed.state);
    expect(turns.at(-1)).toMatchObject({ status: 'succeeded', counts: true });
    expect(turns.at(-1)).not.toHaveProperty('error');
    world.broken = true;
    const other = await turn(store, 'bad');
    await turn(store, 'b');
    const before = getThread(store, 'one').state;
    world.broken = false;
    const late = await run(fragile, { store, resume: other.runId }).result;
    expect(late.outcome).toBe('succeeded');
    expect((late.state['log'] as string[]).slice(4)).toEqual(['heard bad', 'did bad']);
    expect(getThread(store, 'one').state).toEqual(before);
  });

  it('and is pruned is passed over, also when it is to be tried again', async () => {
    const store = memoryStore();
    world.broken = true;
    await turn(store, 'a');
    await turn(store, 'bad');
    expect(pruneRuns(store, { keep: 0 }).removed).toHaveLength(2);
    const { outcome, state } = await turn(store, 'b', { onFailed: 'retry' });
    expect([outcome, state['log']]).toEqual(['succeeded', ['heard a', 'did a', 'heard b', 'did b']]);
  });

  it('because it was cancelled does not count either', async () => {
    const store = memoryStore();
    await turn(store, 'a');
    const stop = new AbortController();
    const slow = definePlan({
      name: 'fragile',
      inputs: ['say'],
      channels: { log: 'append' },
      nodes: [{ id: 'hear', run: () => new Promise(() => stop.abort(new Error('enough'))) }],
    });
    const cancelled = await run(slow, { store, thread: 'one', inputs: { say: 'x' }, signal: stop.signal }).result;
    expect(cancelled.outcome).toBe('cancelled');
    const { state } = await turn(store, 'b');
    expect(state['log']).toEqual(['heard a', 'did a', 'heard b', 'did b']);
    expect(getThread(store, 'one').turns.map(({ status }) => status)).toEqual(['succeeded', 'cancelled', 'succeeded']);
  });
});

describe('[XG6] a turn that is degraded', () => {
  it('counts, and while it is the last, what a resume of its run leaves takes its place, unless that fails', async () => {
    const store = memoryStore();
    let missing = ['b'];
    const each = definePlan({
      name: 'each',
      inputs: ['item'],
      nodes: [
        {
          id: 'get',
          output: 'got',
          run: ({ item }) => {
            if (missing.includes(String(item))) throw new Error(`no ${String(item)}`);
            return `got ${String(item)}`;
          },
        },
      ],
    });
    const flow = definePlan({
      name: 'fetching',
      inputs: ['say'],
      channels: { log: 'extend' },
      nodes: [
        { id: 'list', output: 'items', run: ({ say }) => [say, 'b'] },
        {
          id: 'all',
          kind: 'map',
          plan: each,
          over: { channel: 'items' },
          item: 'item',
          result: 'got',
          output: 'log',
          maxItems: 2,
          onItemError: 'continue',
        },
      ],
      edges: [['list', 'all']],
    });
    const first = await run(flow, { store, thread: 'one', inputs: { say: 'a' } }).result;
    expect([first.outcome, getThread(store, 'one').state['log']]).toEqual(['degraded', ['got a', null]]);
    const stopped = new AbortController();
    stopped.abort();
    await run(flow, { store, resume: first.runId, signal: stopped.signal }).result.catch(() => undefined);
    expect(getThread(store, 'one').state['log']).toEqual(['got a', null]);
    missing = [];
    expect((await run(flow, { store, resume: first.runId }).result).outcome).toBe('succeeded');
    expect(getThread(store, 'one').state['log']).toEqual(['got a', 'got b']);
    const { state } = await run(flow, { store, thread: 'one', inputs: { say: 'c' } }).result;
    expect(state['log']).toEqual(['got a', 'got b', 'got c', 'got b']);
    expect(getThread(store, 'one').turns.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  });
});

describe('[XG6] a turn that waits for an answer', () => {
  it('keeps the next one from beginning, which says which question is open; answered, it is gone on with first', async () => {
    const store = memoryStore();
    const say = (text: string): Promise<RunResult> =>
      run(asking, { store, thread: 'one', inputs: { say: text } }).result;
    const paused = await say('a');
    expect(paused.outcome).toBe('paused');
    const refused = await rejected(() => say('b'));
    expect([refused.code, refused.message]).toEqual([
      'SKEIN_QUESTION',
      "turn 1 of the thread 'one' waits for an answer: Are you sure?",
    ]);
    expect(refused.details).toMatchObject({ run: paused.runId, questions: [{ question: 'Are you sure?' }] });
    const { questions, turns } = getThread(store, 'one');
    expect([questions[0]?.question, turns[0]?.status]).toEqual(['Are you sure?', 'paused']);
    answerRun(store, paused.runId, { value: 'yes' });
    const next = await say('b');
    expect(next.outcome).toBe('paused');
    expect(next.state['log']).toEqual(['a', 'yes', 'b']);
    answerRun(store, next.runId, { value: 'sure' });
    const { state } = await run(asking, { store, resume: next.runId }).result;
    expect(state['log']).toEqual(['a', 'yes', 'b', 'sure']);
    expect(getThread(store, 'one')).toMatchObject({ state, questions: [] });
  });

  it('and is cancelled from outside waits for nothing any more: the state may be edited, and it does not count', async () => {
    const store = memoryStore();
    await turn(store, 'a');
    const paused = await run(
      { ...asking, plan: { ...asking.plan, name: 'fragile' } },
      {
        store,
        thread: 'one',
        inputs: { say: 'b' },
      },
    ).result;
    const who = { who: 'ada', why: 'the question was moot' };
    const early = await rejected(() => updateThread(store, 'one', { log: ['(noted)'] }, who));
    expect(early.code).toBe('SKEIN_THREAD');
    cancelRun(store, paused.runId);
    expect(getThread(store, 'one').questions).toEqual([]);
    updateThread(store, 'one', { log: ['(noted)'] }, who);
    const { turns, edits, state } = getThread(store, 'one');
    expect(turns.map(({ status, counts }) => [status, counts])).toEqual([
      ['succeeded', true],
      ['cancelled', false],
    ]);
    expect([edits.map(({ after }) => after), state['log']]).toEqual([[2], ['heard a', 'did a', '(noted)']]);
    expect((await turn(store, 'c')).state['log']).toEqual(['heard a', 'did a', '(noted)', 'heard c', 'did c']);
  });
});

describe('[XG6] a turn that is refused', () => {
  const statusOf = (store: Store): string | undefined => listThreads(store)[0]?.status;

  it('leaves the status of the thread as it was', async () => {
    const store = memoryStore();
    world.broken = false;
    const { runId } = await turn(store, 'a');
    const again = run(fragile, { store, thread: 'one', runId, inputs: { say: 'a' } });
    expect((await rejected(() => again.result)).code).toBe('SKEIN_RUN_EXISTS');
    expect(statusOf(store)).toBe('succeeded');
    expect((await rejected(() => run(fragile, { store, thread: 'one', inputs: { sya: 'b' } }).result)).code).toBe(
      'SKEIN_INPUT',
    );
    expect(statusOf(store)).toBe('succeeded');
    const say = (): Promise<RunResult> => run(asking, { store, thread: 'two', inputs: { say: 'a' } }).result;
    await say();
    expect((await rejected(say)).code).toBe('SKEIN_QUESTION');
    expect(statusOf(store)).toBe('paused');
  });
});

describe('[XG6] two turns at once', () => {
  it('run one after the other, in the order in which they were begun; or the second is refused', async () => {
    const store = memoryStore();
    world.broken = false;
    const results = await Promise.all(['a', 'b', 'c', 'd'].map((say) => turn(store, say)));
    expect(results.at(-1)?.state['log']).toEqual(['a', 'b', 'c', 'd'].flatMap((say) => [`heard ${say}`, `did ${say}`]));
    const first = turn(store, 'e');
    const refused = await rejected(() => turn(store, 'f', { onBusy: 'refuse' }));
    expect([refused.code, refused.message]).toEqual([
      'SKEIN_LEASE',
      "the thread 'one' is busy: another turn of it runs",
    ]);
    expect((await first).outcome).toBe('succeeded');
    expect((await turn(store, 'f', { onBusy: 'refuse' })).outcome).toBe('succeeded');
  });

  it('may be cancelled while they wait, and the others go on', async () => {
    const store = memoryStore();
    const first = turn(store, 'a');
    const waiting = run(fragile, { store, thread: 'one', inputs: { say: 'b' } });
    waiting.cancel('not needed');
    const third = turn(store, 'c');
    expect((await rejected(() => waiting.result)).code).toBe('SKEIN_CANCELLED');
    expect((await first).outcome).toBe('succeeded');
    expect((await third).state['log']).toHaveLength(4);
  });
});

describe('[XG6] a thread of a workflow that is another one now', () => {
  const inputs = { say: 'x' };

  it('is refused when they share neither name nor step; an edited one goes on', async () => {
    const store = memoryStore();
    await turn(store, 'a');
    const other = definePlan({ name: 'other', inputs: ['say'], nodes: [{ id: 'else', run: () => ({}) }] });
    const refused = await rejected(() => run(other, { store, thread: 'one', inputs }).result);
    expect([refused.code, refused.message]).toEqual([
      'SKEIN_THREAD',
      "the thread 'one' is one of the workflow 'fragile', which has no step in common with 'other'",
    ]);
    const renamed = definePlan({
      name: 'other',
      inputs: ['say'],
      channels: { log: 'append' },
      nodes: [{ id: 'hear', run: () => ({ log: 'new' }) }],
    });
    const { outcome, state } = await run(renamed, { store, thread: 'one', inputs }).result;
    expect([outcome, state['log']]).toEqual(['succeeded', ['heard a', 'did a', 'new']]);
    expect(getThread(store, 'one').workflow).toBe('other');
  });

  it('goes on without the keys that it does not have any more, and says so', async () => {
    const store = memoryStore();
    const before = graph({ name: 'g', state: { a: z.string(), b: z.string() } })
      .addNode('step', () => ({ a: 'a', b: 'b' }))
      .setEntry('step');
    const after = graph({ name: 'g', state: { a: z.string() } })
      .addNode('step', ({ a }) => ({ a: `${a}!` }))
      .setEntry('step');
    await before.run({}, { store, thread: 'one' });
    const { state, events } = await after.run({}, { store, thread: 'one' });
    expect(state).toEqual({ a: 'a!' });
    const said = events.filter(({ type }) => type === 'warning').map(({ metadata }) => metadata['message']);
    expect(said).toEqual(["the workflow has no 'b' any longer: the thread 'one' continues without it"]);
    expect((await after.run({}, { store, thread: 'one' })).state).toEqual({ a: 'a!!' });
  });

  it.each([
    ['a schema', { state: { a: z.number() } }, /a/],
    ['a reducer', { state: { a: z.any() }, reducers: { a: 'append' } }, /not a valid value for the reducer 'append'/],
  ] as const)('is refused when a value does not fit %s', async (_, settings, message) => {
    const store = memoryStore();
    const before = graph({ name: 'g', state: { a: z.string() } })
      .addNode('step', () => ({ a: 'text' }))
      .setEntry('step');
    await before.run({}, { store, thread: 'one' });
    const after = graph({ name: 'g', ...settings } as never)
      .addNode('step', () => ({}))
      .setEntry('step');
    const refused = await rejected(() => after.run({}, { store, thread: 'one' }));
    expect([refused.code, refused.message]).toEqual(['SKEIN_THREAD', expect.stringMatching(message)]);
    expect(getThread(store, 'one').turns).toHaveLength(1);
    expect((await before.run({}, { store, thread: 'one' })).outcome).toBe('succeeded');
  });
});
