import { runInThisContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readParameters } from '../../../src/notations/graph/parameters.js';

/** The names that a function reads; those with a default end with `?`. */
function namesOf(fn: unknown): readonly string[] | string {
  const reading = readParameters(fn);
  if ('refused' in reading) return reading.refused;
  return reading.names.map(({ name, optional }) => (optional ? `${name}?` : name));
}

/** A function from its text, as a bundler would have written it. */
function made(text: string): unknown {
  return runInThisContext(`(${text})`);
}

describe('names in the first parameter', () => {
  test.each([
    ['({ a, b }) => a + b', ['a', 'b']],
    ['async({a,b})=>a', ['a', 'b']],
    ['({}) => 1', []],
    ['() => 1', []],
    ['({ a }, step) => step', ['a']],
    ['function ({ a }) {}', ['a']],
    ['function named({ a }) {}', ['a']],
    ['async function named({ a, }) {}', ['a']],
    ['function* named({ a }) {}', ['a']],
    ['({ a: renamed, b: { deep, ...rest } }) => deep', ['a', 'b']],
    ['({ a: [first] }) => first', ['a']],
    ["({ a = 'x' }) => a", ['a?']],
    ["({ a: renamed = 'x', b }) => b", ['a?', 'b']],
    ['({ a: { deep } = {} }) => deep', ['a?']],
    ["({ 'quoted name': a, 5: five }) => a", ['quoted name', '5']],
    ['({ a } = {}) => a', ['a']],
    ['({ a = ") => {" , b = `${"}"}` }) => a', ['a?', 'b?']],
    ['({ a = (() => ({ b: 1 }))(), c }) => c', ['a?', 'c']],
    ['({ a = /[/)}]/ }) => a', ['a?']],
    ['({ a /* , hidden */, // also\n b }) => a', ['a', 'b']],
    ['({ $a, _b, ünï }) => 1', ['$a', '_b', 'ünï']],
    ['({ a, a: again }) => again', ['a', 'a']],
  ])('[25] %s', (text, names) => {
    expect(namesOf(made(text))).toEqual(names);
  });

  test.each([
    ['({ search({ query }) { return query; } }).search', ['query']],
    ['({ async search({ query }) { return query; } }).search', ['query']],
    ['({ *search({ query }) { return query; } }).search', ['query']],
    ['({ ["a" + (1, "b")]({ query }) { return query; } }).ab', ['query']],
    ['({ "quoted (name": ({ query }) => query })["quoted (name"]', ['query']],
    ['(class { static async search({ query }) { return query; } }).search', ['query']],
    ['(class { static #hidden({ query }) { return query; } static get() { return this.#hidden; } }).get()', ['query']],
  ])('of methods: %s', (text, names) => {
    expect(namesOf(made(text))).toEqual(names);
  });

  test.each([
    ['(state) => state', 'its first parameter is not destructured'],
    ['state => state', 'its first parameter is not destructured'],
    ['async state => state', 'its first parameter is not destructured'],
    ['async (state) => state', 'its first parameter is not destructured'],
    ['function (state) { const { a } = state; return a; }', 'its first parameter is not destructured'],
    ['([a]) => a', 'its first parameter is not destructured'],
    ['x => (({ a }) => a)(x)', 'its first parameter is not destructured'],
    ['(...all) => all', 'it takes any number of parameters'],
    ['({ a, ...rest }) => rest', 'it takes the rest of the state'],
    ['({ ["a"]: a }) => a', 'a name in its first parameter is computed'],
    ['(({ a }) => a).bind(null)', 'it is bound or native, and so has no source text'],
    ['Math.max', 'it is bound or native, and so has no source text'],
    ['class { constructor({ a }) { this.a = a; } }', 'it is a class'],
  ])('[7] are refused: %s', (text, reason) => {
    expect(namesOf(made(text))).toBe(reason);
  });

  test('what is no function is refused', () => {
    expect(namesOf('text')).toBe('it is not a function');
  });

  test('a body may have any syntax, for it is not read', () => {
    expect(namesOf(made('({ a }) => { label: for (;;) break label; return a ?? /[)}]/.test(`${a}`); }'))).toEqual([
      'a',
    ]);
  });

  test('the same whether names are plain, and so read by a pattern, or need the parser', () => {
    const name = fc.stringMatching(/^[a-z_$][\w$]{0,6}$/).filter((text) => isName(text));
    const space = fc.constantFrom('', ' ', '\n  ');
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { minLength: 1, maxLength: 5 }),
        space,
        fc.boolean(),
        fc.boolean(),
        (names, gap, arrow, renamed) => {
          const list = names.map((each, at) => (renamed ? `${each}${gap}:${gap}r${at}` : each)).join(`${gap},${gap}`);
          const head = arrow ? '' : 'function f';
          const tail = arrow ? '=> 1' : '{}';
          const plain = made(`${head}(${gap}{${gap}${list}${gap}}${gap})${tail}`);
          const parsed = made(`${head}(${gap}{${gap}${list}${gap},}${gap})${tail}`);
          expect(namesOf(plain)).toEqual(names);
          expect(namesOf(parsed)).toEqual(names);
        },
      ),
    );
  });
});

function isName(text: string): boolean {
  try {
    made(`({ ${text} }) => 1`);
    return true;
  } catch {
    return false;
  }
}
