import { describe, expect, test } from 'vitest';
import { END, graph } from 'skein/graph';
import { gate, orderOf } from './support.js';

interface Loose {
  readonly [key: string]: unknown;
}

describe('nodes that are ready', () => {
  test('[27] start at once, in the order in which they were added, and what they give is merged whoever ends first', async () => {
    const started: string[] = [];
    const slow = gate();
    const flow = graph<{ log?: string[] }>({ reducers: { log: 'append' } })
      .addNode('start', () => null)
      .addNode('b', async () => {
        started.push('b');
        await slow.opened;
        return { log: 'b' };
      })
      .addNode('a', () => {
        started.push('a');
        slow.open();
        return { log: 'a' };
      })
      .addEdge('start', 'a')
      .addEdge('start', 'b')
      .setEntry('start');
    const result = await flow.run();
    expect(started).toEqual(['b', 'a']);
    expect(result.nodesRun).toEqual(['start', 'a', 'b']);
    expect(result.state.log).toEqual(['b', 'a']);
  });

  test('[28] a node starts when its own predecessors are done: it does not wait for slow siblings of those', async () => {
    const slow = gate();
    const flow = graph()
      .node('start', () => 1)
      .node('slow', async ({ start }) => {
        await slow.opened;
        return start;
      })
      .node('fast', ({ start }) => start)
      .node('after', ({ fast }) => {
        slow.open();
        return fast;
      })
      .setEntry('start');
    expect((await flow.run()).nodesRun).toEqual(['start', 'fast', 'after', 'slow']);
  });

  test('[29] all roots that an exit needs start, not only the entry; 15.2', async () => {
    const flow = graph<{ query: string }>()
      .node('wikipedia', ({ query }) => `w ${query}`)
      .node('local', ({ query }) => `l ${query}`)
      .node('calculator', ({ query }) => `c ${query}`)
      .node('synthesize', ({ wikipedia, local, calculator }) => [wikipedia, local, calculator].join(', '))
      .setEntry('wikipedia')
      .setExit('synthesize');
    const result = await flow.run({ query: 'x' });
    expect([result.success, result.answer]).toEqual([true, 'w x, l x, c x']);
    expect(result.nodesRun).toEqual(['wikipedia', 'local', 'calculator', 'synthesize']);
  });

  test('[30] a join waits for all of its static predecessors', async () => {
    const flow = graph()
      .node('start', () => 1)
      .node('one', async ({ start }) => start + 1)
      .node('two', ({ start }) => start + 2)
      .node('sum', ({ one, two }) => one + two)
      .setEntry('start');
    const result = await flow.run();
    expect([result.state.sum, result.nodesRun.at(-1)]).toEqual([5, 'sum']);
  });
});

