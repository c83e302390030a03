import { endOfQuotes } from '../../lang/computed-text.js';

/** One part of a reference: `.name`, `[n]` or `["name"]`. */
export interface Segment {
  readonly text: string;
  readonly kind: 'name' | 'index' | 'key';
  readonly end: number;
}

/** The parts of a reference such as `$steps.qa.output.ok`. */
export interface Dotted {
  /** The word after the `$`. */
  readonly root: string;
  readonly segments: readonly Segment[];
  readonly start: number;
  readonly end: number;
}

const NAME = /[A-Za-z0-9_][A-Za-z0-9_-]*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const INDEX = /\[\s*(\d{1,9})\s*\]/y;
const KEY = /\[\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')\s*\]/y;

/** Reads the longest reference whose `$` is at an offset. Undefined if no name follows. */
export function readDotted(text: string, start: number): Dotted | undefined {
  const root = match(WORD, text, start + 1);
  if (root === undefined) return undefined;
  const segments: Segment[] = [];
  let end = start + 1 + root[0].length;
  for (;;) {
    const segment = readSegment(text, end);
    if (segment === undefined) return { root: root[0], segments, start, end };
    segments.push(segment);
    end = segment.end;
  }
}

function readSegment(text: string, at: number): Segment | undefined {
  if (text[at] === '.') {
    const name = match(NAME, text, at + 1);
    return name === undefined ? undefined : { text: name[0], kind: 'name', end: at + 1 + name[0].length };
  }
  if (text[at] !== '[') return undefined;
  const index = match(INDEX, text, at);
  if (index !== undefined) return { text: String(Number(index[1])), kind: 'index', end: at + index[0].length };
  const key = match(KEY, text, at);
  return key === undefined ? undefined : { text: key[1] ?? key[2] ?? '', kind: 'key', end: at + key[0].length };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

export interface Braced {
  readonly inside: string;
  readonly written: string;
}

/** Splits a text into literal pieces and double braces that begin with a `$`: `{ inside: '$prompt', written: '{{ $prompt }}' }`. */
export function splitBraces(text: string): readonly (string | Braced)[] {
  const pieces: (string | Braced)[] = [];
  let literal = 0;
  let open = text.indexOf('{{');
  while (open !== -1) {
    let first = open + 2;
    while (' \t\n'.includes(text[first] ?? '.')) first += 1;
    const close = text[first] === '$' ? text.indexOf('}}', first) : -1;
    if (close === -1) {
      // If one brace is not closed, no later one is either.
      if (text[first] === '$') break;
      open = text.indexOf('{{', first === open + 2 ? open + 1 : first);
      continue;
    }
    if (open > literal) pieces.push(text.slice(literal, open));
    literal = close + 2;
    pieces.push({ inside: text.slice(first, close).trimEnd(), written: text.slice(open, literal) });
    open = text.indexOf('{{', literal);
  }
  if (literal < text.length) pieces.push(text.slice(literal));
  return pieces;
}

/** Returns the references in an expression, skipping quoted text. */
export function findDotted(expression: string): readonly Dotted[] {
  const found: Dotted[] = [];
  for (let at = 0; at < expression.length; at += 1) {
    const char = expression[at];
    if (char === '"' || char === "'") at = endOfQuotes(expression, at);
    if (char !== '$') continue;
    const dotted = readDotted(expression, at);
    if (dotted === undefined) continue;
    found.push(dotted);
    at = dotted.end - 1;
  }
  return found;
}
