import { expect, test } from 'vitest';
import type { Definition } from '../../../src/plan/builder-input.js';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { doneKeys, linesOf, prefixesOf, storeWith } from './in-process.js';

interface Round {
  readonly log?: readonly string[];
}

/** A text that is approved in its third round; the step behind it fails, which is ignored. */
function workflow(performed: string[]): Definition {
  const step = (word: string) => {
    performed.push(word);
    return { log: word };
  };
  return definePlan({
    name: 'approved',
    channels: { log: 'append' },
    entry: 'start',
    nodes: [
      { id: 'start', kind: 'pass' },
      { id: 'write', run: ({ log = [] }: Round) => step(`write after ${log.length}`) },
      {
        id: 'qa',
        output: 'verdict',
        run: ({ log = [] }: Round) => (step('qa'), log.length < 3 ? 'no' : '{"ok":"yes"}'),
      },
      { id: 'check', kind: 'pass' },
      { id: 'again', kind: 'pass', maxVisits: 5, onMaxVisits: { fail: 'too often' } },
      {
        id: 'shaky',
        onError: 'ignore',
        run: () => {
          step('shaky');
          throw new Error('shaky');
        },
      },
      { id: 'publish', run: () => step('publish') },
    ],
    edges: [
      ['start', 'write', 'qa', 'check'],
      ['again', 'write'],
      ['shaky', 'publish'],
    ],
    routes: [
      {
        from: 'check',
        cases: [{ when: { op: 'truthy', value: { channel: 'verdict', path: ['ok'] }, text: 'ok' }, to: 'shaky' }],
        otherwise: 'again',
      },
    ],
  });
}

const WORK = ['write after 0', 'qa', 'write after 1', 'qa', 'write after 2', 'qa', 'shaky', 'publish'];
const KEYS = ['write', 'qa', 'write#2', 'qa#2', 'write#3', 'qa#3', 'shaky', 'publish'];

test('a run with them records what did something, and nothing else', async () => {
  const performed: string[] = [];
  const store = memoryStore();
  const result = await run(workflow(performed), { store, runId: 'r' }).result;
  expect([result.outcome, performed]).toEqual(['degraded', WORK]);
  expect([result.ran, result.census.succeeded, result.census.degraded]).toEqual([8, 7, 1]);
  const lines = linesOf(store, 'r');
  expect(doneKeys(lines)).toEqual(KEYS);
  const others = lines.filter((line) => /"(?:key|path)":"(?:start|check|again)[^"]*"/.test(line));
  expect(others).toHaveLength(1);
  expect(others[0]).toContain('"outcome":"skipped"');
});

test('a run that goes on from any beginning of its record repeats nothing and comes to the same end', async () => {
  const store = memoryStore();
  const first = await run(workflow([]), { store, runId: 'r' }).result;
  let resumed = 0;
  for (const { name, batches, lines } of prefixesOf('r', store.read('r'))) {
    // After the end of a degraded session its failure is tried again.
    if (lines.some((line) => line.includes('"t":"end"'))) continue;
    const performed: string[] = [];
    const copy = storeWith('r', batches, store);
    const result = await run(workflow(performed), { store: copy, resume: 'r' }).result;
    const done = doneKeys(lines);
    expect(performed, name).toEqual(WORK.slice(done.length));
    expect([result.outcome, result.state, result.census], name).toEqual([first.outcome, first.state, first.census]);
    expect(result.reused, name).toBe(done.filter((key) => key !== 'shaky').length);
    expect(doneKeys(linesOf(copy, 'r')), name).toEqual(KEYS);
    resumed += 1;
  }
  expect(resumed).toBeGreaterThan(KEYS.length);
});

test('a degraded run that is resumed tries again what failed, and reuses the rest', async () => {
  const store = memoryStore();
  await run(workflow([]), { store, runId: 'r' }).result;
  const performed: string[] = [];
  const result = await run(workflow(performed), { store, resume: 'r' }).result;
  expect([result.outcome, performed, result.reused]).toEqual(['degraded', ['shaky'], 7]);
});
