import { describe, expect, test } from 'vitest';
import { memoryStore } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import type { AnyAgent } from 'skein/graph';
import { z } from 'zod';
import { FakeProvider } from '../agent/support/fake-provider.js';
import { collect, outline } from './support.js';
import { ownModels, promptOf, resultsIn } from './support-agents.js';

/** An agent of somebody else that tells something while it works. */
function somebody(events: readonly object[], result?: unknown): AnyAgent & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    run(task) {
      calls.push(`run ${task}`);
      return result ?? 'by run';
    },
    async *stream(task) {
      calls.push(`stream ${task}`);
      for (const event of events) {
        if (event instanceof Error) throw event;
        yield event;
      }
    },
  };
}

const around = (one: AnyAgent, options: Parameters<typeof agentNode>[1] = {}) =>
  graph<{ task: string }>().node('helper', agentNode(one, options)).setEntry('helper');

const thought = { type: 'thought', metadata: { text: 'hm' } };
const answer = { type: 'answer', metadata: { answer: 'by stream' } };

describe('[57] an agent of somebody else as a node', () => {
  test('[57] its answer is the result, and what it tells is told before the node ends, under the name of the node', async () => {
    const one = somebody([thought, { type: 'deep', source: 'inner', parentEventId: 'p1' }, answer]);
    const { state, events } = await around(one).run({ task: 'go' });
    expect([state.helper, one.calls]).toEqual(['by stream', ['stream go']]);
    const start = events.find(({ type }) => type === 'node_start');
    expect(events.find(({ type }) => type === 'thought')).toMatchObject({
      source: 'helper',
      parentEventId: start?.eventId,
      metadata: { text: 'hm' },
    });
    expect(events.find(({ type }) => type === 'deep')).toMatchObject({ source: 'inner', parentEventId: 'p1' });
    expect(outline(events)).toEqual([
      'workflow_start',
      'node_start helper',
      'thought helper',
      'deep helper',
      'answer helper',
      'node_end helper',
      'answer',
      'workflow_end',
    ]);
  });

  test('[57] without events it is only asked for its result', async () => {
    const one = somebody([thought, answer]);
    const { state, events } = await around(one, { forwardEvents: false }).run({ task: 'go' });
    expect([state.helper, one.calls]).toEqual(['by run', ['run go']]);
    expect(events.some(({ source }) => source !== null)).toBe(false);
  });

  test('[57] decision 9: an agent whose stream breaks is not run again', async () => {
    const one = somebody([thought, new Error('connection lost')]);
    const { success, error } = await around(one).run({ task: 'go' });
    expect([success, error?.message, one.calls]).toEqual([false, 'connection lost', ['stream go']]);
  });

  test.each([
    ['a result', { success: false, answer: '', error: 'no idea' }, 'no idea'],
    [
      'an error as data',
      { success: false, error: { code: 'SKEIN_MODEL_CAP', message: 'too many turns' } },
      'too many turns',
    ],
    ['an error', { success: false, error: new Error('thrown away') }, 'thrown away'],
    ['no reason', { success: false }, 'it does not say why'],
  ])('[57] decision 9: a failed agent fails the node: %s', async (_what, result, why) => {
    const { success, error } = await around({ run: () => result }).run({ task: 'go' });
    expect(success).toBe(false);
    expect(error?.message).toBe(`agentNode('helper'): the agent failed: ${why}`);
  });

  test('[57] decision 9: a stream that tells of a failure fails the node', async () => {
    const one = somebody([
      { type: 'workflow_end', metadata: { success: false, error: 'out of ideas', code: 'SKEIN_TIMEOUT' } },
    ]);
    const { error } = await around(one).run({ task: 'go' });
    expect(error).toMatchObject({
      code: 'SKEIN_TIMEOUT',
      message: "agentNode('helper'): the agent failed: out of ideas",
    });
    const { error: told } = await around(somebody([{ type: 'error', message: 'boom' }])).run({ task: 'go' });
    expect(told?.message).toBe("agentNode('helper'): the agent failed: boom");
  });

  test('[57] an agent that ends without an answer fails the node', async () => {
    for (const one of [somebody([thought]), { run: () => ({ success: true }) }, { run: () => undefined }]) {
      const { error } = await around(one).run({ task: 'go' });
      expect(error?.message).toBe("agentNode('helper'): the agent ended without an answer");
    }
  });

  test('[57] what happens inside of the agent is not its own answer', async () => {
    const one = somebody([
      { ...answer, source: 'inner' },
      { type: 'error', source: 'inner' },
      { type: 'answer', content: 'mine' },
    ]);
    expect((await around(one).run({ task: 'go' })).state.helper).toBe('mine');
  });

  test('[57] a result that the stream returns counts', async () => {
    const one: AnyAgent = {
      run: () => 'by run',
      async *stream() {
        yield thought;
        return { success: true, answer: 'returned' };
      },
    };
    expect((await around(one).run({ task: 'go' })).state.helper).toBe('returned');
  });

  test('[57] a missing task and one that is no text are refused by name', async () => {
    const flow = graph<{ task: string; helper: string }>()
      .addNode('drop', () => ({ task: 5 as never }))
      .addNode('helper', agentNode({ run: () => 'x' }, { name: 'bob' }))
      .addEdge('drop', 'helper')
      .setEntry('drop');
    expect((await flow.run({ task: 'go' })).error?.message).toBe(
      'agentNode(\'bob\'): "task" must be text, and is a number',
    );
    const missing = graph<Record<string, unknown>>()
      .addNode('helper', agentNode({ run: () => 'x' }))
      .setEntry('helper');
    expect((await missing.run({})).error?.message).toBe("inputs of 'graph': 'task' is missing");
  });

  test('[61] one node body in two nodes and in runs at once: every event belongs to its own node and run', async () => {
    const one: AnyAgent = {
      run: () => '',
      async *stream(task) {
        for (let at = 0; at < 5; at++) {
          await new Promise((resolve) => setImmediate(resolve));
          yield { type: 'tick', metadata: { task } };
        }
        yield { type: 'answer', metadata: { answer: task } };
      },
    };
    const spec = agentNode(one, { taskParam: 'task' });
    const other = agentNode(one, { taskParam: 'other' });
    const flow = graph<{ task: string; other: string }>()
      .node('left', spec)
      .node('again', spec)
      .node('right', other)
      .node('end', ({ left, again, right }) => `${left} ${again} ${right}`)
      .setEntry('left')
      .compile();
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, at) => flow.run({ task: `t${at}`, other: `o${at}` }, { runId: `run-${at}` })),
    );
    runs.forEach(({ state, events, runId }, at) => {
      expect([state['end'], runId]).toEqual([`t${at} t${at} o${at}`, `run-${at}`]);
      const ticks = events.filter(({ type }) => type === 'tick');
      expect(ticks).toHaveLength(15);
      for (const tick of ticks) {
        expect(tick).toMatchObject({
          runId: `run-${at}`,
          metadata: { task: tick.source === 'right' ? `o${at}` : `t${at}` },
        });
        const start = events.find(({ type, node }) => type === 'node_start' && node === tick.source);
        expect(tick.parentEventId).toBe(start?.eventId);
      }
    });
  });

  test('[43] a time limit frees the caller at once, and the agent is told', async () => {
    let told = false;
    const slow: AnyAgent = {
      run: (_task, options) =>
        new Promise(() => {
          options?.signal?.addEventListener('abort', () => {
            told = true;
          });
        }),
    };
    const flow = graph<{ task: string }>().node('slow', agentNode(slow), { timeoutMs: 20 }).setEntry('slow');
    const { error } = await flow.run({ task: 'go' });
    expect([error?.code, told]).toEqual(['SKEIN_TIMEOUT', true]);
  });

  test('what is no agent is refused where the node is made', () => {
    expect(() => agentNode({} as never)).toThrow(/agentNode needs an agent/);
  });
});

