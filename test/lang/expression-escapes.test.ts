import { afterEach, describe, expect, it } from 'vitest';
import { evaluateCondition } from '../../src/lang/condition.js';
import { compileExpression } from '../../src/lang/expression.js';
import { readPath } from '../../src/lang/json-path.js';
import { parseTemplate, renderTemplate } from '../../src/lang/template.js';

const TARGETS = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype];
const names = (target: object): string => Reflect.ownKeys(target).map(String).join(',');
const before = TARGETS.map(names);

/** Ways out that were used against expression languages of other products, in the syntax of this one. */
const ESCAPES = [
  'o.constructor.constructor("return process")()',
  'o.constructor',
  'o["constructor"]["constructor"]',
  'o["con" + "structor"]',
  '"".constructor',
  '[].constructor',
  'o.__proto__.polluted',
  'o["__proto__"]["polluted"]',
  'o.__defineGetter__("x", o)',
  'o.toString',
  'o.valueOf()',
  'o.hasOwnProperty("a")',
  's.replace("a", "b")',
  's.__proto__',
  's["length"]',
  'l.constructor',
  'l.push(1)',
  'l["length"]',
  'l.map(constructor, constructor)',
  'l.map(__proto__, __proto__)',
  'l.filter(x, x.constructor == 1)',
  'process',
  'process.exit(1)',
  'globalThis',
  'this',
  'require("fs")',
  'import("fs")',
  'eval("1")',
  'Function("return 1")()',
  'new Date()',
  'o = {}',
  'o.a = 1',
  '{"__proto__": {"polluted": true}}',
  '{"constructor": {"prototype": {"polluted": true}}}',
  '{"__proto__": 1}.polluted',
  '`${1}`',
  'o?.constructor',
  'o.?constructor.?constructor',
  'o[?"__proto__"]',
  'optional.of(o).value().constructor',
  'type(o).constructor',
  'dyn(o).constructor',
  'bytes("x").constructor',
  'timestamp("2020-01-01T00:00:00Z").constructor',
  'duration("1s").constructor',
  'cel.constructor',
  'has(o.constructor)',
  'has(o.__proto__)',
  '"\\u005f_proto__" in o',
  'o["\\u0063onstructor"]',
  'o["\\x5f_proto__"]',
  '"constructor" in o',
  '"__proto__" in o',
  'bytes("{\\"__proto__\\":{\\"polluted\\":true}}").json()',
  'o.a.b.c.d',
  '\u0000',
  '\u202eo.a',
  'o/**/.constructor',
  'o//\n.constructor',
];

afterEach(() => {
  expect(TARGETS.map(names)).toEqual(before);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

describe('an expression reaches nothing but its data (T12)', () => {
  it.each(ESCAPES)('%s', (source) => {
    const vars = { o: { a: 1 }, s: 'text', l: [1, 2] };
    const { expression } = compileExpression(source, Object.keys(vars));
    let result: unknown = 'refused';
    try {
      if (expression !== undefined) result = expression.evaluate(vars);
    } catch (error) {
      expect(error).toMatchObject({ code: 'SKEIN_TEMPLATE' });
    }
    // Plain data, and no value of the host: a function, a prototype, a constructor.
    expect(typeof result === 'function' || typeof result === 'symbol').toBe(false);
    expect(TARGETS.includes(result as object)).toBe(false);
    expect(JSON.stringify(result) ?? 'undefined').not.toMatch(/native code|pid|execPath/);
  });

  it('finds no inherited name, with any spelling', () => {
    const inherited = Object.getOwnPropertyNames(Object.prototype);
    for (const name of inherited) {
      const { expression } = compileExpression(`has(o.?a) || ${JSON.stringify(name)} in o`, ['o']);
      if (expression !== undefined) expect(expression.evaluate({ o: { b: 1 } }), name).toBe(false);
      expect(readPath({ a: 1 }, [name])).toBeUndefined();
      expect(readPath([1], [name])).toBeUndefined();
    }
  });

  it('takes variables with names of the host from nowhere but the condition', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      const verdict = evaluateCondition(
        { op: 'cel', expression: `${name} == ""`, vars: { [name]: { channel: 'none' } } },
        () => undefined,
      );
      expect(verdict.holds).toBe(true);
    }
  });

  it('ends on long input', () => {
    const long = [
      'a'.repeat(1e6),
      '(('.repeat(1e5),
      'o.'.repeat(1e5),
      '"'.repeat(1e5),
      '1+'.repeat(1_999) + '1',
      '-'.repeat(3_999),
    ];
    for (const source of long) {
      const { problems, expression } = compileExpression(source, ['o', 'a']);
      expect(problems.length === 0).toBe(expression !== undefined);
    }
  });

  it('keeps names of the host in templates as text or as keys', () => {
    for (const name of ['__proto__', 'constructor.prototype.polluted', 'toString']) {
      const [piece] = parseTemplate(`{{${name}}}`);
      expect(piece).toMatchObject({ expression: name });
      const values = new Map<string, unknown>();
      expect(renderTemplate([{ channel: name }], (channel) => values.get(channel))).toBe('');
    }
  });
});
