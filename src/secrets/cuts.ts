import { SECRET_FORMATS } from './formats.js';

/** What stands where a text was cut: a mark, the end of a quoted text, or nothing. */
const AT_CUT = String.raw`(?=\s{0,4}(?:\u2026|\.{3}|\[\.\.\.)|["'\x60]|$)`;

/** A mark of a cut begins within so many characters. */
const LONGEST_MARK = 8;
const CUT_HERE = new RegExp(AT_CUT, 'y');

/** Returns true if `text` was cut at a place, or may have been: `isCutAt('sk-abc [...] more', 6)`. */
export function isCutAt(text: string, at: number): boolean {
  const next = text.charCodeAt(at);
  // Letters and digits, which is the common case.
  if ((next >= 48 && next <= 57) || (next >= 65 && next <= 90) || (next >= 97 && next <= 122)) return false;
  CUT_HERE.lastIndex = 0;
  // The end of the piece is only the end of the text if the text ends there.
  const piece = text.slice(at, at + LONGEST_MARK);
  return piece === '' || (CUT_HERE.test(piece) && !/^\s+$/.test(piece));
}

/** Characters of a cut key after its fixed beginning: fewer can be an ordinary word, and say little of the key. */
const LEAST_KEPT = 12;

/** An unbroken word that is long enough to be most of a key. */
const WORD = /[^\s"'`]{12,}/g;
/** The longest part of a key after its beginning, so that the time is linear in the text. */
const MOST_KEPT = 300;
/** A password in an address whose host is cut off. */
const CUT_PASSWORD = String.raw`[a-z][a-z0-9+.-]{1,20}://[^\s/:@?#<>]{0,100}:(?=[^\s/@?#<>]{0,60}[A-Za-z])[^\s/@?#<>]{8,200}`;

let cutKey: RegExp | undefined;

/** The beginnings of keys, up to each place where characters are repeated. Made when a word first needs it: most programs see none. */
function cutKeys(): RegExp {
  if (cutKey !== undefined) return cutKey;
  const all = [CUT_PASSWORD, ...SECRET_FORMATS.flatMap(({ shape }) => beginningsOf(shape))];
  cutKey = new RegExp(`(?<![A-Za-z0-9])(?:${all.join('|')})${AT_CUT}`, 'g');
  return cutKey;
}

/** What each of them contains: most words do not. */
const IN_EACH = /\d|:\/\//;

/** The shapes of keys that are cut; none for shapes without a telling beginning, which are like digests and addresses. */
function beginningsOf(shape: string): readonly string[] {
  if (shape.startsWith('[') || shape.startsWith('-') || shape.includes(String.raw`\s{1,4}`)) return [];
  return [...shape.matchAll(/\[[^\]]+\]\{(\d+)/g)].flatMap(({ 0: whole, 1: count = '', index }) => {
    const before = shape.slice(0, index).replace(/\(\?=.*$/, '');
    const isWhole = before.split('(').length === before.split(')').length;
    const least = Math.min(LEAST_KEPT, Math.ceil(Number(count) / 2));
    if (!isWhole || /^[A-Za-z]{3}$/.test(before) || least < 5) return [];
    const one = whole.slice(0, whole.lastIndexOf('{'));
    return [String.raw`${before}(?=\S{0,60}\d)${one}{${least},${MOST_KEPT}}`];
  });
}

/** Replaces what is left of a known key that was cut: its beginning before a cut, and the end of a private key. */
export function withoutCutKeys(text: string, word: string): string {
  if (text.length < LEAST_KEPT) return text;
  const heads = text.replace(WORD, (run, at: number) => {
    const isCut = isCutAt(text, at + run.length);
    if (!isCut && !run.includes('…') && !run.includes('...')) return run;
    if (!IN_EACH.test(run)) return run;
    // What ends here and is not cut must not look like the end of the text.
    return isCut ? run.replace(cutKeys(), word) : `${run} `.replace(cutKeys(), word).slice(0, -1);
  });
  return heads.includes('PRIVATE KEY') ? withoutKeyEnds(heads, word) : heads;
}

const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** Lines of a private key are longer than words; its last line can be short. */
const SHORTEST_LINE = 16;

function withoutKeyEnds(text: string, word: string): string {
  let result = '';
  let done = 0;
  for (const { 0: end, index } of text.matchAll(KEY_END)) {
    const start = startOfLines(text, index, done);
    result += text.slice(done, start) + word;
    done = index + end.length;
  }
  return result + text.slice(done);
}

/** Where the lines of base64 before `end` begin. */
function startOfLines(text: string, end: number, least: number): number {
  let start = end;
  for (let isLast = true; ; isLast = false) {
    let at = start;
    for (let line = lineBreakBefore(text, at); line < at; line = lineBreakBefore(text, at)) at = line;
    const lineEnd = at;
    while (at > least && /[A-Za-z0-9+/=]/.test(text.charAt(at - 1)) && !isEscape(text, at)) at -= 1;
    if (at < least || at === lineEnd || (!isLast && lineEnd - at < SHORTEST_LINE)) return start;
    start = at;
  }
}

/** The place before the white space, or the escaped line end, that ends at a place. */
function lineBreakBefore(text: string, at: number): number {
  if (isEscape(text, at)) return text.charAt(at - 3) === '\\' ? at - 3 : at - 2;
  return at > 0 && /\s/.test(text.charAt(at - 1)) ? at - 1 : at;
}

/** In JSON text, a line end is written as two characters, and in JSON inside of JSON as three. */
function isEscape(text: string, at: number): boolean {
  return at > 1 && text.charAt(at - 2) === '\\' && /[nrt]/.test(text.charAt(at - 1));
}
