import { describe, expect, it } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { bareJson, jsonOfList, jsonOfObject, jsonOfText, renderJson } from '../../src/lang/json-template.js';
import type { JsonTemplate } from '../../src/lang/values.js';

const state: Record<string, unknown> = {
  issue: 7,
  labels: ['bug', 'urgent'],
  triage: '{"labels":["a"],"score":0.5,"note":null}',
  skipped: '',
  braces: '{{ issue }}',
};

const filled = (source: JsonTemplate): unknown => renderJson(source, { read: (channel) => state[channel] });

function codeOf(source: JsonTemplate): string | undefined {
  try {
    filled(source);
    return undefined;
  } catch (error) {
    return SkeinError.isInstance(error) ? error.code : 'foreign';
  }
}

describe('a JSON template', () => {
  it('gives a reference that stands alone its own type, and any other text as text', () => {
    const source: JsonTemplate = {
      object: {
        issue: { channel: 'issue' },
        labels: { channel: 'labels' },
        first: { channel: 'triage', path: ['labels', '0'] },
        note: { channel: 'triage', path: ['note'] },
        title: { template: ['Issue ', { channel: 'issue' }, ' is ', { channel: 'labels' }] },
        fixed: { value: { deep: [1, true, null] } },
      },
    };
    expect(filled(source)).toEqual({
      issue: 7,
      labels: ['bug', 'urgent'],
      first: 'a',
      note: null,
      title: 'Issue 7 is ["bug","urgent"]',
      fixed: { deep: [1, true, null] },
    });
  });

  it('lacks a key whose reference leads to nothing, and has null for it in a list', () => {
    const nothing = [
      { channel: 'nobody' },
      { channel: 'skipped', path: ['x'] },
      { channel: 'triage', path: ['none'], optional: true as const },
    ];
    expect(filled({ list: nothing })).toEqual([null, null, null]);
    expect(filled({ object: { a: { channel: 'nobody' }, b: { value: null } } })).toEqual({ b: null });
    expect(filled({ channel: 'nobody' })).toBeUndefined();
  });

  it('fails where a path does not resolve and must', () => {
    expect(codeOf({ object: { a: { channel: 'triage', path: ['none'] } } })).toBe('SKEIN_TEMPLATE');
  });

  it('never looks at an inserted value again, and makes own keys only', () => {
    expect(filled({ list: [{ channel: 'braces' }, { template: [{ channel: 'braces' }, '!'] }] })).toEqual([
      '{{ issue }}',
      '{{ issue }}!',
    ]);
    const odd = filled({ object: Object.fromEntries([['__proto__', { channel: 'labels' }]]) }) as object;
    expect(Object.getPrototypeOf(odd)).toBe(Object.prototype);
    expect(Object.keys(odd)).toEqual(['__proto__']);
  });

  it('takes a bounded number of characters for all of its texts together', () => {
    const long = 'x'.repeat(1_000_000);
    const text: JsonTemplate = { template: [{ channel: 'long' }, '.'] };
    const many: JsonTemplate = { list: Array.from({ length: 60 }, () => text) };
    expect(() => renderJson(many, { read: () => long })).toThrow('more than 50000000 characters');
  });
});

describe('a JSON template that is put together', () => {
  it('is a value as far as it has no references', () => {
    expect(jsonOfText(['a', 'b'])).toEqual({ value: 'ab' });
    expect(jsonOfText([])).toEqual({ value: '' });
    expect(jsonOfList([{ value: 1 }, { value: 'x' }])).toEqual({ value: [1, 'x'] });
    expect(jsonOfObject([['a', { value: 1 }]])).toEqual({ value: { a: 1 } });
    const ref = { channel: 'issue' };
    expect(jsonOfObject([['a', jsonOfList([{ value: 1 }, jsonOfText([ref])])]])).toEqual({
      object: { a: { list: [{ value: 1 }, ref] } },
    });
  });

  it('keeps a reference as text where its value is cut or escaped on the way', () => {
    const cut = { channel: 'labels', truncate: { strategy: 'chars', limit: 3 } } as const;
    expect(jsonOfText([cut])).toEqual({ template: [cut] });
    expect(filled(jsonOfText([cut]))).toMatch(/^\["b/);
  });

  it('is the same definition whatever its references are called in messages', () => {
    const named = { channel: 'a', written: '$a' };
    const source: JsonTemplate = { object: { x: { list: [named, { template: [named, '!'] }, { value: 1 }] } } };
    const bare = { object: { x: { list: [{ channel: 'a' }, { template: [{ channel: 'a' }, '!'] }, { value: 1 }] } } };
    expect(bareJson(source)).toEqual(bare);
  });
});
