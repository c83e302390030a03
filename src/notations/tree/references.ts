/** A `$name` in a text. */
export interface NameReference {
  readonly name: string;
}

const REFERENCE = /\$(?:\$|([A-Za-z_][A-Za-z0-9_]*))/g;

/**
 * Splits a text into literal pieces and the names in it, in one pass: `$$` is a `$`, and a `$` before anything that is not a name is text.
 * `piecesOf('Pay $sum by $day, $$5')` gives `['Pay ', { name: 'sum' }, ' by ', { name: 'day' }, ', $5']`.
 */
export function piecesOf(text: string): readonly (string | NameReference)[] {
  const pieces: (string | NameReference)[] = [];
  let literal = '';
  let from = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const [written, name] = match;
    literal += text.slice(from, match.index);
    from = match.index + written.length;
    if (name === undefined) {
      literal += '$';
      continue;
    }
    if (literal !== '') pieces.push(literal);
    literal = '';
    pieces.push({ name });
  }
  literal += text.slice(from);
  if (literal !== '') pieces.push(literal);
  return pieces;
}

/** The names that a text refers to, each once. */
export function namesIn(text: string): readonly string[] {
  const names = piecesOf(text).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name]));
  return [...new Set(names)];
}
