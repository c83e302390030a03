import { describe, expect, test } from 'vitest';
import { SkeinError } from 'skein';
import { exitCodeOf, exitCodeOfError } from '../../src/cli/failures.js';
import { makeProject, skein } from './support/skein.js';

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

  test('a step that waits for what never comes is no success, although nothing is left that could go on', async () => {
    const files = {
      'flow.mjs': `import { graph } from 'skein/graph';
export default graph({ name: 'lost' }).node('a', () => new Promise(() => {})).setEntry('a');
`,
    };
    const { code } = await skein(['run', 'flow.mjs', '--no-store', '--trust'], { cwd: await makeProject(files) });
    expect(code).toBe(1);
  });
});
