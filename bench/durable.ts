import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { END, run } from '../src/index.js';
import type { Bindings, Plan, TaskNode } from '../src/plan/plan.js';
import { definePlan } from '../src/index.js';
import { openSqliteStore } from '../src/sqlite.js';
import { median, printTable } from './measure.js';

const BYTES = 300;
const PAYLOAD = 'x'.repeat(BYTES - 30);
const ROUNDS = 5;
const BASE = { format: 1, inputs: [], channels: [], edges: [], routes: [] } as const;

/** A workflow with its functions. */
interface Job {
  readonly plan: Plan;
  readonly bindings: Bindings;
}

/** A node that a route sends back to itself, `steps` times; each time it writes `BYTES` bytes. */
function sequence(steps: number): Job {
  const plan: Plan = {
    ...BASE,
    name: 'sequence',
    entry: 'work',
    nodes: [{ id: 'work', kind: 'task', output: 'last' }],
    routes: [{ from: 'work', choose: 'code', targets: ['work', END] }],
    limits: { maxSteps: steps + 1 },
  };
  const count = (state: Readonly<Record<string, unknown>>): number =>
    (state['last'] as { readonly n: number } | undefined)?.n ?? 0;
  return {
    plan,
    bindings: {
      work: (state: Readonly<Record<string, unknown>>) => ({ n: count(state) + 1, text: PAYLOAD }),
      'route:work': (state: Readonly<Record<string, unknown>>) => (count(state) < steps ? 'work' : END),
    },
  };
}

/** `width` nodes that end together; each writes `BYTES` bytes. */
function together(width: number): Job {
  const nodes = Array.from({ length: width }, (_, at): TaskNode => ({ id: `b${at}`, kind: 'task', output: `b${at}` }));
  const body = async (): Promise<unknown> => {
    await Promise.resolve();
    return { text: PAYLOAD };
  };
  return {
    plan: { ...BASE, name: 'together', nodes },
    bindings: Object.fromEntries(nodes.map((node) => [node.id, body])),
  };
}

/** A loop whose every step appends `bytes` bytes to a list. */
function growingList(steps: number, bytes: number, eachTenth: () => void): Job {
  const item = 'y'.repeat(bytes - 10);
  let done = 0;
  const { plan, bindings } = definePlan({
    name: 'growing-list',
    nodes: [{ id: 'work', kind: 'task', writes: ['list', 'n'], run: () => undefined }],
  });
  return {
    plan: {
      ...plan,
      entry: 'work',
      channels: [{ name: 'list', reducer: 'append' }, { name: 'n' }],
      routes: [{ from: 'work', choose: 'code', targets: ['work', END] }],
      limits: { maxSteps: steps + 1 },
    },
    bindings: {
      ...bindings,
      work: () => {
        if (done % (steps / 10) === 0) eachTenth();
        done += 1;
        return { list: item, n: done };
      },
      'route:work': (state: Readonly<Record<string, unknown>>) => (Number(state['n']) < steps ? 'work' : END),
    },
  };
}

/** Milliseconds of single-row transactions, as one writes them by hand. */
function bare(folder: string, rows: number): number {
  const database = new Database(join(folder, `bare-${performance.now()}.db`));
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)',
  );
  const insert = database.prepare('INSERT INTO t (v) VALUES (?)');
  const text = JSON.stringify({ n: 1, text: PAYLOAD });
  const start = performance.now();
  for (let row = 0; row < rows; row++) insert.run(text);
  const took = performance.now() - start;
  database.close();
  return took;
}

/** Milliseconds of a recorded run, from its start to its committed end. */
async function recorded(folder: string, job: Job): Promise<number> {
  const store = await openSqliteStore(join(folder, `skein-${performance.now()}.db`));
  const start = performance.now();
  const result = await run(job, { store }).result;
  const took = performance.now() - start;
  if (result.outcome !== 'succeeded') throw new Error(`the run ${result.outcome}: ${result.error?.message ?? ''}`);
  store.close();
  return took;
}

async function medianOf(job: () => number | Promise<number>): Promise<number> {
  const times: number[] = [];
  await job();
  for (let round = 0; round < ROUNDS; round++) times.push(await job());
  return median(times);
}

interface Row {
  readonly name: string;
  readonly figure: string;
  readonly compared: string;
  readonly goal: string;
  readonly held: boolean;
}

