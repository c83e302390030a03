import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryStore, readRun } from 'skein';
import { graph, reducers, workflowNode } from 'skein/graph';

interface State {
  topic: string;
  draft: string;
  verdict: string;
  log: string[];
}

function make(calls: string[]) {
  return graph<State>({ inputs: ['topic'], reducers: { log: reducers.append } })
    .addNode('write', ({ topic }) => {
      calls.push('write');
      return { draft: `about ${topic}`, log: 'written' };
    })
    .addNode('judge', ({ draft }) => {
      calls.push('judge');
      return { verdict: `${draft}: fine`, log: 'judged' };
    })
    .addEdge('write', 'judge')
    .setEntry('write');
}

test('[XG11] a fork sets a key that a step wrote: what depends on it runs again, the step does not', async () => {
  const calls: string[] = [];
  const store = memoryStore();
  const { runId } = await make(calls).run({ topic: 'looms' }, { store });
  calls.length = 0;
  const forked = await make(calls).run({}, { store, fork: { run: runId, set: { draft: 'better' } } });
  expect(forked.state).toMatchObject({ draft: 'better', verdict: 'better: fine', log: ['written', 'judged'] });
  expect(calls).toEqual(['judge']);
  const again = await make(calls).run({}, { store, resume: forked.runId });
  expect([again.state.verdict, calls]).toEqual(['better: fine', ['judge']]);
  const next = await make(calls).run({}, { store, fork: { run: forked.runId } });
  expect([next.state.verdict, calls]).toEqual(['better: fine', ['judge']]);
});

test('[XG11] so it does where the step failed at first, and succeeded when the run was resumed', async () => {
  const calls: string[] = [];
  let broken = true;
  const flow = () =>
    graph<State>({ inputs: ['topic'] })
      .addNode('plan', () => ({ draft: 'planned' }))
      .addNode('write', ({ topic }) => {
        calls.push('write');
        if (broken) throw new Error('no paper');
        return { draft: `about ${topic}` };
      })
      .addNode('judge', ({ draft }) => ({ verdict: `${draft}: fine` }))
      .addEdge('plan', 'write')
      .addEdge('write', 'judge')
      .setEntry('plan');
  const store = memoryStore();
  const { runId, outcome } = await flow().run({ topic: 'looms' }, { store });
  broken = false;
  const resumed = await flow().run({}, { store, resume: runId });
  expect([outcome, resumed.outcome, calls]).toEqual(['failed', 'succeeded', ['write', 'write']]);
  const forked = await flow().run({}, { store, fork: { run: runId, set: { draft: 'better' } } });
  expect(forked.state).toEqual({ topic: 'looms', draft: 'better', verdict: 'better: fine' });
  expect(calls).toEqual(['write', 'write']);
});

test('[XG11] inputs can be set too, and in a loop the value stands for the last visit before the fork begins', async () => {
  const store = memoryStore();
  const calls: string[] = [];
  const { runId } = await make(calls).run({ topic: 'looms' }, { store });
  const forked = await make(calls).run({}, { store, fork: { run: runId, set: { topic: 'mills' } } });
  expect(forked.state.verdict).toBe('about mills: fine');

  const loop = graph<{ n: number; seen: number[] }>({ inputs: ['n'], reducers: { seen: reducers.append } })
    .addNode('more', ({ n }) => ({ n: n + 1 }))
    .addNode('look', ({ n }) => ({ seen: n }))
    .addEdge('more', 'look')
    .addConditionalEdge('look', ({ n }) => (n < 3 ? 'more' : 'END'), { more: 'more' })
    .setEntry('more');
  const first = await loop.run({ n: 0 }, { store });
  const other = await loop.run({}, { store, fork: { run: first.runId, from: 'look#2', set: { n: 2.5 } } });
  expect(other.state).toEqual({ n: 3.5, seen: [1, 2.5, 3.5] });
});

test('[XG11] what a workflow inside of a node gave can be set', async () => {
  const inner = graph<{ task: string }>()
    .node('leaf', ({ task }) => task.length)
    .setEntry('leaf');
  const flow = graph<{ task: string }>()
    .node('sub', workflowNode(inner, 'sub'))
    .node('told', ({ sub }) => `it is ${String(sub)}`)
    .setEntry('sub');
  const store = memoryStore();
  const { runId } = await flow.run({ task: 'abc' }, { store });
  const forked = await flow.run({}, { store, fork: { run: runId, set: { sub: 9 } } });
  expect(forked.state).toEqual({ task: 'abc', sub: 9, told: 'it is 9' });
});

test('[XG11] keys that are not there and values of a wrong type are refused', async () => {
  const flow = graph({ state: { topic: z.string(), size: z.number() } })
    .addNode('count', ({ topic }) => ({ size: topic.length }))
    .setEntry('count');
  const store = memoryStore();
  const { runId } = await flow.run({ topic: 'looms' }, { store });
  const set = (values: Record<string, unknown>) => flow.run({}, { store, fork: { run: runId, set: values } });
  const typo = await set({ sice: 3 });
  expect([typo.error?.code, typo.error?.hint]).toEqual(['SKEIN_INPUT', expect.stringContaining('size')]);
  expect((await set({ size: 'big' })).error).toMatchObject({ code: 'SKEIN_INPUT' });
  expect((await set({ size: 3 })).state.size).toBe(3);
});

test('a key that nothing wrote and no one gave is told as new, where the state takes any key', async () => {
  const store = memoryStore();
  const { runId } = await make([]).run({ topic: 'looms' }, { store });
  const told = async (set: Record<string, unknown>): Promise<readonly string[]> => {
    const said: string[] = [];
    const listener = (event: { readonly type: string; readonly code?: string; readonly message?: string }): void => {
      if (event.type === 'run.warning' && event.code === 'new-key') said.push(event.message ?? '');
    };
    await make([]).run({}, { store, fork: { run: runId, set }, listeners: [listener] });
    return said;
  };
  expect(await told({ draft: 'better', topic: 'mills' })).toEqual([]);
  expect(await told({ tpoic: 'mills' })).toEqual([
    'the fork sets "tpoic", which no step wrote and no one gave to the run: it is a new key; did you mean "topic"?',
  ]);
});

test('the overview of a fork names a key that it set, also the result of a map', async () => {
  const store = memoryStore();
  const flow = graph<{ list: number[] }>()
    .map('each', { over: 'list' }, ({ item }) => item + 1)
    .node('sum', ({ each }) => each.join());
  const { runId } = await flow.run({ list: [1, 2] }, { store });
  const forked = await flow.run(undefined, { store, fork: { run: runId, set: { each: [9] } } });
  expect(forked.state.sum).toBe('9');
  expect(readRun(store, forked.runId).parent).toEqual({ id: runId, forgotten: [], set: ['each'] });
  expect(readRun(store, runId).parent).toBeUndefined();
});

test('a key that the state does not have does not compile', async () => {
  const store = memoryStore();
  const { runId } = await make([]).run({ topic: 'looms' }, { store });
  const fork = (flow: ReturnType<typeof make>) => {
    // @ts-expect-error the key is called draft
    void flow.run({}, { store, fork: { run: runId, set: { drafd: 'better' } } });
    // @ts-expect-error it is a text
    void flow.compile().stream({}, { store, fork: { run: runId, set: { draft: 5 } } });
  };
  expect(fork).toBeTypeOf('function');
});
