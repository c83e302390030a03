import { describe, expect, test } from 'vitest';
import { fitCells, oneLine, printable } from '../../src/cli/view/printable.js';
import { createBoard } from '../../src/cli/view/board.js';
import { jsonText } from '../../src/cli/view/json-text.js';
import { RunLog } from '../../src/cli/view/run-log.js';
import { createStyle, wantsColor } from '../../src/cli/view/style.js';
import { screenOf } from './support/terminal.js';
import type { EventBody } from '../../src/events/event.js';

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

describe('the board', () => {
  function boardOf(size: { readonly columns?: number; readonly rows?: number }) {
    const log = new RunLog({ format: 1, name: 'p', inputs: [], channels: [], nodes: [], edges: [], routes: [] });
    let text = '';
    let seq = 0;
    const screen = { ...size, write: (more: string) => void (text += more) };
    const board = createBoard(log, createStyle(false), screen);
    return {
      board,
      /** As a terminal gets it, which turns line ends into two characters. */
      text: (): string => text.replaceAll('\n', '\r\n'),
      happens: (path: string, body: EventBody, line?: string): void => {
        log.listen({ runId: 'r', seq: seq++, at: 0, path, parent: '', ...body });
        board.write(line === undefined ? [] : [line]);
      },
    };
  }
  const started = (node: string): EventBody => ({ type: 'step.started', node, kind: 'agent', visit: 1 });
  const ended = (node: string): EventBody => ({
    type: 'step.ended',
    node,
    kind: 'agent',
    outcome: 'succeeded',
    attempts: 1,
  });

  test('more steps than rows are counted, and finished lines stay above', () => {
    const { board, happens, text } = boardOf({ columns: 60, rows: 6 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) happens(id, started(id), `step ${id} started`);
    expect(screenOf(text()).slice(-4)).toEqual([
      expect.stringMatching(/^\S a {2}/),
      expect.stringMatching(/^\S b {2}/),
      '  and 3 steps more',
      '',
    ]);
    happens('a', ended('a'), 'step a succeeded');
    board.stop();
    expect(screenOf(text())).toEqual([
      ...['a', 'b', 'c', 'd', 'e'].map((id) => `step ${id} started`),
      'step a succeeded',
      '',
    ]);
  });

  test.each([undefined, 0, Number.NaN, -5])('a width of %s is taken for 80', (columns) => {
    const { board, happens, text } = boardOf(columns === undefined ? {} : { columns, rows: columns });
    happens('x'.repeat(200), started('x'), 'line');
    board.stop();
    expect(text().split('\r\n')[1]).toHaveLength(79);
  });

  test('while a question is open nothing is drawn; what was to be written comes afterwards', () => {
    const { board, happens, text } = boardOf({ columns: 60, rows: 10 });
    happens('a', started('a'), 'one');
    board.suspend();
    const before = text();
    happens('b', started('b'), 'two');
    expect(text()).toBe(before);
    board.say('three');
    board.resume();
    board.stop();
    expect(screenOf(text())).toEqual(['one', 'three', 'two', '']);
  });
});
