import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  definePlan,
  forkThread,
  getThread,
  listRuns,
  listThreads,
  memoryStore,
  readRun,
  run,
  SkeinError,
  streamRun,
} from 'skein';
import type { RunResult, Store } from 'skein';
import { faultyStore } from 'skein/testing';
import { closing, sqliteFile } from './support/threads.js';
import { rejected } from '../thrown.js';

const chat = definePlan({
  name: 'chat',
  inputs: ['say'],
  channels: { log: 'append' },
  nodes: [{ id: 'reply', run: ({ say: text }) => ({ log: `re: ${String(text)}` }) }],
});

function say(store: Store, text: unknown, more: { readonly runId?: string } = {}): Promise<RunResult> {
  return run(chat, { store, thread: 'one', inputs: { say: text }, ...more }).result;
}

/** The store with one batch of the thread as somebody has changed it. */
function tampered(store: Store, seq: number, change: (text: string) => string): Store {
  return new Proxy(store, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name);
      if (name !== 'read') return typeof own === 'function' ? (own.bind(target) as unknown) : own;
      return (...args: Parameters<Store['read']>) =>
        target
          .read(...args)
          .map((batch) =>
            args[0] === 'thread:one' && batch.seq === seq ? { ...batch, text: change(batch.text) } : batch,
          );
    },
  });
}

describe('[XG6] a thread whose record is damaged', () => {
  it('is refused with the place, and is no run that could be taken for it', async () => {
    const store = memoryStore();
    for (const text of ['a', 'b', 'c']) await say(store, text);
    const last = (store.run('thread:one')?.batches ?? 0) - 1;
    for (const seq of [2, last]) {
      const broken = tampered(store, seq, (text) => text.replace('re: ', 're; '));
      const error = await rejected(() => getThread(broken, 'one'));
      expect([error.code, error.details]).toEqual(['SKEIN_JOURNAL', { thread: 'one', batch: seq }]);
    }
    const ended = tampered(store, last, (text) => text.replace('succeeded', 'successful'));
    expect((await rejected(() => say(ended, 'd'))).code).toBe('SKEIN_JOURNAL');
    expect((await rejected(() => readRun(store, 'thread:one'))).code).toBe('SKEIN_JOURNAL');
    expect((await say(store, 'd')).state['log']).toEqual(['re: a', 're: b', 're: c', 're: d']);
  });
});

describe('[XG6] a turn', () => {
  it('does not begin under the id of another run, which is not taken for it', async () => {
    const store = memoryStore();
    await run(chat, { store, runId: 'monday', inputs: { say: 'x' } }).result;
    const error = await rejected(() => say(store, 'a', { runId: 'monday' }));
    expect([error.code, error.message]).toEqual(['SKEIN_RUN_EXISTS', 'run monday already exists']);
    expect((await say(store, 'b', { runId: 'tuesday' })).state['log']).toEqual(['re: b']);
    expect(getThread(store, 'one').turns).toMatchObject([{ turn: 1, runId: 'tuesday' }]);
  });

  it('that leaves what is not JSON fails, and does not count', async () => {
    const store = memoryStore();
    await say(store, 'a');
    const odd = definePlan({
      name: 'chat',
      inputs: ['say'],
      channels: { log: { reducer: () => new Map() } },
      nodes: [{ id: 'reply', run: () => ({ log: 'x' }) }],
    });
    const { outcome, error } = await run(odd, { store, thread: 'one', inputs: { say: 'b' } }).result;
    expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_NOT_JSON']);
    expect(getThread(store, 'one').turns.map(({ counts }) => counts)).toEqual([true, false]);
    expect((await say(store, 'c')).state['log']).toEqual(['re: a', 're: c']);
  });

  it('tells its events, and prints its state like any other', async () => {
    const store = memoryStore();
    await say(store, 'a');
    const types: string[] = [];
    for await (const { type } of streamRun(chat, { store, thread: 'one', inputs: { say: 'b' } })) types.push(type);
    expect([types[0], types.at(-1)]).toEqual(['run.started', 'run.ended']);
    const { state } = await say(store, 'c');
    expect(inspect(state)).toContain("log: [ 're: a', 're: b', 're: c' ]");
    expect(JSON.parse(JSON.stringify(state))).toEqual({ ...state });
  });

  it('whose values are read when the store is closed says so', async () => {
    const store = await closing(sqliteFile());
    for (const text of ['a', 'b']) await say(store, text);
    const { state } = await say(store, 'c');
    store.close();
    expect(state['say']).toBe('c');
    const error = await rejected(() => state['log']);
    expect([error.code, error.message]).toEqual(['SKEIN_STORE', expect.stringContaining('has been closed')]);
  });
});

