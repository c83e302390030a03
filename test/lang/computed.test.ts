import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitExpressions } from '../../src/lang/computed-text.js';
import { renderJson } from '../../src/lang/json-template.js';
import { renderTemplate } from '../../src/lang/template.js';
import type { Computed } from '../../src/lang/values.js';

const expression = (text: string, ...names: readonly string[]): Computed => ({
  expression: text,
  vars: Object.fromEntries(names.map((name) => [name, { channel: name }])),
});
const reads =
  (values: Readonly<Record<string, unknown>>) =>
  (channel: string): unknown =>
    values[channel];

describe('[addition 6] an expression in a text', () => {
  it.each([
    ['size(a)', { a: [1, 2] }, '2'],
    ["a.map(i, i.title).join(', ')", { a: [{ title: 'x' }, { title: 'y' }] }, 'x, y'],
    ["a.map(i, string(i.n)).join('+')", { a: [{ n: 1 }, { n: 2 }] }, '1+2'],
    ["a.join('-')", { a: [1, 'x', true] }, '1-x-true'],
    ['json(a)', { a: { b: [1, 'x', null] } }, '{"b":[1,"x",null]}'],
    ['json(a.b)', { a: '{"b":{"c":1}}' }, '{"c":1}'],
    ["a in ['high', 'low']", { a: 'high' }, 'true'],
    ['a ? "yes" : "no"', { a: true }, 'yes'],
    ['a', { a: { b: 1 } }, '{"b":1}'],
    ['size(a)', {}, '0'],
  ])('%s of %j gives %s', (text, values, wanted) => {
    expect(renderTemplate(['<', expression(text, 'a'), '>'], reads(values))).toBe(`<${wanted}>`);
  });

  it('keeps its type where it stands alone in a JSON value', () => {
    const source = { object: { n: expression('a + 1', 'a'), list: expression('a > 1 ? [a] : []', 'a') } };
    expect(renderJson(source, { read: reads({ a: 2 }) })).toEqual({ n: 3, list: [2] });
  });

  it('what it gives is never looked at again', () => {
    const text = renderTemplate([expression('a', 'a')], reads({ a: '{{= size(b) }} {{b}}', b: 'secret' }));
    expect(text).toBe('{{= size(b) }} {{b}}');
  });

  it.each([
    [
      '1000 x 1000 x 1000 rounds',
      'a.map(x, a.map(y, x + y)).map(l, l.map(v, v * 2))',
      Array.from({ length: 10_000 }, (_, i) => i),
    ],
    ['a text of texts', "a.map(x, json(a)).join('')", Array.from({ length: 5_000 }, (_, i) => `text ${i}`)],
    ['JSON of JSON', 'json(a.map(x, json(a.map(y, json(a)))))', Array.from({ length: 300 }, (_, i) => i)],
  ])('of cost 10^9 is refused before it is worked out: %s', (_, text, a) => {
    const spent: number[] = [];
    const meter = { spend: (units: number) => void spent.push(units) };
    expect(() => renderTemplate([expression(text, 'a')], reads({ a }), [], meter)).toThrow(
      expect.objectContaining({
        code: 'SKEIN_TEMPLATE',
        message: expect.stringContaining('would take too long') as string,
      }),
    );
    expect(Math.max(...spent)).toBeLessThan(20_000_000);
  });

  it('names what fails, and what helps', () => {
    const fail = (text: string, a: unknown): unknown => {
      try {
        return renderTemplate([expression(text, 'a')], reads({ a }));
      } catch (error) {
        return error;
      }
    };
    expect(fail('a.b', { c: 1 })).toMatchObject({
      code: 'SKEIN_TEMPLATE',
      hint: expect.stringContaining('has(a.b)') as string,
    });
    expect(fail("a.map(i, i.n).join(',')", [{ n: 1 }])).toMatchObject({
      hint: expect.stringContaining('string(i)') as string,
    });
    expect(fail('a +', 1)).toMatchObject({ code: 'SKEIN_TEMPLATE' });
    expect(fail('a.matches("x")', 'x')).toMatchObject({ message: expect.stringContaining('matches') as string });
  });
});

describe('[addition 6] {{= }} in a text', () => {
  it.each([
    ['a {{= x }} b', ['a ', { expression: 'x', written: '{{= x }}' }, ' b']],
    ['{{=x}}', [{ expression: 'x', written: '{{=x}}' }]],
    ["{{= {'a': {'b': 1}} }}.", [{ expression: "{'a': {'b': 1}}", written: "{{= {'a': {'b': 1}} }}" }, '.']],
    ['{{= "}}" + \'{{\' }}', [{ expression: '"}}" + \'{{\'', written: '{{= "}}" + \'{{\' }}' }]],
    ['{{= "\\"}}" }}', [{ expression: '"\\"}}"', written: '{{= "\\"}}" }}' }]],
    ['\\{{= x }} {{= y }}', ['{{= x }} ', { expression: 'y', written: '{{= y }}' }]],
    ['{{= x', [{ expression: undefined, written: '{{= x' }]],
    ['{{ x }} {= y }}', ['{{ x }} {= y }}']],
    ['', []],
  ])('%j', (text, pieces) => {
    expect(splitExpressions(text)).toEqual(pieces);
  });

  it('puts together to the text, whatever it holds, in time that grows with it', () => {
    const part = fc.constantFrom('{{=', '}}', '{', '}', '"', "'", '\\', 'a', ' ', '(', ')', '[', '\n');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const text = parts.join('');
        const pieces = splitExpressions(text).map((piece) => (typeof piece === 'string' ? piece : piece.written));
        expect(pieces.join('').length).toBeLessThanOrEqual(text.length);
        expect(pieces.join('').replaceAll('\\', '')).toBe(text.replaceAll('\\', ''));
      }),
    );
    expect(splitExpressions('{{= a }}'.repeat(50_000))).toHaveLength(50_000);
    expect(splitExpressions('{{= '.repeat(50_000))).toHaveLength(1);
  });
});
