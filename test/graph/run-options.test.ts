import { describe, expect, test } from 'vitest';
import type { SkeinEvent } from 'skein';
import { graph } from 'skein/graph';
import type { GraphEvent } from 'skein/graph';
import { collect, gate, outline } from './support.js';

const chain = () =>
  graph<{ n: number }>()
    .addNode('a', ({ n }) => ({ n: n + 1 }))
    .addNode('b', ({ n }) => ({ n: n + 1 }))
    .addEdge('a', 'b')
    .setEntry('a');

describe('options of a run', () => {
  test('listeners get the events of the engine; one that throws changes nothing', async () => {
    const heard: SkeinEvent[] = [];
    const thrower = (): never => {
      throw new Error('a broken listener');
    };
    const result = await chain().run({ n: 0 }, { listeners: [thrower, (event) => heard.push(event)] });
    expect(heard.map((event) => event.type)).toEqual([
      'run.started',
      'step.started',
      'step.ended',
      'step.started',
      'step.ended',
      'run.ended',
    ]);
    expect(outline(result.events)).toHaveLength(7);
  });

  test('a check stands beside the invariants of the graph: either ends the run', async () => {
    const flow = graph<{ n: number }>({ invariants: [{ predicate: ({ state }) => state.n < 2, message: 'n < 2' }] })
      .addNode('a', ({ n }) => ({ n: n + 1 }))
      .setEntry('a');
    const check = ({ state }: { readonly state: Readonly<Record<string, unknown>> }) =>
      state['n'] === 1 ? ({ code: 'SKEIN_CANCELLED', message: 'guarded' } as const) : undefined;
    expect((await flow.run({ n: 0 }, { check })).error?.message).toBe('guarded');
    expect((await flow.run({ n: 1 }, { check })).error?.code).toBe('SKEIN_INVARIANT');
    expect((await flow.run({ n: -1 }, { check })).success).toBe(true);
  });

  test('concurrency bounds how many nodes run at once, over that of the graph', async () => {
    let running = 0;
    let most = 0;
    const flow = graph({ concurrency: 4 }).setEntry('start');
    flow.addNode('start', () => null);
    for (const name of ['a', 'b', 'c', 'd']) {
      flow.addEdge('start', name).addNode(name, async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return null;
      });
    }
    await flow.run({}, { concurrency: 2 });
    expect(most).toBe(2);
    await flow.run();
    expect(most).toBe(4);
  });

  test('the id of a run may be given', async () => {
    const result = await chain().run({ n: 0 }, { runId: 'mine' });
    expect([result.runId, result.events[0]?.runId]).toEqual(['mine', 'mine']);
  });

  test('what is started while another run goes on has its own state', async () => {
    const slow = gate();
    const flow = graph<{ who: string }>()
      .node('wait', async ({ who }) => {
        if (who === 'first') await slow.opened;
        return who;
      })
      .setEntry('wait');
    const first = flow.run({ who: 'first' });
    const second = await flow.run({ who: 'second' });
    slow.open();
    expect([second.answer, (await first).answer]).toEqual(['second', 'first']);
  });

  test('a graph that is changed after it ran is compiled again; runs of the compiled one go on', async () => {
    const flow = graph<{ n: number }>()
      .node('a', ({ n }) => n + 1)
      .setEntry('a');
    const compiled = flow.compile();
    flow.addNode('later', () => ({ n: 9 })).addEdge('a', 'later');
    expect((await compiled.run({ n: 1 })).nodesRun).toEqual(['a']);
    expect((await flow.run({ n: 1 })).nodesRun).toEqual(['a', 'later']);
  });
});

describe('events of lists', () => {
  const scan = () =>
    graph<{ files: string[] }>()
      .map('scan', { over: 'files', concurrency: 2 }, ({ item }, step) => {
        step.emit({ type: 'looked', file: item });
        return item.length;
      })
      .setEntry('scan');

  const insideOf = (events: readonly GraphEvent[]): readonly GraphEvent[] =>
    events.filter((event) => event.source !== null);

  test('each item is told under the node of the list, with a path of its own', async () => {
    const { events, state, nodesRun } = await scan().run({ files: ['a', 'bb', 'ccc'] });
    expect([state.scan, nodesRun]).toEqual([[1, 2, 3], ['scan']]);
    const started = insideOf(events).filter((event) => event.type === 'node_start');
    expect(started.map((event) => event.source)).toEqual(['scan', 'scan', 'scan']);
    expect(new Set(started.map((event) => event.eventId)).size).toBe(3);
    expect(new Set(started.map((event) => event.path)).size).toBe(3);
    const parent = events.find((event) => event.type === 'node_start' && event.node === 'scan');
    expect(started.map((event) => event.parentEventId)).toEqual(started.map(() => parent?.eventId));
  });

  test('what a function tells for an item has the step of that item as its parent', async () => {
    const events = await collect(scan().stream({ files: ['a', 'bb'] }));
    const looked = events.filter((event) => event.type === 'looked');
    expect(looked.map((event) => event.metadata['file'])).toEqual(['a', 'bb']);
    for (const event of looked) {
      const parent = events.find((other) => other.eventId === event.parentEventId);
      expect([parent?.type, parent?.path]).toEqual(['node_start', event.path]);
    }
  });
});
