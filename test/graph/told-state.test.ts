import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { definePlan, getThread, memoryStore, run } from 'skein';
import type { SkeinEvent } from 'skein';
import { graph, reducers, workflowNode } from 'skein/graph';
import type { GraphEvent } from 'skein/graph';
import { collect } from './support.js';

const chain = () =>
  graph<{ n: number; log: string[] }>({ reducers: { log: reducers.append } })
    .addNode('double', ({ n }) => ({ n: n * 2, log: 'doubled' }))
    .addNode('next', ({ n }) => ({ n: n + 1, log: 'added' }))
    .addEdge('double', 'next')
    .setEntry('double');

const states = (events: readonly GraphEvent[]): unknown[] =>
  events.filter(({ type }) => type === 'state').map(({ path, metadata }) => [path, metadata['state']]);

describe('the state after each node', () => {
  test('[XG12] streamState tells the state that goes on from each node, and nothing is told without it', async () => {
    const events = await collect(chain().stream({ n: 1 }, { streamState: true }));
    expect(states(events)).toEqual([
      ['double', { n: 2, log: ['doubled'] }],
      ['next', { n: 3, log: ['doubled', 'added'] }],
    ]);
    expect(states(await collect(chain().stream({ n: 1 })))).toEqual([]);
  });

  test('[XG12] it is read-only, JSON, and comes right after the end of its node', async () => {
    const events = await collect(chain().stream({ n: 1 }, { streamState: true }));
    const at = events.findIndex(({ type }) => type === 'state');
    expect(events[at - 1]).toMatchObject({ type: 'node_end', node: 'double' });
    const state = events[at]?.metadata['state'] as { n: number };
    expect(() => (state.n = 5)).toThrow(TypeError);
    expect(JSON.parse(JSON.stringify(state))).toEqual({ n: 2, log: ['doubled'] });
  });

  test('[XG12] maps and workflows inside of nodes tell theirs, with their source', async () => {
    const inner = graph<{ task: string }>()
      .node('leaf', ({ task }) => task.length)
      .setEntry('leaf');
    const flow = graph<{ task: string; words: string[] }>()
      .node('sub', workflowNode(inner, 'sub'))
      .map('each', { over: 'words', maxItems: 3 }, ({ item }) => item.length)
      .node('sum', ({ sub, each }) => [sub, each])
      .setEntry('sub');
    const events = await collect(flow.stream({ task: 'abc', words: ['a', 'bb'] }, { streamState: true }));
    const told = events.filter(({ type }) => type === 'state');
    expect(told.find(({ path }) => path === 'sub/leaf')).toMatchObject({ source: 'sub', node: 'leaf' });
    expect(states(events)).toContainEqual(['sub/leaf', { task: 'abc', leaf: 3 }]);
    expect(told.map(({ path }) => path)).toEqual(expect.arrayContaining(['each[0]/each', 'each[1]/each']));
  });

  test('[XG12] listeners of a plan get it too, and a record does not grow by it', async () => {
    const plan = definePlan<{ n: number }>({
      name: 'p',
      inputs: ['n'],
      nodes: [{ id: 'a', output: 'a', run: ({ n }) => n + 1 }],
    });
    const told: unknown[] = [];
    const listen = (event: SkeinEvent): void => {
      if (event.type === 'step.ended') told.push(event.state);
    };
    const sizes = await Promise.all(
      [true, false].map(async (streamState) => {
        const store = memoryStore();
        const { runId } = await run(plan, { store, streamState, listeners: [listen], inputs: { n: 1 } }).result;
        return store.read(runId).length;
      }),
    );
    expect(told).toEqual([{ n: 1, a: 2 }, undefined]);
    expect(sizes[0]).toBe(sizes[1]);
  });

  test('[XG12] it needs events', async () => {
    await expect(chain().run({ n: 1 }, { streamState: true, events: false })).rejects.toMatchObject({
      code: 'SKEIN_USAGE',
    });
  });
});

