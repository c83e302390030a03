import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/text/json.js';
import { toJson } from '../../src/text/nodes.js';

function problemsOf(text: string): readonly string[] {
  return parseJson(text, 'a.json').problems.map(
    ({ code, message, at }) => `${at?.line}:${at?.column} ${code}: ${message}`,
  );
}

/** What `JSON.parse` gives, or nothing where it refuses. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

describe('the JSON reader', () => {
  it('gives each value with its place', () => {
    const { root } = parseJson('{\n  "a": [1, "x\\n"],\n  "__proto__": null\n}\n', 'a.json');
    if (root?.kind !== 'map') throw new Error('no map');
    expect(root.entries.map(({ key, at, value }) => [key, at.line, at.column, value.at.column])).toEqual([
      ['a', 2, 3, 8],
      ['__proto__', 3, 3, 16],
    ]);
    expect(Object.entries(toJson(root) as object)).toEqual([
      ['a', [1, 'x\n']],
      ['__proto__', null],
    ]);
  });

  it.each([
    ['', '1:1 json-syntax: the text ends where a value is expected'],
    ['{ "a": 1, }', '1:9 json-syntax: there is a comma before }'],
    ['[1,]', '1:3 json-syntax: there is a comma before ]'],
    ['[1 2]', '1:4 json-syntax: a comma or ] is expected here'],
    ['{ a: 1 }', '1:3 json-syntax: a key in double quotes is expected here'],
    ['{ "a" 1 }', '1:7 json-syntax: a colon is expected here'],
    ["{ 'a': 1 }", '1:3 json-syntax: a key in double quotes is expected here'],
    ['[01]', '1:3 json-syntax: a comma or ] is expected here'],
    ['[NaN]', '1:2 json-syntax: a value is expected here'],
    ['"a\nb"', '1:3 json-syntax: a text holds a control character'],
    ['"a', '1:1 json-syntax: a text is not closed'],
    ['"\\x"', '1:1 json-syntax: a text holds an unknown escape'],
    ['{} {}', '1:4 json-syntax: there is more text after the value'],
    ['// no\n{}', '1:1 json-syntax: a value is expected here'],
    ['{ "a": 1, "b": 2, "a": 3 }', '1:19 duplicate-key: the key "a" is defined twice'],
  ])('says what is wrong, and where: %j', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('has bounds of depth and size', () => {
    expect(problemsOf('['.repeat(100_000))).toEqual(['1:202 json-limit: nested deeper than 200 levels']);
    expect(problemsOf(`"${'x'.repeat(16_000_000)}"`)[0]).toMatch(/json-limit: the text has more than 16000000 bytes/);
  });

  it('reads what JSON.parse reads, and refuses what it refuses', () => {
    const text = fc.json();
    const broken = fc
      .tuple(
        text,
        fc.nat(1_000),
        fc.constantFrom('', ',', '"', '}', ']', ':', '\\', '0', '-', 'e', ' ', '\u0001', 'true'),
      )
      .map(([json, at, piece]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + piece + json.slice(place + (at % 2));
      });
    fc.assert(
      fc.property(fc.oneof(text, broken), (json) => {
        const { root, problems } = parseJson(json, 'a.json');
        const expected = parsed(json);
        const isRefused = problems.some(({ code }) => code === 'json-syntax');
        expect(isRefused).toBe(expected === undefined);
        if (expected === undefined || root === undefined || problems.length > 0) return;
        // Lone surrogates are problems elsewhere; a number that JSON.parse rounds is read as a text: test/lang/numbers-as-written.test.ts.
        if (/\\u[dD]|\p{Surrogate}|\d{16}/u.test(json)) return;
        expect(toJson(root)).toEqual(expected.value);
      }),
      { numRuns: 1_000 },
    );
  });
});
