import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryStore } from 'skein';
import { doneKeys, prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { dag, pipeline, ran, step } from './loops.js';

const agent = (id: string): string => `{ id: ${id}, type: agent, name: w, prompt: "${id}?" }`;
const END = '{ id: stop, type: end, status: failed, reason: enough }';
const DAG_END = END.replace('reason', 'depends_on: [x], reason');
const LIST = { list: ['{"all": [1, 2]}'] };
/** No other file. */
const NONE = '';
const CALL = '{ id: call, type: call, file: inner.yaml }';

const BLOCKS: readonly (readonly [string, string, string])[] = [
  [
    'a map of a pipeline',
    pipeline(
      '{ id: list, type: agent, name: l }',
      `{ id: each, type: map, over: $steps.list.output.all, steps: [${agent('x')}, ${END.replace('reason', 'when: "{{ $index == 1 }}", reason')}, ${agent('y')}] }`,
      agent('z'),
    ),
    NONE,
  ],
  [
    'a parallel block of a pipeline',
    pipeline(
      agent('a'),
      `{ id: both, type: parallel, steps: [${agent('x')}, { id: s, type: sequence, steps: [${agent('y')}, ${END}] }] }`,
    ),
    NONE,
  ],
  ['a file that a pipeline calls', pipeline(agent('a'), CALL, agent('z')), pipeline(agent('x'), END)],
  [
    'a map of a DAG workflow',
    dag(
      `{ id: list, agent: w, prompt: List., schema: { all: [number] } }`,
      `{ id: each, depends_on: [list], type: map, over: steps.list.output.all, steps: [${step('x', 'x?')}, ${DAG_END.replace('reason', "condition: { cel: 'index == 1' }, reason")}, ${step('y', 'y?', 'depends_on: [stop]')}] }`,
      step('z', 'z?', 'depends_on: [each]'),
    ),
    NONE,
  ],
  [
    'steps side by side in a DAG workflow',
    dag(step('a', 'a?'), step('x', 'x?', 'depends_on: [a]'), step('y', 'y?', 'depends_on: [a]'), DAG_END),
    NONE,
  ],
  [
    'a file that a DAG workflow calls',
    dag(step('a', 'a?'), CALL.replace('type', 'depends_on: [a], type'), step('z', 'z?', 'depends_on: [call]')),
    dag(step('x', 'x?'), DAG_END),
  ],
];

/** What ran, by path. */
const paths = (asked: readonly string[]): readonly string[] => asked.map((each) => each.split(':')[0] ?? '');

describe('[addition 9] a run that is killed at any record ends as it would have, and stays ended: an end in', () => {
  it.each(BLOCKS)('%s', async (_, text, inner) => {
    const cwd = mkdtempSync(join(tmpdir(), 'skein-ends-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    writeFileSync(join(cwd, 'flow.yaml'), text);
    if (inner !== NONE) writeFileSync(join(cwd, 'inner.yaml'), inner);
    const store = memoryStore();
    const first = await ran('flow.yaml', LIST, { store, runId: 'r' }, cwd);
    expect([first.outcome, first.error?.code, first.error?.message]).toEqual(['failed', 'SKEIN_ENDED', 'enough']);
    expect(paths(first.asked)).not.toContain('z');
    const again = await ran('flow.yaml', LIST, { store, resume: 'r' }, cwd);
    expect([again.outcome, again.error, again.asked]).toEqual(['failed', first.error, []]);
    const fork = await ran('flow.yaml', LIST, { store, fork: { run: 'r' } }, cwd);
    expect([fork.outcome, fork.error, fork.asked]).toEqual(['failed', first.error, []]);
    for (const prefix of prefixesOf('r', store.read('r'))) {
      const copy = storeWith('r', prefix.batches, store);
      const next = await ran('flow.yaml', LIST, { store: copy, resume: 'r' }, cwd);
      expect([prefix.name, next.outcome, next.error]).toEqual([prefix.name, 'failed', first.error]);
      const done = doneKeys(prefix.lines);
      expect([prefix.name, paths(next.asked).filter((path) => done.includes(`${path}@model#1`))]).toEqual([
        prefix.name,
        [],
      ]);
      expect(paths(next.asked)).not.toContain('z');
    }
  });
});
