import { END, definePlan } from '../src/index.js';
import type { Runnable } from '../src/index.js';

type State = Readonly<Record<string, unknown>>;

const names = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

/** `count` nodes in a row. */
export function row(count: number): Runnable {
  const ids = names(count, 'n');
  return definePlan({
    name: 'row',
    nodes: ids.map((id, at) => ({ id, output: id, run: (state: State) => Number(state[`n${at - 1}`] ?? 0) + 1 })),
    edges: ids.slice(1).map((id, at) => [`n${at}`, id] as const),
  });
}

/** One node, `count` branches, a join. */
export function fan(count: number): Runnable {
  const ids = names(count, 'b');
  return definePlan({
    name: 'fan',
    nodes: [
      { id: 'start', run: () => ({}) },
      ...ids.map((id) => ({ id, output: id, run: () => 1 })),
      { id: 'join', output: 'sum', run: (state: State) => ids.reduce((sum, id) => sum + Number(state[id]), 0) },
    ],
    edges: ids.flatMap((id) => [['start', id] as const, [id, 'join'] as const]),
  });
}

/** A node that a route sends back to itself; `body` gives its update besides the counter. */
function routed(
  count: number,
  body: (state: State) => Record<string, unknown>,
  channels: Record<string, object> = {},
): Runnable {
  return definePlan({
    name: 'rounds',
    entry: 'work',
    channels,
    nodes: [
      {
        id: 'work',
        writes: ['n', ...Object.keys(channels)],
        run: (state: State) => ({ n: Number(state['n'] ?? 0) + 1, ...body(state) }),
      },
    ],
    routes: [
      { from: 'work', targets: ['work', END], choose: (state: State) => (Number(state['n']) < count ? 'work' : END) },
    ],
    limits: { maxSteps: count + 1 },
  });
}

export const rounds = (count: number): Runnable => routed(count, () => ({}));

/** A list that grows by one entry a round; each round takes its length and its last entry, and so does the route. */
export function glancedList(count: number): Runnable {
  return definePlan<{ readonly list?: readonly number[] }>({
    name: 'glanced-list',
    entry: 'work',
    channels: { list: { reducer: 'append' } },
    nodes: [{ id: 'work', run: ({ list = [] }) => ({ list: list.length + (list.at(-1) ?? 0) }) }],
    routes: [{ from: 'work', targets: ['work', END], choose: ({ list = [] }) => (list.length < count ? 'work' : END) }],
    limits: { maxSteps: count + 1 },
  });
}

/** A list that grows by one entry a round, and is handed on in each. */
export const handedList = (count: number): Runnable =>
  routed(count, (state) => ({ list: ((state['list'] ?? []) as readonly unknown[]).length }), {
    list: { reducer: 'append' },
  });

/** A list and an object that grow in each round, in a state that is handed on as a whole. */
export const handedState = (count: number): Runnable =>
  routed(count, (state) => ({ list: Number(state['n'] ?? 0), dict: { [`k${Number(state['n'] ?? 0)}`]: 1 } }), {
    list: { reducer: 'append' },
    dict: { reducer: 'mergeDict' },
  });

/** A list that grows by one entry a round, and is looked at when it is whole. */
export const grownList = (count: number): Runnable =>
  routed(count, () => ({ list: 1 }), { list: { reducer: 'append' } });

/** An object that grows by one key a round. */
export const grownDict = (count: number): Runnable =>
  routed(count, (state) => ({ dict: { [`k${Number(state['n'] ?? 0)}`]: 1 } }), { dict: { reducer: 'mergeDict' } });

/** The rounds of a `loop` node. */
export function loopNode(count: number): Runnable {
  return definePlan({
    name: 'loop-node',
    nodes: [
      {
        id: 'loop',
        kind: 'loop',
        plan: definePlan({
          name: 'round',
          inputs: [{ name: 'n', default: 0 }],
          nodes: [{ id: 'work', output: 'n', run: (state: State) => Number(state['n']) + 1 }],
        }),
        inputs: { n: { value: 0 } },
        carry: ['n'],
        until: (state: State) => Number(state['n']) >= count,
        maxRounds: count,
        output: 'n',
      },
    ],
  });
}

/** A `map` over a list. */
export function items(count: number): Runnable {
  return definePlan({
    name: 'items',
    nodes: [
      { id: 'list', output: 'list', run: () => names(count, 'i') },
      {
        id: 'each',
        kind: 'map',
        over: { channel: 'list' },
        item: 'item',
        maxItems: count,
        plan: definePlan({
          name: 'item',
          inputs: ['item'],
          nodes: [{ id: 'work', output: 'done', run: (state: State) => state['item'] }],
        }),
        result: 'done',
        output: 'all',
      },
    ],
    edges: [['list', 'each']],
  });
}

/** A route that chooses all of its targets. */
export function targets(count: number): Runnable {
  const ids = names(count, 't');
  return definePlan({
    name: 'targets',
    nodes: [{ id: 'start', run: () => ({}) }, ...ids.map((id) => ({ id, output: id, run: () => 1 }))],
    routes: [{ from: 'start', targets: ids, choose: () => ids }],
  });
}

