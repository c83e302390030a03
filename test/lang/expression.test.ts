import { describe, expect, it } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { compileExpression, EXPRESSION_LIMITS } from '../../src/lang/expression.js';

function evaluate(source: string, vars: Record<string, unknown> = {}): unknown {
  const { expression, problems } = compileExpression(source, Object.keys(vars));
  if (expression === undefined) throw new Error(problems[0]?.message);
  return expression.evaluate(vars);
}

function failureOf(source: string, vars: Record<string, unknown> = {}): SkeinError {
  try {
    evaluate(source, vars);
  } catch (error) {
    if (SkeinError.isInstance(error)) return error;
    throw error;
  }
  throw new Error(`${source} did not fail`);
}

describe('numbers in expressions', () => {
  it.each([
    ['n + 1', { n: 1 }, 2],
    ['1 - n', { n: 3 }, -2],
    ['n * 2 + 2 * n', { n: 2 }, 8],
    ['7 / n', { n: 2 }, 3.5],
    ['n % 2', { n: 3 }, 1],
    ['n % m', { n: 5, m: 3 }, 2],
    ['n == 1 && 1 == n', { n: 1 }, true],
    ['1 == 1.0', {}, true],
    ['n < 2 && 2 > n', { n: 1.5 }, true],
    ['size(items) > 3', { items: [1, 2, 3, 4] }, true],
    ['items.map(i, i * 2)', { items: [1, 2] }, [2, 4]],
    ['[1, n, "x"]', { n: 0.5 }, [1, 0.5, 'x']],
    ['{"a": 1, "b": [n]}', { n: 1 }, { a: 1, b: [1] }],
  ])('%s', (source, vars, expected) => {
    expect(evaluate(source, vars)).toEqual(expected);
  });

  it('fails on a division by zero', () => {
    expect(failureOf('1 / n', { n: 0 }).code).toBe('SKEIN_TEMPLATE');
    expect(failureOf('1 % 0').code).toBe('SKEIN_TEMPLATE');
  });
});

