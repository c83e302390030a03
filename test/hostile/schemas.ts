/** A schema and a value with which validators can be made to hang, or to break. */
export interface HostileSchema {
  readonly name: string;
  readonly schema: unknown;
  readonly value: unknown;
  /** What comes of it: a finding that the schema can't be used, another finding, or nothing wrong. */
  readonly ends: 'unusable' | 'finding' | 'fits';
}

/** Twelve levels, each of which applies the next one eight times: 8^12 checks. */
function fan(keyword: 'allOf' | 'anyOf' | 'oneOf', wrap: (inner: unknown) => unknown = (inner) => inner): unknown {
  const levels = Array.from({ length: 12 }, (_, i): [string, unknown] => [
    `l${i}`,
    { [keyword]: Array.from({ length: 8 }, () => wrap({ $ref: `#/$defs/l${i + 1}` })) },
  ]);
  return { $ref: '#/$defs/l0', $defs: { ...Object.fromEntries(levels), l12: { type: 'string' } } };
}

function nested(depth: number, wrap: (inner: unknown) => unknown, innermost: unknown = {}): unknown {
  let value: unknown = innermost;
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
}

const A = 'a'.repeat(50_000);
const MANY = Array.from({ length: 30_000 }, (_, i) => i);
const WIDE = Object.fromEntries(MANY.slice(0, 10_000).map((i) => [`key${i}`, i]));
const NAMES = Object.keys(WIDE);

