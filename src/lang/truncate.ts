import type { Truncate } from './values.js';

const CHARS_PER_TOKEN = 4;

/**
 * Cuts a text to a limit, and says so in a note after a blank line: `... [truncated: 5000 chars total, showing first 2000]`.
 * Characters are code points, so no character is ever cut in half. A text within the limit, or a limit that is not a count, changes nothing.
 */
export function truncateText(text: string, truncate: Truncate | undefined): string {
  if (truncate === undefined || !Number.isSafeInteger(truncate.limit) || truncate.limit < 0) return text;
  const keepLast = truncate.keep === 'last';
  switch (truncate.strategy) {
    case 'chars':
      return cutChars(text, truncate.limit, keepLast);
    case 'tokens':
      return cutChars(text, truncate.limit * CHARS_PER_TOKEN, keepLast);
    case 'lines':
      return cutLines(text, truncate.limit, keepLast);
    default:
      return text;
  }
}

function cutChars(text: string, limit: number, keepLast: boolean): string {
  if (text.length <= limit) return text;
  const total = countCodePoints(text);
  if (total <= limit) return text;
  const skipped = keepLast ? total - limit : limit;
  const cut = unitIndexOf(text, skipped);
  return (keepLast ? text.slice(cut) : text.slice(0, cut)) + note(total, 'chars', limit, keepLast);
}

function cutLines(text: string, limit: number, keepLast: boolean): string {
  let total = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) total += 1;
  if (total <= limit) return text;
  const skipped = keepLast ? total - limit : limit;
  let cut = 0;
  for (let line = 0; line < skipped; line += 1) {
    const end = text.indexOf('\n', cut);
    cut = end === -1 ? text.length : end + 1;
  }
  const kept = keepLast ? text.slice(cut) : text.slice(0, Math.max(cut - 1, 0));
  return kept + note(total, 'lines', limit, keepLast);
}

function note(total: number, unit: string, limit: number, keepLast: boolean): string {
  return `\n\n... [truncated: ${total} ${unit} total, showing ${keepLast ? 'last' : 'first'} ${limit}]`;
}

export function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += widthAt(text, at)) count += 1;
  return count;
}

/** Returns the UTF-16 index of the code point number `count`. */
function unitIndexOf(text: string, count: number): number {
  let at = 0;
  for (let seen = 0; seen < count && at < text.length; seen += 1) at += widthAt(text, at);
  return at;
}

function widthAt(text: string, at: number): number {
  const code = text.codePointAt(at) ?? 0;
  return code > 0xffff ? 2 : 1;
}
