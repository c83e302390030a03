import { quoteShort } from '../../../lang/value-text.js';
import type { Findings } from '../../../text/findings.js';
import type { Fields } from '../../../text/shape.js';

/**
 * A number with a fraction, between two bounds. Problem codes: `wrong-type`, `out-of-range`.
 *
 * @example
 * readNumber(fields, { key: 'temperature', name: 'model "fast"', min: 0, max: 2 }, findings); // 0.7
 */
export function readNumber(
  fields: Fields,
  wanted: { readonly key: string; readonly name: string; readonly min: number; readonly max: number },
  findings: Findings,
): number | undefined {
  const { key, name, min, max } = wanted;
  const node = fields.scalar(key);
  if (node === undefined) return undefined;
  if (typeof node.value !== 'number') {
    const message = `${key} of ${name} must be a number, not ${quoteShort(node.text)}`;
    findings.error('wrong-type', message, node.at, 'write digits, without quotes');
    return undefined;
  }
  if (node.value >= min && node.value <= max) return node.value;
  const message = `${key} of ${name} must be from ${min} to ${max}, not ${node.value}`;
  findings.error('out-of-range', message, node.at, `write a number that is from ${min} to ${max}`);
  return undefined;
}
