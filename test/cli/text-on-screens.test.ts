import { describe, expect, test } from 'vitest';
import { fitCells, oneLine, printable, jsonText } from '../../src/cli/view/printable.js';
import { createStyle, wantsColor } from '../../src/cli/view/style.js';

describe('text from outside', () => {
  test.each([
    ['plain text, tabs\tand\nlines', 'plain text, tabs\tand\nlines'],
    ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
    ['a\rb', 'a\\x0db'],
    ['a\r\nb', 'a\nb'],
    ['\u009b31m', '\\x9b31m'],
    ['\u202etxt.exe\u2066', '\\u202etxt.exe\\u2066'],
    ['ünï 漢字 👍', 'ünï 漢字 👍'],
  ])('%j becomes %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  test('one line is one line, and no longer than asked for', () => {
    expect(oneLine('a\n  b\tc', 20)).toBe('a b c');
    expect(oneLine('👍👍👍👍', 3)).toBe('👍👍…');
    expect(oneLine('x'.repeat(1_000_000), 10)).toHaveLength(10);
  });

  test('JSON stays the same JSON, and has nothing in it that a terminal obeys', () => {
    const value = { 'a\u009b': '\u001b[2J\u007f\u202e', b: ['two\nlines', 'ünï'] };
    const text = jsonText(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(printable(text)).toBe(text);
    expect(text).toContain('ünï');
  });

  test.each([
    ['short', 10, 'short'],
    ['exactly 10', 10, 'exactly 10'],
    ['longer than 10', 10, 'longer th…'],
    ['漢字漢字', 8, '漢字漢字'],
    ['漢字漢字漢', 8, '漢字漢…'],
    ['e\u0301e\u0301', 2, 'e\u0301e\u0301'],
    ['anything', 1, '…'],
    ['anything', 0, ''],
  ])('%j in %i cells is %j', (line, cells, shown) => {
    expect(fitCells(line, cells)).toBe(shown);
  });

  test.each([
    ['a-long-name', 7, 'middle', '…', 'a-l…ame'],
    ['漢字漢字漢字', 7, 'middle', '…', '漢…漢字'],
    ['the end of it', 8, 'start', '…', '…d of it'],
    ['a-long-name', 7, 'middle', '...', 'a-...me'],
    ['a-long-name', 2, 'middle', '...', '..'],
  ] as const)('[XU5] %j in %i cells, cut at the %s with %j, is %j', (line, cells, from, mark, shown) => {
    expect(fitCells(line, cells, from, mark)).toBe(shown);
  });
});

describe('colours', () => {
  test.each([
    [{ isTTY: true }, {}, true, true],
    [{ isTTY: true }, { NO_COLOR: '' }, true, true],
    [{ isTTY: true }, { NO_COLOR: '1' }, true, false],
    [{ isTTY: true }, { TERM: 'dumb' }, true, false],
    [{ isTTY: true }, {}, false, false],
    [{ isTTY: false }, {}, true, false],
    [{}, {}, true, false],
  ])('stream %j, environment %j, flag %s: %s', (stream, env, flag, colored) => {
    expect(wantsColor(stream, env, flag)).toBe(colored);
    expect(createStyle(colored).bad('x') === 'x').toBe(!colored);
  });
});