const look = (calls: string[]) =>
  tool({
    name: 'look',
    description: 'Looks something up.',
    inputSchema: z.object({ what: z.string() }),
    effect: 'read',
    execute: ({ what }) => {
      calls.push(what);
      return { found: what };
    },
  });

/** Looks up twice, one after the other, then answers. */
const lookTwice = ({ caller }: { readonly caller: { readonly turn: number } }) =>
  caller.turn < 3 ? { calls: [['look', { what: `thing ${caller.turn}` }] as const] } : 'found both';

describe('an agent of Skein', () => {
  test('runs alone, with tools that are functions', async () => {
    const calls: string[] = [];
    const { models, requests } = ownModels({ m: lookTwice });
    const finder = agent({ name: 'finder', model: 'own/m', instructions: 'Find {{ things }}.', tools: [look(calls)] });
    const result = await finder.run('find', { models });
    expect(result).toMatchObject({ success: true, answer: 'found both', value: 'found both', outcome: 'succeeded' });
    expect(calls).toEqual(['thing 1', 'thing 2']);
    expect(requests[0]?.messages[0]).toEqual({ role: 'system', text: 'Find {{ things }}.' });
    expect(requests[0]?.tools.map(({ name, description }) => [name, description])).toEqual([
      ['look', 'Looks something up.'],
    ]);
    expect(resultsIn(requests[2] as never)).toEqual(['{"found":"thing 1"}', '{"found":"thing 2"}']);
    expect(finder.metrics?.nodeCount).toBe(1);
    expect(finder.toMermaid()).toContain('finder');
    await expect(finder.run(5 as never)).rejects.toThrow('the task must be a string, not number');
  });

  test('gives what its schema asks for', async () => {
    const { models } = ownModels({ m: () => '{"score": 7}' });
    const rater = agent({ name: 'rater', model: 'own/m', output: z.object({ score: z.number() }) });
    expect((await rater.run('rate', { models })).value).toEqual({ score: 7 });
    const flow = graph<{ task: string }>()
      .node('rating', agentNode(rater))
      .node('text', ({ rating }) => `score ${rating.score.toFixed(1)}`)
      .setEntry('rating');
    expect((await flow.run({ task: 'rate' }, { models })).state.text).toBe('score 7.0');
  });

  test('is a real node of the plan around it: its turns and calls are told, and what it is made of is seen', async () => {
    const { models } = ownModels({ m: lookTwice });
    const finder = agent({ name: 'finder', model: 'own/m', tools: [look([])] });
    const flow = graph<{ question: string }>()
      .node('find', agentNode(finder, { taskParam: 'question' }))
      .setEntry('find');
    expect(flow.compile().plan.nodes[0]).toMatchObject({
      id: 'find',
      kind: 'agent',
      agent: { name: 'finder', models: ['own/m'] },
    });
    expect(Object.keys(flow.compile().bindings)).toEqual(['tool:find/look']);
    const events = await collect(flow.stream({ question: 'where?' }, { models }));
    const inner = events.filter(({ source }) => source === 'find').map(({ type }) => type);
    expect(inner.filter((type) => type !== 'model_delta')).toEqual([
      'prompt',
      'model_start',
      'model_end',
      'tool_start',
      'tool_end',
      'model_start',
      'model_end',
      'tool_start',
      'tool_end',
      'model_start',
      'model_end',
      'guard_label',
    ]);
    const quiet = graph<{ task: string }>()
      .node('find', agentNode(finder, { forwardEvents: false }))
      .setEntry('find');
    expect(outline((await quiet.run({ task: 'where?' }, { models })).events)).toEqual([
      'workflow_start',
      'node_start find',
      'node_end find',
      'answer',
      'workflow_end',
    ]);
  });

  test('[57] decision 9: fails its node when it fails, and its task must be text', async () => {
    const { models } = ownModels({ m: () => '' });
    const mute = agent({ name: 'mute', model: 'own/m' });
    const { success, error } = await around(mute).run({ task: 'say' }, { models });
    expect([success, error?.code]).toEqual([false, 'SKEIN_MODEL_EMPTY']);
    const result = await around(mute).run({ task: 5 as never }, { models });
    expect(result.error).toMatchObject({ code: 'SKEIN_INPUT', message: 'task must be text, and is a number' });
  });

  test('asks a person before a call that somebody must allow', async () => {
    const calls: string[] = [];
    const { models, requests } = ownModels({ m: lookTwice });
    const finder = agent({ name: 'finder', model: 'own/m', tools: [look(calls)], approve: ['look'] });
    const answers = ['allow', 'deny'];
    const result = await finder.run('find', { models, answer: async () => answers.shift() ?? '' });
    expect([result.success, calls]).toEqual([true, ['thing 1']]);
    expect(resultsIn(requests[2] as never)[1]).toBe('Error: a person refused this call');
  });

  test('settings that can not be used are refused', () => {
    const double = () => agent({ name: 'a', tools: [look([]), look([])] });
    expect(double).toThrow(/has two tools named "look"/);
    expect(() => agent({ name: 'a', tools: ['look', look([])] })).toThrow(/has two tools named "look"/);
    expect(() => agent({ name: '' })).toThrow(/an agent needs a name/);
    expect(() => agent({ name: 'a/b' })).toThrow(/a\/b/);
  });

  test('runs over the wire of a provider, tools and all', async () => {
    await using provider = await FakeProvider.start(
      { text: '', calls: [{ id: 'c1', name: 'look', input: '{"what":"the sea"}' }] },
      { text: 'It is blue.' },
    );
    const calls: string[] = [];
    const finder = agent({ name: 'finder', model: 'openai/gpt-test', tools: [look(calls)] });
    const env = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'key' };
    const { state, success } = await around(finder).run({ task: 'colour?' }, { models: { env } });
    expect([success, state.helper, calls]).toEqual([true, 'It is blue.', ['the sea']]);
    expect(JSON.stringify(provider.requests[0]?.body['tools'])).toContain('Looks something up.');
    expect(JSON.stringify(provider.requests[1]?.body)).toContain('{\\"found\\":\\"the sea\\"}');
  });
});

