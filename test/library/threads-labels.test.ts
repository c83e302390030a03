import { describe, expect, it } from 'vitest';
import { definePlan, forkThread, memoryStore, run, updateThread } from 'skein';
import type { RunOptions, RunResult, Store } from 'skein';
import { closing, sqliteFile } from './support/threads.js';

type State = Readonly<Record<string, unknown>>;

/** What was said is kept in a list; another key has what is said now alone. */
const chat = definePlan({
  name: 'chat',
  inputs: ['say'],
  channels: { log: 'append' },
  nodes: [
    { id: 'reply', run: ({ say }: State) => ({ log: say, now: say }) },
    { id: 'sum', run: ({ log }: State) => ({ all: (log as string[]).join(' ') }) },
  ],
  edges: [['reply', 'sum']],
});

/** A turn; `how` may say that somebody else wrote what is said. */
function turn(store: Store, say: string, how: RunOptions = {}): Promise<RunResult> {
  return run(chat, { store, thread: 'one', inputs: { say }, ...how }).result;
}

const MAIL: RunOptions = { untrusted: ['say'] };

/** Names of what the mail influenced. */
function labelled({ labels = {} }: RunResult): string[] {
  return Object.keys(labels).filter((name) => labels[name]?.sources.includes('input:say') === true);
}

describe('a conversation knows what its earlier turns have heard', () => {
  it('in a store in memory, and in a file that another process opens', async () => {
    const file = sqliteFile();
    const first = await closing(file);
    const inMemory = memoryStore();
    for (const store of [inMemory, first]) expect(labelled(await turn(store, 'mail', MAIL))).toContain('log');
    first.close();
    for (const store of [inMemory, await closing(file)]) {
      expect(labelled(await turn(store, 'mine'))).toEqual(['log', 'all']);
      // What is not written anew is kept with its label over any number of turns.
      expect(labelled(await turn(store, 'again'))).toEqual(['log', 'all']);
    }
  });

  it('is trusted as long as only the user has said something', async () => {
    const store = memoryStore();
    expect(await turn(store, 'mine')).not.toHaveProperty('labels');
    expect(await turn(store, 'again')).not.toHaveProperty('labels');
  });

  it('a turn that is resumed, and a fork of it, begin with the same labels', async () => {
    const store = memoryStore();
    await turn(store, 'mail', MAIL);
    const waits = definePlan({
      name: 'chat',
      inputs: ['say'],
      channels: { log: 'append' },
      nodes: [
        { id: 'sure', kind: 'ask', output: 'sure', question: 'Go on?' },
        { id: 'sum', run: ({ log }: State) => ({ all: (log as string[]).join(' ') }) },
        { id: 'reply', run: () => ({}) },
      ],
      edges: [['sure', 'sum']],
    });
    const paused = await run(waits, { store, thread: 'one', inputs: { say: 'mine' } }).result;
    expect(paused.outcome).toBe('paused');
    const resumed = await run(waits, { store, resume: paused.runId, answer: () => Promise.resolve('yes') }).result;
    expect([resumed.outcome, labelled(resumed)]).toEqual(['succeeded', ['log', 'all', 'now']]);
    const fork = await run(waits, { store, fork: { run: paused.runId } }).result;
    expect(labelled(fork)).toEqual(['log', 'all', 'now']);
  });

  it('a thread that is forked has them, and what a person writes over is the person’s', async () => {
    const store = memoryStore();
    await turn(store, 'mail', MAIL);
    forkThread(store, 'one', 'two');
    updateThread(store, 'one', { now: 'edited' }, { who: 'ada', why: 'a test' });
    updateThread(store, 'two', { log: undefined }, { who: 'ada', why: 'a test' });
    const reads = definePlan({
      name: 'chat',
      inputs: ['say'],
      channels: { log: 'append' },
      nodes: [
        { id: 'reply', run: ({ now }: State) => ({ fromNow: now }) },
        { id: 'sum', run: ({ log }: State) => ({ fromLog: String(log) }) },
      ],
    });
    const seen = async (thread: string): Promise<string[]> =>
      labelled(await run(reads, { store, thread, inputs: { say: 'mine' } }).result).filter((name) =>
        name.startsWith('from'),
      );
    expect(await seen('one')).toEqual(['fromLog']);
    expect(await seen('two')).toEqual(['fromNow']);
  });

  it('that something is not there may be what the mail decided', async () => {
    const store = memoryStore();
    const picks = definePlan({
      name: 'chat',
      inputs: ['say'],
      nodes: [
        { id: 'reply', run: ({ missing }: State) => ({ missing: missing === undefined }) },
        { id: 'pick', run: () => ({ picked: true }), when: ({ say }: State) => say === 'mail' },
      ],
    });
    const asks = definePlan({
      name: 'chat',
      inputs: ['say'],
      nodes: [{ id: 'reply', run: ({ picked }: State) => ({ missing: picked === undefined }) }],
    });
    await run(picks, { store, thread: 'one', inputs: { say: 'no mail' }, untrusted: ['say'] }).result;
    const next = await run(asks, { store, thread: 'one', inputs: { say: 'mine' } }).result;
    expect(next.state['missing']).toBe(true);
    expect(labelled(next)).toContain('missing');
  });
});
