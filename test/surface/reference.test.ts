import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from 'skein';
import type { SkeinEvent } from 'skein';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/reference.md'), 'utf8');

/** The names in the first cells of the tables below a heading. */
function listed(heading: string): readonly string[] {
  const [, section = ''] = PAGE.split(`\n${heading}\n`);
  const [own = ''] = section.split(/\n#+ /);
  return own
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

type Note = Extract<SkeinEvent, { readonly type: 'step.note' }>['note'];

/** The compiler asks for each type of an event and each kind of a note: one that is new has to be added here, and then to the page. */
const EVENTS: Readonly<Record<SkeinEvent['type'] | Note['kind'], true>> = {
  'run.started': true,
  'run.resumed': true,
  'run.warning': true,
  'run.ended': true,
  'step.started': true,
  'step.retrying': true,
  'step.ended': true,
  'step.note': true,
  prompt: true,
  'model.queued': true,
  'model.admitted': true,
  'budget.waiting': true,
  'budget.admitted': true,
  'model.started': true,
  'model.delta': true,
  'model.ended': true,
  'model.failed': true,
  'model.retrying': true,
  'model.fallback': true,
  'inner.call': true,
  'tool.started': true,
  'tool.ended': true,
  question: true,
  answer: true,
  items: true,
  rounds: true,
  'loop.round': true,
  'loop.repeated': true,
  'loop.oscillating': true,
  'loop.capped': true,
  memory: true,
  event: true,
  warning: true,
  'supervision.commit': true,
  'supervision.post': true,
  'supervision.reconcile': true,
  'supervision.verdict': true,
  'supervision.corrected': true,
  'supervision.accepted': true,
  'approval.requested': true,
  'approval.decided': true,
  'guard.decided': true,
  'guard.verdict': true,
  'guard.label': true,
  'guard.endorsed': true,
};

describe('the reference', () => {
  test('lists each code of an error once', () => {
    expect(listed('## Errors').toSorted()).toEqual([...ERROR_CODES].toSorted());
  });

  test('lists each type of an event and each kind of a note once', () => {
    expect(listed('## Events').toSorted()).toEqual(Object.keys(EVENTS).toSorted());
  });

  test.each([
    ['skein', () => import('skein')],
    ['skein/graph', () => import('skein/graph')],
    ['skein/tree', () => import('skein/tree')],
    ['skein/machine', () => import('skein/machine')],
    ['skein/yaml', () => import('skein/yaml')],
    ['skein/sqlite', () => import('skein/sqlite')],
    ['skein/testing', () => import('skein/testing')],
    ['skein/agent', () => import('skein/agent')],
  ])('lists each name of %s once', async (name, load) => {
    expect(listed(`### \`${name}\``).toSorted()).toEqual(Object.keys(await load()).toSorted());
  });
});
