import { describe, expect, it } from 'vitest';
import {
  SkeinError,
  definePlan,
  forkThread,
  getThread,
  listThreads,
  memoryStore,
  pruneRuns,
  removeThread,
  run,
  updateThread,
} from 'skein';
import type { RunResult, Store } from 'skein';
import { graph } from 'skein/graph';
import { z } from 'zod';
import { closing, sqliteFile } from './support/threads.js';
import { rejected } from '../thrown.js';

const ADA = { who: 'ada', why: 'the customer called' };
const CHAT = { name: 'chat', inputs: ['say'], channels: { log: 'append', notes: 'mergeDict' } } as const;
const chat = definePlan({
  ...CHAT,
  nodes: [{ id: 'reply', run: ({ say: text }) => ({ log: `re: ${String(text)}`, notes: { [String(text)]: true } }) }],
});

function say(store: Store, text: string, thread = 'one'): Promise<RunResult> {
  return run(chat, { store, thread, inputs: { say: text } }).result;
}

/** A workflow that waits until it is let go on. */
function gated(): { readonly plan: ReturnType<typeof definePlan>; readonly reached: Promise<void>; open(): void } {
  let reach = (): void => undefined;
  let open = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  const wait = async (): Promise<object> => {
    reach();
    await opened;
    return {};
  };
  return { plan: definePlan({ name: 'slow', nodes: [{ id: 'wait', run: wait }] }), reached, open: () => open() };
}

async function stores(): Promise<readonly Store[]> {
  return [memoryStore(), await closing(sqliteFile())];
}

describe('[XG6] getThread', () => {
  it('tells the state, the turns with what they were given and left, and the edits', async () => {
    for (const store of await stores()) {
      await say(store, 'a');
      await say(store, 'b');
      updateThread(store, 'one', { log: ['edited'], say: 'c' }, ADA);
      const { id, workflow, state, turns, edits, questions } = getThread(store, 'one');
      expect([id, workflow, questions]).toEqual(['one', 'chat', []]);
      expect(state).toEqual({ say: 'c', log: ['re: a', 're: b', 'edited'], notes: { a: true, b: true } });
      expect(turns.map(({ inputs, results }) => [inputs, results])).toEqual([
        [{ say: 'a' }, { log: ['re: a'], notes: { a: true } }],
        [{ say: 'b' }, { log: ['re: b'], notes: { b: true } }],
      ]);
      expect(edits).toEqual([
        { after: 2, at: expect.any(Number) as number, ...ADA, values: { log: ['edited'], say: 'c' } },
      ]);
      expect((await say(store, 'd')).state['log']).toEqual(['re: a', 're: b', 'edited', 're: d']);
    }
  });

  it('is refused for a thread that is not there', async () => {
    const store = memoryStore();
    for (const act of [
      () => getThread(store, 'one'),
      () => removeThread(store, 'one'),
      () => updateThread(store, 'one', {}, ADA),
      () => forkThread(store, 'one', 'two'),
    ]) {
      expect((await rejected(act)).code).toBe('SKEIN_NO_THREAD');
    }
  });
});

describe('[XG6] updateThread', () => {
  it('takes values in as inputs are, and clears what is undefined', async () => {
    const store = memoryStore();
    await say(store, 'a');
    updateThread(store, 'one', { notes: { x: 1 }, log: undefined }, ADA);
    expect(getThread(store, 'one').state).toEqual({ say: 'a', notes: { a: true, x: 1 } });
    expect((await say(store, 'b')).state['log']).toEqual(['re: b']);
  });

  it('refuses a key that the state does not have, and a value of a wrong type', async () => {
    const flow = graph({
      name: 'g',
      state: { count: z.number(), log: z.array(z.string()), own: z.string() },
      reducers: { log: 'extend' },
    })
      .addNode('step', () => ({ count: 1, log: ['x'] }))
      .setEntry('step');
    const store = memoryStore();
    await flow.run({}, { store, thread: 'one' });
    const wrong: readonly [Readonly<Record<string, unknown>>, RegExp][] = [
      [{ cuont: 2 }, /has no 'cuont'/],
      [{ count: 'two' }, /'count'/],
      [{ log: 'no list' }, /'log'/],
      [{ own: 5 }, /'own'/],
    ];
    for (const [values, message] of wrong) {
      const error = await rejected(() => updateThread(store, 'one', values, ADA));
      expect([error.code, error.message]).toEqual(['SKEIN_INPUT', expect.stringMatching(message)]);
    }
    expect((await rejected(() => updateThread(store, 'one', { cuont: 2 }, ADA))).hint).toContain('count');
    expect(getThread(store, 'one').edits).toEqual([]);
    updateThread(store, 'one', { count: 2, log: ['y'], own: 'mine' }, ADA);
    expect(getThread(store, 'one').state).toEqual({ count: 2, log: ['x', 'y'], own: 'mine' });
  });

  it('asks for the workflow where a reducer is a function', async () => {
    const longest = definePlan({
      name: 'longest',
      inputs: ['say'],
      channels: {
        best: (now: unknown, next: unknown) =>
          typeof now === 'string' && now.length > String(next).length ? now : next,
      },
      nodes: [{ id: 'reply', run: ({ say: text }) => ({ best: text }) }],
    });
    const store = memoryStore();
    await run(longest, { store, thread: 'one', inputs: { say: 'long' } }).result;
    const error = await rejected(() => updateThread(store, 'one', { best: 'longer' }, ADA));
    expect([error.code, error.hint]).toEqual(['SKEIN_INPUT', expect.stringContaining('workflow')]);
    updateThread(store, 'one', { best: 'longer' }, { ...ADA, workflow: longest });
    updateThread(store, 'one', { best: 'no' }, { ...ADA, workflow: longest });
    expect(getThread(store, 'one').state['best']).toBe('longer');
  });

  it('waits for nobody: while a turn is open it is refused', async () => {
    const store = memoryStore();
    const asking = definePlan({ name: 'a', nodes: [{ id: 'q', kind: 'ask', output: 'o', question: 'Sure?' }] });
    await run(asking, { store, thread: 'one' }).result;
    expect((await rejected(() => updateThread(store, 'one', { o: 1 }, ADA))).code).toBe('SKEIN_THREAD');
    const slow = gated();
    const turn = run(slow.plan, { store, thread: 'two' }).result;
    await slow.reached;
    const { code, message } = await rejected(() => updateThread(store, 'two', { o: 1 }, ADA));
    expect([code, message]).toEqual([
      'SKEIN_LEASE',
      expect.stringContaining("the thread 'two' is in use: a turn of it runs"),
    ]);
    slow.open();
    expect((await turn).outcome).toBe('succeeded');
  });
});

