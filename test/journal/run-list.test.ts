import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRun } from '../../src/journal/overview.js';
import { listRuns } from '../../src/journal/run-list.js';
import type { Store } from '../../src/journal/store.js';
import { definePlan } from '../../src/plan/builder.js';
import type { RunOptions, Runnable } from '../../src/runtime.js';
import { run } from '../../src/runtime.js';
import { openSqliteStore } from '../../src/stores/sqlite.js';
import { closing, tempFolder } from '../stores/support/stores.js';
import { REAL_RUNS, recordReal, writeNotes } from './real-runs.js';

const OPEN = new Set(['running', 'interrupted', 'paused']);

/** What the list says of a run, from its record. */
function toldByRecord(store: Store, id: string) {
  const { name, status, ms, steps, questions, beganAt } = readRun(store, id);
  const ended = steps.filter(({ outcome }) => !OPEN.has(outcome)).length;
  return { id, name, status, ms, steps: ended, pauses: questions.length, beganAt };
}

/** A store that counts how often a journal is read. */
function counting(store: Store): { readonly store: Store; readonly reads: () => number } {
  let reads = 0;
  const counted = new Proxy(store, {
    get(target, name) {
      if (name === 'read') reads += 1;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { store: counted, reads: () => reads };
}

const runs: Readonly<Record<string, Runnable>> = {
  'a chain': definePlan({
    name: 'chain',
    nodes: ['a', 'b', 'c'].map((id) => ({ id, run: () => ({ [id]: 1 }) })),
    edges: [['a', 'b', 'c']],
  }),
  'one that fails': definePlan({
    name: 'failing',
    nodes: [
      { id: 'a', run: () => ({ a: 1 }) },
      {
        id: 'b',
        run: () => {
          throw new Error('no');
        },
      },
      { id: 'c', run: () => ({ c: 1 }) },
    ],
    edges: [['a', 'b', 'c']],
  }),
  'one that asks': definePlan({
    name: 'asking',
    nodes: [
      { id: 'a', run: () => ({ a: 1 }) },
      { id: 'ask', kind: 'ask', question: 'Go on?', output: 'said' },
    ],
    edges: [['a', 'ask']],
  }),
};

async function fileStore(): Promise<Store> {
  return closing(await openSqliteStore(join(tempFolder(), 'skein.db')));
}

describe('what a list says of a run', () => {
  it.each(Object.entries(runs))(
    '[XF6] %s: it is what its record says, and no journal is read for it',
    async (_, plan) => {
      const { store, reads } = counting(await fileStore());
      const options: RunOptions = { store, models: { env: {} } };
      const { runId } = await run(plan, options).result;
      const told = toldByRecord(store, runId);
      const before = reads();
      expect(listRuns(store)).toEqual([told]);
      expect(reads()).toBe(before);
      await run(plan, { ...options, resume: runId }).result;
      const again = toldByRecord(store, runId);
      expect(again.ms).toBeGreaterThanOrEqual(told.ms);
      expect(listRuns(store)).toEqual([again]);
    },
  );

  it.each(REAL_RUNS)('[XF6] $name: it is what its record says', async ({ workflow, inputs }) => {
    const store = await fileStore();
    const cwd = tempFolder();
    await writeNotes(cwd);
    const { runId } = await recordReal(await workflow(), { store, cwd, asked: [], inputs });
    expect(listRuns(store)).toEqual([toldByRecord(store, runId)]);
  });

  it('[XF6] a run that runs is told as it stands, without its journal', async () => {
    const { store, reads } = counting(await fileStore());
    let free: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    const nodes = ['a', 'b', 'c'].map((id) => ({
      id,
      run: () => new Promise((done) => setTimeout(done, 150, { [id]: 1 })),
    }));
    let begin: (() => void) | undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const last = {
      id: 'd',
      async run() {
        begin?.();
        await held;
        return { d: 1 };
      },
    };
    const plan = definePlan({ name: 'long', nodes: [...nodes, last], edges: [['a', 'b', 'c', 'd']] });
    const { result } = run(plan, { store, models: { env: {} } });
    await begun;
    const before = reads();
    const [told] = listRuns(store);
    expect(told).toMatchObject({ status: 'running', pauses: 0 });
    expect(told?.steps).toBeGreaterThan(0);
    expect(reads()).toBe(before);
    free?.();
    await result;
    expect(listRuns(store)).toMatchObject([{ status: 'succeeded', steps: 4 }]);
  });
});

it('[XF6] a store that an older Skein wrote is gone through once', async () => {
  const file = join(tempFolder(), 'skein.db');
  copyFileSync(join(import.meta.dirname, '../stores/golden/tables-1.db'), file);
  const { store, reads } = counting(closing(await openSqliteStore(file)));
  const first = listRuns(store);
  expect(first.map(({ status, steps, pauses }) => [status, steps, pauses])).toEqual([
    ['interrupted', 1, 0],
    ['paused', 0, 1],
    ['succeeded', 2, 0],
    ['succeeded', 2, 0],
    ['succeeded', 2, 0],
  ]);
  const before = reads();
  expect(before).toBeGreaterThanOrEqual(5);
  expect(listRuns(store)).toEqual(first);
  expect(reads()).toBe(before);
});
