import { expect, test } from 'vitest';
import { checkPlan, definePlan } from 'skein';
import { agent, eventNode, graph, runNode } from 'skein/graph';
import type { Json } from '../../src/base/json.js';

const NOWHERE = { type: 'object', properties: { a: { $ref: '#/$defs/nowhere' } } };
const UNUSABLE = "can't be used: there is no schema at #/$defs/nowhere";

test.each([
  ['an event', eventNode('paid', { schema: NOWHERE })],
  ['a command', runNode(['ls'], { schema: NOWHERE })],
])('a schema by which no result of %s can be checked is a problem', (_, node) => {
  const flow = graph<{ task: string }>().node('v', node).setEntry('v');
  expect(() => flow.compile()).toThrow(`bad-schema: the schema of "v" ${UNUSABLE}`);
});

test('so is that of a question, and of an agent', () => {
  const { plan } = definePlan({ name: 'p', nodes: [{ id: 'q', kind: 'ask', question: 'Which?', schema: NOWHERE }] });
  expect(checkPlan(plan)).toMatchObject([
    { code: 'bad-schema', message: `the schema of "q" ${UNUSABLE}`, path: 'nodes[0].schema' },
  ]);
  expect(() => agent({ name: 'w', instructions: 'x', output: NOWHERE })).toThrow(
    `bad-schema: the schema of "w" ${UNUSABLE}`,
  );
});

test.each<[string, Json]>([
  ['a reference to the schema itself', { type: 'object', properties: { a: { $ref: '#' } } }],
  [
    'references by pointer, anchor and address',
    {
      $id: 'https://example.org/a',
      allOf: [{ $ref: '#/$defs/x%20y' }, { $ref: '#z' }, { $ref: 'b' }],
      $defs: { 'x y': {}, z: { $anchor: 'z' }, b: { $id: 'b' } },
    },
  ],
  ['a name that looks like a reference', { properties: { $ref: { type: 'string' } }, enum: [{ $ref: '#/nowhere' }] }],
  [
    'bounds of older drafts',
    { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true },
  ],
  ['a property named like a bound', { properties: { minimum: { type: 'string' }, pattern: true } }],
])('%s can be used', (_, schema) => {
  const { plan } = definePlan({ name: 'p', nodes: [{ id: 'q', kind: 'ask', question: 'Which?', schema }] });
  expect(checkPlan(plan)).toEqual([]);
});
