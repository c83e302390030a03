import { describe, expect, it } from 'vitest';
import { getThread, listRuns, memoryStore, readRun, SkeinError } from 'skein';
import type { Store } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import type { GuideOf, GraphRunOptions } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels } from './support-agents.js';

interface State {
  task: string;
  talk?: readonly { role: string; text?: string }[];
  spent?: number;
  after?: string;
}

/** A conversation of which all turns together may make so many calls. Each turn looks around twice, then answers. */
function bounded(most: number) {
  const choice: GuideOf = ({ state }) => {
    const { spent = 0 } = state as { spent?: number };
    return {
      before: ({ toolCalls }) =>
        spent + toolCalls >= most ? new SkeinError('SKEIN_BUDGET', `${most} calls are used up`) : undefined,
      isOver: () => false,
      end: ({ toolCalls }) => ({ goto: 'after', writes: { spent: spent + toolCalls } }),
    };
  };
  const looked: string[] = [];
  const look = tool({
    name: 'look',
    inputSchema: { type: 'object', properties: { at: { type: 'number' } } },
    effect: 'read',
    execute: ({ at }) => {
      looked.push(String(at));
      return 'seen';
    },
  });
  const { models, requests } = ownModels({
    m: ({ caller: { turn } }) => (turn < 3 ? { calls: [['look', { at: turn }]] } : 'Found.'),
  });
  // The functions of two bounds have the same source: what they close over can't be seen.
  const flow = graph<State>({ reducers: { talk: 'extend' } })
    .node(
      'search',
      agentNode(agent({ name: 'search', model: 'own/m', tools: [look] }), { choice, conversation: 'talk' }),
      {
        goto: ['after'],
      },
    )
    .node('after', () => 'went on')
    .setEntry('search');
  const run = (options: GraphRunOptions, task?: string) =>
    flow.run(task === undefined ? {} : { task }, { models, ...options });
  return { run, requests, looked };
}

describe('a recorded run that is out of budget', () => {
  it('says so wherever it is looked at', async () => {
    const store = memoryStore();
    const { runId, outcome } = await bounded(1).run({ store }, 'x');
    expect(outcome).toBe('out_of_budget');
    expect(listRuns(store).map(({ id, status }) => [id, status])).toEqual([[runId, 'out_of_budget']]);
    const { status, census, error, steps } = readRun(store, runId);
    expect([status, error?.code, census]).toMatchObject([
      'out_of_budget',
      'SKEIN_BUDGET',
      { out_of_budget: 1, failed: 0, notRun: 1 },
    ]);
    expect(steps).toMatchObject([
      { path: 'search', outcome: 'out_of_budget', error: { message: '1 calls are used up' }, toolCalls: 1 },
    ]);
  });

  it('continues at the first call that is not recorded when the bound is raised, and else ends as before', async () => {
    const store = memoryStore();
    const { runId } = await bounded(1).run({ store }, 'x');
    const same = bounded(1);
    const again = await same.run({ store, resume: runId });
    expect([again.outcome, same.requests.length, same.looked]).toEqual(['out_of_budget', 0, []]);
    const raised = bounded(9);
    const { outcome, state } = await raised.run({ store, resume: runId });
    expect([outcome, state.after, state.spent, raised.requests.length, raised.looked]).toEqual([
      'succeeded',
      'went on',
      2,
      2,
      ['2'],
    ]);
  });

  it('is forked with a higher bound, and repeats nothing', async () => {
    const store = memoryStore();
    const { runId } = await bounded(1).run({ store }, 'x');
    const raised = bounded(9);
    const { outcome } = await raised.run({ store, fork: { run: runId } });
    expect([outcome, raised.requests.length, raised.looked]).toEqual(['succeeded', 2, ['2']]);
  });

  it('ends the same after any crash, and repeats no call', async () => {
    const store = memoryStore();
    const { runId, state } = await bounded(2).run({ store }, 'x');
    for (const { batches, lines } of prefixesOf(runId, store.read(runId))) {
      const done = (mark: string): number =>
        lines.filter((line) => line.includes('"t":"done"') && line.includes(mark)).length;
      const { run, requests } = bounded(2);
      const left: Store = storeWith(runId, batches, store);
      const result = await run({ store: left, resume: runId });
      expect([result.outcome, result.state]).toEqual(['out_of_budget', state]);
      expect(requests).toHaveLength(2 - done('"search@model#'));
      expect(readRun(left, runId).status).toBe('out_of_budget');
    }
  });
});

