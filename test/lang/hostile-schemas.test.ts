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
    expect(schemaFindings(schema, value), 'again').toEqual(findings);
  });
}

test('[XS5] a verdict does not depend on the checks before it', () => {
  // A check of so many parts takes the whole allowance nearly at once: what is kept of a schema is counted each time.
  const properties = Object.fromEntries(Array.from({ length: 8_000 }, (_, at) => [`p${at}`, { type: 'number' }]));
  const schema = { type: 'array', items: { properties } };
  const item = Object.fromEntries(Object.keys(properties).map((key) => [key, 1]));
  const verdicts = (count: number): string[][] => {
    const value = Array.from({ length: count }, () => item);
    return [schema, schema, structuredClone(schema)].map((one) => [...schemaFindings(one, value)]);
  };
  const counts = Array.from({ length: 12 }, (_, at) => at + 1);
  const all = counts.map(verdicts);
  for (const [first, again, fresh] of all) expect([again, fresh]).toEqual([first, first]);
  expect(all.map(([first]) => first?.length)).toContain(0);
  expect(all.map(([first]) => first?.length)).toContain(1);
});
