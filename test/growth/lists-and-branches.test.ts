import { expect, test } from 'vitest';
import { END, definePlan, run } from 'skein';

type State = Readonly<Record<string, unknown>>;
type Plan = ReturnType<typeof definePlan>;

/** A node that a route sends back to itself; `work` gives its update besides the counter. */
function loop(rounds: number, reducer: unknown, work: (state: State, round: number) => unknown): Plan {
  return definePlan({
    name: 'loop',
    entry: 'work',
    channels: { all: { reducer: reducer as 'append' } },
    nodes: [
      {
        id: 'work',
        writes: ['n', 'all'],
        run: (state: State) => ({ n: Number(state['n'] ?? 0) + 1, all: work(state, Number(state['n'] ?? 0)) }),
      },
    ],
    routes: [{ from: 'work', targets: ['work', END], choose: ({ n }) => (Number(n) < rounds ? 'work' : END) }],
    limits: { maxSteps: rounds + 1 },
  });
}

/** Two loops that never meet before the end of the run; each round reads `all` and adds to it. */
function twoLoops(rounds: number, reducer: unknown): Plan {
  const sides = ['a', 'b'];
  return definePlan({
    name: 'two-loops',
    channels: { all: { reducer: reducer as 'append' } },
    nodes: [
      { id: 'start', run: () => ({}) },
      ...sides.map((id) => ({
        id,
        writes: [`${id}.n`, 'all'],
        run: (state: State) => {
          const n = Number(state[`${id}.n`] ?? 0) + 1;
          const seen = (state['all'] ?? []) as readonly unknown[];
          // Each loop sees its own entries only.
          expect(seen.length).toBe(n - 1);
          return { [`${id}.n`]: n, all: `${id}${n}` };
        },
      })),
    ],
    edges: sides.map((id) => ['start', id] as const),
    routes: sides.map((id) => ({
      from: id,
      targets: [id, END],
      choose: (state: State) => (Number(state[`${id}.n`]) < rounds ? id : END),
    })),
    limits: { maxSteps: 2 * rounds + 10 },
  });
}

test('[XF2] a loop of 10,000 rounds reads the list that it appends to in each of them', async () => {
  const rounds = 10_000;
  const { outcome, state } = await run(
    loop(rounds, 'append', ({ all }, round) => {
      const list = (all ?? []) as readonly number[];
      // Thousands of calls of `expect` would take longer than the run.
      if (list.length !== round || list.at(-1) !== (round === 0 ? undefined : round - 1))
        throw new Error(`round ${round} sees ${list.length}`);
      return round;
    }),
  ).result;
  expect(outcome).toBe('succeeded');
  expect(state['all']).toEqual(Array.from({ length: rounds }, (_, at) => at));
});

test('[XF2] a round that adds a key to an object does not copy the others, though the state is handed on as a whole', async () => {
  const rounds = 20_000;
  const { outcome, state } = await run(loop(rounds, 'mergeDict', (_state, round) => ({ [`k${round}`]: round }))).result;
  expect([outcome, Object.keys(state['all'] as object).length]).toEqual(['succeeded', rounds]);
});

test('[XF2] [XG3] what conditions, routes and checks hand on as a whole is not copied either', async () => {
  const rounds = 20_000;
  const seen = { condition: 0, route: 0, check: 0 };
  const countOf = (state: State, who: keyof typeof seen): number => {
    seen[who] += 1;
    return Number(state['n'] ?? 0);
  };
  const plan = definePlan({
    name: 'whole',
    entry: 'work',
    channels: { all: { reducer: 'mergeDict' } },
    nodes: [
      {
        id: 'work',
        writes: ['n', 'all'],
        when: (state: State) => countOf(state, 'condition') < rounds,
        run: ({ n = 0 }: State) => ({ n: Number(n) + 1, all: { [`k${Number(n)}`]: n } }),
      },
    ],
    routes: [
      { from: 'work', targets: ['work', END], choose: (state) => (countOf(state, 'route') < rounds ? 'work' : END) },
    ],
    limits: { maxSteps: rounds + 1 },
  });
  const check = ({ state }: { readonly state: State }): undefined => void countOf(state, 'check');
  const { outcome, state } = await run(plan, { check }).result;
  expect([outcome, Object.keys(state['all'] as object).length]).toEqual(['succeeded', rounds]);
  expect(seen).toEqual({ condition: rounds, route: rounds, check: rounds });
});

test('[XF2] what a node keeps of a list stays as it was while the list grows', async () => {
  const kept: (readonly unknown[])[] = [];
  await run(
    loop(100, 'append', ({ all }, round) => {
      kept.push((all ?? []) as readonly unknown[]);
      return round;
    }),
  ).result;
  expect(kept.map(({ length }) => length)).toEqual(Array.from({ length: 100 }, (_, at) => at));
  expect(kept.every((list) => list.every((entry, at) => entry === at))).toBe(true);
});

test('[XF3] two loops side by side fold what they add, and not again what they had', async () => {
  let folds = 0;
  const append = (list: unknown, entry: unknown): unknown => {
    folds += 1;
    return [...((list ?? []) as readonly unknown[]), entry];
  };
  const rounds = 300;
  const { outcome, state } = await run(twoLoops(rounds, append)).result;
  expect([outcome, (state['all'] as readonly unknown[]).length]).toEqual(['succeeded', 2 * rounds]);
  // Once a round, and once more for the list of both.
  expect(folds).toBeLessThan(5 * rounds);
});

test('[XF3] 10,000 branches that append to one list are joined one after the other', async () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => at);
  const { outcome, state } = await run(
    definePlan({
      name: 'comb',
      channels: { all: { reducer: 'append' } },
      nodes: [
        { id: 'start', run: () => ({}) },
        ...ids.map((at) => ({ id: `b${at}`, writes: ['all'], run: () => ({ all: at }) })),
        ...ids.map((at) => ({ id: `j${at}`, run: () => ({}) })),
      ],
      edges: ids.flatMap((at) => [
        ['start', `b${at}`] as const,
        [`b${at}`, `j${at}`] as const,
        ...(at === 0 ? [] : [[`j${at - 1}`, `j${at}`] as const]),
      ]),
    }),
  ).result;
  expect(outcome).toBe('succeeded');
  expect(state['all']).toEqual(ids);
});