describe('a turn of a conversation that is out of budget', () => {
  const talk = (store: Store, most: number, task: string, more: object = {}) =>
    bounded(most).run({ store, thread: { id: 'one', ...more } }, task);

  it('counts: the next one begins with what it left', async () => {
    const store = memoryStore();
    expect((await talk(store, 3, 'a')).state.spent).toBe(2);
    expect((await talk(store, 3, 'b')).outcome).toBe('out_of_budget');
    const refused = bounded(3);
    expect((await refused.run({ store, thread: 'one' }, 'c')).outcome).toBe('out_of_budget');
    expect(refused.requests).toEqual([]);
    const { state, outcome } = await talk(store, 9, 'd');
    const { turns, state: kept } = getThread(store, 'one');
    expect([outcome, state.spent, kept['spent']]).toEqual(['succeeded', 5, 5]);
    expect(turns.map(({ status, counts }) => [status, counts])).toEqual([
      ['succeeded', true],
      ['out_of_budget', true],
      ['out_of_budget', true],
      ['succeeded', true],
    ]);
    const said = (kept['talk'] as State['talk'])?.filter(({ role }) => role === 'user').map(({ text }) => text);
    expect(said).toEqual(['a', 'b', 'c', 'd']);
  });

  it('may be resumed by itself while it is the last: what it leaves then takes the place of what it had left', async () => {
    const store = memoryStore();
    await talk(store, 3, 'a');
    const { runId } = await talk(store, 3, 'b');
    const again = await bounded(3).run({ store, resume: runId });
    expect(again.outcome).toBe('out_of_budget');
    expect(getThread(store, 'one').state).toEqual(again.state);
    const raised = await bounded(9).run({ store, resume: runId });
    expect(getThread(store, 'one').state).toEqual(raised.state);
    expect(getThread(store, 'one').turns.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    const { state } = await talk(store, 9, 'c', { onFailed: 'retry' });
    expect([state.spent, state.talk?.filter(({ role }) => role === 'user').length]).toEqual([6, 3]);
    expect(getThread(store, 'one').state).toEqual(state);
  });

  it('is not tried again by the next one: it has not failed', async () => {
    const store = memoryStore();
    await talk(store, 1, 'a');
    const { state } = await talk(store, 9, 'b', { onFailed: 'retry' });
    expect(state.talk?.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(['a', 'b']);
  });

  it('is brought to its end by the next one when its process died before its end was noted', async () => {
    const store = memoryStore();
    const { runId } = await talk(store, 1, 'a');
    const rows = store.read('thread:one').slice(0, -1);
    const left = memoryStore();
    for (const id of [runId, 'thread:one']) {
      const batches = id === runId ? store.read(id) : rows;
      const parent = id === runId ? { parent: 'thread:one' } : {};
      const lease = left.create(
        { id, name: 'x', createdAt: 0, ...parent },
        { id: 'gone', host: 'elsewhere', pid: 1 },
        0,
      );
      left.append(batches.map((batch) => ({ ...batch, lease })));
      left.release(lease, { outcome: id === runId ? 'out_of_budget' : 'interrupted', endedAt: 1 });
    }
    const { state } = await talk(left, 9, 'b');
    expect(state.talk?.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(['a', 'b']);
    expect(getThread(left, 'one').turns.map(({ status, counts }) => [status, counts])).toEqual([
      ['succeeded', true],
      ['succeeded', true],
    ]);
  });
});
