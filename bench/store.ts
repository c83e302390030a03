import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { definePlan, listRuns, run } from '../src/index.js';
import type { Store } from '../src/index.js';
import { openSqliteStore } from '../src/sqlite.js';
import { median, printTable } from './measure.js';

const FEW = 1_000;
const MANY = 50_000;
const GROWTH_GOAL = 1.5;
const LONGEST_STEP_GOAL = 200;
const SAMPLES = 5;

/** A store with runs that have ended long ago. */
async function filled(root: string, count: number): Promise<Store> {
  mkdirSync(join(root, '.skein'), { recursive: true });
  const store = await openSqliteStore(join(root, '.skein/skein.db'));
  const holder = { id: 'bench', host: 'bench', pid: 1 };
  for (let n = 0; n < count; n++) {
    const text = JSON.stringify({ n, fill: 'x'.repeat(400) });
    const lease = store.create({ id: `run-${n}`, name: 'bench', createdAt: n }, holder, n, { text, sum: 'none' });
    const standing = { batches: 1, steps: 3, ms: 10, pauses: [] };
    store.release(lease, { outcome: 'succeeded', endedAt: n, standing });
  }
  return store;
}

/** Microseconds a run that a list costs. */
function listing(store: Store, count: number): number {
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const start = performance.now();
    if (listRuns(store).length !== count) throw new Error('runs are missing in the list');
    times.push(((performance.now() - start) * 1_000) / count);
  }
  return median(times);
}

/** Milliseconds of the longest step of runs that record while another process removes the old ones, and how long that took. */
async function pruning(root: string, store: Store): Promise<{ readonly longest: number; readonly took: number }> {
  let longest = 0;
  let last = 0;
  const nodes = Array.from({ length: 500 }, (_, n) => ({
    id: `s${n}`,
    run: async () => {
      await pause(1);
      const now = performance.now();
      if (last > 0) longest = Math.max(longest, now - last);
      last = now;
      return { done: n };
    },
  }));
  const plan = definePlan({ name: 'row', nodes, edges: [nodes.map(({ id }) => id)], limits: { maxSteps: 501 } });
  const start = performance.now();
  const child = spawn(
    process.execPath,
    [join(process.cwd(), 'dist/cli/main.js'), 'runs', 'prune', '--older-than', '1d'],
    {
      cwd: root,
      stdio: 'ignore',
    },
  );
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  while (child.exitCode === null && child.signalCode === null) {
    last = 0;
    const { outcome, error } = await run(plan, { store }).result;
    if (outcome !== 'succeeded') throw new Error(`the run ${outcome}: ${error?.message ?? ''}`);
  }
  if ((await ended) !== 0) throw new Error('the runs were not removed');
  return { longest, took: performance.now() - start };
}

/** What a store of many runs costs. */
export async function benchStore(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-bench-'));
  try {
    const few = await filled(join(folder, 'few'), FEW);
    const many = await filled(join(folder, 'many'), MANY);
    const [one, other] = [listing(few, FEW), listing(many, MANY)];
    few.close();
    const { longest, took } = await pruning(join(folder, 'many'), many);
    many.close();
    const ratio = other / one;
    const rows = [
      {
        name: `list of ${FEW} and of ${MANY} runs`,
        figure: `${one.toFixed(1)} and ${other.toFixed(1)} us a run`,
        goal: `at most ${GROWTH_GOAL} times`,
        compared: `${ratio.toFixed(2)} times`,
        held: ratio <= GROWTH_GOAL,
      },
      {
        name: `prune of ${MANY} runs while a run records`,
        figure: `${(took / 1_000).toFixed(1)} s`,
        goal: `longest step at most ${LONGEST_STEP_GOAL} ms`,
        compared: `longest step ${longest.toFixed(0)} ms`,
        held: longest <= LONGEST_STEP_GOAL,
      },
    ];
    printTable(
      'A store of many runs',
      ['', 'figure', 'compared', 'goal', ''],
      rows.map((row) => [row.name, row.figure, row.compared, row.goal, row.held ? 'held' : 'NOT held']),
    );
    return rows.filter(({ held }) => !held).map(({ name, compared, goal }) => `${name}: ${compared}, goal ${goal}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
