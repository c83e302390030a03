import { describe, expect, it } from 'vitest';
import { run, SkeinError } from 'skein';
import type { RunOptions } from 'skein';
import { graph } from 'skein/graph';
import { billing, dollars, PRICES } from './billed.js';
import { chain, many, mapped, worker } from './plans.js';

const items = many(100);

function start(plan: ReturnType<typeof mapped>, options: RunOptions, own = billing()) {
  const result = run(plan, { inputs: { items }, models: own.models, prices: PRICES, ...options }).result;
  return { own, result };
}

describe('a map of 100 calls with money for 37', () => {
  it.each([
    ['calls', { calls: 37 }],
    ['dollars', { usd: 37 * 0.002 + 0.000_02 }],
  ])('keeps 37 results; none is aborted, and the run is out of budget: %s', async (_, budget) => {
    const { own, result } = start(mapped(), { budget });
    const { outcome, census, error } = await result;
    expect([outcome, own.asked.length]).toEqual(['out_of_budget', 37]);
    expect(census).toMatchObject({ succeeded: 37, out_of_budget: 64, cancelled: 0, failed: 0 });
    expect(error).toMatchObject({ code: 'SKEIN_BUDGET' });
  });
});

describe.each(['fail', 'continue', 'leaveOut'])('items of a map with onItemError: %s', (onItemError) => {
  it('are out of budget, which is no failure of an item: what the others gave is kept', async () => {
    const { own, result } = start(mapped({ onItemError }), { budget: '3-calls' });
    const { outcome, census, state } = await result;
    expect([outcome, own.asked.length, state['all']]).toEqual(['out_of_budget', 3, undefined]);
    expect(census).toMatchObject({ succeeded: 3, failed: 0, cancelled: 0, degraded: 0 });
  });
});

describe('a step for which there is not enough', () => {
  const play = (policy: object, options: RunOptions, own = billing()) =>
    run(chain(policy), { inputs: { task: 'x' }, models: own.models, prices: PRICES, ...options }).result.then(
      (result) => ({ ...result, asked: own.asked.length }),
    );

  it.each([
    ['retry', { retry: { retries: 3, delayMs: 1, on: 'any' } }],
    ['onError: continue', { onError: 'continue' }],
    ['onError: ignore', { onError: 'ignore' }],
    ['a handler', { onError: { to: 'handled' } }],
    ['a timeout', { timeoutMs: 60_000 }],
  ])('ends the run whatever its policies say, and keeps what came before: %s', async (_, policy) => {
    const { outcome, state, census, error, asked } = await play(policy, { budget: '1-calls' });
    expect([outcome, asked, error?.code, state['one'], state['two'], state['handled']]).toEqual([
      'out_of_budget',
      1,
      'SKEIN_BUDGET',
      'done',
      undefined,
      undefined,
    ]);
    expect(census).toMatchObject({ succeeded: 1, out_of_budget: 1, failed: 0, degraded: 0 });
    expect(error).toMatchObject({
      message: expect.stringContaining('the budget of the run is used up: 1 call of 1 call spent') as string,
    });
  });

  it('is of the tightest limit: of a step within the run', async () => {
    const { outcome, error, asked } = await play({ budget: { calls: 0 + 1, usd: 0.001 } }, { budget: { usd: 1 } });
    expect([outcome, asked]).toEqual(['out_of_budget', 1]);
    expect(error).toMatchObject({ details: { name: 'step two', measure: 'usd', limit: 0.001, spent: 0 } });
  });

  it.each([
    ['tokens', '1500-tokens', 1],
    ['dollars', '0.005', 2],
    ['calls', '2-calls', 2],
  ])('may lack %s', async (_, budget, asked) => {
    expect(await play({}, { budget })).toMatchObject({ outcome: 'out_of_budget', asked });
  });

  it('asks the model that the limit names, for the rest of the step', async () => {
    const own = billing();
    const { outcome, asked } = await play({}, { budget: { usd: 0.0022, onLimit: { model: 'own/cheap' } } }, own);
    expect([outcome, asked]).toEqual(['succeeded', 3]);
    expect(own.asked.map((text) => text.split(':')[0])).toEqual(['m', 'cheap', 'cheap']);
  });

  it('has a person asked how much more, where the limit says so', async () => {
    const questions: string[] = [];
    const answering = (say: string): RunOptions => ({
      budget: { calls: 1, onLimit: 'ask' },
      answer: ({ text }) => {
        questions.push(text);
        return Promise.resolve(say);
      },
    });
    expect(await play({}, answering('1-calls'))).toMatchObject({ outcome: 'succeeded', asked: 3 });
    expect(questions).toEqual([
      expect.stringContaining('1 call of 1 call spent; what comes next may take 1 call. How much more'),
      expect.stringContaining('2 calls of 2 calls spent'),
    ]);
    expect(await play({}, answering('no'))).toMatchObject({ outcome: 'out_of_budget', asked: 1 });
    expect(await play({}, answering('plenty'))).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_ANSWER' } });
    const { outcome, questions: open } = await play({}, { budget: { calls: 1, onLimit: 'ask' } });
    expect([outcome, open.length]).toEqual(['out_of_budget', 1]);
  });

  it('does not start, and nothing is guessed, where nobody knows the price', async () => {
    const { outcome, error, asked } = await play({}, { budget: '0.50', prices: { models: {} } });
    expect([outcome, error?.code, asked]).toEqual(['failed', 'SKEIN_USAGE', 0]);
    const allowed = await play({}, { budget: { usd: 0.5, unpriced: 'allow' }, prices: { models: {} } });
    expect([allowed.outcome, allowed.asked]).toEqual(['succeeded', 3]);
  });

  it.each([['-1'], ['0'], ['5 apples'], ['0.5,0.6'], [{ usd: -1 }], [{ dollars: 1 }], [{ tokens: 1.5 }]])(
    'is refused before the run: budget %j',
    (budget) => {
      expect(() => run(chain(), { budget: budget as never, models: billing().models })).toThrow(SkeinError);
    },
  );
});