describe('choices', () => {
  test.each([
    ['at the same depth', false],
    ['at different depths', true],
  ])('[31] two branches that choose the same node %s are joined: it runs once, with both', async (_, deeper) => {
    const flow = graph<{ log?: string[] }>({ reducers: { log: 'append' } })
      .addNode('start', () => null)
      .addNode('left', () => ({ log: 'left' }))
      .addNode('right', () => ({ log: 'right' }))
      .addNode('far', () => ({ log: 'far' }))
      .addNode('join', ({ log = [] }) => ({ log: `join of ${log.join()}` }))
      .addEdge('start', 'left')
      .addEdge('start', 'right')
      .addConditionalEdge('left', () => 'join', { join: 'join' })
      .setEntry('start');
    if (deeper) flow.addEdge('right', 'far').addConditionalEdge('far', () => 'join', { join: 'join' });
    else flow.addConditionalEdge('right', () => 'join', { join: 'join' }).addEdge('join', 'far');
    const result = await flow.run();
    expect(result.nodesRun.filter((name) => name === 'join')).toHaveLength(1);
    expect(result.state.log).toContain(deeper ? 'join of left,right,far' : 'join of left,right');
  });

  test('[32] loops with a static leg run every round', async () => {
    const flow = graph<{ count: number }>()
      .addNode('a', ({ count }) => ({ count: count + 1 }))
      .addNode('b', () => null)
      .addEdge('a', 'b')
      .addConditionalEdge('b', ({ count }) => (count < 3 ? 'a' : END))
      .setEntry('a');
    const result = await flow.run({ count: 0 });
    expect(result.nodesRun).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
    expect([result.state.count, result.iterations]).toEqual([3, 6]);
  });

  test('[33] a join after a branch that was not taken goes on with what was taken', async () => {
    const flow = graph<Loose>()
      .addNode('start', () => ({ way: 'left' }))
      .addNode('left', () => ({ left: 1 }))
      .addNode('right', () => ({ right: 1 }))
      .addNode('join', ({ left, right }) => ({ seen: [left ?? null, right ?? null] }))
      .addConditionalEdge('start', ({ way }) => String(way), { left: 'left', right: 'right' })
      .addEdge('left', 'join')
      .addEdge('right', 'join')
      .setEntry('start');
    const result = await flow.run();
    expect([result.outcome, result.state['seen']]).toEqual(['succeeded', [1, null]]);
    expect(orderOf(result.events, 'node_skip')).toEqual(['right']);
  });

  test('[36] END ends its branch only, whether or not the map has a key for it', async () => {
    const flow = graph<Loose>()
      .addNode('start', () => null)
      .addNode('ends', () => null)
      .addNode('onward', () => ({ on: true }))
      .addNode('never', () => null)
      .addNode('last', () => ({ last: true }))
      .addEdge('start', 'ends')
      .addEdge('start', 'onward')
      .addConditionalEdge('ends', () => END, { more: 'never' })
      .addEdge('onward', 'last')
      .setEntry('start');
    const result = await flow.run();
    expect([result.outcome, result.state]).toEqual(['succeeded', { on: true, last: true }]);
    expect(result.nodesRun).not.toContain('never');
  });

  const nonsense: readonly (readonly [string, unknown, RegExp])[] = [
    ['a name that is no node', () => 'nowhere', /nowhere/],
    ['a number', () => 42, /number/],
    ['nothing', () => undefined, /undefined/],
    ['an object', () => ({ goto: 'a' }), /object/],
    ['a list with nonsense in it', () => ['b', 7], /number/],
    ['a promise of nonsense', () => Promise.resolve('nowhere'), /nowhere/],
    [
      'what it throws',
      () => {
        throw new TypeError('no way');
      },
      /no way/,
    ],
    ['a rejection', () => Promise.reject(new Error('lost')), /lost/],
  ];
  test.each(nonsense)('[37] a router that answers %s fails the run, in its result', async (_, router, message) => {
    const flow = graph<Loose>()
      .addNode('a', () => ({ a: 1 }))
      .addNode('b', () => null)
      .addConditionalEdge('a', router as () => string)
      .setEntry('a');
    const result = await flow.run();
    expect([result.success, result.outcome]).toEqual([false, 'failed']);
    expect(result.error?.message).toMatch(message);
    expect(result.events.at(-1)).toMatchObject({ type: 'workflow_end', metadata: { success: false } });
  });

  test('[37] so does an answer that the map does not know', async () => {
    const flow = graph<Loose>()
      .addNode('a', () => null)
      .addNode('b', () => null)
      .addConditionalEdge('a', () => 'other', { yes: 'b' })
      .setEntry('a');
    const result = await flow.run();
    expect(result.error).toMatchObject({ code: 'SKEIN_BAD_ROUTE', hint: 'it may answer yes' });
  });

  test('[37] routers may be asynchronous, and answer with a list', async () => {
    const flow = graph<Loose>()
      .addNode('a', () => null)
      .addNode('b', () => ({ b: 1 }))
      .addNode('c', () => ({ c: 1 }))
      .addConditionalEdge('a', async () => Promise.resolve(['b', 'c']))
      .setEntry('a');
    expect((await flow.run()).state).toEqual({ b: 1, c: 1 });
  });

  test('[24] a router reads the state by name, adds no edges, and gets undefined for what has not run', async () => {
    const seen: unknown[] = [];
    const flow = graph<{ query: string }>()
      .node('search', ({ query }) => [query])
      .node('sum', ({ search }) => search.join())
      .node('later', () => 'late')
      .route('search', ({ search, later }) => {
        seen.push(search, later);
        return 'sum';
      })
      .setEntry('search');
    expect((await flow.run({ query: 'x' })).answer).toBe('x');
    expect(seen).toEqual([['x'], undefined]);
    expect(flow.edges).toEqual([]);
  });
});

