import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { END, goto, graph, reducers } from 'skein/graph';
import type { CompiledGraph, Graph } from 'skein/graph';

interface State {
  query: string;
  docs: string[];
  answer: string;
  tags: Record<string, number>;
}

describe('a chain', () => {
  test('infers the parameters of each node from the inputs and the nodes before it', () => {
    graph<{ query: string }>()
      .node('search', ({ query }) => {
        expectTypeOf(query).toEqualTypeOf<string>();
        return [query.length];
      })
      .node('best', async ({ search, query }) => {
        expectTypeOf(search).toEqualTypeOf<number[]>();
        return { query, first: search[0] ?? 0 };
      })
      .node('report', ({ best }, step) => {
        expectTypeOf(best).toEqualTypeOf<{ query: string; first: number }>();
        expectTypeOf(step.signal).toEqualTypeOf<AbortSignal>();
        return `${best.first}`;
      })
      .route('report', ({ report }) => {
        expectTypeOf(report).toEqualTypeOf<string>();
        return END;
      })
      .setEntry('search');
  });

  test('gives the state its results, each of which may be absent', async () => {
    const flow = graph<{ query: string }>()
      .node('search', ({ query }) => [query])
      .node('none', () => null);
    const { state } = await flow.run({ query: 'x' });
    expectTypeOf(state.search).toEqualTypeOf<string[] | undefined>();
    expectTypeOf(state.none).toEqualTypeOf<null | undefined>();
  });

  test('takes a default where a value may be absent', () => {
    graph<{ query?: string }>().node('search', ({ query = 'x' }) => {
      expectTypeOf(query).toEqualTypeOf<string>();
      return query;
    });
  });

  test('takes a promise that is made by hand', () => {
    graph()
      .node('later', () => new Promise<number>((resolve) => setTimeout(() => resolve(5), 1)))
      .node('wait', ({ later }) => new Promise((resolve) => setTimeout(resolve, later)))
      .node('end', ({ wait, later }) => {
        expectTypeOf(wait).toEqualTypeOf<unknown>();
        expectTypeOf(later).toEqualTypeOf<number>();
      });
  });

  test('leaves jumps out of the type of a result', () => {
    graph()
      .node('check', () => (Math.random() > 2 ? goto('end') : 5), { goto: ['end'] })
      .node('end', ({ check }) => expectTypeOf(check).toEqualTypeOf<number>());
  });

  test('has the value that a jump leaves', () => {
    graph()
      .node('check', async () => (Math.random() > 2 ? goto('end', ['late']) : 5), { goto: ['end'] })
      .node('end', ({ check }) => expectTypeOf(check).toEqualTypeOf<5 | ['late']>());
  });

  test('tells readers that a result may be missing, where the failure of its node is ignored', () => {
    graph<{ query: string; list: number[] }>()
      .node('maybe', ({ query }) => query, { onError: 'ignore' })
      .node('sure', ({ query }) => query, { onError: 'continue' })
      .map('each', { over: 'list', onError: 'ignore' }, ({ item }) => item)
      .node('end', ({ maybe, sure, each }) => {
        expectTypeOf(maybe).toEqualTypeOf<string | undefined>();
        expectTypeOf(sure).toEqualTypeOf<string>();
        expectTypeOf(each).toEqualTypeOf<number[] | undefined>();
      });
    graph<{ list: number[] }>()
      .map('each', { over: 'list', onItemError: 'continue' }, ({ item }) => item)
      .map('all', { over: 'list', onItemError: 'fail' }, ({ item }) => item)
      .node('end', ({ each, all }) => {
        expectTypeOf(each).toEqualTypeOf<(number | null)[]>();
        expectTypeOf(all).toEqualTypeOf<number[]>();
      });
    // @ts-expect-error what does not exist is still refused
    graph<{ query: string }>().node('maybe', ({ query }) => query, { onError: 'ignored' });
    // @ts-expect-error an option that does not exist
    graph<{ query: string }>().node('maybe', ({ query }) => query, { onError: 'ignore', retires: 2 });
  });

  test('a name that is no input and no earlier node must not compile', () => {
    const flow = graph<{ query: string }>().node('search', ({ query }) => query);
    // @ts-expect-error the node is called search
    flow.node('sum', ({ serach }) => String(serach));
    // @ts-expect-error the input is called query
    graph<{ query: string }>().node('search', ({ qery }) => String(qery));
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });

  test('a value of another type must not compile', () => {
    const flow = graph<{ query: string }>().node('search', ({ query }) => [query]);
    // @ts-expect-error a list is no text
    flow.node('sum', ({ search }) => search satisfies string);
    // @ts-expect-error an input of another type
    void graph<{ query: string }>().run({ query: 5 });
    // @ts-expect-error an input that nobody declared
    void graph<{ query: string }>().run({ qery: 'x' });
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });

  test('an option that does not exist must not compile', () => {
    // @ts-expect-error it is timeoutMs
    graph().node('a', () => 1, { timeout: 5 });
    // @ts-expect-error the input is called query
    graph<{ query: string }>().node('a', () => 1, { inputs: ['qery'] });
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });
});