async function rates(folder: string): Promise<Row[]> {
  const [rows, width] = [2_000, 1_000];
  const raw = ((await medianOf(() => bare(folder, rows))) * 1_000) / rows;
  const sequential = ((await medianOf(() => recorded(folder, sequence(rows)))) * 1_000) / rows;
  const concurrent = ((await medianOf(() => recorded(folder, together(width)))) * 1_000) / width;
  const us = (value: number): string => `${value.toFixed(1)} us`;
  return [
    { name: `bare single-row transaction, ${BYTES} bytes`, figure: us(raw), compared: '1.00', goal: '', held: true },
    {
      name: 'sequential step, recorded',
      figure: us(sequential),
      compared: (sequential / raw).toFixed(2),
      goal: '<= 2.00',
      held: sequential <= 2 * raw,
    },
    {
      name: `step of ${width} at once, recorded`,
      figure: us(concurrent),
      compared: (concurrent / raw).toFixed(2),
      goal: '<= 0.40',
      held: concurrent <= 0.4 * raw,
    },
  ];
}

async function growth(folder: string): Promise<Row[]> {
  const [steps, bytes] = [2_000, 1_000];
  const marks: number[] = [];
  const file = join(folder, 'list.db');
  const store = await openSqliteStore(file);
  const result = await run(
    growingList(steps, bytes, () => marks.push(performance.now())),
    { store },
  ).result;
  marks.push(performance.now());
  store.close();
  if (result.outcome !== 'succeeded') throw new Error(result.error?.message);
  const size = statSync(file).size / (steps * bytes);
  const tenth = (at: number): number => (marks[at + 1] ?? 0) - (marks[at] ?? 0);
  const flat = tenth(9) / tenth(1);
  return [
    {
      name: `list of ${steps} x ${bytes} bytes: a step`,
      figure: `${((((marks.at(-1) ?? 0) - (marks[0] ?? 0)) * 1_000) / steps).toFixed(1)} us`,
      compared: `last/second tenth ${flat.toFixed(2)}`,
      goal: '<= 1.50',
      held: flat <= 1.5,
    },
    {
      name: 'the same: bytes on disk',
      figure: `${(statSync(file).size / 1e6).toFixed(1)} MB`,
      compared: `${size.toFixed(2)} x produced`,
      goal: '<= 2.50',
      held: size <= 2.5,
    },
  ];
}

/** From opening the store to the first step that is not in the record. */
async function resumption(folder: string): Promise<Row[]> {
  const steps = 10_000;
  const file = join(folder, 'resume.db');
  const first = await openSqliteStore(file);
  const failing = sequence(steps + 1);
  const { work } = failing.bindings as { readonly work: (state: Readonly<Record<string, unknown>>) => { n: number } };
  let broken = true;
  let reached = 0;
  const job: Job = {
    plan: failing.plan,
    bindings: {
      ...failing.bindings,
      work: (state: Readonly<Record<string, unknown>>) => {
        const update = work(state);
        if (update.n <= steps) return update;
        reached = performance.now();
        if (broken) throw new Error('stopped');
        return update;
      },
    },
  };
  const { runId } = await run(job, { store: first }).result;
  first.close();
  broken = false;
  const start = performance.now();
  const store = await openSqliteStore(file);
  const result = await run(job, { store, resume: runId }).result;
  store.close();
  if (result.outcome !== 'succeeded') throw new Error(result.error?.message);
  const took = reached - start;
  return [
    {
      name: `resume: ${steps} recorded steps to the first new one`,
      figure: `${took.toFixed(0)} ms`,
      compared: `${((took * 1_000) / steps).toFixed(1)} us a step`,
      goal: '< 1000 ms',
      held: took < 1_000,
    },
  ];
}

/** What it costs to record a run, beside the bare database. */
export async function benchDurable(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-bench-'));
  try {
    const rows = [...(await rates(folder)), ...(await growth(folder)), ...(await resumption(folder))];
    printTable(
      `Recorded runs on SQLite (libsql, WAL, fast), median of ${ROUNDS}`,
      ['', 'figure', 'compared', 'goal', ''],
      rows.map(({ name, figure, compared, goal, held }) => [name, figure, compared, goal, held ? 'held' : 'NOT held']),
    );
    return rows.filter(({ held }) => !held).map(({ name, compared, goal }) => `${name}: ${compared}, goal ${goal}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
