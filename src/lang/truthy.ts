import { isPlainObject } from '../base/json.js';
import { SkeinError } from '../base/errors.js';
import { readPath, type ReadChannel, type TextReader } from './json-path.js';
import { valueText } from './value-text.js';
import type { Condition } from './values.js';

type TruthyCondition = Extract<Condition, { op: 'truthy' }>;

/**
 * Evaluates a condition of a pipeline. True are `true` and the texts `true`, `1` and `yes`, in any case. A path applies if the value is a
 * JSON object or parses as one; a missing value is false. For other values the path is ignored, and the whole text counts, or the JSON in
 * its code fence. `texts` finds JSON in a text.
 *
 * @throws SkeinError SKEIN_TEMPLATE if the channel was not written.
 */
export function isTruthy(condition: TruthyCondition, read: ReadChannel, texts: TextReader): boolean {
  const { channel, path = [] } = condition.value;
  const value = read(channel);
  if (value === undefined) {
    if (condition.optional === true) return false;
    throw new SkeinError('SKEIN_TEMPLATE', unresolved(condition.text), {
      hint: `nothing has given ${channel} a value by then`,
    });
  }
  if (path.length === 0) return isTrueText(wholeText(value, texts));
  const found = typeof value === 'string' ? texts.parse(value) : value;
  if (!isPlainObject(found)) return isTrueText(wholeText(value, texts));
  const target = readPath(found, path, texts);
  return target === true || (typeof target === 'string' && isTrueText(target));
}

/** Returns the message for a condition that is neither true nor false. */
export function unresolved(condition: string): string {
  return `workflow: condition did not resolve to boolean: ${JSON.stringify(condition)}`;
}

function wholeText(value: unknown, texts: TextReader): string {
  const text = valueText(value);
  if (!text.includes('```')) return text;
  const fenced = texts.parse(text);
  return fenced === undefined ? text : valueText(fenced);
}

function isTrueText(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.length <= 4 && ['true', '1', 'yes'].includes(trimmed.toLowerCase());
}