describe('[XG6] a store that fails once, at any operation of a turn', () => {
  it.each(['before', 'after'] as const)('(%s it) loses no turn that counts, and the next one goes on', async (kind) => {
    let failed = true;
    for (let failAt = 1; failed; failAt++) {
      const inner = memoryStore();
      await say(inner, 'a');
      const store = faultyStore(inner, { failAt, kind });
      const second = await say(store, 'b').then(
        ({ outcome }) => outcome,
        () => 'refused',
      );
      ({ failed } = store);
      // A lease that nobody gave back is good for some time.
      for (const { id, fence } of [...inner.threads(), ...inner.list()]) inner.renew([{ runId: id, fence }], -1e6);
      const { outcome, state } = await say(inner, 'c');
      expect(outcome).toBe('succeeded');
      const counts = getThread(inner, 'one').turns.filter((turn) => turn.counts);
      expect(state['log']).toEqual(counts.map(({ inputs }) => `re: ${String(inputs['say'])}`));
      expect(getThread(inner, 'one').state).toEqual({ ...state });
      if (second === 'succeeded') expect(state['log']).toEqual(['re: a', 're: b', 're: c']);
      expect([2, 3]).toContain(counts.length);
    }
  });
});

describe('[XG6] a fork of a thread', () => {
  it.each(['before', 'after'] as const)(
    'whose store fails (%s an operation) is there whole, or not at all',
    async (kind) => {
      let failed = true;
      for (let failAt = 1; failed; failAt++) {
        const inner = memoryStore();
        await say(inner, 'a');
        const store = faultyStore(inner, { failAt, kind });
        try {
          forkThread(store, 'one', 'two');
        } catch {
          // It is to fail.
        }
        ({ failed } = store);
        if (!listThreads(inner).some(({ id }) => id === 'two')) continue;
        expect(getThread(inner, 'two')).toMatchObject({ state: { log: ['re: a'] }, from: { thread: 'one', turn: 1 } });
      }
    },
  );
});

describe('[XG6] a turn that failed in a process that died before it noted that', () => {
  it('says in the history of the thread why it failed', async () => {
    const inner = memoryStore();
    let isDead = false;
    const store = new Proxy(inner, {
      get(target, name) {
        const own: unknown = Reflect.get(target, name);
        if (typeof own !== 'function') return own;
        return (...args: unknown[]): unknown => {
          if (isDead) throw new Error('it is dead');
          const [lease] = args as [{ readonly runId?: string }?];
          if (name === 'release' && lease?.runId === 'bad') isDead = true;
          return Reflect.apply(own, target, args);
        };
      },
    });
    const failing = definePlan({
      name: 'chat',
      inputs: ['say'],
      nodes: [{ id: 'reply', run: () => Promise.reject(new Error('no such word')) }],
    });
    await run(failing, { store, thread: 'one', runId: 'bad', inputs: { say: 'x' } }).result.catch(() => undefined);
    for (const { id, fence } of inner.threads()) inner.renew([{ runId: id, fence }], -1e6);
    expect((await say(inner, 'b')).state['log']).toEqual(['re: b']);
    expect(getThread(inner, 'one').turns.map(({ status, error }) => [status, error?.message])).toEqual([
      ['failed', 'no such word'],
      ['succeeded', undefined],
    ]);
  });
});

describe('[XG6] a store that is lost', () => {
  it('fails a run with a budget that several runs share, and leaves no timer behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let isLost = false;
    const inner = memoryStore();
    const store = new Proxy(inner, {
      get(target, name) {
        const own: unknown = Reflect.get(target, name);
        if (typeof own !== 'function') return own;
        return (...args: unknown[]): unknown => {
          if (isLost) throw new SkeinError('SKEIN_STORE', 'the store has been closed');
          return Reflect.apply(own, target, args);
        };
      },
    });
    let reach: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const slow = definePlan({
      name: 'slow',
      budget: { calls: 5, day: { calls: 5 } },
      nodes: [{ id: 'wait', run: () => new Promise(() => reach()) }],
    });
    const { result } = run(slow, { store });
    await reached;
    isLost = true;
    vi.advanceTimersByTime(1_000);
    const { outcome, error } = await result;
    expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_STORE']);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('[XG6] a store', () => {
  it('tells threads and runs apart', async () => {
    for (const store of [memoryStore(), await closing(sqliteFile())]) {
      const { runId } = await say(store, 'a');
      expect(store.list().map(({ id, parent }) => [id, parent])).toEqual([[runId, 'thread:one']]);
      expect(store.threads().map(({ id }) => id)).toEqual(['thread:one']);
      expect(listRuns(store)).toMatchObject([{ id: runId, thread: 'one' }]);
      expect(listRuns(store)[0]).not.toHaveProperty('parent');
      expect(listThreads(store)).toMatchObject([{ id: 'one', workflow: 'chat', turns: 1, status: 'succeeded' }]);
    }
  });
});
