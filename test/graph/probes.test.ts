import { afterEach, describe, expect, test, vi } from 'vitest';
import { answerRun, definePlan, memoryStore, run } from 'skein';
import type { RunOptions, SkeinEvent, Store } from 'skein';
import { agent, agentNode, graph, tool, toolNode, workflowNode } from 'skein/graph';
import { systemClock } from '../../src/base/clock.js';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';

type Finding = { readonly done: boolean; readonly result?: unknown } | undefined;

/** A shop whose payments may be made only once, what it paid, and what its probe was asked. */
function shop(shape: keyof typeof SHAPES, find: (key: string) => Finding | Promise<Finding>, policies: Policies = {}) {
  const paid: string[] = [];
  const probed: string[] = [];
  const pay = (amount: unknown, key: string): string => {
    paid.push(key);
    return `paid ${String(amount)}`;
  };
  const probe = (_given: unknown, { idempotencyKey }: { readonly idempotencyKey: string }): never => {
    probed.push(idempotencyKey);
    return find(idempotencyKey) as never;
  };
  const session = SHAPES[shape]({ pay, probe, policies });
  return { paid, probed, session };
}

type Policies = { readonly timeoutMs?: number; readonly retry?: number };

interface Parts {
  /** Of the nodes that pay, and of those that start what pays. */
  readonly policies: Policies;
  readonly pay: (amount: unknown, key: string) => string;
  readonly probe: (given: unknown, lost: { readonly idempotencyKey: string }) => never;
}

type Session = (options: RunOptions) => Promise<{
  readonly outcome: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly questions: readonly unknown[];
}>;

const AMOUNT = { type: 'object', properties: { amount: { type: 'number' } } } as const;

function toolOf({ pay, probe }: Parts) {
  return tool({
    name: 'pay',
    inputSchema: AMOUNT,
    trust: 'trusted',
    execute: ({ amount }, io) => pay(amount, io.idempotencyKey),
    probe,
  });
}

function nodeOf({ pay, probe, policies }: Parts) {
  return graph<{ amount: number }>({ name: 'paying' })
    .node('receipt', ({ amount }, step) => pay(amount, step.idempotencyKey), { effect: 'once', probe, ...policies })
    .setEntry('receipt');
}

const payer = (parts: Parts) => agent({ name: 'payer', model: 'own/m', tools: [toolOf(parts)] });

const { models } = ownModels({
  m: (request) => {
    const results = resultsIn(request);
    return results.length > 0 ? results.join() : { calls: [['pay', { amount: 5 }]] };
  },
});

