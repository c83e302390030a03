import type { Pattern, Property, AssignmentProperty, TokenType } from 'acorn';
import { acorn } from '../../lang/on-demand.js';

export interface Parameter {
  readonly name: string;
  /** True if it has a default. */
  readonly optional: boolean;
}

export type Reading = { readonly names: readonly Parameter[] } | { readonly refused: string };

/** Cached readings, by source text. */
const known = new Map<string, Reading>();
const MOST_KNOWN = 20_000;

/** Reads the names in the first parameter of a function from its source. Only the parameters are parsed, not the body. */
export function readParameters(fn: unknown): Reading {
  if (typeof fn !== 'function') return { refused: 'it is not a function' };
  const source = Function.prototype.toString.call(fn);
  const before = known.get(source);
  if (before !== undefined) return before;
  const reading = readSource(source);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(source, reading);
  return reading;
}

function readSource(source: string): Reading {
  if (/\{\s*\[native code\]\s*\}\s*$/.test(source))
    return { refused: 'it is bound or native, and so has no source text' };
  if (/^class\b/.test(source)) return { refused: 'it is a class' };
  const plain = PLAIN.exec(source);
  if (plain !== null) return { names: plainNames(plain[1]) };
  try {
    const text = parametersOf(source);
    if (text === undefined) return { refused: 'its first parameter is not destructured' };
    const arrow = acorn().parseExpressionAt(`${text}=>0`, 0, { ecmaVersion: 'latest' });
    if (arrow.type !== 'ArrowFunctionExpression') return { refused: 'its parameters cannot be read' };
    return readFirst(arrow.params[0]);
  } catch {
    return { refused: 'its parameters cannot be read' };
  }
}

const NAME = '[A-Za-z_$][\\w$]*';
const PLAIN_PROPERTY = `${NAME}(?:\\s*:\\s*${NAME})?`;

/** Most functions destructure a few plain names. They need no parser, which takes many times as long. */
const PLAIN = new RegExp(
  `^(?:async\\s+)?(?:function\\b\\s*)?(?:${NAME})?\\s*\\(\\s*\\{\\s*(${PLAIN_PROPERTY}(?:\\s*,\\s*${PLAIN_PROPERTY})*)\\s*\\}\\s*(?:,\\s*${NAME}\\s*)?\\)`,
);

function plainNames(text = ''): readonly Parameter[] {
  return text.split(',').map((property) => ({ name: property.replace(/:.*$/s, '').trim(), optional: false }));
}

/** Returns the parameters with their parentheses. Undefined for an arrow function with one bare name. */
function parametersOf(source: string): string | undefined {
  const { tokenizer, tokTypes } = acorn();
  const { parenL, parenR, braceL, braceR, bracketL, bracketR, dollarBraceL, arrow } = tokTypes;
  const opening: readonly TokenType[] = [parenL, braceL, bracketL, dollarBraceL];
  const closing: readonly TokenType[] = [parenR, braceR, bracketR];
  let depth = 0;
  let start = -1;
  for (const { type, start: at, end } of tokenizer(source, { ecmaVersion: 'latest' })) {
    if (type === arrow && depth === 0) return undefined;
    if (type === parenL && depth === 0) start = at;
    if (opening.includes(type)) depth += 1;
    else if (closing.includes(type)) depth -= 1;
    if (type === parenR && depth === 0) return source.slice(start, end);
  }
  return undefined;
}

function readFirst(first: Pattern | undefined): Reading {
  if (first === undefined) return { names: [] };
  if (first.type === 'RestElement') return { refused: 'it takes any number of parameters' };
  const pattern = first.type === 'AssignmentPattern' ? first.left : first;
  if (pattern.type !== 'ObjectPattern') return { refused: 'its first parameter is not destructured' };
  const names: Parameter[] = [];
  for (const property of pattern.properties) {
    if (property.type === 'RestElement') return { refused: 'it takes the rest of the state' };
    const name = nameOf(property);
    if (name === undefined) return { refused: 'a name in its first parameter is computed' };
    names.push({ name, optional: property.value.type === 'AssignmentPattern' });
  }
  return { names };
}

function nameOf({ computed, key }: AssignmentProperty | Property): string | undefined {
  if (computed) return undefined;
  if (key.type === 'Identifier') return key.name;
  return key.type === 'Literal' ? String(key.value) : undefined;
}
