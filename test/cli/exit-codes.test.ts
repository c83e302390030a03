import { describe, expect, test } from 'vitest';
import { SkeinError } from 'skein';
import { exitCodeOf, exitCodeOfError } from '../../src/cli/failures.js';

describe('exit codes (decision 3)', () => {
  test.each([
    ['succeeded', false, 0],
    ['succeeded', true, 0],
    ['degraded', false, 0],
    ['degraded', true, 4],
    ['failed', false, 3],
    ['paused', false, 5],
    ['out_of_budget', false, 6],
    ['cancelled', false, 130],
  ] as const)('a run that is %s, strict %s: %d', (outcome, strict, code) => {
    expect(exitCodeOf(outcome, { strict })).toBe(code);
  });

  test('a defect in Skein is no failed step', () => {
    const error = { code: 'SKEIN_INTERNAL', message: 'x' } as const;
    expect(exitCodeOf('failed', { strict: false, error })).toBe(1);
  });

  test.each([
    [new SkeinError('SKEIN_USAGE', 'x'), 1],
    [new SkeinError('SKEIN_INTERNAL', 'x'), 1],
    [new TypeError('x'), 1],
    [new SkeinError('SKEIN_DEFINITION', 'x'), 2],
    [new SkeinError('SKEIN_INPUT', 'x'), 2],
    [new SkeinError('SKEIN_NO_MODEL', 'x'), 2],
    [new SkeinError('SKEIN_CANCELLED', 'x'), 130],
  ])('what keeps a run from starting: %s', (error, code) => {
    expect(exitCodeOfError(error)).toBe(code);
  });
});