const SHAPES = {
  'a function of a graph': (parts: Parts): Session => {
    const flow = nodeOf(parts);
    return (options) => flow.run({ amount: 5 }, options);
  },
  'a function of a plan': ({ pay, probe, policies }: Parts): Session => {
    const plan = definePlan({
      name: 'paying',
      inputs: ['amount'],
      nodes: [
        {
          id: 'pay',
          output: 'receipt',
          effect: 'once',
          run: ({ amount }, step) => pay(amount, step.idempotencyKey),
          probe,
          ...policies,
        },
      ],
    });
    return (options) => run(plan, { inputs: { amount: 5 }, ...options }).result;
  },
  'a tool as a node': (parts: Parts): Session => {
    const flow = graph<{ amount: number }>()
      .node('receipt', toolNode(toolOf(parts)), parts.policies)
      .setEntry('receipt');
    return (options) => flow.run({ amount: 5 }, options);
  },
  'a tool of an agent': (parts: Parts): Session => {
    const flow = graph<{ task: string }>()
      .node('receipt', agentNode(payer(parts), { taskParam: 'task' }), parts.policies)
      .setEntry('receipt');
    return (options) => flow.run({ task: 'Pay 5.' }, { models, ...options });
  },
  'a graph inside a graph': (parts: Parts): Session => {
    const flow = graph<{ amount: number }>()
      .node('receipt', workflowNode(nodeOf(parts), 'receipt'))
      .setEntry('receipt');
    return (options) => flow.run({ amount: 5 }, options);
  },
  'a graph for an item of a list': (parts: Parts): Session => {
    const flow = graph<{ amounts: number[] }>()
      .map('receipts', { over: 'amounts', item: 'amount' }, nodeOf(parts))
      .node('receipt', ({ receipts }) => receipts[0])
      .setEntry('receipts');
    return (options) => flow.run({ amounts: [5] }, options);
  },
  'a function for an item of a list': ({ pay, probe, policies }: Parts): Session => {
    const flow = graph<{ amounts: number[] }>()
      .map(
        'receipts',
        { over: 'amounts', item: 'amount', effect: 'once', probe, ...policies },
        ({ amount }: { amount: number }, step) => pay(amount, step.idempotencyKey),
      )
      .node('receipt', ({ receipts }) => receipts[0])
      .setEntry('receipts');
    return (options) => flow.run({ amounts: [5] }, options);
  },
  'a graph that a function starts': (parts: Parts): Session => {
    const inner = nodeOf(parts);
    const flow = graph<{ amount: number }>()
      .node(
        'receipt',
        async ({ amount }, step) => (await inner.runOrThrow({ amount }, step.runOptions))['receipt'],
        parts.policies,
      )
      .setEntry('receipt');
    return (options) => flow.run({ amount: 5 }, options);
  },
  'an agent that a function starts': (parts: Parts): Session => {
    const inner = payer(parts);
    const flow = graph()
      .node('receipt', async (_state, step) => (await inner.run('Pay 5.', step.runOptions)).answer, {
        inputs: [],
        ...parts.policies,
      })
      .setEntry('receipt');
    return (options) => flow.run({}, { models, ...options });
  },
} satisfies Record<string, (parts: Parts) => Session>;

/** The store of a run whose process was killed while it paid. */
async function killed(session: Session): Promise<Store> {
  const store = memoryStore();
  await session({ store, runId: 'r' });
  const started = prefixesOf('r', store.read('r')).find(({ lines }) => lines.at(-1)?.includes('"t":"start"'));
  if (started === undefined) throw new Error('the start of the payment is not recorded before its end');
  return storeWith('r', started.batches, store);
}

const names = Object.keys(SHAPES) as (keyof typeof SHAPES)[];

describe.each(names)('[J6] the probe of an interrupted payment: %s', (shape) => {
  test('it was done: the result is that of the probe, nothing is paid and nobody is asked', async () => {
    const { session, paid, probed } = shop(shape, () => ({ done: true, result: 'found: paid 5' }));
    const store = await killed(session);
    const [key] = paid.splice(0);
    const { outcome, state } = await session({ store, resume: 'r' });
    expect([outcome, state['receipt'], paid, probed]).toEqual(['succeeded', 'found: paid 5', [], [key]]);
    const again = await session({ store, resume: 'r' });
    expect([again.outcome, again.state['receipt'], probed.length]).toEqual(['succeeded', 'found: paid 5', 1]);
  });

  test('it was not done: it is paid now, under the same key', async () => {
    const { session, paid } = shop(shape, () => Promise.resolve({ done: false }));
    const store = await killed(session);
    const [key] = paid.splice(0);
    const { outcome, state } = await session({ store, resume: 'r' });
    expect([outcome, state['receipt'], paid]).toEqual(['succeeded', 'paid 5', [key]]);
  });

  test('it cannot tell: a person is asked, and is right', async () => {
    let finding: Finding = undefined;
    const { session, paid, probed } = shop(shape, () => finding);
    const store = await killed(session);
    paid.length = 0;
    const paused = await session({ store, resume: 'r' });
    expect([paused.outcome, paused.questions.length, paid]).toEqual(['paused', 1, []]);
    answerRun(store, 'r', { value: 'it was done' });
    finding = { done: false };
    const { outcome } = await session({ store, resume: 'r' });
    expect([outcome, paid, probed.length]).toEqual(['succeeded', [], 1]);
  });

  test('it fails: the run says why, and a person is asked', async () => {
    const { session } = shop(shape, () => Promise.reject(new Error('the bank is closed')));
    const store = await killed(session);
    const notes: SkeinEvent[] = [];
    const paused = await session({ store, resume: 'r', listeners: [(event) => void notes.push(event)] });
    expect([paused.outcome, paused.questions.length]).toEqual(['paused', 1]);
    // Events of a run that a function starts are its own.
    const says = 'failed, so a person is asked what happened: the bank is closed';
    if (!shape.endsWith('a function starts')) expect(JSON.stringify(notes)).toContain(says);
  });
});

