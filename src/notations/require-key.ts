import { quoteShort } from '../lang/value-text.js';
import type { Require } from '../plan/plan.js';
import { either, integer, text } from '../text/forms.js';
import { describe } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';

/** More parts than this has no group. */
const MANY = 1_000_000;

/** The key that says how much of a group must succeed. */
export const REQUIRE_KEY = {
  require: either(
    [text('', { pattern: '^(?:[Aa][Ll][Ll]|\\s*)$', from: 'string' }), integer('', { min: 1, max: MANY })],
    'how many of its parts must succeed, or all: a part that fails cancels no other one. Absent: the first failure ends it',
  ),
} as const;

/** How many parts a group has at most. */
export interface Parts {
  readonly most: number;
  readonly word: 'step' | 'item';
}

/** Reads `require` of a group. Problem code: `bad-require`. */
export function readRequire(fields: Fields, { most, word: part }: Parts): Require | undefined {
  const node = fields.node('require');
  if (node === undefined || (node.kind === 'scalar' && node.text.trim() === '')) return undefined;
  const value = node.kind === 'scalar' ? node.value : undefined;
  if (node.kind === 'scalar' && node.text.toLowerCase() === 'all') return 'all';
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  const seen = node.kind === 'scalar' ? quoteShort(node.text) : describe(node);
  const few =
    typeof value === 'number' && value > most ? `, and it has ${most} ${part}${most === 1 ? '' : 's'} at most` : '';
  const hint = `write all, or a whole number from 1 to ${most}`;
  fields.error('bad-require', 'require', `require of ${fields.name} is ${seen}${few}`, hint);
  return undefined;
}
