import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { END, graph, reducers } from 'skein/graph';
import type { ReducerInput } from 'skein/graph';
import { gate } from './support.js';

interface Docs {
  readonly docs: { readonly title: string; readonly tags: string[] }[];
  readonly seen?: number;
}

describe('mutation', () => {
  const given = (): Docs => ({ docs: [{ title: 'a', tags: ['x'] }] });

  test.each([
    ['a key', (state: Docs) => Object.assign(state, { seen: 1 })],
    ['a list in it', (state: Docs) => state.docs.push({ title: 'b', tags: [] })],
    ['an object in a list', (state: Docs) => Object.assign(state.docs[0] ?? {}, { title: 'b' })],
    ['a list in an object in a list', (state: Docs) => state.docs[0]?.tags.push('y')],
  ])('[38] a node that changes %s fails with advice, and nothing leaks', async (_, mutate) => {
    const mine = given();
    const flow = graph<Docs>()
      .addNode('change', (state) => {
        mutate(state);
        return null;
      })
      .setEntry('change');
    const result = await flow.run(mine);
    expect(result.error).toMatchObject({
      code: 'SKEIN_STATE_MUTATED',
      hint: expect.stringContaining('return an update') as unknown,
    });
    expect([result.state, mine]).toEqual([given(), given()]);
  });

  test('[38] a function that names what it reads can not change it either', async () => {
    const flow = graph<Docs>()
      .node('change', ({ docs }) => docs.push({ title: 'b', tags: [] }))
      .setEntry('change');
    expect((await flow.run(given())).error?.code).toBe('SKEIN_STATE_MUTATED');
  });

  test('[38] what a node keeps of its own result does not leak: it is frozen', async () => {
    const list = ['a'];
    const flow = graph()
      .node('give', () => list)
      .node('later', ({ give }) => {
        list.push('b');
        return give.length;
      })
      .setEntry('give');
    expect((await flow.run()).error?.code).toBe('SKEIN_STATE_MUTATED');
  });
});

describe('what a node returns', () => {
  test.each([
    ['null', (): unknown => null],
    ['undefined', () => undefined],
    ['nothing at all', () => {}],
    ['an empty object', () => ({})],
    ['a promise of null', () => Promise.resolve(null)],
  ])('[39] %s changes nothing', async (_, body) => {
    const flow = graph<{ kept: string }>()
      .addNode('a', body as () => null)
      .setEntry('a');
    const result = await flow.run({ kept: 'yes' });
    expect([result.success, result.state]).toEqual([true, { kept: 'yes' }]);
  });

  test.each([
    ['42', (): unknown => 42, /number/],
    ['a text', () => 'text', /string/],
    ['a list', () => [1], /list|array/],
    ['true', () => Promise.resolve(true), /boolean/],
    ['an instance of a class', () => new Date(0), /Date|object|class/],
  ])('[39] %s is no update: the run fails and says so', async (_, body, what) => {
    const flow = graph<Record<string, unknown>>()
      .addNode('a', body as () => null)
      .setEntry('a');
    const result = await flow.run();
    expect([result.success, result.error?.code]).toEqual([false, 'SKEIN_BAD_UPDATE']);
    expect(`${result.error?.message} ${result.error?.hint}`).toMatch(what);
  });

  const declared = () => graph({ state: { query: z.string(), count: z.number() } });

  test('[17] with schemas an undeclared key fails the step and is named', async () => {
    const flow = declared()
      .addNode('a', (() => ({ cuont: 1 })) as () => unknown as () => null)
      .setEntry('a');
    const { error } = await flow.run({ query: 'x' });
    expect([error?.code, error?.message]).toEqual(['SKEIN_BAD_UPDATE', expect.stringContaining('cuont') as unknown]);
  });

  test('[17] so does a value of another type', async () => {
    const flow = declared()
      .addNode('a', (() => ({ count: 'many' })) as () => unknown as () => null)
      .setEntry('a');
    const { error } = await flow.run({ query: 'x' });
    expect([error?.code, error?.message]).toEqual(['SKEIN_BAD_UPDATE', expect.stringContaining('count') as unknown]);
  });

  test('a value that a schema refuses is told with the place in it', async () => {
    const flow = graph({ state: { items: z.array(z.object({ sku: z.string(), qty: z.number().min(1) })) } })
      .addNode('a', () => ({ items: [{ sku: 'tea', qty: 0 }] }))
      .setEntry('a');
    const given = await flow.run({
      items: [
        { sku: 'tea', qty: 1 },
        { sku: 5 as never, qty: 1 },
      ],
    });
    const made = await flow.run({ items: [] });
    expect(given.error?.message).toMatch(/'items' does not match its schema: 1\.sku: Invalid input/);
    expect(made.error?.message).toMatch(/'items' does not match its schema: 0\.qty: Too small/);
  });
});