describe('steps beside one that waits for budget', () => {
  it('come to their end, and hold what they reserved until then: those that wait are served in order', async () => {
    const own = billing();
    const wide = graph<Record<string, string>>({ reducers: {} }).node('begin', () => 'go');
    for (let at = 0; at < 20; at += 1) wide.node(`w${at}`, worker(`w${at}`)).addEdge('begin', `w${at}`);
    // Two calls fit beside each other, as one may take more than it does take.
    const options = { inputs: { task: 'x' }, models: own.models, prices: PRICES, budget: { usd: 0.0205 } };
    const { outcome, census } = await run(wide.setEntry('begin').compile(), options).result;
    expect([outcome, own.asked.length, own.most, dollars(own)]).toEqual(['out_of_budget', 10, 10, 0.02]);
    expect(census).toMatchObject({ succeeded: 11, out_of_budget: 10, cancelled: 0 });
  });

  it('are cancelled where the limit says stop', async () => {
    let aborted = false;
    const flow = graph<Record<string, string>>({ reducers: {} })
      .node('begin', () => 'go')
      .node('first', worker('first'))
      .node('second', worker('second'))
      .node('slow', async ({ begin: _begin }: { begin: string }, step) => {
        await new Promise((done) => step.signal.addEventListener('abort', done));
        aborted = true;
        return 'x';
      })
      .addEdge('begin', 'first')
      .addEdge('begin', 'slow')
      .addEdge('first', 'second')
      .setEntry('begin');
    const own = billing();
    const options = { inputs: { task: 'x' }, models: own.models, budget: { calls: 1, onLimit: 'stop' as const } };
    const { outcome, census } = await run(flow.compile(), options).result;
    expect([outcome, aborted, own.asked.length]).toEqual(['out_of_budget', true, 1]);
    expect(census).toMatchObject({ succeeded: 2, out_of_budget: 1, cancelled: 1 });
  });

  it('a thousand of them with money for ten: ten calls are made', async () => {
    const own = billing();
    const plan = mapped();
    const inputs = { items: many(1_000) };
    const { outcome, census } = await run(plan, { inputs, models: own.models, budget: '10-calls' }).result;
    expect([outcome, own.asked.length]).toEqual(['out_of_budget', 10]);
    expect(census).toMatchObject({ succeeded: 10, out_of_budget: 991, cancelled: 0 });
  });
});
