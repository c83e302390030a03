import { nameText, shown, wrong, type Budget, type Keyword } from './context.js';
import { FORMATS } from './formats.js';
import { isPlainObject } from '../../base/json.js';

/** Keywords for a value as a whole, not for its parts. */
export const VALUE_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['type', type],
  ['enum', (evaluation, given, spot) => !Array.isArray(given) || oneOf(evaluation, given, spot)],
  ['const', constant],
  [
    'minimum',
    bound((value, least, schema) => (schema['exclusiveMinimum'] === true ? value > least : value >= least), 'at least'),
  ],
  [
    'maximum',
    bound((value, most, schema) => (schema['exclusiveMaximum'] === true ? value < most : value <= most), 'at most'),
  ],
  ['exclusiveMinimum', bound((value, least) => value > least, 'more than')],
  ['exclusiveMaximum', bound((value, most) => value < most, 'less than')],
  ['multipleOf', multipleOf],
  ['minLength', size('string', (length, least) => length >= least, 'at least', 'characters')],
  ['maxLength', size('string', (length, most) => length <= most, 'at most', 'characters')],
  ['minItems', size('array', (length, least) => length >= least, 'at least', 'items')],
  ['maxItems', size('array', (length, most) => length <= most, 'at most', 'items')],
  ['minProperties', size('object', (length, least) => length >= least, 'at least', 'properties')],
  ['maxProperties', size('object', (length, most) => length <= most, 'at most', 'properties')],
  ['uniqueItems', uniqueItems],
  ['pattern', pattern],
  ['format', format],
];

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function type(...[, given, spot]: Parameters<Keyword>): boolean {
  const allowed: readonly unknown[] = Array.isArray(given) ? given : [given];
  const { value } = spot;
  const is = typeOf(value);
  if (allowed.some((name) => name === is || (name === 'integer' && Number.isInteger(value)))) return true;
  return wrong(spot, `must be ${allowed.map(nameText).join(' or ')}, not ${is}`);
}

function oneOf(
  ...[evaluation, values, spot]: [Parameters<Keyword>[0], readonly unknown[], Parameters<Keyword>[2]]
): boolean {
  if (evaluation.keys(values).has(valueKey(spot.value, evaluation.budget))) return true;
  return wrong(spot, `must be one of ${shown(values)}`);
}

function constant({ budget }: Parameters<Keyword>[0], given: unknown, spot: Parameters<Keyword>[2]): boolean {
  return valueKey(given, budget) === valueKey(spot.value, budget) || wrong(spot, `must be ${shown(given)}`);
}

function bound(
  fits: (value: number, limit: number, schema: Readonly<Record<string, unknown>>) => boolean,
  words: string,
): Keyword {
  return (_, limit, spot) => {
    const { value } = spot;
    if (typeof value !== 'number' || typeof limit !== 'number' || fits(value, limit, spot.schema)) return true;
    return wrong(spot, `must be ${words} ${limit}`);
  };
}

function size(
  of: 'string' | 'array' | 'object',
  fits: (length: number, limit: number) => boolean,
  words: string,
  parts: string,
): Keyword {
  return ({ budget }, limit, spot) => {
    const { value } = spot;
    if (typeof limit !== 'number' || typeOf(value) !== of) return true;
    let length: number;
    if (typeof value === 'string') {
      budget.spend(value.length / 16);
      length = value.length - (value.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
    } else length = Array.isArray(value) ? value.length : Object.keys(value as object).length;
    return fits(length, limit) || wrong(spot, `must have ${words} ${limit} ${parts}`);
  };
}

function multipleOf({ budget }: Parameters<Keyword>[0], given: unknown, spot: Parameters<Keyword>[2]): boolean {
  const { value } = spot;
  if (typeof value !== 'number' || typeof given !== 'number' || given <= 0) return true;
  budget.spend(20);
  const [a, aExponent] = decimal(value);
  const [b, bExponent] = decimal(given);
  const by = aExponent - bExponent;
  const rest = by >= 0 ? (a * 10n ** BigInt(by)) % b : a % (b * 10n ** BigInt(-by));
  return rest === 0n || wrong(spot, `must be a multiple of ${given}`);
}

/** Splits a number into digits and a power of ten, so that 0.3 is a multiple of 0.1. */
function decimal(value: number): readonly [bigint, number] {
  const [digits = '0', exponent = '0'] = Math.abs(value).toString().split('e');
  const point = digits.indexOf('.');
  const fraction = point < 0 ? 0 : digits.length - point - 1;
  return [BigInt(digits.replace('.', '')), Number(exponent) - fraction];
}

function uniqueItems({ budget }: Parameters<Keyword>[0], given: unknown, spot: Parameters<Keyword>[2]): boolean {
  const { value } = spot;
  if (given !== true || !Array.isArray(value)) return true;
  const keys = new Set(value.map((item) => valueKey(item, budget)));
  return keys.size === value.length || wrong(spot, 'must not have an item twice');
}

function pattern(evaluation: Parameters<Keyword>[0], given: unknown, spot: Parameters<Keyword>[2]): boolean {
  if (typeof spot.value !== 'string' || typeof given !== 'string') return true;
  return evaluation.finds(given, spot.value) || wrong(spot, `must match the pattern ${shown(given)}`);
}

function format({ budget }: Parameters<Keyword>[0], given: unknown, spot: Parameters<Keyword>[2]): boolean {
  const { value } = spot;
  const known = typeof given === 'string' ? FORMATS.get(given) : undefined;
  if (typeof value !== 'string' || known === undefined) return true;
  budget.spend(5 + value.length / 4);
  return known(value) || wrong(spot, `must be of the format ${shown(given)}`);
}

/**
 * A text that two JSON values share if, and only if, they are equal: `1` and `1.0` are, `1` and `"1"` are not, the order of properties does not count.
 *
 * @throws SchemaError when the budget does not last
 */
export function valueKey(value: unknown, budget: Budget): string {
  budget.enter();
  const key = keyOf(value, budget);
  budget.leave();
  return key;
}

function keyOf(value: unknown, budget: Budget): string {
  if (typeof value === 'string') {
    budget.spend(3 + value.length / 16);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    budget.spend(6);
    return `[${value.map((item) => valueKey(item, budget)).join(',')}]`;
  }
  if (!isPlainObject(value)) {
    budget.spend(3);
    return String(value);
  }
  const names = Object.keys(value).toSorted();
  budget.spend(6 + names.length);
  return `{${names.map((name) => `${JSON.stringify(name)}:${valueKey(value[name], budget)}`).join(',')}}`;
}