describe('a declared state', () => {
  test('checks nodes that are added one by one', () => {
    const flow = graph<State>();
    flow.node('docs', ({ query }) => [query]);
    flow.node('answer', async ({ docs }) => docs.join());
    flow.addNode('both', ({ docs }) => ({ answer: docs.join(), query: 'x' }));
    flow.addNode('none', () => null);
    flow.addNode('nothing', () => undefined);
    flow.addNode('side effects', async () => {});
    flow.addNode('sometimes', ({ query }) => (query === '' ? null : { answer: query }));
    flow.addConditionalEdge('docs', ({ docs }) => docs.length > 0, { true: 'answer', false: END });
    expectTypeOf(flow.node('docs', () => [])).toExtend<typeof flow>();
  });

  test('a node with the name of a key must give what the key holds', () => {
    // @ts-expect-error docs is a list
    graph<State>().node('docs', ({ query }) => query);
    // @ts-expect-error docs is a list, also later
    graph<State>().node('docs', async ({ query }) => query);
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });

  test('an update with another key or another type must not compile', () => {
    // @ts-expect-error the key is called answer
    graph<State>().addNode('a', () => ({ anwser: 'x' }));
    // @ts-expect-error one of the keys does not exist
    graph<State>().addNode('a', () => ({ answer: 'x', anwser: 'x' }));
    // @ts-expect-error nor later
    graph<State>().addNode('a', async () => ({ answer: 'x', anwser: 'x' }));
    // @ts-expect-error the answer is a text
    graph<State>().addNode('a', () => ({ answer: 42 }));
    // @ts-expect-error 42 is no update
    graph<State>().addNode('a', () => 42);
    // @ts-expect-error without a reducer a list is given as a whole
    graph<State>().addNode('a', () => ({ docs: 'x' }));
    // @ts-expect-error a key that does not exist
    graph<State>().addNode('a', () => null, { writes: ['anwser'] });
    // @ts-expect-error a parameter that does not exist
    graph<State>().addNode('a', ({ anwser }) => ({ answer: String(anwser) }));
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });

  test('can not be changed by a node', () => {
    // @ts-expect-error the state is read-only
    graph<State>().addNode('a', (state) => void (state.answer = 'x'));
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });

  test('keys with a reducer take contributions', () => {
    const flow = graph<State>({ reducers: { docs: reducers.append, tags: 'mergeDict' } });
    flow.addNode('one', () => ({ docs: 'a' }));
    flow.addNode('all', () => ({ docs: ['a'] }));
    flow.addNode('tag', () => ({ tags: { a: 1 } }));
    // @ts-expect-error an item of another type
    flow.addNode('wrong', () => ({ docs: 5 }));
    // @ts-expect-error a reducer for a key that does not exist
    graph<State>({ reducers: { dosc: 'append' } });
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });

  test('keys with a reducer can be named, and then only those take contributions', () => {
    const flow = graph<State, 'docs'>({ reducers: { docs: 'append' } });
    flow.addNode('one', () => ({ docs: 'a' }));
    // @ts-expect-error tags has no reducer
    flow.addNode('wrong', () => ({ tags: 'a' }));
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });

  test('a list or an object without a reducer takes no contributions: each has one, or those that have one are named', () => {
    interface Shop {
      bought: string[];
      seen?: string[];
      address: { street: string };
      notes: Record<string, string>;
      total: number;
      anything: unknown;
    }
    const all = { bought: 'append', seen: 'extend', address: 'mergeDict' } as const;
    const flow = graph<Shop>({ reducers: { ...all, total: 'add' } });
    flow.addNode('buy', () => ({ bought: 'bread', address: {}, total: 1 }));
    // @ts-expect-error seen has no reducer, and no key is named
    graph<Shop>({ reducers: { bought: 'append', address: 'mergeDict' } });
    // @ts-expect-error nor has it one if the result of a run is declared
    graph<Shop>({ reducers: { bought: 'append', address: 'mergeDict' }, output: ['total'] });
    const one = graph<Shop, 'bought'>({ reducers: { bought: 'append', total: 'add' } });
    one.addNode('buy', () => ({ bought: 'bread', seen: ['bread'] }));
    // @ts-expect-error seen has no reducer, so an item would take the place of the list
    one.addNode('see', () => ({ seen: 'bread' }));
    // @ts-expect-error address has no reducer, so a part would take the place of the whole
    one.addNode('move', () => ({ address: {} }));
    // @ts-expect-error a named key has a reducer
    graph<Shop, 'bought'>({ reducers: { total: 'add' } });
    expectTypeOf(one).toExtend<Graph<Shop, 'bought'>>();
  });

  test('any key of any type is fine in an untyped graph', () => {
    graph<Record<string, unknown>>()
      .addNode('a', ({ whatever }) => ({ other: whatever }))
      .node('b', ({ other }) => other);
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });
});

