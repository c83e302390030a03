import { SkeinError } from '../base/errors.js';

/**
 * A value as inserted into a prompt: text unchanged, a missing value as empty text, others as JSON text.
 *
 * @throws SkeinError SKEIN_TEMPLATE when the value has no JSON form: it contains itself or a BigInt.
 */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return '';
  try {
    // Functions and symbols have no JSON text, which the type of JSON.stringify does not say.
    const text = JSON.stringify(value) as string | undefined;
    return text ?? '';
  } catch (cause) {
    throw new SkeinError('SKEIN_TEMPLATE', 'a value cannot be written as JSON', {
      hint: 'it contains itself, a BigInt, or is nested too deep; return plain data from the step',
      cause,
    });
  }
}

export function kindText(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

const SHORT = 60;

/**
 * Text for a message: on one line, quoted, control and direction characters escaped, at most `limit` characters of it.
 */
export function quoteShort(text: string, limit = SHORT): string {
  const head = text.slice(0, limit);
  // A cut through a surrogate pair would leave half a character.
  const cut = text.length > limit ? `${head.replace(/[\uD800-\uDBFF]$/, '')}…` : head;
  return JSON.stringify(cut).replace(INVISIBLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// C1 controls, line separators, zero-width and direction marks: JSON leaves them as they are, a terminal obeys them.
const INVISIBLE = /[\u007F-\u009F\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;