describe('writers of a key', () => {
  const both = (reducer?: ReducerInput) =>
    graph<Record<string, unknown>>(reducer === undefined ? { reducers: {} } : { reducers: { log: reducer } })
      .addNode('start', () => null)
      .addNode('b', async () => ({ log: ['b'] }))
      .addNode('a', () => ({ log: ['a'] }))
      .addNode('join', () => null)
      .addEdge('start', 'a')
      .addEdge('start', 'b')
      .addEdge('a', 'join')
      .addEdge('b', 'join')
      .setEntry('start');

  test('[40] two parallel nodes that write one key fail the run, which names key and writers', async () => {
    const { error } = await both().run();
    expect(error?.code).toBe('SKEIN_WRITE_CONFLICT');
    for (const name of ["'log'", "'a'", "'b'"]) expect(error?.message).toContain(name);
    expect(error?.hint).toContain('reducer');
  });

  test('[40] with declared writes that is found before a run', () => {
    const flow = graph<{ log?: string }>()
      .addNode('start', () => null)
      .addNode('a', () => ({ log: 'a' }), { writes: ['log'] })
      .addNode('b', () => ({ log: 'b' }), { writes: ['log'] })
      .addEdge('start', 'a')
      .addEdge('start', 'b')
      .setEntry('start');
    expect(() => flow.compile()).toThrow(/log/);
  });

  test('[40] one after another they may: the later one wins, also over an input', async () => {
    const flow = graph<{ log: string }>()
      .addNode('a', ({ log }) => ({ log: `${log}a` }))
      .addNode('b', ({ log }) => ({ log: `${log}b` }))
      .addEdge('a', 'b')
      .setEntry('a');
    expect((await flow.run({ log: '-' })).state).toEqual({ log: '-ab' });
  });

  test('[40] a node that is visited again may write its key again', async () => {
    const flow = graph<{ n: number }>()
      .addNode('a', ({ n }) => ({ n: n + 1 }))
      .addConditionalEdge('a', ({ n }) => (n < 3 ? 'a' : END))
      .setEntry('a');
    expect((await flow.run({ n: 0 })).state).toEqual({ n: 3 });
  });

  test('[40] nodes of which only one runs may write the same key', async () => {
    const flow = graph<{ way: string; log?: string }>()
      .addNode('start', () => null)
      .addNode('a', () => ({ log: 'a' }), { writes: ['log'] })
      .addNode('b', () => ({ log: 'b' }), { writes: ['log'] })
      .addConditionalEdge('start', ({ way }) => way, { a: 'a', b: 'b' })
      .setEntry('start');
    expect((await flow.run({ way: 'b' })).state.log).toBe('b');
  });

  test.each<[string, ReducerInput, unknown, unknown]>([
    ['append', reducers.append, ['0'], ['0', ['b'], ['a']]],
    ['extend', 'extend', ['0'], ['0', 'b', 'a']],
    ['extend of nothing', 'extend', undefined, ['b', 'a']],
    ['last', reducers.last, 'x', ['a']],
    ['a function', (now, more) => `${String(now)}+${(more as string[]).join()}`, '0', '0+b+a'],
  ])(
    '[41] %s folds what nodes give onto the first value, in the order of the nodes',
    async (_, reducer, log, folded) => {
      const result = await both(reducer).run(log === undefined ? {} : { log });
      expect([result.error, result.state.log]).toEqual([undefined, folded]);
    },
  );

  test('[41] mergeDict: the later one wins by key; add: numbers', async () => {
    const slow = gate();
    const flow = graph<{ dict?: Record<string, number>; sum?: number }>({ reducers: { dict: 'mergeDict', sum: 'add' } })
      .addNode('start', () => null)
      .addNode('one', async () => {
        await slow.opened;
        return { dict: { a: 1, b: 1 }, sum: 1 };
      })
      .addNode('two', () => {
        slow.open();
        return { dict: { b: 2 }, sum: 2 };
      })
      .addEdge('start', 'one')
      .addEdge('start', 'two')
      .setEntry('start');
    expect((await flow.run({ dict: { z: 0 }, sum: 10 })).state).toEqual({ dict: { z: 0, a: 1, b: 2 }, sum: 13 });
  });

  test('[41] built-in reducers can be called by hand', () => {
    expect(reducers.append(undefined, 'a')).toEqual(['a']);
    expect(reducers.extend(undefined, ['a'])).toEqual(['a']);
    expect(reducers.mergeDict({ a: 1, b: 1 }, { b: 2 })).toEqual({ a: 1, b: 2 });
    expect([reducers.add(undefined, 2), reducers.add(1, 2), reducers.last(1, 2)]).toEqual([2, 3, 2]);
  });
});