/** Branches that append to one list. */
export function appending(count: number): Runnable {
  const ids = names(count, 'b');
  return definePlan({
    name: 'appending',
    channels: { list: { reducer: 'append' } },
    nodes: [
      { id: 'start', run: () => ({}) },
      ...ids.map((id) => ({ id, writes: ['list'], run: () => ({ list: id }) })),
      { id: 'join', output: 'length', run: (state: State) => (state['list'] as readonly unknown[]).length },
    ],
    edges: ids.flatMap((id) => [['start', id] as const, [id, 'join'] as const]),
  });
}

/** Branches that append to one list and are joined one after the other: each join takes in one more. */
export function comb(count: number): Runnable {
  const half = count / 2;
  const ids = names(half, 'b');
  return definePlan({
    name: 'comb',
    channels: { list: { reducer: 'append' } },
    nodes: [
      { id: 'start', run: () => ({}) },
      ...ids.map((id) => ({ id, writes: ['list'], run: () => ({ list: id }) })),
      ...ids.map((_, at) => ({ id: `j${at}`, run: () => ({}) })),
    ],
    edges: ids.flatMap((id, at) => [
      ['start', id] as const,
      [id, `j${at}`] as const,
      ...(at === 0 ? [] : [[`j${at - 1}`, `j${at}`] as const]),
    ]),
  });
}

/** Two loops side by side; with a reducer, each round appends to the list of both. */
export function twoLoops(count: number, reducer: 'append' | undefined): Runnable {
  const half = count / 2;
  const sides = ['a', 'b'];
  const again = (id: string) => (state: State) => (Number(state[`${id}.n`]) < half ? id : END);
  return definePlan({
    name: 'two-loops',
    channels: reducer === undefined ? {} : { list: { reducer } },
    nodes: [
      { id: 'start', run: () => ({}) },
      ...sides.map((id) => ({
        id,
        writes: [`${id}.n`, ...(reducer === undefined ? [] : ['list'])],
        run: (state: State) => {
          const n = Number(state[`${id}.n`] ?? 0) + 1;
          return { [`${id}.n`]: n, ...(reducer === undefined ? {} : { list: n }) };
        },
      })),
    ],
    edges: sides.map((id) => ['start', id] as const),
    routes: sides.map((id) => ({ from: id, targets: [id, END], choose: again(id) })),
    limits: { maxSteps: count + 10 },
  });
}

/** A chain in which each node has a branch beside it that is skipped. */
export function skips(count: number): Runnable {
  const half = count / 2;
  const ids = names(half, 'n');
  return definePlan({
    name: 'skips',
    nodes: ids.flatMap((id) => [
      { id, output: id, run: () => 1 },
      { id: `${id}.side`, output: `${id}.side`, run: () => 1 },
    ]),
    edges: [],
    routes: ids.map((id, at) => ({
      from: id,
      targets: at + 1 < half ? [`n${at + 1}`, `${id}.side`] : [`${id}.side`, END],
      choose: () => (at + 1 < half ? `n${at + 1}` : END),
    })),
    limits: { maxSteps: count + 10 },
  });
}

/** Branches that all end by themselves, and a chain after one of them. */
export function looseEnds(count: number): Runnable {
  const half = count / 2;
  const ends = names(half, 'e');
  const ids = names(half, 'n');
  return definePlan({
    name: 'loose-ends',
    channels: { list: { reducer: 'append' } },
    nodes: [
      { id: 'start', run: () => ({}) },
      ...ends.map((id) => ({ id, writes: ['list'], run: () => ({ list: id }) })),
      ...ids.map((id) => ({ id, writes: ['list'], run: () => ({ list: id }) })),
    ],
    edges: [
      ...ends.map((id) => ['start', id] as const),
      ['start', 'n0'] as const,
      ...ids.slice(1).map((id, at) => [`n${at}`, id] as const),
    ],
  });
}

/** A node that copies the state, which has `count` keys. */
export function copied(count: number): Runnable {
  return definePlan({
    name: 'copied',
    nodes: [
      { id: 'fill', run: () => Object.fromEntries(names(count, 'k').map((key) => [key, 1])) },
      { id: 'copy', output: 'copy', run: (state: State) => Object.keys({ ...state }).length },
    ],
    edges: [['fill', 'copy']],
  });
}

/** Branches that fail, are allowed to, and meet in a join that waits for all. */
export function failures(count: number): Runnable {
  const ids = names(count, 'f');
  return definePlan({
    name: 'failures',
    nodes: [
      ...ids.map((id) => ({
        id,
        output: id,
        onError: 'continue' as const,
        run: () => {
          throw FAILURE;
        },
      })),
      { id: 'join', join: 'settled' as const, output: 'end', run: () => 1 },
    ],
    edges: ids.map((id) => [id, 'join'] as const),
  });
}

const FAILURE = new Error('as it must');

/** Questions that a function answers, one after the other. */
export function questions(count: number): Runnable {
  return definePlan({
    name: 'questions',
    nodes: names(count, 'q').map((id) => ({ id, kind: 'ask' as const, question: ['Go on?'], output: id })),
  });
}
