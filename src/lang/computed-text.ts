/** `{{= EXPRESSION }}` in a text. */
export interface WrittenExpression {
  /** The text between the braces, trimmed. Undefined if nothing closes it. */
  readonly expression: string | undefined;
  /** As written, with its braces. */
  readonly written: string;
}

const OPEN = '{{=';

/**
 * Splits a text into literal pieces and expressions, in one pass. Braces in an expression are paired or quoted. After a backslash, braces
 * are text: `\{{= a }}`.
 *
 * @example
 * splitExpressions('So {{= size(a) }}.'); // ['So ', { expression: 'size(a)', written: '{{= size(a) }}' }, '.']
 */
export function splitExpressions(text: string): readonly (string | WrittenExpression)[] {
  const pieces: (string | WrittenExpression)[] = [];
  let literal = '';
  let from = 0;
  for (let open = text.indexOf(OPEN); open !== -1; open = text.indexOf(OPEN, from)) {
    literal += text.slice(from, open);
    from = open + OPEN.length;
    if (text[open - 1] === '\\' && literal.endsWith('\\')) {
      literal = `${literal.slice(0, -1)}${OPEN}`;
      continue;
    }
    if (literal !== '') pieces.push(literal);
    literal = '';
    const close = endOf(text, from);
    const end = close === -1 ? text.length : close + 2;
    const expression = close === -1 ? undefined : text.slice(from, close).trim();
    pieces.push({ expression, written: text.slice(open, end) });
    from = end;
  }
  literal += text.slice(from);
  if (literal !== '') pieces.push(literal);
  return pieces;
}

/** Index of the braces that close an expression; -1 if none do. */
function endOf(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"' || char === "'") at = endOfQuotes(text, at);
    else if (char === '{' || char === '[' || char === '(') depth += 1;
    else if (char === '}' && depth === 0 && text[at + 1] === '}') return at;
    else if (char === '}' || char === ']' || char === ')') depth = Math.max(0, depth - 1);
  }
  return -1;
}

/** Index of the closing quote; at least the length of the text if none closes it. */
export function endOfQuotes(text: string, start: number): number {
  const quote = text[start];
  let at = start + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return at;
}
