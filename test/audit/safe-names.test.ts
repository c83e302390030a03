import fc from 'fast-check';
import { expect, it } from 'vitest';
import { safeName } from '../../src/audit/safe-name.js';

/** What a file system or a terminal could interpret becomes a dash, also in texts that need no table of Unicode. */
const WITH_UNICODE = /[^\p{L}\p{N}._-]+/gu;

it('the name of a text of ASCII is that of the same text among others', () => {
  const property = fc.property(fc.string({ unit: 'binary-ascii', maxLength: 30 }), (text) => {
    const letters = safeName(`a${text}a\u00e9`, 'none');
    expect(`${safeName(`a${text}a`, 'none')}\u00e9`).toBe(letters);
    expect(safeName(`a${text}a`, 'none')).toBe(`a${text}a`.replace(WITH_UNICODE, '-').replaceAll(/\.{2,}/g, '.'));
  });
  fc.assert(property, { numRuns: 500 });
});

it.each([
  ['../nightly build', 'nightly-build'],
  ['.hidden.', 'hidden'],
  ['a\u0000b\nc', 'a-b-c'],
  ['/', 'none'],
  ['r\u00e9sum\u00e9 / \u65e5\u672c', 'r\u00e9sum\u00e9-\u65e5\u672c'],
])('%j becomes %j', (text, name) => {
  expect(safeName(text, 'none')).toBe(name);
});
