import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definePlan, forkThread, getThread, memoryStore, pruneRuns, run, updateThread } from 'skein';
import type { Store } from 'skein';
import { THOROUGH, cases } from '../thorough.js';
import { closing, sqliteFile } from './support/threads.js';

/** So many turns of one thread: what a turn writes would have grown many times over them. */
const TURNS = THOROUGH ? 10_000 : 300;

/** What a turn is to do: it is an input, so that one plan does all of it. */
interface Order {
  readonly log: readonly string[];
  readonly dict: Readonly<Record<string, number>>;
  readonly text: string;
  readonly plain: string | null;
  readonly list: boolean;
  readonly clears: boolean;
  readonly fails: boolean;
}

const CLEARED = Symbol('cleared');
type State = Record<string, unknown>;

const plan = definePlan({
  name: 'random',
  inputs: ['order'],
  channels: { log: 'append', all: 'extend', dict: 'mergeDict', text: 'add', sum: 'add', last: 'last' },
  nodes: [
    {
      id: 'first',
      run({ order }) {
        const { log, clears } = order as Order;
        return { ...(clears ? { log: undefined, dict: undefined } : {}), all: log, last: log.length, sum: 1 };
      },
    },
    {
      id: 'second',
      run({ order, list }) {
        const { log, dict, text, plain, fails, list: grows } = order as Order;
        if (fails) throw new Error('it was to fail');
        const [one] = log;
        return {
          ...(one === undefined ? {} : { log: one }),
          dict,
          text,
          ...(plain === null ? {} : { plain }),
          ...(grows ? { list: [...((list ?? []) as unknown[]), text] } : {}),
        };
      },
    },
  ],
  edges: [['first', 'second']],
});

/** The slow and obvious way: what a turn makes of a state that is held in memory. */
function folded(before: State, order: Order): State {
  const { log, dict, text, plain, list, clears, fails } = order;
  if (fails) return before;
  const kept: State = clears ? { ...before, log: CLEARED, dict: CLEARED } : before;
  const now = (name: string): unknown => (kept[name] === CLEARED ? undefined : kept[name]);
  const [one] = log;
  const state: State = {
    ...kept,
    order,
    all: [...((now('all') ?? []) as unknown[]), ...log],
    dict: { ...(now('dict') as object | undefined), ...dict },
    text: `${(now('text') ?? '') as string}${text}`,
    sum: ((now('sum') ?? 0) as number) + 1,
    last: log.length,
    ...(one === undefined ? {} : { log: [...((now('log') ?? []) as unknown[]), one] }),
    ...(plain === null ? {} : { plain }),
    ...(list ? { list: [...((now('list') ?? []) as unknown[]), text] } : {}),
  };
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== CLEARED));
}

const word = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.constantFrom('__proto__', '\ud800', '"', '\n', 'x'.repeat(70_000)),
);
const order: fc.Arbitrary<Order> = fc.record({
  log: fc.array(word, { maxLength: 3 }),
  dict: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd e'), fc.nat(9), { noNullPrototype: true }),
  text: fc.string({ maxLength: 4 }),
  plain: fc.option(word),
  list: fc.boolean(),
  clears: fc.nat(9).map((n) => n === 0),
  fails: fc.nat(7).map((n) => n === 0),
});
const turns = fc.array(fc.tuple(order, fc.constantFrom('go', 'go', 'go', 'prune', 'fork', 'edit')), { maxLength: 12 });

async function play(store: Store, thread: string, steps: readonly (readonly [Order, string])[]): Promise<void> {
  let name = thread;
  let wanted: State = {};
  for (const [at, [one, act]] of steps.entries()) {
    const { state, outcome } = await run(plan, { store, thread: name, inputs: { order: one } }).result;
    expect(outcome).toBe(one.fails ? 'failed' : 'succeeded');
    wanted = folded(wanted, one);
    if (!one.fails) expect(state).toEqual(wanted);
    expect(getThread(store, name).state).toEqual(wanted);
    if (act === 'prune') pruneRuns(store, { keep: 0 });
    if (act === 'fork' && 'sum' in wanted) forkThread(store, name, (name = `${thread}-${at}`));
    if (act === 'edit' && 'sum' in wanted) {
      updateThread(store, name, { sum: 100, all: ['edited'] }, { who: 'a', why: 'b' });
      wanted = { ...wanted, sum: (wanted['sum'] as number) + 100, all: [...(wanted['all'] as unknown[]), 'edited'] };
    }
  }
}

describe('[XG6] random turns', () => {
  it('leave what a fold over all of their inputs gives', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(turns, (steps) => play(memoryStore(), 'one', steps)),
      { numRuns: cases(13) },
    );
    const store = await closing(sqliteFile());
    let at = 0;
    await fc.assert(
      fc.asyncProperty(turns, (steps) => play(store, `t${(at += 1)}`, steps)),
      { numRuns: cases(6) },
    );
  });
});

describe('[XG6] an object whose keys are written again and again', () => {
  it('is read from where it was written as a whole last', async () => {
    const store = memoryStore();
    const counting = definePlan({
      name: 'counting',
      inputs: ['at'],
      channels: { counts: 'mergeDict', seen: 'mergeDict' },
      nodes: [
        {
          id: 'count',
          run: ({ at }) => ({ counts: { [`key ${Number(at) % 3}`]: at }, seen: { [`key ${String(at)}`]: 1 } }),
        },
      ],
    });
    for (let at = 1; at <= 1_200; at++) await run(counting, { store, thread: 'one', inputs: { at } }).result;
    const line = store.read('thread:one').at(-1)?.text.split('\n').at(-1) ?? '';
    const { channels } = (JSON.parse(line) as { state: { channels: Record<string, { from: number; at: number }> } })
      .state;
    const spanOf = (name: string): number => (channels[name]?.at ?? 0) - (channels[name]?.from ?? 0);
    expect(spanOf('counts')).toBeLessThan(1_100);
    expect(spanOf('seen')).toBeGreaterThan(2_000);
    const { counts, seen } = getThread(store, 'one').state;
    expect(counts).toEqual({ 'key 1': 1_198, 'key 2': 1_199, 'key 0': 1_200 });
    expect(Object.keys(seen as object)).toHaveLength(1_200);
  });
});

describe(`[XG6] ${TURNS} turns`, () => {
  it('are kept; the last writes what the tenth wrote', { timeout: 600_000 }, async () => {
    const store = await closing(sqliteFile());
    const chat = definePlan({
      name: 'chat',
      inputs: ['say'],
      channels: { log: 'append' },
      nodes: [{ id: 'reply', run: ({ say }) => ({ log: `re: ${String(say)}` }) }],
    });
    const bytes: number[] = [];
    for (let at = 1; at <= TURNS; at++) {
      const from = store.run('thread:one')?.batches ?? 0;
      const { outcome } = await run(chat, { store, thread: 'one', inputs: { say: at } }).result;
      if (outcome !== 'succeeded') throw new Error(`turn ${at} ${outcome}`);
      if (at !== 10 && at !== TURNS) continue;
      bytes.push(store.read('thread:one', from).reduce((sum, batch) => sum + batch.text.length, 0));
    }
    const [tenth = 0, last = 0] = bytes;
    expect(last / tenth).toBeLessThan(1.1);
    const { state, turns: all } = getThread(store, 'one');
    expect([all.length, state['log']]).toEqual([TURNS, Array.from({ length: TURNS }, (_, at) => `re: ${at + 1}`)]);
  });
});
