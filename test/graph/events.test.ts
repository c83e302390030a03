import { describe, expect, test } from 'vitest';
import { definePlan } from 'skein';
import type { JsonObject } from '../../src/base/json.js';
import { graph } from 'skein/graph';
import type { GraphEvent } from 'skein/graph';
import { callOf } from './support-call.js';
import { collect, gate, orderOf, outline } from './support.js';

const chain = () =>
  graph<{ query: string }>({ name: 'chain' })
    .node('search', ({ query }) => [query])
    .node('sum', async ({ search }) => search.join())
    .setEntry('search');

/** An event without what differs from run to run. */
function timeless({ at: _at, metadata, ...event }: GraphEvent): unknown {
  const { elapsed_ms: _elapsed, metrics: _metrics, ...rest } = metadata;
  return { ...event, metadata: rest };
}

function find(events: readonly GraphEvent[], type: string, node?: string): GraphEvent {
  const found = events.find((event) => event.type === type && (node === undefined || event.node === node));
  if (found === undefined) throw new Error(`no ${type} of ${String(node)} in ${outline(events).join(', ')}`);
  return found;
}

describe('the events of a run', () => {
  test('[45] begin with workflow_start and end with answer and workflow_end', async () => {
    const { events } = await chain().run({ query: 'x' }, { runId: 'r1' });
    expect(outline(events)).toEqual([
      'workflow_start',
      'node_start search',
      'node_end search',
      'node_start sum',
      'node_end sum',
      'answer',
      'workflow_end',
    ]);
  });

  test('[45] have the payloads of upstream, and the other names for them', async () => {
    const { events } = await chain().run({ query: 'x' }, { runId: 'r1' });
    const state = { query: 'x', search: ['x'], sum: 'x' };
    expect(find(events, 'workflow_start').metadata).toEqual({ entry: 'search', initial_state: { query: 'x' } });
    expect(find(events, 'node_start', 'sum').metadata).toMatchObject({
      node: 'sum',
      event_id: expect.any(String) as unknown,
    });
    expect(find(events, 'node_end', 'sum').metadata).toMatchObject({
      node: 'sum',
      update: { sum: 'x' },
      result: { sum: 'x' },
      elapsed_ms: expect.any(Number) as unknown,
      event_id: expect.any(String) as unknown,
    });
    expect(find(events, 'answer').metadata).toEqual({ answer_key: 'sum', answer: 'x' });
    expect(find(events, 'workflow_end').metadata).toMatchObject({
      state,
      final_state: state,
      success: true,
      error: null,
      metrics: { totalTimeMs: expect.any(Number) as unknown, errorCount: 0, nodeCount: 2 },
      nodes_run: ['search', 'sum'],
    });
  });

  test('[45] tell with node_start what the node could see', async () => {
    const { events } = await graph<{ query: string }>()
      .node('start', ({ query }) => query)
      .node('left', ({ start }) => `${start} left`)
      .node('right', ({ start }) => `${start} right`)
      .node('join', ({ left, right }) => left + right)
      .setEntry('start')
      .run({ query: 'x' });
    expect(find(events, 'node_start', 'start').metadata['inputs']).toEqual({ query: 'x' });
    expect(find(events, 'node_start', 'right').metadata['inputs']).toEqual({ query: 'x', start: 'x' });
    expect(find(events, 'node_start', 'join').metadata['inputs']).toEqual({
      query: 'x',
      start: 'x',
      left: 'x left',
      right: 'x right',
    });
  });

  test('decision 7: each has an id, the id of its run, and its time', async () => {
    const { events, runId } = await chain().run({ query: 'x' });
    for (const event of events) {
      expect(event.eventId).toMatch(/^[0-9a-f]{32}$/);
      expect(event.runId).toBe(runId);
      expect(Math.abs(event.at - Date.now())).toBeLessThan(3_600_000);
    }
    expect(new Set(events.map((event) => event.eventId)).size).toBe(events.length - 2);
  });

  test('[46] node_start and node_end of one execution share their id; each execution has its own', async () => {
    const flow = graph<{ n: number }>()
      .addNode('a', ({ n }) => ({ n: n + 1 }))
      .addConditionalEdge('a', ({ n }) => (n < 3 ? 'a' : 'END'))
      .setEntry('a');
    const { events } = await flow.run({ n: 0 });
    const idsOf = (type: string): string[] =>
      events.filter((event) => event.type === type).map((event) => event.eventId);
    expect(idsOf('node_start')).toEqual(idsOf('node_end'));
    expect(new Set(idsOf('node_start')).size).toBe(3);
    for (const event of events) if (event.type === 'node_end') expect(event.metadata['event_id']).toBe(event.eventId);
    const again = await flow.run({ n: 0 });
    expect(idsOf('node_start')).not.toContain(find(again.events, 'node_start').eventId);
  });

  test('[46] a run that fails has no answer event', async () => {
    const flow = graph()
      .node('bad', (): number => {
        throw new Error('no');
      })
      .setEntry('bad');
    expect(outline((await flow.run()).events)).toEqual([
      'workflow_start',
      'node_start bad',
      'error bad',
      'workflow_end',
    ]);
  });

  test('[47] are the same in a stream, in the same order', async () => {
    const events = await collect(chain().stream({ query: 'x' }, { runId: 'same' }));
    const result = await chain().run({ query: 'x' }, { runId: 'same' });
    expect(events.map(timeless)).toEqual(result.events.map(timeless));
    expect(result.steps).toBe(result.events);
  });

  test('[47] a stream returns the result, whose events are those that it gave', async () => {
    const stream = chain().stream({ query: 'x' });
    const events: GraphEvent[] = [];
    let next = await stream.next();
    for (; next.done !== true; next = await stream.next()) events.push(next.value);
    expect(next.value).toMatchObject({ success: true, answer: 'x' });
    expect(next.value.events).toEqual(events);
  });

  test('[47] a stream begins when its first event is asked for, and gives events as they happen', async () => {
    const slow = gate();
    const ran: string[] = [];
    const flow = graph()
      .node('quick', () => ran.push('quick'))
      .node('slow', async ({ quick }) => {
        await slow.opened;
        return quick;
      })
      .setEntry('quick');
    const stream = flow.stream();
    expect(ran).toEqual([]);
    const seen: string[] = [];
    for await (const event of stream) {
      seen.push(outline([event]).join());
      if (event.type === 'node_start' && event.node === 'slow') slow.open();
    }
    expect(seen).toContain('node_end slow');
  });

  test('[47] leaving the loop cancels the run', async () => {
    const stopped = gate();
    const flow = graph()
      .node(
        'wait',
        (_, step) => new Promise<number>(() => step.signal.addEventListener('abort', () => stopped.open())),
        {
          inputs: [],
        },
      )
      .setEntry('wait');
    for await (const event of flow.stream()) if (event.type === 'node_start') break;
    await expect(stopped.opened).resolves.toBeUndefined();
  });
});

