import { describe, expect, test } from 'vitest';
import { emptyCensus, formatCensus } from '../../src/events/census.js';

describe('a census as a phrase', () => {
  test.each([
    [{}, 'nothing ran'],
    [{ succeeded: 7, skipped: 1 }, '7 succeeded, 1 skipped'],
    [{ succeeded: 3, degraded: 1, failed: 1 }, '3 succeeded, 1 failed as allowed, 1 failed'],
    [{ degraded: 2, failed: 1, timed_out: 1, notRun: 4 }, '2 failed as allowed, 1 failed, 1 timed out, 4 not run'],
  ])('counts each step once: %j', (counts, phrase) => {
    expect(formatCensus({ ...emptyCensus(), ...counts })).toBe(phrase);
  });
});
