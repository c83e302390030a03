import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  MemoryDurable,
  compile,
  definePlan,
  deliverEvent,
  memoryStore,
  readRun,
  run,
  startRun,
  type RunOptions,
  type Store,
} from 'skein';
import { eventNode, graph, sleepNode } from 'skein/graph';
import { FakeClock } from 'skein/testing';
import { z } from 'zod';
import { closing, sqliteFile } from '../library/support/threads.js';

const stores: readonly [string, () => Promise<Store>][] = [
  ['in memory', async () => memoryStore()],
  ['in a file', async () => await closing(sqliteFile())],
];

/** Lets everything come to rest that was woken. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** From here on to the end of the test it is two hours later. */
function twoHoursLater(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7_200_000 });
  onTestFinished(() => void vi.useRealTimers());
}

describe('[XG9] sleepNode', () => {
  /** How long a run waits by the clock of a test, in milliseconds. */
  async function asleep(input: Parameters<typeof sleepNode>[0]): Promise<number> {
    const flow = graph<Record<string, unknown>>()
      .addNode('nap', sleepNode(input))
      .addNode('after', () => ({ woke: true }))
      .addEdge('nap', 'after')
      .setEntry('nap');
    const { plan, bindings } = flow.compile();
    const clock = new FakeClock(Date.UTC(2027, 0, 1));
    const handle = startRun(compile(plan, bindings), {
      durable: new MemoryDurable('r', { clock }),
      inputs: { hours: 3 },
    });
    const from = clock.now();
    await rest();
    expect(clock.advanceToNext()).toBe(true);
    const { outcome, state } = await handle.result;
    expect([outcome, state['woke']]).toEqual(['succeeded', true]);
    return clock.now() - from;
  }

  test('lets the clock of the run decide: a duration, a time, or what the state says', async () => {
    expect(await asleep({ ms: 1_500 })).toBe(1_500);
    expect(await asleep({ ms: '40d' })).toBe(40 * 86_400_000);
    expect(await asleep({ until: new Date(Date.UTC(2027, 0, 2)) })).toBe(86_400_000);
    expect(await asleep({ until: '2027-01-01T01:00:00Z' })).toBe(3_600_000);
    expect(await asleep({ until: '2020-01-01T01:00:00Z' })).toBe(0);
    expect(await asleep((state) => Number(state['hours']) * 3_600_000)).toBe(10_800_000);
    expect(await asleep(async () => new Date(Date.UTC(2027, 0, 1, 2)))).toBe(7_200_000);
  });

  test('takes no slot of concurrency', async () => {
    const ran: string[] = [];
    const flow = graph({ concurrency: 1 })
      .node('nap', sleepNode({ ms: 60 }))
      .node('work', () => ran.push('work'))
      .node('after', () => ran.push('after'))
      .addEdge('nap', 'after');
    expect((await flow.run()).outcome).toBe('succeeded');
    expect(ran).toEqual(['work', 'after']);
  });

  test('what is no time fails with what to give', async () => {
    expect(() => sleepNode({ ms: 'soon' })).toThrow(/must be a duration or a time, not "soon"/);
    const flow = graph()
      .addNode(
        'nap',
        sleepNode(() => 'soon'),
      )
      .setEntry('nap');
    const { error } = await flow.run();
    expect(error).toMatchObject({
      code: 'SKEIN_USAGE',
      message: /what the function of 'nap' gives must be a duration/,
    });
    const drawn = definePlan({ name: 'p', nodes: [{ id: 'w', kind: 'wait', until: 'later' as never }] });
    expect(() => run(drawn)).toThrow(/until must be a number or "code"/);
  });

  test('a function is asked once, also when the run goes on from its record', async () => {
    const store = memoryStore();
    let asked = 0;
    const flow = graph()
      .addNode(
        'nap',
        sleepNode(() => (asked += 1)),
      )
      .node('paid', eventNode('payment'))
      .addEdge('nap', 'paid')
      .setEntry('nap');
    expect((await flow.run({}, { store, runId: 'r' })).outcome).toBe('paused');
    deliverEvent(store, 'r', 'payment', 1);
    expect(await flow.run(undefined, { store, resume: 'r' })).toMatchObject({ outcome: 'succeeded', answer: '1' });
    expect(asked).toBe(1);
  });
});

