import { DURATION_PATTERN, parseDuration } from '../base/duration.js';
import { quoteShort } from '../lang/value-text.js';
import { either, number, text } from '../text/forms.js';
import type { Form } from '../text/forms.js';
import type { Fields } from '../text/shape.js';

/** The longest delay of a timer: 24.8 days. */
export const MAX_TIMER_MS = 2_147_483_647;

/** In seconds. */
export const LONGEST_TIMER = MAX_TIMER_MS / 1_000;

/** The longest time that a question or an event is waited for, in milliseconds. */
export const LONGEST_WAIT_MS = Number.MAX_SAFE_INTEGER;

/** A row for a time such as `30s`, or a number of seconds. Half a millisecond is rounded up to one. */
export const duration = (about: string, min: 0 | 0.0005, max = LONGEST_TIMER): Form =>
  either([text('', { pattern: DURATION_PATTERN, from: 'string' }), number('', { min, max })], about);

/** A duration such as `30s`, or a number of seconds, in milliseconds. Problem code: `bad-duration`. */
export function readDuration(
  fields: Fields,
  key: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const node = fields.scalar(key);
  if (node === undefined) return undefined;
  const ms = typeof node.value === 'number' ? Math.round(node.value * 1_000) : parseDuration(node.text);
  if (ms !== undefined && ms >= min && ms <= max) return ms;
  const isCount = typeof node.value === 'string' && /^\d+(?:\.\d+)?$/.test(node.text) && Number(node.text) > 0;
  const most = max === MAX_TIMER_MS ? '; at most 24 days' : '';
  const hint = isCount ? `write ${node.text}s for seconds` : `write 90s, 10m or 1h30m, or a number of seconds${most}`;
  fields.error('bad-duration', key, `${key} of ${fields.name} is ${quoteShort(node.text)}`, hint);
  return undefined;
}
