import { describe, expect, test } from 'vitest';
import { SkeinError, fromErrorData, toErrorData } from '../../src/base/errors.js';
import { formatProblem, hasErrors } from '../../src/base/problem.js';
import { didYouMean, suggest } from '../../src/base/suggest.js';

describe('errors', () => {
  test('cross a border as data and come back the same', () => {
    const error = new SkeinError('SKEIN_MODEL_OVERLOADED', 'slow down', {
      hint: 'wait',
      details: { status: 429 },
      retryable: true,
      retryAfterMs: 7_000,
    });
    const data = toErrorData(error);
    expect(JSON.parse(JSON.stringify(data))).toEqual({
      code: 'SKEIN_MODEL_OVERLOADED',
      message: 'slow down',
      hint: 'wait',
      details: { status: 429 },
      retryable: true,
      retryAfterMs: 7_000,
    });
    expect(toErrorData(fromErrorData(data))).toEqual(data);
    expect(toErrorData(new SkeinError('SKEIN_USAGE', 'no'))).toEqual({ code: 'SKEIN_USAGE', message: 'no' });
  });

  test('of another copy of the package are known, where instanceof fails', () => {
    class Twin extends Error {}
    const twin = Object.defineProperty(new Twin('x'), Symbol.for('skein.error'), { value: true });
    expect(twin instanceof SkeinError).toBe(false);
    expect(SkeinError.isInstance(twin)).toBe(true);
    for (const other of [new Error('x'), { code: 'SKEIN_USAGE' }, null, undefined, 'text'])
      expect(SkeinError.isInstance(other)).toBe(false);
  });

  test.each([
    [new TypeError('x is no function'), { message: 'x is no function', name: 'TypeError' }],
    ['just text', { message: 'just text' }],
    [undefined, { message: 'thrown: undefined' }],
    [{ toString: (): string => 'odd' }, { message: 'thrown: odd' }],
  ])('whatever is thrown becomes one', (thrown, expected) => {
    expect(toErrorData(thrown)).toEqual({ code: 'SKEIN_STEP_FAILED', ...expected });
  });

  test('keep their cause', () => {
    const cause = new Error('below');
    expect(new SkeinError('SKEIN_FILE', 'above', { cause }).cause).toBe(cause);
  });
});

describe('problems', () => {
  const problem = { code: 'no-steps', severity: 'error', message: 'a workflow needs a step' } as const;

  test.each([
    [problem, 'error no-steps: a workflow needs a step'],
    [{ ...problem, at: { file: 'f.yaml', line: 2, column: 5 } }, 'f.yaml:2:5: error no-steps: a workflow needs a step'],
    [{ ...problem, at: { line: 2, column: 5 } }, '2:5: error no-steps: a workflow needs a step'],
    [{ ...problem, path: 'steps[2]' }, 'steps[2]: error no-steps: a workflow needs a step'],
    [
      { ...problem, severity: 'warning', hint: 'add one' } as const,
      'warning no-steps: a workflow needs a step\n    hint: add one',
    ],
  ])('are lines with place, code and hint', (given, text) => {
    expect(formatProblem(given)).toBe(text);
  });

  test('warnings alone keep nothing from running', () => {
    expect(hasErrors([{ ...problem, severity: 'warning' }])).toBe(false);
    expect(hasErrors([{ ...problem, severity: 'warning' }, problem])).toBe(true);
    expect(hasErrors([])).toBe(false);
  });
});

describe('suggestions', () => {
  test.each([
    ['depend_on', 'depends_on'],
    ['DependsOn', 'depends_on'],
    ['pormpt', 'prompt'],
    ['on-error', 'on_error'],
    ['xyz', undefined],
    ['', undefined],
    ['prompt', undefined],
    ['p'.repeat(65), undefined],
  ])('%j: %s', (word, meant) => {
    expect(suggest(word, ['prompt', 'depends_on', 'on_error', 'agent'])).toBe(meant);
  });

  test('are put as a question', () => {
    expect(didYouMean('promt', ['prompt'])).toBe('did you mean "prompt"?');
    expect(didYouMean('zzz', ['prompt'])).toBeUndefined();
  });
});
