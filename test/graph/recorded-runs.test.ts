import { describe, expect, test } from 'vitest';
import { memoryStore, readRun } from 'skein';
import { graph } from 'skein/graph';
import type { GraphEvent } from 'skein/graph';
import { collect, orderOf, outline } from './support.js';

/** Counts the calls of each node. */
function tally(): { readonly ran: string[]; note<T>(name: string, value: T): T } {
  const ran: string[] = [];
  return {
    ran,
    note(name, value) {
      ran.push(name);
      return value;
    },
  };
}

describe('a recorded graph', () => {
  const built = (broken: () => boolean, calls: ReturnType<typeof tally>) =>
    graph<{ query: string }>()
      .node('search', ({ query }) => calls.note('search', [query]))
      .node('count', async ({ search }) => calls.note('count', search.length))
      .node('sum', ({ search, count }) => {
        calls.note('sum', 0);
        if (broken()) throw new Error('killed');
        return `${search.join()} ${count}`;
      })
      .setEntry('search');

  test('that was ended by a failing node continues where it stopped, and repeats nothing', async () => {
    const store = memoryStore();
    const calls = tally();
    let broken = true;
    const flow = built(() => broken, calls);
    const first = await flow.run({ query: 'x' }, { store, runId: 'r' });
    expect([first.outcome, calls.ran]).toEqual(['failed', ['search', 'count', 'sum']]);
    broken = false;
    const second = await flow.run(undefined, { store, resume: 'r' });
    expect([second.outcome, second.answer, second.runId]).toEqual(['succeeded', 'x 1', 'r']);
    expect(calls.ran).toEqual(['search', 'count', 'sum', 'sum']);
  });

  test('gives the same events with the same ids when it goes on; what was told before is marked', async () => {
    const store = memoryStore();
    let broken = true;
    const flow = built(() => broken, tally());
    const first = await flow.run({ query: 'x' }, { store, runId: 'r' });
    broken = false;
    const second = await flow.run(undefined, { store, resume: 'r' });
    const told = (events: readonly GraphEvent[]): unknown[] =>
      events
        .filter((event) => event.node === 'search' || event.node === 'count')
        .map(({ type, eventId, node, metadata }) => [type, eventId, node, metadata['update']]);
    expect(told(second.events)).toEqual(told(first.events));
    expect(second.events.filter((event) => event.replayed === true).map((event) => event.node)).toContain('search');
    expect(second.events.find((event) => event.type === 'node_end' && event.node === 'sum')?.replayed).toBeUndefined();
    expect(second.events[0]?.metadata).toEqual({ entry: 'search', initial_state: { query: 'x' } });
    expect(outline(second.events)).toContain('workflow_resume');
  });

  test('gives the same events in a stream that goes on', async () => {
    const store = memoryStore();
    let broken = true;
    const flow = built(() => broken, tally());
    await flow.run({ query: 'x' }, { store, runId: 'r' });
    broken = false;
    const events = await collect(flow.stream(undefined, { store, resume: 'r' }));
    const again = await flow.run(undefined, { store, resume: 'r' });
    const ids = (list: readonly GraphEvent[]): string[] =>
      list.filter((event) => event.type === 'node_end').map((event) => event.eventId);
    expect(ids(again.events)).toEqual(ids(events));
    expect(events.at(-1)?.metadata['success']).toBe(true);
  });

  test('is read like any other run', async () => {
    const store = memoryStore();
    await built(() => false, tally()).run({ query: 'x' }, { store, runId: 'r' });
    expect(readRun(store, 'r')).toMatchObject({ name: 'graph', status: 'succeeded' });
  });

  test('that is forked after a node was edited runs that one and what depends on it, and nothing else', async () => {
    const store = memoryStore();
    const before = tally();
    const version = (calls: ReturnType<typeof tally>, mark: string) => {
      const flow = graph<{ query: string }>()
        .node('search', ({ query }) => calls.note('search', [query]))
        .node('size', ({ search }) => calls.note('size', search.length));
      const edited =
        mark === ''
          ? flow.node('words', ({ search }) => calls.note('words', search.join()))
          : flow.node('words', ({ search }) => calls.note('words', `${search.join()}!`));
      return edited.node('report', ({ words, size }) => calls.note('report', `${words} ${size}`)).setEntry('search');
    };
    const first = await version(before, '').run({ query: 'x' }, { store, runId: 'r' });
    expect(first.answer).toBe('x 1');
    const after = tally();
    const fork = await version(after, '!').run(undefined, { store, fork: { run: 'r' } });
    expect([fork.answer, after.ran]).toEqual(['x! 1', ['words', 'report']]);
    expect(fork.runId).not.toBe('r');
  });

  test('is paused by a question, and goes on with the answer', async () => {
    const store = memoryStore();
    const calls = tally();
    const flow = graph<{ query: string }>()
      .node('search', ({ query }) => calls.note('search', query))
      .node('publish', async ({ search }, step) => `${search}: ${await step.ask({ text: 'Publish?' })}`)
      .setEntry('search');
    const paused = await flow.run({ query: 'x' }, { store, runId: 'r' });
    expect([paused.outcome, orderOf(paused.events, 'node_pause')]).toEqual(['paused', ['publish']]);
    const done = await flow.run(undefined, { store, resume: 'r', answer: async () => Promise.resolve('yes') });
    expect([done.answer, calls.ran]).toEqual(['x: yes', ['search']]);
  });

  test.each([
    ['a run that the store does not have', { resume: 'nobody' }, 'SKEIN_NO_RUN'],
    ['a fork of none', { fork: { run: 'nobody' } }, 'SKEIN_NO_RUN'],
  ])('%s is refused: that is no failure of a node', async (_, options, code) => {
    const run = built(() => false, tally()).run(undefined, { store: memoryStore(), ...options });
    await expect(run).rejects.toMatchObject({ code });
  });

  test('resuming without a store is a wrong call', async () => {
    const run = built(() => false, tally()).run(undefined, { resume: 'r' });
    await expect(run).rejects.toMatchObject({ code: 'SKEIN_USAGE' });
  });
});

describe('one compiled graph', () => {
  test('[61] runs 200 times at once, and no event gets into another run', async () => {
    const compiled = graph<{ who: string }>()
      .node(
        'tell',
        async ({ who }, step) => {
          for (let round = 0; round < 3; round++) {
            step.emit({ type: 'thought', who });
            await new Promise((resolve) => setImmediate(resolve));
          }
          return who;
        },
        { inputs: ['who'] },
      )
      .node('after', ({ tell }, step) => {
        step.emit({ who: tell });
        return `${tell}!`;
      })
      .setEntry('tell')
      .compile();
    const names = Array.from({ length: 200 }, (_, at) => `w${at}`);
    const results = await Promise.all(
      names.map(async (who, at) =>
        at % 2 === 0
          ? (await compiled.run({ who }, { runId: who })).events
          : await collect(compiled.stream({ who }, { runId: who })),
      ),
    );
    results.forEach((events, at) => {
      const who = names[at];
      expect(new Set(events.map((event) => event.runId))).toEqual(new Set([who]));
      const told = events.filter((event) => event.source !== null).map((event) => event.metadata['who']);
      expect(told).toEqual([who, who, who, who]);
      expect(events.find((event) => event.type === 'answer')?.metadata['answer']).toBe(`${who}!`);
    });
    expect(new Set(results.flat().map((event) => event.eventId)).size).toBe(200 * (results[0]?.length ?? 0) - 400);
  });
});
