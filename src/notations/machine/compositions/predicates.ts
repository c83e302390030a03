import { isDeepStrictEqual } from 'node:util';
import { SkeinError } from '../../../base/errors.js';
import { kindText } from '../../../lang/value-text.js';
import type { Predicate } from '../pack.js';
import { namesIn, valueAt, type Scope } from './references.js';

const ORDERED: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  less_than: (a, b) => a < b,
  less_than_or_equals: (a, b) => a <= b,
  greater_than: (a, b) => a > b,
  greater_than_or_equals: (a, b) => a >= b,
};

export function namesOfPredicate({ path, all_of = [], any_of = [], not }: Predicate): readonly string[] {
  const inner = [...all_of, ...any_of, ...(not === undefined ? [] : [not])];
  return [...namesIn(path), ...inner.flatMap(namesOfPredicate)];
}

/**
 * Evaluates a predicate (statement 45). A missing value is null.
 *
 * @throws SkeinError `SKEIN_INPUT` for an ordered comparison of anything but numbers, and `in` without a list
 */
export function holds(predicate: Predicate, scope: Scope): boolean {
  const { path = '', op, value, exists, all_of, any_of, not } = predicate;
  if (all_of !== undefined) return all_of.every((one) => holds(one, scope));
  if (any_of !== undefined) return any_of.some((one) => holds(one, scope));
  if (not !== undefined) return !holds(not, scope);
  const found = valueAt(path, scope);
  if (exists !== undefined) return (found !== undefined) === exists;
  return compares(op ?? '', found ?? null, value, path);
}

function compares(op: string, found: unknown, value: unknown, path: string): boolean {
  if (op === 'equals') return isDeepStrictEqual(found, value);
  if (op === 'not_equals') return !isDeepStrictEqual(found, value);
  if (op === 'in' || op === 'not_in') return listed(found, value, op) === (op === 'in');
  const compare = Object.hasOwn(ORDERED, op) ? ORDERED[op] : undefined;
  if (compare !== undefined && typeof found === 'number' && typeof value === 'number') return compare(found, value);
  throw new SkeinError(
    'SKEIN_INPUT',
    `${op} compares numbers, not ${kindText(found)} (${path}) and ${kindText(value)}`,
    {
      hint: 'let the step before give a number, by an output_schema',
    },
  );
}

function listed(found: unknown, value: unknown, op: string): boolean {
  if (Array.isArray(value)) return value.some((one) => isDeepStrictEqual(found, one));
  throw new SkeinError('SKEIN_INPUT', `${op} needs a list of values, not ${kindText(value)}`);
}