describe('[J6] a probe that does not answer', () => {
  afterEach(() => vi.restoreAllMocks());

  test.each(names)('leaves it to a person, whatever time limits and retries its steps have: %s', async (shape) => {
    const timeoutMs = 54_321;
    const timeouts = new Set<() => void>();
    let tooLong = (): void => undefined;
    const hangs = async (): Promise<Finding> => {
      await new Promise((next) => setImmediate(next));
      for (const ring of timeouts) ring();
      await new Promise((next) => setImmediate(next));
      tooLong();
      return await new Promise(() => undefined);
    };
    const { session, paid, probed } = shop(shape, hangs, { timeoutMs, retry: 2 });
    const store = await killed(session);
    paid.length = 0;
    const real = { ...systemClock };
    vi.spyOn(systemClock, 'setTimer').mockImplementation((ms, ring) => {
      if (ms === 60_000) tooLong = ring;
      else if (ms <= timeoutMs && ms > timeoutMs / 2) timeouts.add(ring);
      else return real.setTimer(ms, ring);
      return () => timeouts.delete(ring);
    });
    const notes: SkeinEvent[] = [];
    const paused = await session({ store, resume: 'r', listeners: [(event) => void notes.push(event)] });
    expect([paused.outcome, paused.questions.length, paid, probed.length]).toEqual(['paused', 1, [], 1]);
    if (!shape.endsWith('a function starts')) expect(JSON.stringify(notes)).toContain('it took longer than 60 s');
    answerRun(store, 'r', { value: 'run it' });
    const { outcome } = await session({ store, resume: 'r' });
    expect([outcome, paid.length]).toEqual(['succeeded', 1]);
  });
});

describe('[J6] a probe', () => {
  test('is asked again on the next resume, as long as nobody has answered', async () => {
    let finding: Finding = undefined;
    const { session, paid } = shop('a function of a graph', () => finding);
    const store = await killed(session);
    paid.length = 0;
    expect((await session({ store, resume: 'r' })).outcome).toBe('paused');
    finding = { done: true, result: 'found' };
    const { outcome, state } = await session({ store, resume: 'r' });
    expect([outcome, state['receipt'], paid]).toEqual(['succeeded', 'found', []]);
  });

  test('of a fork gets the key that the payment was made with', async () => {
    const { session, paid, probed } = shop('a function of a graph', () => ({ done: true, result: 'found' }));
    const store = await killed(session);
    const fork = await session({ store, fork: { run: 'r' } });
    expect([fork.outcome, fork.state['receipt'], probed, paid.length]).toEqual(['succeeded', 'found', paid, 1]);
  });

  test('that returns something else counts as one that failed', async () => {
    const { session } = shop('a function of a plan', () => true as never);
    const store = await killed(session);
    const notes: SkeinEvent[] = [];
    expect((await session({ store, resume: 'r', listeners: [(event) => void notes.push(event)] })).outcome).toBe(
      'paused',
    );
    expect(JSON.stringify(notes)).toContain('a probe returns { done: true, result }, { done: false } or undefined');
  });

  test('is refused where nobody would be asked', () => {
    const probe = (): undefined => undefined;
    const flow = graph()
      .node('a', () => 1, { probe })
      .setEntry('a');
    expect(() => flow.compile()).toThrow('error bad-probe: "a" has a probe, but may be repeated after a crash');
    expect(() => tool({ name: 'look', inputSchema: AMOUNT, effect: 'read', execute: () => 1, probe })).toThrow(
      'the tool "look" has a probe, but its calls may be repeated',
    );
    expect(() =>
      graph()
        .node('a', () => 1, { effect: 'once', probe: 7 as never })
        .compile(),
    ).toThrow('a function');
  });
});
