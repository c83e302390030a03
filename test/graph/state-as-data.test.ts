import util, { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { graph } from '../../src/graph.js';
import { END, definePlan, memoryStore, run } from '../../src/index.js';
import type { RunOptions } from '../../src/index.js';

type State = Readonly<Record<string, unknown>>;

const STATE = { log: ['begin'], nested: { list: [1, { deep: true }] }, topic: 'looms' };

/** What a function gives that sees {@link STATE}. */
async function seenBy(look: (state: State) => unknown, options: RunOptions): Promise<unknown> {
  const plan = definePlan<State>({
    name: 'p',
    openInputs: true,
    channels: { log: 'append' },
    nodes: [{ id: 'look', output: 'seen', run: look }],
  });
  const { state, error } = await run(plan, { ...options, inputs: STATE }).result;
  return error === undefined ? state['seen'] : error;
}

const look = (state: State): string => inspect(state, { depth: 9, breakLength: Infinity });

const LOOKS: readonly (readonly [string, (state: State) => unknown, unknown])[] = [
  ['inspect, as console.log does', (state) => inspect(state, { depth: 9, breakLength: Infinity }), look(STATE)],
  ['inspect of a property besides', (state) => [state['topic'], look(state)], ['looms', look(STATE)]],
  ['structuredClone', (state) => structuredClone(state), STATE],
  ['a template', (state) => `it is ${state as unknown as string}`, 'it is [object Object]'],
  ['hasOwnProperty', (state) => [state.hasOwnProperty('topic'), state.hasOwnProperty('other')], [true, false]],
  ['Object.hasOwn', (state) => Object.hasOwn(state, 'topic'), true],
  ['toString', (state) => (state as { toString(): string }).toString(), '[object Object]'],
  ['JSON', (state) => JSON.parse(JSON.stringify(state)) as unknown, STATE],
  ['entries', (state) => Object.entries(state), Object.entries(STATE)],
  ['spread', (state) => ({ ...state }), STATE],
  ['the rest', ({ topic: _topic, ...rest }) => rest, { nested: STATE.nested, log: STATE.log }],
  ['a loop over its names', (state) => namesOf(state), ['log', 'nested', 'topic']],
  [
    'itself',
    (state) => ({ state: { ...state }, proto: Object.getPrototypeOf(state) === Object.prototype }),
    { state: STATE, proto: true },
  ],
];

function namesOf(state: State): string[] {
  const names: string[] = [];
  for (const name in state) names.push(name);
  return names;
}

const PLACES: readonly (readonly [string, () => RunOptions])[] = [
  ['in memory', () => ({})],
  ['recorded', () => ({ store: memoryStore() })],
];

describe.each(PLACES)('the state in a function, %s, is the plain data that it stands for', (_, options) => {
  it.each(LOOKS)('[XG3] %s', async (_name, fn, expected) => {
    expect(await seenBy(fn, options())).toEqual(expected);
  });

  it.each<[string, (state: Record<string, unknown>) => unknown]>([
    ['a key', (state) => (state['topic'] = 'x')],
    ['a new key', (state) => (state['other'] = 'x')],
    ['a deletion', (state) => delete state['topic']],
    ['a key of what is printed as well', (state) => [look(state), (state['topic'] = 'x')]],
    ['a new key of what is printed as well', (state) => [look(state), (state['other'] = 'x')]],
    ['Object.assign', (state) => Object.assign(state, { topic: 'x' })],
    ['a list in it', (state) => (state['log'] as string[]).push('x')],
  ])('[XG3] and still refuses changes, with advice: %s', async (_name, fn) => {
    const error = (await seenBy(fn, options())) as { code: string; hint: string };
    expect(error.code).toBe('SKEIN_STATE_MUTATED');
    expect(error.hint).toContain('return an update instead');
  });

  it('[XG3] also in a router and in a condition of a graph', async () => {
    const printed: string[] = [];
    const print = (state: object): string => {
      printed.push(look({ ...structuredClone(state) }), inspect(state));
      return 'b';
    };
    const flow = graph<{ n: number }>()
      .addNode('a', () => null)
      .addNode('b', () => null, { when: (state) => print(state) === 'b' })
      .addConditionalEdge('a', (state) => print(state), { b: 'b' })
      .setEntry('a');
    expect((await flow.run({ n: 1 }, options())).nodesRun).toEqual(['a', 'b']);
    expect(new Set(printed)).toEqual(new Set(['{ n: 1 }']));
  });
});

it('[XG3] a recorded step that looked at the names, or at all of it, runs again for what it looked at only', async () => {
  const runs: string[] = [];
  const flow = (topic: string, more: object) =>
    definePlan<State>({
      name: 'p',
      nodes: [
        { id: 'first', run: () => ({ topic, kept: 1, ...more }), version: JSON.stringify([topic, more]) },
        { id: 'names', output: 'n', run: (state) => (runs.push('names'), Object.keys(state).length) },
        { id: 'all', output: 'a', run: (state) => (runs.push('all'), JSON.stringify(state)) },
        { id: 'one', output: 'o', run: (state) => (runs.push('one'), keptOf(state)) },
      ],
      edges: [
        ['first', 'names'],
        ['first', 'all'],
        ['first', 'one'],
      ],
    });
  const store = memoryStore();
  const { runId } = await run(flow('looms', {}), { store }).result;
  const again = async (topic: string, more: object): Promise<string[]> => {
    runs.length = 0;
    await run(flow(topic, more), { store, fork: { run: runId } }).result;
    return runs.toSorted();
  };
  expect(await again('looms', {})).toEqual([]);
  expect(await again('mills', {})).toEqual(['all']);
  expect(await again('looms', { other: 1 })).toEqual(['all', 'names', 'one']);
});

function keptOf(state: State): unknown {
  return state['kept'];
}

it('[XG14] [XG3] the check of a run clones the state', async () => {
  const seen: unknown[] = [];
  const plan = definePlan({ name: 'p', nodes: [{ id: 'a', output: 'a', run: () => ({ n: 1 }) }] });
  const checks: readonly NonNullable<RunOptions['check']>[] = [
    ({ state }) => void seen.push(structuredClone(state)),
    (step) => void seen.push(structuredClone(step.state), look(step.state)),
  ];
  for (const check of checks) await run(plan, { check }).result;
  expect(seen).toEqual([{ a: { n: 1 } }, { a: { n: 1 } }, '{ a: { n: 1 } }']);
});

it.each(PLACES)('[XG3] what grows is plain data in each round, and stays as it was, %s', async (_name, options) => {
  const kept: State[] = [];
  const keep = (state: State): number => kept.push(state, structuredClone(state), { ...state });
  const plan = definePlan<State>({
    name: 'p',
    entry: 'work',
    channels: { log: 'append', index: 'mergeDict' },
    nodes: [{ id: 'work', run: (state) => ({ log: keep(state), index: { [`k${kept.length}`]: look(state) } }) }],
    routes: [{ from: 'work', targets: ['work', END], choose: () => (kept.length < 9 ? 'work' : END) }],
  });
  await run(plan, options()).result;
  const first = { log: [3], index: { k3: '{}' } };
  const second = { log: [3, 6], index: { k3: '{}', k6: look(first) } };
  expect(kept).toEqual([{}, {}, {}, first, first, first, second, second, second]);
  const list = kept.at(-1)?.['log'];
  expect([Array.isArray(list), Object.isFrozen(list), util.types.isProxy(list)]).toEqual([true, true, false]);
});

it('[XG14] [XG3] invariants clone the state, whatever they call it', async () => {
  const seen: unknown[] = [];
  const flow = graph<{ n: number }>({
    invariants: [
      { predicate: ({ state }) => seen.push(structuredClone(state)) > 0, message: 'named' },
      {
        predicate: ({ state: all, nodeCount }) => nodeCount > 0 && seen.push(structuredClone(all)) > 0,
        message: 'other',
      },
      { predicate: (view) => seen.push(structuredClone(view.state)) > 0, message: 'view' },
      { predicate: ({ state }) => state.n === 1, message: 'only read' },
    ],
  }).node('a', ({ n }) => n + 1);
  expect((await flow.run({ n: 1 })).success).toBe(true);
  expect(seen).toEqual([
    { n: 1, a: 2 },
    { n: 1, a: 2 },
    { n: 1, a: 2 },
  ]);
});