describe('bounds and ends', () => {
  const chain = (maxSteps: number) =>
    graph({ maxSteps })
      .node('a', () => 1)
      .node('b', ({ a }) => a)
      .node('c', ({ b }) => b)
      .node('beside', ({ a }) => a)
      .setEntry('a');

  test('[34] maxSteps counts how many nodes run one after another, and width is free', async () => {
    expect((await chain(3).run()).outcome).toBe('succeeded');
    const result = await chain(2).run();
    expect(result).toMatchObject({ success: false, error: { code: 'SKEIN_MAX_STEPS' } });
    expect(result.error?.message).toContain('2');
  });

  test('[34] a loop without an end is bounded: 100 nodes beyond the longest path', async () => {
    let runs = 0;
    const flow = graph()
      .addNode('a', () => {
        runs += 1;
        return null;
      })
      .addConditionalEdge('a', () => 'a')
      .setEntry('a');
    expect((await flow.run()).error?.code).toBe('SKEIN_MAX_STEPS');
    expect(runs).toBe(101);
  });

  test('parallel paths that each lead back to a node are bounded: their number doubles in each round', async () => {
    let runs = 0;
    const flow = graph({ maxSteps: 60 })
      .addNode('a', () => {
        runs += 1;
        return null;
      })
      .addNode('b', () => null)
      .addNode('c', () => null)
      .addEdge('a', 'b')
      .addEdge('a', 'c')
      .addConditionalEdge('b', () => 'again', { again: 'a' })
      .addConditionalEdge('c', () => 'again', { again: 'a' })
      .setEntry('a');
    const { error } = await flow.run();
    expect(error?.code).toBe('SKEIN_MAX_STEPS');
    expect(error?.message).toContain("'a' ran 180 times");
    expect(runs).toBe(180);
  });

  const exits = (firstExitWins: boolean) =>
    graph<Loose>({ firstExitWins })
      .addNode('start', () => null)
      .addNode('exit', () => ({ exit: 1 }))
      .addNode('after', () => ({ after: 1 }))
      .addNode('slow', async () => Promise.resolve({ slow: 1 }))
      .addEdge('start', 'exit')
      .addEdge('exit', 'after')
      .addEdge('start', 'slow')
      .setEntry('start')
      .setExit('exit');

  test('[35] an exit ends its own branch: what follows it does not run, other branches go on', async () => {
    const flow = exits(false).setExit('slow');
    const result = await flow.run();
    expect([result.outcome, result.state]).toEqual(['succeeded', { exit: 1, slow: 1 }]);
  });

  test('[35] with firstExitWins the first exit ends the run', async () => {
    const result = await exits(true).setExit('slow').run();
    expect([result.outcome, result.state]).toEqual(['succeeded', { exit: 1 }]);
  });
});

describe('a choice that leads back to several branches of a fan-out', () => {
  type Again = (state: { n?: number }) => string | readonly string[] | symbol;
  const fanOut = (join: 'all' | 'any' | 'settled' | { quorum: number }, again: Again, map?: Record<string, string>) =>
    graph<{ n?: number; log?: string[] }>({ reducers: { log: 'append' } })
      .addNode('plan', () => null)
      .addNode('a', () => ({ log: 'a' }))
      .addNode('b', () => ({ log: 'b' }))
      .addNode('c', () => ({ log: 'c' }))
      .addNode('merge', ({ n = 0 }) => ({ n: n + 1 }), { join })
      .addEdge('plan', 'a')
      .addEdge('plan', 'b')
      .addEdge('plan', 'c')
      .addEdge('a', 'merge')
      .addEdge('b', 'merge')
      .addEdge('c', 'merge')
      .addConditionalEdge('merge', again as () => string, map)
      .setEntry('plan');
  const back = ['a', 'b'];

  test.each<[string, Parameters<typeof fanOut>[0], Again, Record<string, string> | undefined]>([
    ['the source of the router names them', 'all', ({ n = 0 }) => (n < 3 ? ['a', 'b'] : END), undefined],
    ['a map declares them', 'all', ({ n = 0 }) => (n < 3 ? back : END), { a: 'a', b: 'b' }],
    ['the join takes any', 'any', ({ n = 0 }) => (n < 3 ? ['a', 'b'] : END), undefined],
    ['the join takes two', { quorum: 2 }, ({ n = 0 }) => (n < 3 ? ['a', 'b'] : END), undefined],
    ['the join takes what is settled', 'settled', ({ n = 0 }) => (n < 3 ? ['a', 'b'] : END), undefined],
  ])('all of them run in the first round, and those that are chosen in the next: %s', async (_, join, again, map) => {
    const { outcome, error, state, nodesRun } = await fanOut(join, again, map).run();
    expect([outcome, error, state.n]).toEqual(['succeeded', undefined, 3]);
    const rounds = [
      ['a', 'b', 'c'],
      ['a', 'b'],
      ['a', 'b'],
    ];
    expect(nodesRun).toEqual(['plan', ...rounds.flatMap((round) => [...round, 'merge'])]);
  });
});
