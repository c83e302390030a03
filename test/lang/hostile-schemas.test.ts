import { expect, test } from 'vitest';
import { schemaFindings } from '../../src/lang/schema-check.js';
import { HOSTILE_SCHEMAS } from '../hostile/schemas.js';

test.each(HOSTILE_SCHEMAS)('[XS5] $name: $ends', ({ schema, value, ends }) => {
  const findings = schemaFindings(schema, value);
  const unusable = findings.some((finding) => finding.startsWith("the schema can't be used: "));
  expect(unusable ? 'unusable' : findings.length > 0 ? 'finding' : 'fits', findings.join('\n')).toBe(ends);
  expect(findings.length).toBeLessThanOrEqual(10);
  expect(findings.join('').length).toBeLessThan(5_000);
});