describe('what a graph gives', () => {
  const flow = graph<{ topic: string; notes: string; article: string }, 'article'>({
    inputs: ['topic'],
    output: ['article'],
  })
    .addNode('think', ({ topic }) => ({ notes: `about ${topic}` }))
    .addNode('write', ({ notes }) => ({ article: `${notes}.` }))
    .addEdge('think', 'write')
    .setEntry('think');

  test('[XG12] the result has the declared keys only; the others stay inside', async () => {
    const { state, answer, events } = await flow.run({ topic: 'looms' });
    expectTypeOf(state).toEqualTypeOf<Partial<Readonly<{ article: string }>>>();
    expect(state).toEqual({ article: 'about looms.' });
    expect(answer).toBe('about looms.');
    expect(await flow.runOrThrow({ topic: 'looms' })).toEqual({ article: 'about looms.' });
    expect(events.at(-1)?.metadata['state']).toEqual({ article: 'about looms.' });
    expect(events.find(({ type }) => type === 'node_end')?.metadata['update']).toEqual({ notes: 'about looms' });
  });

  test('[XG12] a workflow inside gives no private key, neither whole nor one by one', async () => {
    const outer = graph<{ topic: string }>()
      .node('all', workflowNode(flow, 'all', { taskParam: null, projectState: true }))
      .node('got', ({ all }) => all)
      .setEntry('all');
    expect((await outer.run({ topic: 'looms' })).state.got).toEqual({ article: 'about looms.' });
    const wrong = graph<{ topic: string; n: unknown }>()
      .addNode('sub', workflowNode(flow, 'sub', { taskParam: null, writes: { notes: 'n' } }))
      .setEntry('sub');
    expect(() => wrong.compile()).toThrow(/"notes" is private/);
  });

  test('[XG12] a schema is checked at the end, in a run and in a workflow inside', async () => {
    const half = graph<{ task: string }>({ output: { answer: z.string().min(3) } })
      .node('answer', ({ task }) => task.slice(1))
      .setEntry('answer');
    expect((await half.run({ task: 'looms' })).state).toEqual({ answer: 'ooms' });
    const bad = await half.run({ task: 'ab' });
    expect([bad.outcome, bad.error?.code]).toEqual(['failed', 'SKEIN_BAD_OUTPUT']);
    expect(bad.error?.message).toContain("'answer'");
    const outer = graph<{ task: string }>().node('sub', workflowNode(half, 'sub')).setEntry('sub');
    expect((await outer.run({ task: 'ab' })).error?.code).toBe('SKEIN_BAD_OUTPUT');
  });

  test('[XG12] a thread goes on from private keys too', async () => {
    const store = memoryStore();
    const count = graph<{ seen?: number; said: string }, 'said'>({ output: ['said'] })
      .addNode('say', ({ seen = 0 }) => ({ seen: seen + 1, said: `turn ${seen + 1}` }))
      .setEntry('say');
    await count.run({}, { store, thread: 't' });
    expect((await count.run({}, { store, thread: 't' })).state).toEqual({ said: 'turn 2' });
    expect(getThread(store, 't').state['seen']).toBe(2);
  });

  test('[XG12] keys that nobody writes, and an answer that is private, are problems', () => {
    const typo = graph<{ topic: string }>({ output: ['artcle'] })
      .node('article', ({ topic }) => topic)
      .setEntry('article');
    expect(() => typo.compile()).toThrow(/"artcle", which nothing writes[\s\S]*article/);
    const hidden = graph<{ a: string }>({ output: ['b'], answerKey: 'a' })
      .node('a', () => 'x')
      .node('b', ({ a }) => a)
      .setEntry('a');
    expect(() => hidden.compile()).toThrow(/the answer is "a", which the output does not have/);
    expect(() => graph({ output: [1] as never })).toThrow(/neither keys of the state nor schemas/);
  });

  test('[XG12] definePlan takes an output too', async () => {
    const plan = definePlan({
      name: 'p',
      output: ['b'],
      nodes: [
        { id: 'a', output: 'a', run: () => 1 },
        { id: 'b', output: 'b', run: () => 2 },
      ],
    });
    expect((await run(plan).result).state).toEqual({ b: 2 });
  });
});

describe('maxSteps of a run', () => {
  const loop = () =>
    graph<{ n: number }>({ maxSteps: 5 })
      .addNode('again', ({ n }) => ({ n: n + 1 }))
      .addConditionalEdge('again', ({ n }) => (n < 20 ? 'again' : 'END'), { again: 'again' })
      .setEntry('again');

  test('[XG12] it takes the place of the bound of the graph, and the error says what to do', async () => {
    const short = await loop().run({ n: 0 }, { maxSteps: 3 });
    expect([short.error?.code, short.state.n]).toEqual(['SKEIN_MAX_STEPS', 3]);
    expect(short.error?.hint).toContain('maxSteps');
    expect((await loop().run({ n: 0 }, { maxSteps: 50 })).state.n).toBe(20);
    const outer = graph<{ n: number }>()
      .node('sub', workflowNode(loop(), 'sub', { taskParam: 'n', answerKey: 'n' }))
      .setEntry('sub');
    expect((await outer.run({ n: 0 }, { maxSteps: 50 })).state.sub).toBe(20);
    await expect(loop().run({ n: 0 }, { maxSteps: 0 })).rejects.toMatchObject({ code: 'SKEIN_USAGE' });
  });

  test('[XG12] a resume keeps it and can raise it; what ran is reused', async () => {
    const store = memoryStore();
    let calls = 0;
    const flow = graph<{ n: number }>()
      .addNode('again', ({ n }) => {
        calls += 1;
        return { n: n + 1 };
      })
      .addConditionalEdge('again', ({ n }) => (n < 20 ? 'again' : 'END'), { again: 'again' })
      .setEntry('again');
    const first = await flow.run({ n: 0 }, { store, maxSteps: 3 });
    const kept = await flow.run({}, { store, resume: first.runId });
    expect([kept.outcome, kept.state.n, calls]).toEqual(['failed', 3, 3]);
    const raised = await flow.run({}, { store, resume: first.runId, maxSteps: 30 });
    expect([raised.outcome, raised.state.n, calls]).toEqual(['succeeded', 20, 20]);
  });
});