describe.each(stores)('[XG9] eventNode, with a store %s', (_name, open) => {
  const shop = () =>
    graph<{ order: string }>()
      .node('paid', eventNode<{ amount: number }>('payment'))
      .node('ship', ({ paid, order }) => `${order}: ${paid.amount}`)
      .setEntry('paid');

  test('pauses the run, which goes on with what was delivered', async () => {
    const store = await open();
    const first = await shop().run({ order: 'o1' }, { store, runId: 'r' });
    expect(first.outcome).toBe('paused');
    expect(readRun(store, 'r').questions).toMatchObject([{ name: 'payment', path: 'paid' }]);
    expect(deliverEvent(store, 'r', 'payment', { amount: 3 })).toEqual({ path: 'paid' });
    expect(readRun(store, 'r').questions).toEqual([]);
    const second = await shop().run(undefined, { store, resume: 'r' });
    expect([second.outcome, second.answer]).toEqual(['succeeded', 'o1: 3']);
    expect(() => deliverEvent(store, 'r', 'payment', {})).toThrow(/the run is succeeded/);
  });

  test('takes what came before it waited, each event once and in order', async () => {
    const store = await open();
    const flow = graph()
      .node('ready', eventNode('ready'))
      .node('one', eventNode('line'))
      .node('two', eventNode('line'))
      .node('both', ({ one, two }) => `${String(one)} ${String(two)}`)
      .addEdge('ready', 'one')
      .addEdge('one', 'two')
      .setEntry('ready');
    await flow.run({}, { store, runId: 'r' });
    expect(deliverEvent(store, 'r', 'line', 'a')).toEqual({});
    expect(deliverEvent(store, 'r', 'line', 'b')).toEqual({});
    expect(deliverEvent(store, 'r', 'line', 'c')).toEqual({});
    deliverEvent(store, 'r', 'ready');
    const { outcome, answer } = await flow.run(undefined, { store, resume: 'r' });
    expect([outcome, answer]).toEqual(['succeeded', 'a b']);
    const again = await flow.run(undefined, { store, resume: 'r' });
    expect(again.answer).toBe('a b');
  });

  test('a second event does not replace the first', async () => {
    const store = await open();
    await shop().run({ order: 'o1' }, { store, runId: 'r' });
    expect(deliverEvent(store, 'r', 'payment', { amount: 1 })).toEqual({ path: 'paid' });
    expect(deliverEvent(store, 'r', 'payment', { amount: 2 })).toEqual({});
    expect((await shop().run(undefined, { store, resume: 'r' })).answer).toBe('o1: 1');
  });

  test('wakes a run that is under way', async () => {
    const store = await open();
    const running = graph<{ order: string }>()
      .node('paid', eventNode<{ amount: number }>('payment'))
      .node('nap', sleepNode({ ms: 2_000 }))
      .run({ order: 'x' }, { store, runId: 'r' });
    await rest();
    deliverEvent(store, 'r', 'payment', { amount: 9 });
    expect(await running).toMatchObject({ outcome: 'succeeded', state: { paid: { amount: 9 } } });
  });

  test('refuses what its schema does not take, and what no node waits for', async () => {
    const store = await open();
    const flow = graph()
      .node('ready', eventNode('ready'))
      .node('paid', eventNode('payment', { schema: z.object({ amount: z.number() }) as never }))
      .addEdge('ready', 'paid')
      .setEntry('ready');
    await flow.run({}, { store, runId: 'r' });
    expect(() => deliverEvent(store, 'r', 'paymnt', 1)).toThrow(/no event that is called 'paymnt'/);
    deliverEvent(store, 'r', 'ready');
    await flow.run(undefined, { store, resume: 'r' });
    expect(() => deliverEvent(store, 'r', 'payment', { amount: 'x' })).toThrow(/does not match what was asked for/);
    deliverEvent(store, 'r', 'payment', { amount: 5 });
    expect((await flow.run(undefined, { store, resume: 'r' })).state['paid']).toEqual({ amount: 5 });
    const early = await flow.run({}, { store, runId: 'early' });
    expect(early.outcome).toBe('paused');
    deliverEvent(store, 'early', 'payment', 'wrong');
    deliverEvent(store, 'early', 'ready');
    expect((await flow.run(undefined, { store, resume: 'early' })).error).toMatchObject({ code: 'SKEIN_ANSWER' });
  });

  test('an event that does not come in time fails the node, or gives the default', async () => {
    const store = await open();
    const waiting = (how: object) => graph().node('paid', eventNode('payment', how)).setEntry('paid');
    const late = waiting({ expires: 3_600_000 });
    const given = waiting({ expires: '1h', default: 'none' });
    // Nothing else goes on, so the run pauses; time goes on without it.
    expect((await late.run({}, { store, runId: 'late' })).outcome).toBe('paused');
    expect((await given.run({}, { store, runId: 'given' })).outcome).toBe('paused');
    twoHoursLater();
    const { error } = await late.run(undefined, { store, resume: 'late' });
    expect(error).toMatchObject({ code: 'SKEIN_TIMEOUT', message: /'payment'/ });
    expect(await given.run(undefined, { store, resume: 'given' })).toMatchObject({
      outcome: 'succeeded',
      answer: 'none',
    });
  });
});