describe('[XG6] forkThread', () => {
  it('begins another conversation after any turn; both go on by themselves', async () => {
    for (const store of await stores()) {
      for (const text of ['a', 'b', 'c']) await say(store, text);
      forkThread(store, 'one', 'two', { turn: 1 });
      forkThread(store, 'one', 'all');
      expect((await say(store, 'x', 'two')).state['log']).toEqual(['re: a', 're: x']);
      expect((await say(store, 'd', 'all')).state['log']).toEqual(['re: a', 're: b', 're: c', 're: d']);
      expect((await say(store, 'd')).state['log']).toEqual(['re: a', 're: b', 're: c', 're: d']);
      expect(getThread(store, 'two').from).toEqual({ thread: 'one', turn: 1 });
      removeThread(store, 'one');
      expect(getThread(store, 'two').state['log']).toEqual(['re: a', 're: x']);
      expect((await rejected(() => forkThread(store, 'two', 'all'))).message).toBe("there is a thread 'all' already");
      expect((await rejected(() => forkThread(store, 'two', 'three', { turn: 7 }))).message).toContain('no turn 7');
    }
  });

  it('continues after the last turn that counts, and says which that is', async () => {
    const store = memoryStore();
    for (const text of ['a', 'b']) await say(store, text);
    const asking = definePlan({ ...CHAT, nodes: [{ id: 'sure', kind: 'ask', question: 'Sure?' }] });
    const open = await run(asking, { store, thread: 'one', inputs: { say: 'c' } }).result;
    expect(open.outcome).toBe('paused');
    forkThread(store, 'one', 'two');
    const { from, state } = getThread(store, 'two');
    expect([from, state['log']]).toEqual([{ thread: 'one', turn: 2 }, ['re: a', 're: b']]);
    await run(asking, { store, thread: 'new', inputs: { say: 'x' } }).result;
    const { code, message } = await rejected(() => forkThread(store, 'new', 'three'));
    expect([code, message]).toEqual([
      'SKEIN_THREAD',
      "no turn of the thread 'new' has succeeded: there is nothing to continue",
    ]);
  });

  it('is refused from a turn that left no state', async () => {
    const store = memoryStore();
    const failing = definePlan({
      name: 'f',
      nodes: [{ id: 'x', run: () => Promise.reject(new SkeinError('SKEIN_NETWORK', 'gone')) }],
    });
    await run(failing, { store, thread: 'one' }).result;
    const error = await rejected(() => forkThread(store, 'one', 'two', { turn: 1 }));
    expect([error.code, error.message]).toEqual([
      'SKEIN_THREAD',
      "turn 1 of the thread 'one' failed: it left no state",
    ]);
  });
});

describe('[XG6] what is removed', () => {
  it('of old turns takes nothing from the state; a fork of a turn keeps its thread', async () => {
    for (const store of await stores()) {
      const runs: string[] = [];
      for (const text of ['a', 'b', 'c']) runs.push((await say(store, text)).runId);
      const big = 'x'.repeat(100_000);
      await say(store, big);
      const fork = await run(chat, { store, fork: { run: runs[1] ?? '' }, inputs: { say: 'other' } }).result;
      expect(fork.state['log']).toEqual(['re: a', 're: other']);
      expect((await rejected(() => removeThread(store, 'one'))).code).toBe('SKEIN_LEASE');
      const before = getThread(store, 'one').state;
      const { removed, parents } = pruneRuns(store, { keep: 1 });
      expect([removed.length, parents]).toEqual([3, 1]);
      expect(getThread(store, 'one').state).toEqual(before);
      const { state } = await say(store, 'd');
      expect(state['log']).toEqual(['re: a', 're: b', 're: c', `re: ${big}`, 're: d']);
      expect(await run(chat, { store, resume: fork.runId }).result).toMatchObject({ state: fork.state });
    }
  });

  it('is a whole thread with all of its turns, when nothing of it is in use', async () => {
    for (const store of await stores()) {
      for (const thread of ['one', 'two']) for (const text of ['a', 'b']) await say(store, text, thread);
      removeThread(store, 'one');
      expect(listThreads(store).map(({ id }) => id)).toEqual(['two']);
      expect(store.list()).toHaveLength(2);
      expect((await say(store, 'new')).state['log']).toEqual(['re: new']);
      const slow = gated();
      const running = run(slow.plan, { store, thread: 'three' }).result;
      await slow.reached;
      expect((await rejected(() => removeThread(store, 'three'))).code).toBe('SKEIN_LEASE');
      slow.open();
      expect((await running).outcome).toBe('succeeded');
    }
  });
});
