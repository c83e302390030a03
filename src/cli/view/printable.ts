import { cellsOf } from '../../base/cells.js';

/** Control characters, and the marks that turn the direction of text around. */
const UNSAFE = /\p{Cc}|\p{Bidi_Control}/gu;

/**
 * Text from models, tools and files as it may be written to a terminal: control characters, which could move the cursor, hide text or
 * change the terminal, are shown as escapes. Tabs and line ends stay.
 *
 * @example
 * printable('a\u001b[2Jb'); // 'a\\x1b[2Jb'
 */
export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : escapeOf(char)));
}

/**
 * The same on one line, at most `limit` characters long.
 *
 * @example
 * oneLine('a\nb', 80); // 'a b'
 */
export function oneLine(text: string, limit: number): string {
  const flat = printable(text.slice(0, limit * 4))
    .replaceAll(/\s+/g, ' ')
    .trim();
  const chars = Array.from(flat);
  return chars.length <= limit ? flat : `${chars.slice(0, Math.max(limit - 1, 0)).join('')}…`;
}

function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/**
 * Cuts a line of printable text to a number of terminal cells. Wide characters, such as Chinese ones and emoji, take two.
 *
 * @example
 * fitCells('a long line', 6); // 'a lon…'
 */
export function fitCells(line: string, cells: number): string {
  let used = 0;
  let kept = '';
  for (const char of line) {
    const width = cellsOf(char);
    if (used + width > cells) return cells < 1 ? '' : `${dropLast(kept, used, cells)}…`;
    used += width;
    kept += char;
  }
  return kept;
}

/** Makes room for the mark of a cut. */
function dropLast(kept: string, used: number, cells: number): string {
  if (used < cells) return kept;
  return Array.from(kept).slice(0, -1).join('');
}
