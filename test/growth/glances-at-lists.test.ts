import { types } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { END, definePlan, memoryStore, run } from 'skein';
import type { RunOptions } from 'skein';

interface State {
  readonly n?: number;
  readonly list?: readonly { readonly at: number }[];
  readonly other?: readonly unknown[];
}

const ENTRIES = Array.from({ length: 100 }, (_, at) => ({ at }));

/** What a function gives that sees {@link ENTRIES}, put together in a run. */
async function seenBy(look: (state: State) => unknown, options: RunOptions = {}): Promise<unknown> {
  const plan = definePlan<State>({
    name: 'p',
    channels: { list: 'extend' },
    nodes: [
      { id: 'fill', run: () => ({ list: ENTRIES.slice(0, 50) }) },
      { id: 'more', run: () => ({ list: ENTRIES.slice(50) }) },
      { id: 'look', output: 'seen', run: look },
    ],
    edges: [
      ['fill', 'more'],
      ['more', 'look'],
    ],
  });
  const { state, error } = await run(plan, options).result;
  return error === undefined ? (state as { readonly seen?: unknown }).seen : error;
}

const LOOKS: readonly (readonly [string, (state: State) => unknown, unknown])[] = [
  ['length', ({ list }) => list?.length, 100],
  ['the last entry', (state) => state.list?.at(-1)?.at, 99],
  ['an entry by its index', ({ list = [] }) => list[list.length - 1]?.at, 99],
  [
    'an entry by a name',
    ({ list: entries = [] }) => [entries['3' as never], entries['-1' as never] ?? 'none'],
    [{ at: 3 }, 'none'],
  ],
  ['no such entry', (state) => [state.list?.[100] ?? 'none', state.list?.at(100) ?? 'none'], ['none', 'none']],
  ['a default', (state) => [(state.list ?? []).length, (state.other ?? []).length], [100, 0]],
  ['a variable', (state) => lengthIn(state.list?.length), 'length 100'],
  [
    'a variable of the whole',
    (state) => {
      const { list } = state;
      const again = list;
      return again ? [again[0], list?.[1]] : 'none';
    },
    [{ at: 0 }, { at: 1 }],
  ],
  ['whether it is there', (state) => (state.list && !state.other ? state.list[7] : 'none'), { at: 7 }],
  ['an own method', (state) => typeof state.list?.['map' as never], 'function'],
];

const WHOLES: readonly (readonly [string, (state: State) => unknown])[] = [
  ['itself', (state) => plainly(state.list)],
  ['a variable', ({ list }) => (list?.length === 100 ? plainly(list) : 'short')],
  ['a copy of the state', (state) => plainly({ ...state }.list)],
  ['a closure', (state) => (() => plainly(state.list))()],
  ['another name', (state) => plainly(state[['li', 'st'].join('') as 'list'])],
  ['a method that hands it on', ({ list }) => list?.map((_entry, at, all) => (at === 0 ? plainly(all) : undefined))[0]],
  [
    'a method by name',
    ({ list }) => list?.['filter']((_entry, _at, all) => types.isProxy(all)).concat(plainly(list) as []),
  ],
];

const PLAIN = [true, true, false, ENTRIES];

function plainly(list: unknown): unknown {
  return [Array.isArray(list), Object.isFrozen(list), types.isProxy(list), structuredClone(list)];
}

const lengthIn = (length: number | undefined): string => `length ${length}`;

describe.each<readonly [string, () => RunOptions]>([
  ['in memory', () => ({})],
  ['recorded', () => ({ store: memoryStore() })],
])('a long list that nobody has read, %s', (_, options) => {
  it.each(LOOKS)(
    '[XF2] gives what an array gives to a function that only glances at it: %s',
    async (_name, fn, expected) => {
      expect(await seenBy(fn, options())).toEqual(expected);
    },
  );

  it.each(WHOLES)('[XF2] [XG3] is a plain array for a function that does more with it: %s', async (_name, fn) => {
    expect(await seenBy(fn, options())).toEqual(PLAIN);
  });

  it.each<[string, (state: { list: { length: number; [at: number]: unknown } }) => unknown]>([
    ['an entry', ({ list }) => (list[0] = 1)],
    ['a new entry', ({ list }) => (list[list.length] = 1)],
    ['its length', (state) => (state.list.length = 0)],
    ['a deletion', (state) => delete state.list[0]],
  ])('[XF2] refuses changes: %s', async (_name, fn) => {
    expect(await seenBy(fn as never, options())).toMatchObject({ code: 'SKEIN_STATE_MUTATED' });
  });
});

test('[XF2] a glance is a read: the step runs again when the list is another one', async () => {
  const ran: string[] = [];
  const flow = (from: number) =>
    definePlan<State>({
      name: 'p',
      channels: { list: 'extend' },
      nodes: [
        { id: 'fill', version: String(from), run: () => ({ list: ENTRIES.slice(0, 50), n: from }) },
        { id: 'more', version: String(from), run: () => ({ list: ENTRIES.slice(from) }) },
        { id: 'look', output: 'seen', run: ({ list }) => (ran.push('look'), list?.length) },
        { id: 'count', output: 'count', run: ({ n }) => (ran.push('count'), n) },
      ],
      edges: [
        ['fill', 'more'],
        ['more', 'look'],
        ['more', 'count'],
      ],
    });
  const store = memoryStore();
  const { runId } = await run(flow(30), { store }).result;
  const again = async (from: number): Promise<string[]> => {
    ran.length = 0;
    await run(flow(from), { store, fork: { run: runId } }).result;
    return ran.toSorted();
  };
  expect([await again(30), await again(40)]).toEqual([[], ['count', 'look']]);
});

test('[XF2] 150,000 rounds glance at the list that they append to', async () => {
  const rounds = 150_000;
  const { outcome, state } = await run(
    definePlan<State>({
      name: 'glances',
      entry: 'work',
      channels: { list: 'append' },
      nodes: [
        {
          id: 'work',
          when: ({ list }) => (list?.length ?? 0) < rounds,
          run: (seen) => {
            const list = seen.list ?? [];
            return { list: { at: (list.at(-1)?.at ?? -1) + 1 } };
          },
        },
      ],
      routes: [
        {
          from: 'work',
          targets: ['work', END],
          choose: ({ list = [] }) => (list[rounds - 1] === undefined ? 'work' : END),
        },
      ],
      limits: { maxSteps: rounds + 1 },
    }),
  ).result;
  const list = state['list'] as readonly { readonly at: number }[];
  expect([outcome, list.length, list.every(({ at }, place) => at === place)]).toEqual(['succeeded', rounds, true]);
});
