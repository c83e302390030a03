import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Every way in which a run does something outside of itself, what decides about it before, and the file and the title of the test that shows it. */
const DOORS: readonly (readonly [door: string, decidedBy: string, file: string, title: string])[] = [
  ['a call that a model wants', 'agent/loop/guard.ts', 'guard/corpus.test.ts', 'a model that obeys every planted text'],
  [
    'all calls of a turn together',
    'agent/loop/guard.ts',
    'guard/questions.test.ts',
    'waits for a person, with all of its turn, who sees every call that waits and why',
  ],
  [
    'a call inside of a model call',
    'agent/loop/guard.ts',
    'guard/questions.test.ts',
    'a model that calls tools by itself, inside of its turn',
  ],
  [
    'a tool as a node of a graph',
    'runtime/guarding.ts',
    'guard/tools-of-steps.test.ts',
    'a tool that a step calls by itself',
  ],
  ['a tool step of a composition', 'runtime/guarding.ts', 'guard/tools-of-steps.test.ts', 'in a composition of a pack'],
  [
    'opening a tool server',
    'agent/permissions/policy-check.ts',
    'guard/policies.test.ts',
    'none is started or reached',
  ],
  [
    'a model call to an address of the file',
    'agent/models/endpoints.ts',
    'guard/named-addresses.test.ts',
    'is not reached when',
  ],
  ['a key for that address', 'agent/models/endpoints.ts', 'cli/key-hosts.test.ts', 'an address that only a file names'],
  ['a call of another file', 'cli/run/trust-gate.ts', 'hostile/checkouts.test.ts', 'before a yes'],
  ['an audit folder of the file', 'runtime/own-places.ts', 'guard/named-folders.test.ts', 'is not written to when'],
  [
    'what the file starts, reaches and reads elsewhere',
    'cli/run/trust-gate.ts',
    'hostile/checkouts.test.ts',
    'before a yes',
  ],
];

it.each(DOORS)('the door "%s" is decided by src/%s, shown by test/%s', (_door, decidedBy, file, title) => {
  const read = (...path: readonly string[]): string =>
    readFileSync(join(import.meta.dirname, '../..', ...path), 'utf8');
  expect(read('src', decidedBy)).not.toBe('');
  expect(read('test', file).includes(title)).toBe(true);
});