describe('results that are not values of JSON', () => {
  it.each([
    ["timestamp('2024-02-29T00:00:00Z')", '2024-02-29T00:00:00Z'],
    ["timestamp('2024-12-31T23:30:00.5+01:00')", '2024-12-31T22:30:00.500Z'],
    ["timestamp('2024-02-29T00:00:00Z') + duration('24h')", '2024-03-01T00:00:00Z'],
    ["duration('1h30m')", '5400s'],
    ["duration('-1500ms')", '-1.5s'],
    ["[{'at': timestamp('2024-02-29T00:00:00Z')}]", [{ at: '2024-02-29T00:00:00Z' }]],
    [
      "'at ' + string(timestamp('2024-02-29T00:00:00Z')) + ' for ' + string(duration('90s'))",
      'at 2024-02-29T00:00:00Z for 90s',
    ],
    ["json({'t': timestamp('2024-02-29T00:00:00Z')})", '{"t":"2024-02-29T00:00:00Z"}'],
    ['2u + 1u', 3],
  ])('%s is a value of JSON: times and durations are text', (source, expected) => {
    expect(evaluate(source)).toEqual(expected);
  });

  it.each([
    ['a / b', 'the result is Infinity'],
    ['[a / b]', 'the result is Infinity'],
    ['b / b', 'the result is NaN'],
    ['json(a / b)', 'the result is Infinity'],
    ["b'abc'", 'the result is bytes'],
    ['type(a)', 'the result is a type'],
  ])('%s fails, and is never silently null', (source, words) => {
    const { code, message } = failureOf(source, { a: 1, b: 0 });
    expect([code, message]).toEqual(['SKEIN_TEMPLATE', expect.stringContaining(`${words}, which JSON does not have`)]);
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'a map with the key %s, which would be left out, is refused',
    (key) => {
      const { problems } = compileExpression(`[{'a': {'${key}': 1}}]`, []);
      expect(problems).toMatchObject([{ code: 'bad-expression', message: `"${key}" can't be a key of a map` }]);
    },
  );
});

describe('values in expressions', () => {
  it('reads own data only, also where keys have names of the host', () => {
    const data = JSON.parse('{"constructor":"x","toString":1,"__proto__":{"y":2}}') as unknown;
    expect(evaluate('o.constructor == "x" && o.toString == 1 && o["__proto__"].y == 2', { o: data })).toBe(true);
    expect(evaluate('size(o)', { o: data })).toBe(3);
    expect(evaluate('has(o.x)', { o: {} })).toBe(false);
    expect(failureOf('o.constructor', { o: {} }).message).toMatch(/No such key: constructor/);
  });

  it('fails on a missing key, with advice; asks softly on request', () => {
    expect(failureOf('o.b == 1', { o: {} }).hint).toMatch(/has\(/);
    expect(evaluate('has(o.b)', { o: {} })).toBe(false);
    expect(evaluate('o.?b.orValue("d")', { o: {} })).toBe('d');
    expect(evaluate('o.?b', { o: {} })).toBe(null);
  });

  it('compares lists and objects by value', () => {
    expect(evaluate('a == [1, {"x": "y"}] && "x" in b', { a: [1, { x: 'y' }], b: { x: 1 } })).toBe(true);
  });

  it('knows text', () => {
    expect(
      evaluate('s.contains("b") && s.startsWith("a") && size(s) == 3 && s.split("b").size() == 2', { s: 'abc' }),
    ).toBe(true);
  });

  it('keeps the result apart from its sources', () => {
    const items = Object.freeze([Object.freeze({ n: 1 })]);
    expect(evaluate('items.filter(i, i.n == 1)', { items })).toEqual([{ n: 1 }]);
  });

  it('takes a variable that is not given for null', () => {
    const { expression } = compileExpression('a == null', ['a']);
    expect(expression?.evaluate({})).toBe(true);
  });

  it('says which values it reads, and which as a whole', () => {
    const source = 'steps.qa.output.ok && steps.list.output.exists(i, i.x == top) && "k" in o && l[0].z == 1';
    const { expression } = compileExpression(source, ['steps', 'top', 'o', 'l']);
    const reads = expression?.reads.map((path) => path.join('.'));
    expect(reads).toContain('steps.qa.output.ok');
    expect(reads).toContain('steps.list.output.*');
    expect(reads).toContain('o.*');
    expect(reads).toContain('l.0.z');
    expect(reads).not.toContain('i.x');
  });
});

describe('problems of expressions', () => {
  it.each([
    ['a ==\n  )', { line: 2, column: 3 }],
    ['a + b', { line: 1, column: 5 }],
    ['a &&', { line: 1, column: 5 }],
    ['"x', { line: 1, column: 1 }],
    ['', { line: 1, column: 1 }],
    ['a.matches("(a+)+$")', { line: 1, column: 1 }],
    ['a == 1 || cel.bind(x, a, x)', { line: 1, column: 11 }],
    ['[1].map(x, [x].all(y, [y].exists(z, z == 1)))', { line: 1, column: 23 }],
    ['a = 1', { line: 1, column: 3 }],
    ['a.foo()', { line: 1, column: 1 }],
    ['1 + "x"', { line: 1, column: 1 }],
  ])('%j is refused, with its position', (source, at) => {
    const { problems, expression } = compileExpression(source, ['a']);
    expect(expression).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ code: 'bad-expression', severity: 'error', at });
  });

  it('names the variable that was meant, or those that there are', () => {
    expect(compileExpression('stesp == 1', ['steps', 'inputs']).problems[0]?.hint).toBe('did you mean "steps"?');
    expect(compileExpression('other == 1', ['steps', 'inputs']).problems[0]?.hint).toBe('known are: steps, inputs');
  });

  it('refuses a value that has the name of a type, and only where it is used', () => {
    expect(compileExpression('size(list) > 1', ['list']).problems[0]?.message).toMatch(/"list" is a word/);
    expect(compileExpression('x == 1', ['x', 'list', 'type', 'cel', 'for']).problems).toEqual([]);
  });

  it('bounds source, size and depth (A7)', () => {
    const sources = [
      `"${'x'.repeat(EXPRESSION_LIMITS.sourceChars)}"`,
      `[${'1,'.repeat(1_999)}1]`,
      '('.repeat(1_500) + '1' + ')'.repeat(1_500),
      '!'.repeat(3_000) + 'true',
      `a${'.b'.repeat(1_500)}`,
      '['.repeat(1_900) + ']'.repeat(1_900),
    ];
    for (const source of sources)
      expect(compileExpression(source, ['a']).problems, source.slice(0, 20)).toHaveLength(1);
  });
});

describe('work of expressions (A7)', () => {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

  it('allows two loops over hundreds of items, and one over thousands', () => {
    expect(evaluate('l.map(a, l.map(b, a + b)).size()', { l: numbers(300) })).toBe(300);
    expect(evaluate('l.exists(a, a == 9999)', { l: numbers(10_000) })).toBe(true);
  });

  it('refuses before it starts what would take too long', () => {
    expect(failureOf('l.all(a, l.all(b, a + b >= 0))', { l: numbers(9_000) }).message).toMatch(/too long/);
    expect(failureOf(`[s]${'.map(x, x + x)'.repeat(40)}`, { s: 'ab' }).message).toMatch(/too long/);
    expect(failureOf(`[s]${'.map(x, [x, x])'.repeat(40)}`, { s: 'ab' }).message).toMatch(/too long/);
    expect(
      failureOf('l.join(l.join(l.join(s)))', { l: Array.from({ length: 9_000 }, () => 'x'), s: 'y'.repeat(9_000) })
        .code,
    ).toBe('SKEIN_TEMPLATE');
  });

  it('refuses lists of more than 10,000 items', () => {
    expect(failureOf('size(l) > 1', { l: numbers(10_001) }).message).toMatch(/10001 items/);
    expect(evaluate('x == 1', { x: 1, l: numbers(10_001) })).toBe(true);
  });
});
