import { describe, expect, it } from 'vitest';
import { definePlan, getThread, listRuns, listThreads, memoryStore, run, runWorkflow } from 'skein';
import type { RunOptions, Store, Workflow } from 'skein';
import { graph, reducers } from 'skein/graph';
import { z } from 'zod';
import { closing, sqliteFile } from './support/threads.js';
import { rejected } from '../thrown.js';

/** Counts its turns and keeps what was said. */
const chat = definePlan({
  name: 'chat',
  inputs: [{ name: 'say', required: true }],
  channels: { log: 'append', seen: 'extend', notes: 'mergeDict', sum: 'add', text: 'add' },
  nodes: [
    {
      id: 'reply',
      run: ({ say, turns }) => {
        const now = typeof turns === 'number' ? turns + 1 : 1;
        const word = String(say);
        return { turns: now, log: word, seen: [now, word], notes: { [word]: now }, sum: now, text: `${word};` };
      },
    },
  ],
});
const workflow: Workflow = { ...chat, settings: { output: { format: 'plain' } }, files: [], problems: [] };

async function stores(): Promise<readonly Store[]> {
  return [memoryStore(), await closing(sqliteFile())];
}

describe('[XG6] a thread', () => {
  it('goes on from the state of the turn before, reducers going on, inputs over it', async () => {
    for (const store of await stores()) {
      let state: Readonly<Record<string, unknown>> = {};
      for (const say of ['a', 'b', 'c']) {
        const result = await run(chat, { store, thread: 'one', inputs: { say } }).result;
        expect(result.outcome).toBe('succeeded');
        ({ state } = result);
      }
      expect(state).toEqual({
        say: 'c',
        turns: 3,
        log: ['a', 'b', 'c'],
        seen: [1, 'a', 2, 'b', 3, 'c'],
        notes: { a: 1, b: 2, c: 3 },
        sum: 6,
        text: 'a;b;c;',
      });
      expect(getThread(store, 'one').state).toEqual(state);
    }
  });

  it('takes an input that is not given from the turn before, and one for a key with a reducer into it', async () => {
    for (const store of await stores()) {
      await run(chat, { store, thread: 'one', inputs: { say: 'a', log: ['first'], notes: { x: 0 } } }).result;
      const { state } = await run(chat, { store, thread: 'one', inputs: { log: ['p', 'q'], notes: { y: 1 } } }).result;
      expect(state['say']).toBe('a');
      expect(state['log']).toEqual(['first', 'a', 'p', 'q', 'a']);
      expect(state['notes']).toEqual({ x: 0, a: 2, y: 1 });
      const wrong = await rejected(() => run(chat, { store, thread: 'one', inputs: { log: 'no list' } }).result);
      expect(wrong.code).toBe('SKEIN_INPUT');
      expect(getThread(store, 'one').turns).toHaveLength(2);
    }
  });

  it('is another one for each name, and a run without a thread begins anew', async () => {
    const store = memoryStore();
    for (const thread of ['one', 'two', undefined, 'one']) {
      const options: RunOptions = { store, inputs: { say: 'x' }, ...(thread === undefined ? {} : { thread }) };
      await run(chat, options).result;
    }
    expect(getThread(store, 'one').state['turns']).toBe(2);
    expect(getThread(store, 'two').state['turns']).toBe(1);
    expect(listThreads(store).map(({ id, turns, status }) => [id, turns, status])).toEqual([
      ['two', 1, 'succeeded'],
      ['one', 2, 'succeeded'],
    ]);
    expect(listRuns(store).map(({ thread }) => thread)).toEqual(['one', undefined, 'two', 'one']);
  });

  it('goes on in graphs, with a schema for each key', async () => {
    const flow = graph({
      name: 'talk',
      state: { say: z.string(), messages: z.array(z.string()).default([]), count: z.number().default(0) },
      reducers: { messages: reducers.append },
    })
      .addNode('reply', ({ say, count, messages }) => ({ messages: `${messages.length}: ${say}`, count: count + 1 }))
      .setEntry('reply');
    const store = memoryStore();
    await flow.run({ say: 'a' }, { store, thread: 'one' });
    const { state, success } = await flow.run({ say: 'b' }, { store, thread: 'one' });
    expect([success, state]).toEqual([true, { say: 'b', messages: ['0: a', '1: b'], count: 2 }]);
    const wrong = await flow.run({ say: 5 as never }, { store, thread: 'one' });
    expect([wrong.success, wrong.error?.code]).toEqual([false, 'SKEIN_INPUT']);
    expect(getThread(store, 'one').turns).toHaveLength(2);
  });

  it('goes on in workflows with settings, as those of files are', async () => {
    const store = memoryStore();
    for (const say of ['a', 'b']) await (await runWorkflow(workflow, { store, thread: 'one', inputs: { say } })).result;
    expect(getThread(store, 'one').state['log']).toEqual(['a', 'b']);
  });

  it('keeps what was written after pieces of 64 KiB and more, and of many keys', async () => {
    const big = definePlan({
      name: 'big',
      channels: { log: 'extend' },
      nodes: [
        {
          id: 'fill',
          run: ({ say }) => ({
            log: Array.from({ length: 40 }, (_, at) => `${String(say)} ${at} ${'x'.repeat(2_000)}`),
            ...Object.fromEntries(
              Array.from({ length: 40 }, (_, at) => [`key${at}`, `${String(say)}${'y'.repeat(5_000)}`]),
            ),
          }),
        },
      ],
      inputs: ['say'],
    });
    for (const store of await stores()) {
      for (const say of ['a', 'b', 'c']) await run(big, { store, thread: 'one', inputs: { say } }).result;
      const { state } = getThread(store, 'one');
      expect(state['log']).toHaveLength(120);
      expect((state['log'] as string[])[119]?.slice(0, 5)).toBe('c 39 ');
      expect(String(state['key39']).slice(0, 3)).toBe('cyy');
    }
  });

  it('needs a store, a name that can be one, and options that there are', async () => {
    const store = memoryStore();
    const wrong: readonly [RunOptions, string][] = [
      [{ thread: 'one' }, 'needs the store'],
      [{ store, thread: '' }, 'is not a valid thread name'],
      [{ store, thread: 'a\nb' }, 'is not a valid thread name'],
      [{ store, thread: ' a' }, 'is not a valid thread name'],
      [{ store, thread: 'x'.repeat(201) }, 'is not a valid thread name'],
      [{ store, thread: 5 as never }, 'a number is not a valid thread name'],
      [{ store, thread: {} as never }, 'undefined is not a valid thread name'],
      [{ store, thread: { id: {} } as never }, 'an object is not a valid thread name'],
      [{ store, thread: { id: 'a', onFail: 'skip' } as never }, 'has no option "onFail"'],
      [{ store, thread: { id: 'a', onBusy: 'later' as never } }, 'onBusy is "later"'],
      [{ store, thread: 'a', resume: 'r' }, "can't have both thread and resume"],
      [{ store, thread: 'a', fork: { run: 'r' } }, "can't have both thread and fork"],
      [{ store, runId: 'thread:a' }, "can't begin with 'thread:'"],
    ];
    for (const [options, message] of wrong) {
      const error = await rejected(() => run(chat, { inputs: { say: 'x' }, ...options }).result);
      expect([error.code, error.message]).toEqual(['SKEIN_USAGE', expect.stringContaining(message)]);
    }
    expect(store.list()).toEqual([]);
    expect(store.threads()).toEqual([]);
  });

  it('is what a refused resume with new inputs leads to', async () => {
    const store = memoryStore();
    const { runId } = await run(chat, { store, inputs: { say: 'a' } }).result;
    const error = await rejected(() => run(chat, { store, resume: runId, inputs: { say: 'b' } }).result);
    expect([error.code, error.hint]).toEqual(['SKEIN_INPUT', expect.stringContaining("thread: 'name'")]);
    expect(error.hint).toContain('fork it');
  });
});
