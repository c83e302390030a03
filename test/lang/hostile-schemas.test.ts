import { expect, test } from 'vitest';
import { schemaFindings } from '../../src/lang/schema-check.js';
import { HOSTILE_SCHEMAS } from '../hostile/schemas.js';

// A table of `test.each` would write out each row for its title: seconds for these values.
for (const { name, schema, value, ends } of HOSTILE_SCHEMAS) {
  test(`[XS5] ${name}: ${ends}`, () => {
    const findings = schemaFindings(schema, value);
    const unusable = findings.some((finding) => finding.startsWith("the schema can't be used: "));
    expect(unusable ? 'unusable' : findings.length > 0 ? 'finding' : 'fits', findings.join('\n')).toBe(ends);
    expect(findings.length).toBeLessThanOrEqual(10);
    expect(findings.join('').length).toBeLessThan(5_000);
  });
}
