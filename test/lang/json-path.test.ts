import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonText, readPath, readRef } from '../../src/lang/json-path.js';

describe('JSON in a text', () => {
  it('reads plain JSON of any type', () => {
    for (const value of [null, 0, 'x', false, [1], { a: 1 }])
      expect(parseJsonText(JSON.stringify(value))).toEqual(value);
    expect(parseJsonText('  {"a":1}\r\n')).toEqual({ a: 1 });
  });

  it('reads the first fence that holds JSON, with or without a language', () => {
    expect(parseJsonText('Sure:\n```json\n{"a":[1,2]}\n```\nDone.')).toEqual({ a: [1, 2] });
    expect(parseJsonText('```\n[1]\n```')).toEqual([1]);
    expect(parseJsonText('```ts\nlet x\n```\ntext\n  ```json\r\n{"a":1}\r\n  ```')).toEqual({ a: 1 });
  });

  it('is undefined for other text', () => {
    for (const text of ['', 'hello', '{a:1}', '```json\nnope\n```', '```json\n{"a":1}', 'x {"a":1} y']) {
      expect(parseJsonText(text)).toBeUndefined();
    }
  });

  it('reads back any JSON out of a fence', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const expected = JSON.parse(JSON.stringify(value)) as unknown;
        expect(parseJsonText(`text\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`)).toEqual(expected);
      }),
    );
  });

  it('reads 5 MB of fences and 100,000 brackets without trouble', () => {
    expect(parseJsonText('```\n'.repeat(1_250_000))).toBeUndefined();
    expect(parseJsonText('['.repeat(100_000))).toBeUndefined();
  });
});

describe('a path into a value', () => {
  it('finds own keys and indexes only (A8)', () => {
    const value = JSON.parse('{"a":{"b":[10,20]},"__proto__":{"x":1}}') as unknown;
    expect(readPath(value, ['a', 'b', '1'])).toBe(20);
    expect(readPath(value, ['__proto__', 'x'])).toBe(1);
    for (const path of [
      ['toString'],
      ['constructor', 'name'],
      ['a', 'b', 'length'],
      ['a', 'b', '1.0'],
      ['a', '__proto__'],
    ]) {
      expect(readPath(value, path)).toBeUndefined();
    }
  });

  it('reads text as JSON only at the top', () => {
    expect(readPath('{"a":"{\\"b\\":1}"}', ['a'])).toBe('{"b":1}');
    expect(readPath('{"a":"{\\"b\\":1}"}', ['a', 'b'])).toBeUndefined();
    expect(readPath('{"a":1}', [])).toBe('{"a":1}');
  });

  it('reads a reference from its channel', () => {
    expect(readRef({ channel: 'c', path: ['x'] }, (channel) => (channel === 'c' ? { x: 1 } : undefined))).toBe(1);
    expect(readRef({ channel: 'd', path: ['x'] }, () => undefined)).toBeUndefined();
  });
});
