import { badInput } from './tool-input.js';

/**
 * Glob patterns over relative paths with `/`: `*` and `?` within a name, `**` for any number of directories, `[a-z]` and
 * `[!a]`, `{a,b}`. Matching takes time in the product of pattern and path length, whatever the pattern: no backtracking
 * into more than the last star.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED` for a pattern that is too long or has too many alternatives
 * @example
 * compileGlob('src/**' + '/*.ts')('src/a/b.ts'); // true
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (pattern === '') throw badInput('the pattern is empty');
  if (pattern.length > MAX_PATTERN) throw badInput(`a pattern of ${pattern.length} characters is too long`);
  const alternatives = expandBraces(pattern).map((text) =>
    text.split('/').filter((part) => part !== '' && part !== '.'),
  );
  if (alternatives.some((parts) => parts.includes('..'))) {
    throw badInput('a pattern must not contain ".."', 'give the directory in "path"');
  }
  const compiled = alternatives.map((parts) => parts.map(compilePart));
  return (path) => {
    const names = path.split('/');
    return compiled.some((parts) => matchParts(parts, names));
  };
}

const MAX_PATTERN = 1_000;
const MAX_ALTERNATIVES = 100;

type Part = '**' | readonly Piece[];
type Piece = '*' | '?' | CharSet;
/** One character. */
interface CharSet {
  readonly not: boolean;
  readonly ranges: readonly (readonly [string, string])[];
}

function expandBraces(pattern: string): readonly string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const group = innermostBraces(text);
    if (group === undefined) done.push(text);
    else for (const option of group.options) open.push(text.slice(0, group.from) + option + text.slice(group.to));
    if (done.length + open.length > MAX_ALTERNATIVES) {
      throw badInput(`the pattern has more than ${MAX_ALTERNATIVES} alternatives`);
    }
  }
  return done;
}

/** The first group that holds no other group; braces without a comma inside are ordinary characters. */
function innermostBraces(text: string): { from: number; to: number; options: readonly string[] } | undefined {
  let from = -1;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '{') from = i;
    if (text[i] !== '}' || from < 0) continue;
    const inside = text.slice(from + 1, i);
    if (inside.includes(',')) return { from, to: i + 1, options: inside.split(',') };
    from = -1;
  }
  return undefined;
}

function compilePart(part: string): Part {
  if (part === '**') return '**';
  const pieces: Piece[] = [];
  for (let i = 0; i < part.length; i++) {
    const char = part[i] ?? '';
    if (char === '[') {
      const set = readSet(part, i);
      if (set === undefined) {
        pieces.push({ not: false, ranges: [[char, char]] });
      } else {
        pieces.push(set.value);
        i = set.end;
      }
    } else if (char === '*') {
      if (pieces.at(-1) !== '*') pieces.push('*');
    } else {
      pieces.push(char === '?' ? '?' : { not: false, ranges: [[char, char]] });
    }
  }
  return pieces;
}

function readSet(part: string, at: number): { value: CharSet; end: number } | undefined {
  const end = part.indexOf(']', at + 2);
  if (end < 0) return undefined;
  const not = part[at + 1] === '!' || part[at + 1] === '^';
  const body = part.slice(at + (not ? 2 : 1), end);
  const ranges: [string, string][] = [];
  for (let i = 0; i < body.length; i++) {
    const first = body[i] ?? '';
    const last = body[i + 2];
    if (body[i + 1] === '-' && last !== undefined) {
      ranges.push([first, last]);
      i += 2;
    } else {
      ranges.push([first, first]);
    }
  }
  return { value: { not, ranges }, end };
}

/** Two pointers with a return to the last `**`. */
function matchParts(parts: readonly Part[], names: readonly string[]): boolean {
  return matchStars(parts.length, names.length, {
    isStar: (p) => parts[p] === '**',
    fits: (p, n) => matchName(parts[p], names[n] ?? ''),
  });
}

function matchName(part: Part | undefined, name: string): boolean {
  if (part === undefined || part === '**') return false;
  return matchStars(part.length, name.length, {
    isStar: (p) => part[p] === '*',
    fits: (p, n) => fitsPiece(part[p], name[n] ?? ''),
  });
}

/** The classic wildcard match: `isStar` takes any number of items, everything else exactly one. */
function matchStars(
  patternLength: number,
  length: number,
  rules: { isStar(p: number): boolean; fits(p: number, n: number): boolean },
): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let mark = 0;
  while (n < length) {
    if (p < patternLength && rules.isStar(p)) {
      star = p;
      mark = n;
      p += 1;
    } else if (p < patternLength && rules.fits(p, n)) {
      p += 1;
      n += 1;
    } else if (star >= 0) {
      p = star + 1;
      mark += 1;
      n = mark;
    } else {
      return false;
    }
  }
  while (p < patternLength && rules.isStar(p)) p += 1;
  return p === patternLength;
}

function fitsPiece(piece: Piece | undefined, char: string): boolean {
  if (piece === undefined || piece === '*') return false;
  if (piece === '?') return true;
  return piece.ranges.some(([first, last]) => first <= char && char <= last) !== piece.not;
}
