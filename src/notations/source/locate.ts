import type { Position } from '../../base/problem.js';
import type { SourceScalar } from './nodes.js';
import type { ParsedYaml } from './yaml.js';

/**
 * Where a piece of a value's text stands in the file, looked for from an offset into the written value on: in the written text of the value, or, when
 * that spells it differently, the value itself.
 *
 * @example
 * const { at, next } = locate(yaml, scalar, '{{inputs.name}}', 0);
 */
export function locate(
  yaml: Pick<ParsedYaml, 'text' | 'places'>,
  scalar: SourceScalar,
  written: string,
  from: number,
): { readonly at: Position; readonly next: number } {
  const [start, end] = scalar.range;
  const found = yaml.text.slice(start, end).indexOf(written, from);
  // After one that is spelt with escapes the rest is not searched: each search would read the whole value again.
  if (found === -1) return { at: scalar.at, next: end - start };
  return { at: yaml.places.at(start + found), next: found + written.length };
}