describe('[XG9] step.ask with a time', () => {
  const asking = (how: object) =>
    definePlan({
      name: 'p',
      nodes: [{ id: 'q', output: 'said', run: async (_state, step) => await step.ask({ text: 'Publish?' }, how) }],
    });
  const never: RunOptions = { answer: () => new Promise(() => undefined) };

  test.each<[string, () => RunOptions]>([
    ['without a store', () => never],
    ['with a store', () => ({ ...never, store: memoryStore() })],
  ])('%s: the default, or an error with a code', async (_name, options) => {
    const given = await run(asking({ expires: 20, default: 'no' }), options()).result;
    expect([given.outcome, given.state['said']]).toEqual(['succeeded', 'no']);
    const failed = await run(asking({ expires: new Date(Date.now() + 30) }), options()).result;
    expect(failed.error).toMatchObject({ code: 'SKEIN_TIMEOUT', message: /Publish\?/ });
  });

  test.each<[string, () => RunOptions]>([
    ['without a store', () => ({})],
    ['with a store', () => ({ store: memoryStore() })],
  ])('%s: nobody is asked any more once it has expired, and the next question has its turn', async (_, options) => {
    const asked: string[] = [];
    const told: string[] = [];
    const plan = definePlan({
      name: 'p',
      nodes: [
        {
          id: 'q',
          output: 'said',
          run: async (_state, step) =>
            await Promise.all([
              step.ask({ text: 'First?' }, { name: 'first', expires: 1_500, default: 'no' }),
              // Expires before its turn comes.
              step.ask({ text: 'Second?' }, { name: 'second', expires: 1, default: 'never' }),
              step.ask({ text: 'Third?' }, 'third'),
            ]),
        },
      ],
    });
    const answer: RunOptions['answer'] = async ({ text }, _address, signal) => {
      asked.push(text);
      if (text === 'Third?') return 'yes';
      return await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          told.push(text);
          reject(new Error('too late'));
        }),
      );
    };
    const { outcome, state } = await run(plan, { ...options(), answer }).result;
    expect([outcome, state['said']]).toEqual(['succeeded', ['no', 'never', 'yes']]);
    expect([asked, told]).toEqual([['First?', 'Third?'], ['First?']]);
  });

  test('time goes on while nobody runs it, and an answer in time is taken', async () => {
    const store = memoryStore();
    const plan = asking({ name: 'publish', expires: '1h', default: 'no' });
    const ending = run(plan, { store, runId: 'r', answer: async () => 'yes' });
    expect((await ending.result).state['said']).toBe('yes');
    const short = asking({ name: 'publish', expires: '1h', default: 'no' });
    const wait = graph()
      .node('said', async (_state, step) => await step.ask({ text: 'Publish?' }, { expires: 40, default: 'no' }), {
        inputs: [],
      })
      .setEntry('said');
    // An unanswered question with an alarm pauses the run: time goes on without it.
    expect((await run(short, { store, runId: 's' }).result).outcome).toBe('paused');
    const { expires: due } = readRun(store, 's').questions[0] ?? {};
    expect(due).toBeGreaterThan(0);
    twoHoursLater();
    expect((await run(short, { store, resume: 's' }).result).state['said']).toBe('no');
    expect((await wait.run({}, { store, ...never })).answer).toBe('no');
  });
});
