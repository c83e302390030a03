import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { parseTemplate, renderTemplate } from '../../src/lang/template.js';
import type { Template } from '../../src/lang/values.js';

const state: Record<string, unknown> = {
  'inputs.topic': 'cats',
  'steps.scan.output': 'found {{inputs.secret}} and $1 $& \\0',
  'steps.qa.output': 'Here:\n```json\n{"ok":true,"files":["a.ts","b.ts"],"n":null}\n```',
  'steps.skipped.output': '',
  data: { list: [1, { deep: 'x' }] },
};
const read = (channel: string): unknown => state[channel];

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return SkeinError.isInstance(error) ? error.code : 'foreign';
  }
}

describe('parsing a template', () => {
  it('finds references with and without inner spaces, and where they stand (statement 37, decision 4)', () => {
    expect(parseTemplate('Hi {{inputs.a-1}} and {{  steps.q_2.output.x  }}!')).toEqual([
      'Hi ',
      { expression: 'inputs.a-1', offset: 3 },
      ' and ',
      { expression: 'steps.q_2.output.x', offset: 22 },
      '!',
    ]);
  });

  it('leaves text that is not a valid reference as it is (statement 37)', () => {
    for (const text of [
      '{{}}',
      '{{ }}',
      '{{a b}}',
      '{{a..b}}',
      '{{.a}}',
      '{{a.}}',
      '{{a}',
      '{a}}',
      '{{a\nb}}',
      '{{é}}',
      '{{ $x }}',
    ]) {
      expect(parseTemplate(text)).toEqual([text]);
    }
    expect(parseTemplate('')).toEqual([]);
  });

  it('takes the innermost braces', () => {
    expect(parseTemplate('{{{a}}}')).toEqual(['{', { expression: 'a', offset: 1 }, '}']);
    expect(parseTemplate('{{ x {{a}}')).toEqual(['{{ x ', { expression: 'a', offset: 5 }]);
  });

  it('loses no character of any text', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('{', '{{', '}}', '}', ' ', 'a', '.', '-', 'é', '\n')), (parts) => {
        const text = parts.join('');
        let rebuilt = '';
        for (const piece of parseTemplate(text)) {
          if (typeof piece === 'string') rebuilt += piece;
          else {
            expect(piece.offset).toBe(rebuilt.length);
            const end = text.indexOf('}}', piece.offset) + 2;
            expect(text.slice(piece.offset, end).replace(/[{}\s]/g, '')).toBe(piece.expression);
            rebuilt += text.slice(piece.offset, end);
          }
        }
        expect(rebuilt).toBe(text);
      }),
    );
  });

  it('reads 10 MB of braces and unclosed references in one pass (A7)', () => {
    const size = 10_000_000;
    const texts = [
      '{'.repeat(size),
      '{{a'.repeat(size / 4),
      `{{${'a'.repeat(size)}`,
      `{{${'a.'.repeat(size / 2)}`,
      '{{ '.repeat(size / 3),
    ];
    for (const text of texts) expect(parseTemplate(text)).toEqual([text]);
  });
});

describe('rendering a template', () => {
  it('inserts text as it is, also text that looks like a reference or a replacement (statements 38, 41)', () => {
    const template: Template = ['> ', { channel: 'steps.scan.output' }, ' <'];
    expect(renderTemplate(template, read)).toBe('> found {{inputs.secret}} and $1 $& \\0 <');
  });

  it('never expands inserted text', () => {
    const value = fc
      .array(fc.constantFrom('{{inputs.secret}}', '{{', '}}', '{{ b }}', 'a', ' '))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const values: Record<string, unknown> = { a, b, 'inputs.secret': 'LEAKED' };
        const rendered = renderTemplate([{ channel: 'a' }, '|', { channel: 'b' }], (channel) => values[channel]);
        expect(rendered).toBe(`${a}|${b}`);
      }),
    );
  });

  it('gives the empty text for a missing channel, also with a path (statement 29)', () => {
    expect(renderTemplate([{ channel: 'nope' }, { channel: 'nope', path: ['x'] }], read)).toBe('');
    expect(renderTemplate([{ channel: 'steps.skipped.output', path: ['x'] }], read)).toBe('');
  });

  it('inserts other values as JSON', () => {
    expect(renderTemplate([{ channel: 'data' }], read)).toBe('{"list":[1,{"deep":"x"}]}');
    expect(renderTemplate([{ channel: 'n' }], () => null)).toBe('null');
    expect(renderTemplate([{ channel: 'n' }], () => false)).toBe('false');
  });

  it('follows a path into JSON text and into values (decision 4)', () => {
    expect(renderTemplate([{ channel: 'steps.qa.output', path: ['files', '1'] }], read)).toBe('b.ts');
    expect(renderTemplate([{ channel: 'steps.qa.output', path: ['n'] }], read)).toBe('null');
    expect(renderTemplate([{ channel: 'data', path: ['list', '1', 'deep'] }], read)).toBe('x');
  });

  it('fails on a path that does not resolve, and says what it found', () => {
    const paths = [
      ['ok', 'x'],
      ['files', '7'],
      ['files', 'length'],
      ['constructor'],
      ['__proto__'],
      ['files', '-1'],
      ['files', '01'],
    ];
    for (const path of paths) {
      expect(codeOf(() => renderTemplate([{ channel: 'steps.qa.output', path }], read))).toBe('SKEIN_TEMPLATE');
    }
    expect(() => renderTemplate([{ channel: 'inputs.topic', path: ['a'] }], read)).toThrow(/inputs\.topic\.a .*"cats"/);
  });

  it('truncates what is inserted, not the text around it (decision 15)', () => {
    const template: Template = ['12345 ', { channel: 'inputs.topic', truncate: { strategy: 'chars', limit: 2 } }];
    expect(renderTemplate(template, read)).toBe('12345 ca\n\n... [truncated: 4 chars total, showing first 2]');
  });

  it('fails on a value without JSON form', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    for (const value of [circle, 1n])
      expect(codeOf(() => renderTemplate([{ channel: 'x' }], () => value))).toBe('SKEIN_TEMPLATE');
  });
});
