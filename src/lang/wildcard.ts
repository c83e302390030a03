import { SkeinError } from '../base/errors.js';
import { quoteShort } from './value-text.js';

/** Maximum number of steps of one comparison, a fraction of a second. */
const MAX_STEPS = 50_000_000;

/**
 * True if a whole text matches a pattern: `*` matches any text, also none, `?` one character, other characters themselves.
 * Takes time in the product of both lengths at most, and is bounded in any case.
 *
 * @throws SkeinError SKEIN_INPUT when both are so long that the comparison takes too much
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let from = 0;
  let left = MAX_STEPS;
  while (from < text.length) {
    left -= 1;
    if (left === 0) {
      const hint = 'shorten the pattern, or the text that it is for';
      throw new SkeinError('SKEIN_INPUT', `the pattern ${quoteShort(pattern)} takes too long on this text`, { hint });
    }
    const char = pattern[at];
    if (char === '*') {
      star = at;
      resume = from;
      at += 1;
    } else if (char !== undefined && (char === '?' || char === text[from])) {
      at += 1;
      from += 1;
    } else if (star >= 0) {
      // The last star takes one character more.
      at = star + 1;
      resume += 1;
      from = resume;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

/** True when a pattern is more than a plain text. */
export function isWildcard(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('?');
}
