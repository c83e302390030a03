import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore, run } from 'skein';
import type { RunOptions, Store } from 'skein';
import { billing, PRICES } from './billed.js';
import { chain, many, mapped } from './plans.js';

const ASK = { calls: 1, onLimit: 'ask' as const };

async function play(store: Store | undefined, options: RunOptions, workflow: Parameters<typeof run>[0] = chain()) {
  const own = billing();
  const where = store === undefined ? {} : { store };
  const result = await run(workflow, { ...where, models: own.models, prices: PRICES, ...options }).result;
  return { ...result, asked: own.asked.length };
}

describe('a person who is asked how much more may be spent', () => {
  const task = { inputs: { task: 'x' } };

  it('answers later, and what was answered is added once', async () => {
    const store = memoryStore();
    const { runId, outcome, questions } = await play(store, { ...task, budget: ASK });
    expect([outcome, questions.length]).toEqual(['out_of_budget', 1]);
    answerRun(store, runId, { key: questions[0]?.key ?? '', value: '1-calls' });
    const more = await play(store, { resume: runId });
    expect([more.outcome, more.asked, more.questions.length]).toEqual(['out_of_budget', 1, 1]);
    const again = await play(store, { resume: runId });
    expect([again.outcome, again.asked, again.questions.length]).toEqual(['out_of_budget', 0, 1]);
    answerRun(store, runId, { value: '1' });
    expect(await play(store, { resume: runId })).toMatchObject({ outcome: 'succeeded', asked: 1 });
  });

  it('says no, and can still raise the budget', async () => {
    const store = memoryStore();
    const { runId } = await play(store, { ...task, budget: ASK });
    answerRun(store, runId, { value: 'no' });
    expect(await play(store, { resume: runId })).toMatchObject({ outcome: 'out_of_budget', asked: 0 });
    const raised = await play(store, { resume: runId, budget: '+2-calls' });
    expect(raised).toMatchObject({ outcome: 'succeeded', asked: 2 });
  });

  it.each(['plenty', '', '0.50', '-3', '1.5-calls', '2-tool-calls', '1-calls,2-calls', 7, null])(
    'is told that %j is no number of calls, and the question stays open',
    async (value) => {
      const store = memoryStore();
      const { runId } = await play(store, { ...task, budget: ASK });
      expect(() => answerRun(store, runId, { value })).toThrow(/does not match what was asked for/);
      answerRun(store, runId, { value: '2-calls' });
      expect(await play(store, { resume: runId })).toMatchObject({ outcome: 'succeeded', asked: 2 });
    },
  );

  it.each([
    [{ usd: 0.0025 }, '0.01', 'an amount such as 0.0025'],
    [{ tokens: 1_500 }, '10k', 'an amount such as 1500-tokens'],
    [{ tokens: 1_500 }, ' + 10k-tokens ', 'an amount such as 1500-tokens'],
  ])('of a budget of %j answers %j', async (budget, value, example) => {
    const answer: RunOptions['answer'] = ({ text }) => {
      expect(text).toContain(example);
      return Promise.resolve(value);
    };
    expect(await play(undefined, { ...task, budget: { ...budget, onLimit: 'ask' }, answer })).toMatchObject({
      outcome: 'succeeded',
      asked: 3,
    });
  });

  it.each([
    ['in memory', () => undefined],
    ['recorded', () => memoryStore()],
  ])('is asked by one of many steps at a time, until there is enough: %s', async (_, store) => {
    const texts: string[] = [];
    const answer: RunOptions['answer'] = ({ text }) => {
      texts.push(text);
      return Promise.resolve(texts.length < 5 ? '1' : 'no');
    };
    const inputs = { items: many(20) };
    const { outcome, asked, census } = await play(store(), { inputs, budget: ASK, answer }, mapped());
    expect([outcome, asked, texts.length]).toEqual(['out_of_budget', 5, 5]);
    expect(census).toMatchObject({ succeeded: 5, out_of_budget: 16, cancelled: 0 });
    expect(texts.at(-1)).toContain('5 calls of 5 calls spent');
  });
});
