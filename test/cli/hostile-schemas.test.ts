import { describe, expect, test } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** Twelve levels of eight references: 8^12 checks for whoever follows them all. */
const LEVELS = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [
    `l${i}`,
    { allOf: Array.from({ length: 8 }, () => ({ $ref: `#/$defs/l${i + 1}` })) },
  ]),
);
const SCHEMAS = {
  'references that multiply': { $ref: '#/$defs/l0', $defs: { ...LEVELS, l12: { type: 'object' } } },
  'a pattern that looks ahead from everywhere': { properties: { a: { pattern: '((?=.*b)a)*c' } } },
  'a reference to itself': { $ref: '#' },
};
const ANSWER = `rules: [{ answer: { json: { a: ${'a'.repeat(20_000)} } }, repeat: true }]\n`;

describe.each(Object.entries(SCHEMAS))('an answer that is checked by %s', (_, schema) => {
  const flow = `agents: { root: { model: openai/m, instruction: p, structured_output: { name: o, schema: ${JSON.stringify(schema)} } } }
workflow: [{ type: agent, name: root }]
`;

  test('[XS5] fails the step with a clear error, and so does a resume', async () => {
    const cwd = await makeProject({ 'flow.yaml': flow, 'mine.yaml': ANSWER });
    for (const words of [
      ['run', 'flow.yaml'],
      ['resume', '-1'],
    ]) {
      const end = await served([...words, '--mock=mine.yaml'], { cwd });
      expect(end.code).toBe(3);
      expect(end.stderr).toContain("the schema can't be used: ");
    }
  });
});

test('[XS5] a pattern that makes backtracking matchers hang is checked at once', async () => {
  const schema = JSON.stringify({ properties: { a: { pattern: '^(a+)+$' } } });
  const cwd = await makeProject({
    'flow.yaml': `agents: { root: { model: openai/m, instruction: p, structured_output: { name: o, schema: ${schema} } } }\nworkflow: [{ type: agent, name: root }]\n`,
    'mine.yaml': ANSWER.replace('aaaa } }', 'aaaa! } }'),
  });
  const end = await served(['run', 'flow.yaml', '--mock=mine.yaml'], { cwd });
  expect(end.code).toBe(3);
  expect(end.stderr).toContain('/a: must match the pattern');
});