describe('a recorded run with an agent', () => {
  test('goes on between two model calls without asking for the first again', async () => {
    const calls: string[] = [];
    let broken = true;
    const { models, asked } = ownModels({
      m: (request) => {
        if (broken && request.caller.turn === 2) throw new Error('the power fails');
        return lookTwice(request);
      },
    });
    const flow = graph<{ task: string }>()
      .node('find', agentNode(agent({ name: 'finder', model: 'own/m', tools: [look(calls)] })))
      .node('end', ({ find }) => `end: ${find}`)
      .setEntry('find');
    const store = memoryStore();
    const first = await flow.run({ task: 'find' }, { store, models });
    expect([first.success, asked.length, calls]).toEqual([false, 2, ['thing 1']]);
    broken = false;
    const second = await flow.run({}, { store, models, resume: first.runId });
    expect(second.state).toMatchObject({ end: 'end: found both' });
    // Turn 1 and its call are taken from the record; turn 2 is asked again because it failed.
    expect([asked.length, calls]).toEqual([4, ['thing 1', 'thing 2']]);
    const third = await flow.run({}, { store, models, resume: first.runId });
    expect([third.state['end'], asked.length]).toEqual(['end: found both', 4]);
  });

  test('a tool with another source is called again, and the model is asked only where its result differs', async () => {
    const { models, asked } = ownModels({
      m: ({ caller, messages }) => (caller.turn === 1 ? { calls: [['now', {}]] } : JSON.stringify(messages.at(-1))),
    });
    const build = (execute: () => string) =>
      graph<{ task: string }>()
        .node(
          'find',
          agentNode(
            agent({
              name: 'finder',
              model: 'own/m',
              tools: [{ name: 'now', inputSchema: { type: 'object' }, effect: 'read', execute }],
            }),
          ),
        )
        .setEntry('find');
    const store = memoryStore();
    const first = await build(() => 'one').run({ task: 'x' }, { store, models });
    expect([first.state.find?.includes('one'), asked.length]).toEqual([true, 2]);
    const same = await build(() => 'one').run({}, { store, models, fork: { run: first.runId } });
    expect([same.state.find?.includes('one'), asked.length]).toEqual([true, 2]);
    const other = await build(() => 'two').run({}, { store, models, fork: { run: first.runId } });
    expect([other.state.find?.includes('two'), asked.length]).toEqual([true, 3]);
  });

  test('an agent of somebody else is known by the source of its functions', async () => {
    let runs = 0;
    const build = (run: () => string) => graph<{ task: string }>().node('a', agentNode({ run })).setEntry('a');
    const store = memoryStore();
    const first = await build(() => `one ${(runs += 1)}`).run({ task: 'x' }, { store });
    const same = await build(() => `one ${(runs += 1)}`).run({}, { store, fork: { run: first.runId } });
    const other = await build(() => `two ${(runs += 1)}`).run({}, { store, fork: { run: first.runId } });
    expect([first.state.a, same.state.a, other.state.a]).toEqual(['one 1', 'one 1', 'two 2']);
  });
});

test('the prompt of an agent is the task, as it is', async () => {
  const { models, asked } = ownModels({ m: (request) => promptOf(request).toUpperCase() });
  const { state } = await around(agent({ name: 'a', model: 'own/m' })).run({ task: 'say {{ task }}' }, { models });
  expect([state.helper, asked]).toEqual(['SAY {{ TASK }}', ['m: say {{ task }}']]);
});