describe('a jump in a declared state', () => {
  interface Kinds extends State {
    kind: 'long' | 'short';
    list?: ('a' | 'b')[];
  }

  test('leaves an update or nothing', () => {
    const flow = graph<Kinds, 'docs'>({ reducers: { docs: 'append' } });
    flow.addNode('nothing', () => goto('b'));
    flow.addNode('several', async () => goto(['b', END]));
    flow.addNode('update', () => goto('b', { answer: 'x', kind: 'long' }));
    flow.addNode('later', async () => goto('b', { answer: 'x', list: ['a'] }));
    flow.addNode('item', () => goto('b', { docs: 'one' }));
    flow.addNode('none', ({ query }) => goto('b', query === '' ? null : undefined));
    flow.addNode('mixed', ({ query }) => (query === '' ? goto('b', { answer: 'x' }) : { query: 'x' }));
    flow.addNode('or not', ({ query }) =>
      query === '' ? goto('b') : query === 'x' ? goto('c', { kind: 'short' }) : null,
    );
    graph<Record<string, unknown>>().addNode('any', () => goto('b', { whatever: 1 }));
    expectTypeOf(flow).toExtend<Graph<Kinds, 'docs'>>();
  });

  test('an update with another key or another type must not compile', () => {
    // @ts-expect-error the key is called answer
    graph<State>().addNode('a', () => goto('b', { anwser: 'x' }));
    // @ts-expect-error one of the keys does not exist
    graph<State>().addNode('a', () => goto('b', { answer: 'x', anwser: 'x' }));
    // @ts-expect-error nor later
    graph<State>().addNode('a', async () => goto('b', { answer: 'x', anwser: 'x' }));
    // @ts-expect-error nor beside an update that is right
    graph<State>().addNode('a', ({ query }) => (query === '' ? { query } : goto('b', { answer: 'x', anwser: 'x' })));
    // @ts-expect-error nor beside a jump that is right
    graph<State>().addNode('a', ({ query }) => (query === '' ? goto('b') : goto('b', { answer: 'x', anwser: 'x' })));
    // @ts-expect-error the answer is a text
    graph<State>().addNode('a', () => goto('b', { answer: 42 }));
    // @ts-expect-error the answer is a text, also later
    graph<State>().addNode('a', async ({ query }) => (query === '' ? null : goto('b', { answer: 42 })));
    // @ts-expect-error 42 is no update
    graph<State>().addNode('a', () => goto('b', 42));
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });

  test('from a node with the name of a key must leave what the key holds', () => {
    const flow = graph<Kinds>();
    flow.node('docs', () => goto('b'));
    flow.node('docs', ({ query }) => (query === '' ? goto('b', [query]) : []));
    flow.node('kind', () => goto('b', 'long'));
    flow.node('kind', async ({ query }) => (query === '' ? goto('b', 'long') : 'short'));
    flow.node('list', () => goto('b', ['a', 'b']));
    flow.node('tags', () => goto('b', { any: 1 }));
    // @ts-expect-error docs is a list
    flow.node('docs', () => goto('b', 'x'));
    // @ts-expect-error docs is a list, also later
    flow.node('docs', async ({ query }) => (query === '' ? goto('b', 'x') : []));
    // @ts-expect-error no such kind
    flow.node('kind', () => goto('b', 'wide'));
    // @ts-expect-error no such item
    flow.node('list', () => goto('b', ['c']));
    expectTypeOf(flow).toExtend<Graph<Kinds>>();
  });
});

