/** `{{= EXPRESSION }}` in a text. */
export interface WrittenExpression {
  /** What stands between the braces, without spaces around it. Undefined: nothing ends it. */
  readonly expression: string | undefined;
  /** As it was written, with its braces. */
  readonly written: string;
}

const OPEN = '{{=';

/**
 * Splits a text into literal pieces and expressions. Braces in an expression come in pairs, or stand in quotes. Behind a backslash the braces are
 * text: `\{{= a }}`. One pass over the text, whatever it holds.
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

/** Where the braces close that end an expression; -1 when nothing does. */
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

/** Of the quotes that begin at a place; the end of the text when nothing closes them. */
export function endOfQuotes(text: string, start: number): number {
  const quote = text[start];
  let at = start + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return at;
}
