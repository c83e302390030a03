/** One part of a reference: `.name`, `[n]` or `["name"]`. */
export interface Segment {
  readonly text: string;
  readonly kind: 'name' | 'index' | 'key';
  /** Where it ends, as an offset into the text. */
  readonly end: number;
}

/** `$steps.qa.output.ok` in its parts. */
export interface Dotted {
  /** The word behind the `$`. */
  readonly root: string;
  readonly segments: readonly Segment[];
  readonly start: number;
  readonly end: number;
}

const NAME = /[A-Za-z0-9_][A-Za-z0-9_-]*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const INDEX = /\[\s*(\d{1,9})\s*\]/y;
const KEY = /\[\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')\s*\]/y;

/** Reads the reference whose `$` stands at an offset, as far as it goes; undefined when no name follows. */
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

/** `{{ $... }}` in a text. */
export interface Braced {
  /** What stands between the braces, without spaces around it. */
  readonly inside: string;
  /** As it was written, with its braces. */
  readonly written: string;
}

/**
 * Splits a text into literal pieces and what stands in double braces and begins with a `$`. One pass over the text, whatever it holds.
 * `splitBraces('Hi {{ $prompt }}!')` gives `['Hi ', { inside: '$prompt', written: '{{ $prompt }}' }, '!']`.
 */
export function splitBraces(text: string): readonly (string | Braced)[] {
  const pieces: (string | Braced)[] = [];
  let literal = 0;
  let open = text.indexOf('{{');
  while (open !== -1) {
    let first = open + 2;
    while (' \t\n'.includes(text[first] ?? '.')) first += 1;
    const close = text[first] === '$' ? text.indexOf('}}', first) : -1;
    if (close === -1) {
      // Without an end there is none for what follows either.
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

/** The dotted references in an expression; what stands in quotes is none. */
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

function endOfQuotes(text: string, start: number): number {
  const quote = text[start];
  let at = start + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return at;
}
