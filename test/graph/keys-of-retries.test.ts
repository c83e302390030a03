import { describe, expect, test } from 'vitest';
import { memoryStore } from 'skein';
import type { RunOptions, Store } from 'skein';
import { agent, agentNode, graph, tool, toolNode } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';

const AMOUNT = { type: 'object', properties: { amount: { type: 'number' } } } as const;
const RETRY = { retries: 2, delayMs: 0, on: () => true } as const;

const STORES: Readonly<Record<string, () => { readonly store?: Store }>> = {
  'with a store': () => ({ store: memoryStore() }),
  'without a store': () => ({}),
};

describe.each(Object.keys(STORES))('[J6] the idempotency key of a call that a retry repeats, %s', (name) => {
  const options = (): RunOptions => STORES[name]?.() ?? {};

  test('is that of the first attempt, for functions and their parts, and differs between calls', async () => {
    const seen: Record<'own' | 'part', string[]> = { own: [], part: [] };
    const flow = graph<{ rounds: number[] }>()
      .node(
        'pay',
        async (_state, step) => {
          seen.own.push(step.idempotencyKey);
          await step.run(`try${step.attempt}`, () => 1);
          if (step.attempt < 3) throw new Error('the bank is slow');
          await step.run('charge', ({ idempotencyKey }) => seen.part.push(idempotencyKey));
          return step.attempt;
        },
        { inputs: [], retry: RETRY },
      )
      .node('more', ({ pay }, step) => (seen.own.push(step.idempotencyKey), pay))
      .setEntry('pay');
    const { outcome, state } = await flow.run({ rounds: [] }, options());
    expect([outcome, state['pay']]).toEqual(['succeeded', 3]);
    const [first, ...others] = seen.own;
    expect(others).toEqual([first, first, expect.stringMatching(/\/more$/)]);
    expect(first).toMatch(/\/pay$/);
    expect(seen.part).toEqual([expect.stringMatching(/\/pay@run:charge$/)]);
  });

  test('is that of the first attempt for a tool as a node', async () => {
    const seen: string[] = [];
    let calls = 0;
    const pay = tool({
      name: 'pay',
      inputSchema: AMOUNT,
      execute: (_input, io) => {
        seen.push(io.idempotencyKey);
        if ((calls += 1) < 3) throw new Error('the bank is slow');
        return 'paid';
      },
    });
    const flow = graph<{ amount: number }>().node('pay', toolNode(pay), { retry: RETRY }).setEntry('pay');
    const { outcome } = await flow.run({ amount: 1 }, options());
    expect([outcome, seen.length, new Set(seen).size]).toEqual(['succeeded', 3, 1]);
  });

  test('of an agent that makes the same call again is the same, another call has another one', async () => {
    const seen: string[] = [];
    const pay = tool({
      name: 'pay',
      inputSchema: AMOUNT,
      effect: 'idempotent',
      trust: 'trusted',
      execute: (_input, io) => `paid for the ${seen.push(io.idempotencyKey)}. time`,
    });
    const amounts = [5, 5, 6];
    let attempt = 0;
    const { models } = ownModels({
      m: (request) => {
        if (resultsIn(request).length > 0) return (attempt += 1) < 3 ? '' : '3';
        return { calls: [['pay', { amount: amounts[attempt] }]] };
      },
    });
    const payer = agent({ name: 'payer', model: 'own/m', tools: [pay] });
    const flow = graph<{ task: string }>()
      .node('paid', agentNode(payer, { taskParam: 'task' }), { retry: RETRY })
      .setEntry('paid');
    const { outcome, error } = await flow.run({ task: 'Pay.' }, { models, ...options() });
    expect([outcome, error]).toEqual(['succeeded', undefined]);
    expect([seen.length, seen[1] === seen[0], seen[2] === seen[0]]).toEqual([3, true, false]);
  });
});

test('[J6] the probe of a payment that was lost in its second attempt gets the key that the receiver knows', async () => {
  const paid: string[] = [];
  const asked: string[] = [];
  const flow = graph<{ amount: number }>({ name: 'pay' })
    .node(
      'receipt',
      ({ amount }, step) => {
        paid.push(step.idempotencyKey);
        if (step.attempt === 1) throw new Error('the bank is slow');
        return `paid ${amount}`;
      },
      {
        effect: 'once',
        retry: RETRY,
        probe: (_state, { idempotencyKey }) => ({ done: true as const, result: `found ${asked.push(idempotencyKey)}` }),
      },
    )
    .setEntry('receipt');
  const store = memoryStore();
  await flow.run({ amount: 5 }, { store, runId: 'r' });
  const isStart = (line: string): boolean => line.includes('"t":"start"') && line.includes('receipt~2');
  const lost = prefixesOf('r', store.read('r')).find(({ lines }) => lines.some(isStart));
  if (lost === undefined) throw new Error('the start of the second attempt is not recorded');
  const { state } = await flow.run({}, { store: storeWith('r', lost.batches, store), resume: 'r' });
  expect([state['receipt'], asked, paid]).toEqual(['found 1', ['r/receipt'], ['r/receipt', 'r/receipt']]);
});