describe('a map', () => {
  interface Lists {
    docs: readonly string[];
    maybe?: number[];
    loose: unknown;
    text: string;
    either: string | string[];
  }

  test('goes over a list', () => {
    const flow = graph<Lists>();
    flow.map('a', { over: 'docs' }, ({ item }) => expectTypeOf(item).toEqualTypeOf<string>());
    flow.map('b', { over: 'maybe', item: 'one' }, ({ one, text }) => expectTypeOf(one).toEqualTypeOf<number>() && text);
    flow.map('c', { over: 'loose' }, ({ item }) => expectTypeOf(item).toEqualTypeOf<unknown>());
    flow.node('found', () => [1]).map('d', { over: 'found' }, ({ item }) => expectTypeOf(item).toEqualTypeOf<number>());
    graph<Record<string, unknown>>().map('e', { over: 'whatever' }, ({ item }) => item);
  });

  test('over anything else must not compile', () => {
    // @ts-expect-error a text is no list
    graph<Lists>().map('a', { over: 'text' }, () => 1);
    // @ts-expect-error it may be a text
    graph<Lists>().map('a', { over: 'either' }, () => 1);
    // @ts-expect-error there is no such key
    graph<Lists>().map('a', { over: 'dosc' }, () => 1);
    const flow = graph().node('count', () => 1);
    // @ts-expect-error the node gives a number
    flow.map('a', { over: 'count' }, () => 1);
    expectTypeOf<Graph<Lists>['compile']>().returns.toExtend<CompiledGraph<Lists>>();
  });
});

describe('a question', () => {
  test('is answered with one of its choices, with a text, or with what the schema asks for', () => {
    graph<{ names: string[] }>()
      .node('choice', (_, step) => step.ask({ text: 'Go?', choices: ['yes', 'no'] }), { inputs: [] })
      .node('text', (_, step) => step.ask({ text: 'Why?' }, 'why'), { inputs: [] })
      .node('shape', (_, step) => step.ask({ text: 'When?', schema: { type: 'number' } }), { inputs: [] })
      .node('name', ({ names }, step) => step.ask({ text: 'Who?', choices: names }))
      .node('both', (_, step) => step.ask({ text: 'Go?', choices: ['yes'], schema: {} }), { inputs: [] })
      .node('shown', (_, step) => step.ask({ text: 'Go?', choices: ['a', 'b'], evidence: { n: 1 } }), { inputs: [] })
      .node('end', ({ choice, text, shape, name, both, shown }) => {
        expectTypeOf(shown).toEqualTypeOf<'a' | 'b'>();
        expectTypeOf(choice).toEqualTypeOf<'yes' | 'no'>();
        expectTypeOf(text).toEqualTypeOf<string>();
        expectTypeOf(shape).toEqualTypeOf<unknown>();
        expectTypeOf(name).toEqualTypeOf<string>();
        expectTypeOf(both).toEqualTypeOf<unknown>();
      });
  });

  test('of another form must not compile', () => {
    // @ts-expect-error it is called choices
    graph().node('a', (_, step) => step.ask({ text: 'Go?', choises: ['yes'] }));
    // @ts-expect-error a choice is a text
    graph().node('a', (_, step) => step.ask({ text: 'Go?', choices: [1, 2] }));
    // @ts-expect-error maybe is no choice
    graph().node('a', async (_, step) => (await step.ask({ text: 'Go?', choices: ['yes', 'no'] })) === 'maybe');
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });
});

describe('a state with schemas', () => {
  const schemas = { query: z.string(), docs: z.array(z.string()), count: z.number().optional() };

  test('has the types that the schemas give', () => {
    const flow = graph({ state: schemas, reducers: { docs: 'append' } });
    flow.node('count', ({ query, docs }) => {
      expectTypeOf(query).toEqualTypeOf<string>();
      expectTypeOf(docs).toEqualTypeOf<string[]>();
      return docs.length;
    });
    flow.addNode('add', () => ({ docs: 'one' }));
    // @ts-expect-error query is a text
    flow.node('query', () => 5);
    // @ts-expect-error the key is called docs
    flow.addNode('a', () => ({ dosc: ['x'] }));
  });

  test('a key without a reducer takes whole values only', () => {
    // @ts-expect-error docs has no reducer
    graph({ state: schemas }).addNode('add', () => ({ docs: 'one' }));
    expectTypeOf<Graph<State>['compile']>().returns.toExtend<CompiledGraph<State>>();
  });
});
