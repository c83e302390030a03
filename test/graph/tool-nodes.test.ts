import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { memoryStore } from 'skein';
import { graph, tool, toolNode } from 'skein/graph';
import { resultsIn, ownModels } from './support-agents.js';
import { agent } from 'skein/graph';

const add = tool({
  name: 'add',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'number', maximum: 100 }, twice: { type: 'boolean' } },
    required: ['a', 'b'],
  },
  effect: 'read',
  execute: ({ a, b, twice }) => (Number(a) + Number(b)) * (twice === true ? 2 : 1),
});

/** The result of a graph with one tool, or its error. */
async function ran(definition: Parameters<typeof toolNode>[0], inputs: Record<string, unknown>) {
  const flow = graph<Record<string, unknown>>().addNode('out', toolNode(definition)).setEntry('out');
  const { success, state, error } = await flow.run(inputs);
  return success ? state['out'] : `${error?.code}: ${error?.message}`;
}

describe('[58] a tool as a node', () => {
  test('[58] takes its arguments from the state by the names of its schema, and keeps its result under the name of the node', async () => {
    const flow = graph<{ a: string; b: string; other: string }>()
      .node('sum', toolNode(add))
      .node('text', ({ sum }) => `sum ${sum.toFixed(1)}`)
      .setEntry('sum');
    const { state } = await flow.run({ a: '1', b: '2', other: 'x' });
    expect([state.sum, state.text]).toEqual([3, 'sum 3.0']);
    expect(flow.edges).toEqual([{ from: 'sum', to: 'text', inferred: true }]);
    expect(flow.dryRun().inputsRequired).toEqual(['a', 'b']);
  });

  test('[58] takes arguments from other nodes, and waits for them', async () => {
    const flow = graph<{ seed: number }>()
      .node('sum', toolNode(add))
      .node('a', ({ seed }) => seed + 1)
      .node('b', ({ seed }) => seed + 2)
      .setEntry('a');
    expect((await flow.run({ seed: 1 })).state['sum']).toBe(5);
  });

  test('[58] a missing argument fails the node and names it', async () => {
    expect(await ran(add, { a: 1 })).toBe("SKEIN_INPUT: inputs of 'graph': 'b' is missing");
    const flow = graph<{ seed: number; b: number; a: number; sum: number }>()
      .addNode('b', () => ({ b: undefined as unknown as number }))
      .addNode('sum', toolNode(add))
      .addEdge('b', 'sum')
      .setEntry('b');
    const { error } = await flow.run({ a: 1 });
    expect(error).toMatchObject({ code: 'SKEIN_INPUT', message: 'add: missing required argument "b"' });
  });

  test('[58] what a schema of zod says is what the function gets, defaults and transformations too', async () => {
    const shout = tool({
      name: 'shout',
      inputSchema: z.object({
        text: z.string().transform((text) => text.toUpperCase()),
        times: z.number().int().default(2),
      }),
      execute: ({ text, times }) => text.repeat(times),
    });
    expect(await ran(shout, { text: 'ha' })).toBe('HAHA');
    expect(await ran(shout, { text: 'ha', times: '3' })).toBe('HAHAHA');
    expect(await ran(shout, { text: 5 })).toMatch(/^SKEIN_INPUT: the input of shout does not match its schema/);
  });

  test('[XD6] a call that can’t be made fails before anything is done or asked, though it may be made once only', async () => {
    const did: unknown[] = [];
    const send = tool({
      name: 'send',
      inputSchema: { type: 'object', properties: { to: { type: 'string', pattern: '@' } }, required: ['to'] },
      effect: 'once',
      approve: true,
      execute: ({ to }) => did.push(to),
    });
    const flow = (to: string) =>
      graph<{ seed: number }>()
        .node('to', () => to)
        .node('send', toolNode(send))
        .setEntry('to');
    const { outcome, error, events } = await flow('nobody').run({ seed: 1 }, { store: memoryStore() });
    expect([outcome, error?.code, did]).toEqual(['failed', 'SKEIN_INPUT', []]);
    expect(error?.message).toContain('the input of send does not match its schema');
    expect(events.map(({ type }) => type)).not.toContain('node_pause');
    const allowed = await flow('a@b').run({ seed: 1 }, { answer: () => Promise.resolve('allow') });
    expect(allowed.state.send).toBe(1);
    expect(did).toEqual(['a@b']);
  });

  test.each([
    [undefined, 1, 'paused', "'send' may be done once only"],
    ['once' as const, 1, 'paused', "'send' may be done once only"],
    ['idempotent' as const, 2, 'succeeded', undefined],
    ['read' as const, 2, 'succeeded', undefined],
  ])('the effect of a tool is that of its node, and once by default: %s', async (effect, calls, outcome, asks) => {
    let called = 0;
    const held = new AbortController();
    const send = tool({
      name: 'send',
      inputSchema: { type: 'object' },
      ...(effect === undefined ? {} : { effect }),
      execute: async () => {
        called += 1;
        held.abort();
        return called === 1 ? await new Promise<never>(() => undefined) : 'sent';
      },
    });
    const flow = graph().node('send', toolNode(send)).setEntry('send');
    const store = memoryStore();
    const { runId } = await flow.run({}, { store, signal: held.signal });
    const again = await flow.run({}, { store, resume: runId });
    expect([called, again.outcome]).toEqual([calls, outcome]);
    expect(again.questions[0]?.question?.split(',')[0]).toBe(asks);
  });

  test('what a tool tells is told by the graph', async () => {
    const noisy = tool({
      name: 'noisy',
      inputSchema: { type: 'object' },
      execute: (_input, step) => step.emit({ type: 'half', done: 0.5 }),
    });
    const flow = graph().node('out', toolNode(noisy)).setEntry('out');
    const { events } = await flow.run();
    expect(events.find(({ type }) => type === 'half')).toMatchObject({ source: 'out', metadata: { done: 0.5 } });
  });

  test('a tool that is none is refused where it is made', () => {
    const execute = () => 1;
    expect(() => tool({ name: 'no spaces', inputSchema: {}, execute })).toThrow(/a tool can't be named "no spaces"/);
    expect(() => toolNode({ name: 'x', inputSchema: 'text' as never, execute })).toThrow(
      /the input of the tool "x" is not a valid schema/,
    );
    expect(() => toolNode({ name: 'x', inputSchema: {} } as never)).toThrow(/has no execute function/);
    const mute = { '~standard': { version: 1, vendor: 'x', validate: () => ({ value: 1 }) } };
    expect(() => toolNode({ name: 'x', inputSchema: mute, execute })).toThrow(/can't be converted to JSON Schema/);
  });
});

const any = (properties: object, coerce = true) => ({
  name: 'echo',
  inputSchema: { type: 'object', properties } as never,
  coerce,
  execute: (input: unknown) => input,
});

describe('[59] arguments of tools', () => {
  test.each([
    ['a text with a whole number', { type: 'integer' }, '5', 5],
    ['a text with a number', { type: 'number' }, '1.5', 1.5],
    ['a text with a power', { type: 'number' }, '-2e3', -2000],
    ['yes', { type: 'boolean' }, 'Yes', true],
    ['1', { type: 'boolean' }, '1', true],
    ['true', { type: 'boolean' }, ' true ', true],
    ['no', { type: 'boolean' }, 'no', false],
    ['0', { type: 'boolean' }, '0', false],
    ['false', { type: 'boolean' }, 'FALSE', false],
    ['a text where a text may stand', { type: ['integer', 'string'] }, '5', '5'],
    ['texts in a list', { type: 'array', items: { type: 'integer' } }, ['1', 2], [1, 2]],
    ['texts in an object', { type: 'object', properties: { n: { type: 'integer' } } }, { n: '7' }, { n: 7 }],
    ['null where it may stand', { type: ['integer', 'null'] }, null, null],
  ])('[59] %s is turned into what the schema asks for', async (_what, schema, given, expected) => {
    expect(await ran(any({ x: schema }), { x: given })).toEqual({ x: expected });
  });

  test.each([
    ['true is no number', { type: 'integer' }, true],
    ['a broken number is no whole one', { type: 'integer' }, '1.5'],
    ['an empty text is no number', { type: 'number' }, ''],
    ['a number does not become a text', { type: 'string' }, 5],
    ['a list must be a list', { type: 'array' }, '1,2'],
    ['maybe is neither', { type: 'boolean' }, 'maybe'],
    ['a value besides the choices', { enum: ['red', 'blue'] }, 'green'],
    ['more than the maximum, after it was turned', { type: 'integer', maximum: 3 }, '4'],
    ['less than the open minimum', { type: 'number', exclusiveMinimum: 0 }, '0'],
    ['no multiple', { type: 'integer', multipleOf: 5 }, '7'],
    ['too short', { type: 'string', minLength: 3 }, 'ab'],
    ['too long', { type: 'array', maxItems: 1 }, [1, 2]],
    ['against the pattern', { type: 'string', pattern: '^a' }, 'ba'],
  ])('[59] %s: the call fails', async (_what, schema, given) => {
    expect(await ran(any({ x: schema }), { x: given })).toMatch(
      /^SKEIN_INPUT: the input of echo does not match its schema/,
    );
  });

  test('[59] a tool may want its arguments as they are', async () => {
    expect(await ran(any({ x: { type: ['string', 'number'] } }, false), { x: '5' })).toEqual({ x: '5' });
    expect(await ran(any({ x: { type: 'integer' } }, false), { x: '5' })).toMatch(/does not match its schema/);
  });

  test('[59] an agent gets the same: what fits is turned, what does not is told to the model', async () => {
    const sums: unknown[] = [];
    const seen = tool({ ...add, execute: (input) => sums.push(input) && add.execute(input, undefined as never) });
    const turns = [
      {
        calls: [
          ['add', { a: '1', b: 'x' }] as const,
          ['add', { a: 1, b: 2, c: 3 }] as const,
          ['add', { b: 2 }] as const,
        ],
      },
      { calls: [['add', { a: '1', b: '2.5', twice: 'yes' }] as const] },
      'done',
    ];
    const { models, requests } = ownModels({ m: ({ caller }) => turns[caller.turn - 1] ?? 'over' });
    const result = await agent({ name: 'sums', model: 'own/m', tools: [seen] }).run('add', { models });
    expect(result).toMatchObject({ success: true, answer: 'done' });
    expect(sums).toEqual([{ a: 1, b: 2.5, twice: true }]);
    const told = resultsIn(requests.at(-1) as never);
    expect(told[0]).toMatch(/does not match its schema/);
    expect(told[1]).toMatch(/unknown argument "c"/);
    expect(told[2]).toMatch(/does not match its schema: .*"a"/);
    expect(told[3]).toBe('7');
  });
});
