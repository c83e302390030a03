import { expect, it } from 'vitest';
import { freezeData } from '../../src/base/json.js';
import { schemaFindings } from '../../src/lang/schema-check.js';

const FILES = {
  type: 'object',
  properties: { files: { type: 'array', items: { type: 'string' } } },
  required: ['files'],
};

it('a value that matches has no findings', () => {
  expect(schemaFindings(FILES, { files: ['a.ts'] })).toEqual([]);
  expect(schemaFindings({ enum: ['allow', 'deny'] }, 'deny')).toEqual([]);
  expect(schemaFindings(true, 1)).toEqual([]);
});

it('a frozen schema, as those of plans are, is used like any other', () => {
  const frozen = freezeData({ type: 'object', properties: { n: { type: 'integer' } } });
  expect(schemaFindings(frozen, { n: 3 })).toEqual([]);
  expect(schemaFindings(frozen, { n: 'x' })).toHaveLength(1);
});

it('findings name the place, not every level above it', () => {
  const findings = schemaFindings(FILES, { files: ['a', 5] });
  expect(findings).toHaveLength(1);
  expect(findings[0]).toMatch(/^\/files\/1: .*string/);
  expect(schemaFindings(FILES, {})[0]).toContain('files');
  expect(schemaFindings({ enum: ['allow', 'deny'] }, 'maybe')).toHaveLength(1);
});

it('at most ten are given', () => {
  const findings = schemaFindings(FILES, { files: Array.from({ length: 40 }, (_, i) => i) });
  expect(findings).toHaveLength(10);
});

it('what is not a valid schema, or one that can not be used, is a finding and no exception', () => {
  expect(schemaFindings('text', 1)).toEqual(['the schema is not a valid JSON Schema']);
  expect(schemaFindings({ $ref: '#/nowhere' }, 1)[0]).toContain("the schema can't be used");
});