/** One of each kind. */
export const HOSTILE_SCHEMAS: readonly HostileSchema[] = [
  { name: 'a type whose toString is no function', schema: { type: { toString: 1 } }, value: 'x', ends: 'finding' },
  { name: 'a name whose toString is no function', schema: { required: [{ toString: 1 }] }, value: {}, ends: 'finding' },
  { name: 'allOf of references, 12 levels', schema: fan('allOf'), value: 'x', ends: 'unusable' },
  { name: 'anyOf of references that fail late', schema: fan('anyOf'), value: 5, ends: 'unusable' },
  { name: 'oneOf of references', schema: fan('oneOf'), value: 5, ends: 'unusable' },
  {
    name: 'not of references',
    schema: fan('allOf', (inner) => ({ not: { not: inner } })),
    value: 'x',
    ends: 'unusable',
  },
  {
    name: 'if of references',
    schema: fan('allOf', (inner) => Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, inner]))),
    value: 'x',
    ends: 'unusable',
  },
  { name: 'a reference to itself', schema: { $ref: '#' }, value: 1, ends: 'unusable' },
  {
    name: 'two references in a circle',
    schema: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    value: 1,
    ends: 'unusable',
  },
  {
    name: 'a dynamic reference to itself',
    schema: { $dynamicAnchor: 'a', $dynamicRef: '#a' },
    value: 1,
    ends: 'unusable',
  },
  {
    name: 'a recursive reference to itself',
    schema: { $schema: 'https://json-schema.org/draft/2019-09/schema', $recursiveAnchor: true, $recursiveRef: '#' },
    value: 1,
    ends: 'unusable',
  },
  { name: 'not of itself', schema: { not: { $ref: '#' } }, value: 1, ends: 'unusable' },
  {
    name: 'a tree of itself on a deep value',
    schema: { items: { $ref: '#' } },
    value: nested(5_000, (inner) => [inner]),
    ends: 'unusable',
  },
  {
    name: 'a schema that is nested deeply',
    schema: nested(50_000, (inner) => ({ not: inner })),
    value: 1,
    ends: 'unusable',
  },
  {
    name: 'every item by every branch',
    schema: { items: { anyOf: Array.from({ length: 2_000 }, (_, i) => ({ const: `x${i}` })) } },
    value: MANY,
    ends: 'unusable',
  },
  { name: 'a pattern with nested repetitions', schema: { pattern: '^(a+)+$' }, value: `${A}!`, ends: 'finding' },
  { name: 'a pattern with overlapping choices', schema: { pattern: '^(a|a|aa)*$' }, value: `${A}!`, ends: 'finding' },
  { name: 'a pattern that looks ahead everywhere', schema: { pattern: '((?=.*b)a)*c' }, value: A, ends: 'unusable' },
  { name: 'a pattern with a back reference', schema: { pattern: '(a*)*\\1b' }, value: A, ends: 'unusable' },
  { name: 'a pattern that unfolds', schema: { pattern: '((a{100}){100}){100}' }, value: A, ends: 'unusable' },
  { name: 'a pattern of large repetitions', schema: { pattern: '(?:a?){900}b' }, value: A, ends: 'unusable' },
  {
    name: 'patternProperties that nest repetitions',
    schema: { patternProperties: { '^(a+)+$': { type: 'string' } } },
    value: { [`${A}!`]: 1 },
    ends: 'fits',
  },
  {
    name: 'thousands of patterns on thousands of names',
    schema: { patternProperties: Object.fromEntries(MANY.slice(0, 3_000).map((i) => [`^x${i}$`, false])) },
    value: WIDE,
    ends: 'unusable',
  },
  {
    name: 'propertyNames with a pattern',
    schema: { propertyNames: { pattern: '^(k|ke|key|\\w)+!$' } },
    value: WIDE,
    ends: 'finding',
  },
  { name: 'uniqueItems on a long list', schema: { uniqueItems: true }, value: MANY, ends: 'fits' },
  {
    name: 'uniqueItems on equal deep values',
    schema: { uniqueItems: true },
    value: Array.from({ length: 2_000 }, () => nested(500, (inner) => [inner])),
    ends: 'unusable',
  },
  {
    name: 'uniqueItems at each level of a tree',
    schema: { uniqueItems: true, items: { $ref: '#' } },
    value: nested(18, (inner) => [inner, [inner]]),
    ends: 'unusable',
  },
  {
    name: 'a huge enum for each item',
    schema: { items: { enum: MANY.map(String) } },
    value: MANY.map(String),
    ends: 'fits',
  },
  {
    name: 'a huge const for each item',
    schema: { items: { const: MANY } },
    value: MANY.slice(0, 5_000),
    ends: 'unusable',
  },
  {
    name: 'unevaluatedProperties below many branches',
    schema: {
      allOf: Array.from({ length: 2_000 }, () => ({ anyOf: [{ patternProperties: { '': true } }] })),
      unevaluatedProperties: false,
    },
    value: WIDE,
    ends: 'unusable',
  },
  {
    name: 'unevaluatedItems at each level',
    schema: { unevaluatedItems: { $ref: '#' }, anyOf: [{ prefixItems: [true] }, { contains: { type: 'array' } }] },
    value: nested(200, (inner) => [inner, inner]),
    ends: 'fits',
  },
  {
    name: 'contains of contains',
    schema: { contains: { $ref: '#' } },
    value: nested(18, (inner) => [inner, inner], []),
    ends: 'unusable',
  },
  {
    name: 'dependentSchemas of each name',
    schema: {
      dependentSchemas: Object.fromEntries(NAMES.map((name) => [name, { required: NAMES }])),
    },
    value: WIDE,
    ends: 'unusable',
  },
  {
    name: 'an e-mail address of nothing but dots',
    schema: { format: 'email' },
    value: `${'a.'.repeat(500_000)}@`,
    ends: 'finding',
  },
  {
    name: 'an address of nothing but percent signs',
    schema: { format: 'uri' },
    value: `a:${'%'.repeat(1_000_000)}`,
    ends: 'finding',
  },
  { name: 'a duration of digits', schema: { format: 'duration' }, value: `P${'1'.repeat(1_000_000)}`, ends: 'finding' },
  { name: 'a host name of hyphens', schema: { format: 'hostname' }, value: '-'.repeat(1_000_000), ends: 'finding' },
  { name: 'an IPv6 address of colons', schema: { format: 'ipv6' }, value: ':'.repeat(1_000_000), ends: 'finding' },
  {
    name: 'a regular expression as a value',
    schema: { format: 'regex' },
    value: '('.repeat(1_000_000),
    ends: 'finding',
  },
  { name: 'a multiple of the smallest number', schema: { multipleOf: 5e-324 }, value: 1.7e308, ends: 'fits' },
  { name: 'more findings than anybody reads', schema: { items: { type: 'string' } }, value: MANY, ends: 'finding' },
  {
    name: 'names of the host',
    schema: JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["toString"]}',
    ) as unknown,
    value: {},
    ends: 'finding',
  },
  {
    name: 'a reference out of the document',
    schema: { $ref: 'http://127.0.0.1:9/schema.json' },
    value: 1,
    ends: 'unusable',
  },
  {
    name: 'thousands of documents',
    schema: { allOf: MANY.slice(0, 20_000).map((i) => ({ $id: `http://h/${i}`, $anchor: 'a' })) },
    value: 1,
    ends: 'unusable',
  },
];
