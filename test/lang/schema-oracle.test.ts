import { Validator } from '@cfworker/json-schema';
import type { Schema } from '@cfworker/json-schema';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { schemaFindings } from '../../src/lang/schema-check.js';
import { cases } from '../thorough.js';

const NAMES = ['a', 'b', 'ab', 'c'];
const name = fc.constantFrom(...NAMES);
const small = fc.integer({ min: 0, max: 3 });
const scalar = fc.constantFrom(
  null,
  true,
  0,
  1,
  2,
  1.5,
  -3,
  '',
  'a',
  'ab',
  'abc',
  '2024-02-30',
  '2024-02-29',
  '\u{1F600}',
);

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}));

/** Schemas of what the two have in common; both are asked about the same values. */
const { schema } = fc.letrec<{ schema: unknown; list: unknown[]; map: Record<string, unknown> }>((tie) => ({
  list: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
  map: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
  schema: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.boolean(),
    fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object'),
          fc.subarray(['null', 'integer', 'string', 'array', 'object'], { minLength: 1 }),
        ),
        enum: fc.array(value, { minLength: 1, maxLength: 4 }),
        const: value,
        minimum: small,
        exclusiveMaximum: small,
        multipleOf: fc.constantFrom(1, 0.5, 2),
        minLength: small,
        maxLength: small,
        pattern: fc.constantFrom('^a', 'b$', '^(a|ab)+$', '[^a]', '^(?=.*b)a'),
        format: fc.constantFrom('date', 'ipv4'),
        required: fc.subarray(NAMES),
        dependentRequired: fc.dictionary(name, fc.subarray(NAMES), { maxKeys: 2 }),
        minItems: small,
        maxItems: small,
        uniqueItems: fc.boolean(),
        minProperties: small,
        maxProperties: small,
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        properties: tie('map'),
        patternProperties: fc.record({ '^a': tie('schema'), b: tie('schema') }, { requiredKeys: [] }),
        additionalProperties: tie('schema'),
        propertyNames: tie('schema'),
        dependentSchemas: tie('map'),
        prefixItems: tie('list'),
        items: tie('schema'),
        contains: tie('schema'),
        minContains: small,
        maxContains: small,
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        allOf: tie('list'),
        anyOf: tie('list'),
        oneOf: tie('list'),
        not: tie('schema'),
        ...Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, tie('schema')])),
        $ref: fc.constantFrom('#/$defs/one', '#/$defs/two', '#two'),
      },
      { requiredKeys: [] },
    ),
  ),
}));

const document = fc
  .tuple(schema, schema, schema)
  // The definitions refer to nothing that refers back, so that every check ends.
  .map(([root, one, two]) => {
    const leaf = JSON.parse(JSON.stringify(two).replaceAll(/"\$ref":"[^"]*"/g, '"$comment":""')) as unknown;
    const inner = JSON.parse(JSON.stringify(one).replaceAll(/"\$ref":"[^"]*"/g, '"$ref":"#two"')) as unknown;
    const anchored =
      typeof leaf === 'object' && leaf !== null ? { ...leaf, $anchor: 'two' } : { $anchor: 'two', not: !leaf };
    return { allOf: [root], $defs: { one: inner, two: anchored } };
  });

test('a value fits a schema here if, and only if, it fits by an implementation of its own', () => {
  fc.assert(
    fc.property(document, value, (given, instance) => {
      const copy = JSON.parse(JSON.stringify(given)) as Schema;
      const expected = new Validator(copy, '2020-12', false).validate(instance).valid;
      const findings = schemaFindings(given, instance);
      expect(findings.length === 0, findings.join('\n')).toBe(expected);
    }),
    { numRuns: cases(500) },
  );
});
