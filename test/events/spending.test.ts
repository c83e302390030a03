import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ErrorData } from '../../src/base/errors.js';
import { addUsd } from '../../src/events/cost.js';
import { addUsage, spentOf, Tally } from '../../src/events/spending.js';

const nanos = fc.integer({ min: 0, max: 1e12 });

describe('[15] dollars', () => {
  it('add up to the exact sum of their billionths, in any order', () => {
    fc.assert(
      fc.property(fc.array(nanos, { minLength: 1, maxLength: 50 }), (amounts) => {
        const exact = amounts.reduce((sum, one) => sum + BigInt(one), 0n);
        const sum = (list: readonly number[]): number => list.reduce((a, b) => addUsd(a, b / 1e9), 0);
        expect(BigInt(Math.round(sum(amounts) * 1e9))).toBe(exact);
        expect(sum(amounts.toReversed())).toBe(sum(amounts));
      }),
    );
  });
});

describe('[15] what calls spent', () => {
  const usage = { inputTokens: 10, outputTokens: 2 };

  it('is counted with tokens that were written to a cache', () => {
    const written = { ...usage, cacheWriteTokens: 4 };
    expect(addUsage(written, usage)).toEqual({ inputTokens: 20, outputTokens: 4, cacheWriteTokens: 4 });
  });

  it('is summed for the step, its run and the model; a call without a price is unpriced, not free', () => {
    const run = new Tally();
    const step = new Tally(run);
    step.answered('a/m', usage, { usd: 0.1 });
    step.answered('a/m', usage, { usd: 0.2, estimated: true });
    step.answered('b/n', usage);
    expect(step.spending()).toEqual(run.spending());
    expect(run.spending()).toMatchObject({ modelCalls: 3, usd: 0.3, unpricedCalls: 1, estimated: true });
    expect(run.spending()).not.toHaveProperty('pretendedUsd');
    expect(run.byModel.get('a/m')).toMatchObject({ calls: 2, usd: 0.3, unpricedCalls: 0, estimated: true });
    expect(run.byModel.get('b/n')).toMatchObject({ calls: 1, usd: 0, unpricedCalls: 1 });
  });

  it('counts a call that failed by what its error says, also for its model', () => {
    const tally = new Tally();
    const spent = { model: 'a/m', usage, cost: { usd: 0.5 } };
    tally.failed({ code: 'SKEIN_NETWORK', message: 'cut', details: { spent } });
    tally.failed({ code: 'SKEIN_MODEL_OVERLOADED', message: 'refused before anything was read' });
    tally.failed({ code: 'SKEIN_NO_KEY', message: 'never left' });
    tally.cutOff(undefined);
    expect(tally.spending()).toMatchObject({ failedModelCalls: 3, usage, usd: 0.5, unpricedCalls: 1 });
    expect(tally.byModel.get('a/m')).toMatchObject({ calls: 0, usd: 0.5 });
  });

  it('is read of an error as data: what is no number of tokens or dollars does not count', () => {
    const of = (details: ErrorData['details']) => spentOf({ details: details ?? null });
    expect(of({ spent: { usage: { inputTokens: -1, outputTokens: 'x' }, cost: { usd: -2 } } })).toEqual({
      usage: { inputTokens: 0, outputTokens: 0 },
    });
    expect(of({ spent: 'much' })).toBeUndefined();
    expect(of(['spent'])).toBeUndefined();
  });
});
