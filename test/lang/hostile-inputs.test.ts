import { expect, test } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { HOSTILE_INPUTS } from '../hostile/inputs.js';

test.each(HOSTILE_INPUTS)('[XS5] $name: $ends', ({ evaluate, ends }) => {
  expect(outcome(evaluate)).toBe(ends);
});

/** The value, or the code of the error. */
function outcome(evaluate: () => unknown): unknown {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof SkeinError) return error.code;
    throw error;
  }
}