describe('what happens inside of nodes', () => {
  const telling = (event: JsonObject) =>
    graph()
      .node(
        'work',
        (_, step) => {
          step.emit(event);
          return 1;
        },
        { inputs: [] },
      )
      .setEntry('work');

  test('[48] events of the graph itself have neither source nor parent', async () => {
    const { events } = await chain().run({ query: 'x' });
    for (const event of events) expect([event.source, event.parentEventId]).toEqual([null, null]);
  });

  test('[48] what a function tells has the node as its source and its start as parent, and comes before its end', async () => {
    const { events } = await telling({ progress: 0.5 }).run();
    expect(outline(events).slice(1, 4)).toEqual(['node_start work', 'custom work', 'node_end work']);
    expect(events[2]).toMatchObject({
      source: 'work',
      parentEventId: find(events, 'node_start').eventId,
      metadata: { progress: 0.5 },
    });
  });

  test('[48] what it forwards keeps the type, source, parent and id that it has', async () => {
    const event = { type: 'thought', source: 'leaf', parentEventId: 'p1', eventId: 'e1', metadata: { text: 'hm' } };
    const { events } = await telling(event).run();
    expect(events[2]).toMatchObject({ ...event, node: 'work', path: 'work' });
    const bare = await telling({ type: 'thought', text: 'hm', source: null }).run();
    expect(bare.events[2]).toMatchObject({ type: 'thought', source: 'work', metadata: { text: 'hm' } });
    expect(bare.events[2]?.parentEventId).toBe(bare.events[1]?.eventId);
  });

  const leaf = graph<{ task: string }>({ name: 'inner', answerKey: 'leaf' })
    .node('leaf', ({ task }) => `${task}!`)
    .setEntry('leaf');

  test('[48] three levels deep: the leaf has the middle as source, the middle has the top', async () => {
    const middle = graph<{ task: string }>({ name: 'middle' })
      .node('middle', callOf<string>(leaf, 'leaf'))
      .setEntry('middle');
    const top = graph<{ task: string }>().node('top', callOf<string>(middle, 'middle')).setEntry('top');
    const { events, answer } = await top.run({ task: 'x' });
    expect(answer).toBe('x!');
    const startOf = (node: string): GraphEvent => find(events, 'node_start', node);
    expect([startOf('top').source, startOf('top').parentEventId]).toEqual([null, null]);
    expect([startOf('middle').source, startOf('middle').parentEventId]).toEqual(['top', startOf('top').eventId]);
    expect([startOf('leaf').source, startOf('leaf').parentEventId]).toEqual(['middle', startOf('middle').eventId]);
    expect(startOf('leaf').path).toBe('top/middle/leaf');
  });

  test('[49] workflows inside of nodes tell their start, answer and end; those of the graph have no source', async () => {
    const flow = graph<{ task: string }>().node('inner', callOf<string>(leaf, 'leaf')).setEntry('inner');
    const { events, nodesRun, iterations } = await flow.run({ task: 'x' });
    expect(events.map(({ type, source }) => `${type} of ${String(source)}`)).toEqual([
      'workflow_start of null',
      'node_start of null',
      'workflow_start of inner',
      'node_start of inner',
      'node_end of inner',
      'answer of inner',
      'workflow_end of inner',
      'node_end of null',
      'answer of null',
      'workflow_end of null',
    ]);
    expect(events[5]?.metadata).toEqual({ answer_key: 'leaf', answer: 'x!' });
    expect(events[6]?.metadata).toMatchObject({ workflow: 'inner', success: true, error: null, nodes_run: ['leaf'] });
    expect([nodesRun, iterations]).toEqual([['inner'], 1]);
  });

  test('[49] a workflow inside that fails tells its end, and the graph fails', async () => {
    const bad = definePlan({
      name: 'bad',
      nodes: [
        {
          id: 'boom',
          output: 'boom',
          run: () => {
            throw new TypeError('inside');
          },
        },
      ],
    });
    const flow = graph<{ task: string }>().node('inner', callOf<string>(bad, 'boom')).setEntry('inner');
    const { events, error } = await flow.run({ task: 'x' });
    expect(error?.message).toContain('inside');
    expect(outline(events).slice(1)).toEqual([
      'node_start inner',
      'workflow_start',
      'node_start boom',
      'error boom',
      'workflow_end',
      'error inner',
      'workflow_end',
    ]);
    expect(orderOf(events, 'error')).toEqual(['boom', 'inner']);
  });
});

test('the events of a failure say what to do, as the result does', async () => {
  const flow = graph<{ xs: number[] }>()
    .addNode('a', ({ xs }) => ({ xs: Object.assign(xs, { 0: 1 }) }))
    .setEntry('a');
  const { events, error } = await flow.run({ xs: [] });
  const hints = events
    .filter(({ type }) => type === 'error' || type === 'workflow_end')
    .map((one) => one.metadata['hint']);
  expect([error?.hint, ...hints]).toEqual(Array(3).fill(expect.stringContaining('return an update instead')));
});
