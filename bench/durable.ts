import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestText } from '../src/base/hash.js';
import { recordText } from '../src/base/json.js';
import { END, definePlan, run } from '../src/index.js';
import type { Runnable } from '../src/index.js';
import { openSqliteStore } from '../src/sqlite.js';
import { loadDriver } from '../src/stores/sqlite-driver.js';
import type { SqlDriver } from '../src/stores/sqlite-driver.js';
import { median, printTable } from './measure.js';
import { BYTES, PAYLOAD, sequence } from './plans.js';

const ROUNDS = 15;
/** How long a job runs before it is measured, in milliseconds. */
const WARM_UP = 1_000;

type State = Readonly<Record<string, unknown>>;

/** `steps` steps, each of a turn of the event loop: of one node that a route sends back to itself, or of a chain of nodes. */
function later(steps: number, loops: boolean): Runnable {
  const body = async (state: State): Promise<unknown> => {
    await new Promise((resolve) => setImmediate(resolve));
    return { n: Number(state['n'] ?? 0) + 1, text: PAYLOAD };
  };
  const node = (id: string) => ({ id, kind: 'task' as const, writes: ['n', 'text'], run: body });
  if (!loops) {
    const ids = Array.from({ length: steps }, (_, at) => `s${at}`);
    return definePlan({ name: 'chain', nodes: ids.map(node), edges: [ids] });
  }
  return definePlan({
    name: 'loop',
    entry: 'work',
    nodes: [node('work')],
    routes: [{ from: 'work', choose: (state) => (Number(state['n']) < steps ? 'work' : END), targets: ['work', END] }],
    limits: { maxSteps: steps + 1 },
  });
}

/** `width` nodes that end together; each writes `BYTES` bytes. */
function together(width: number): Runnable {
  const body = async (): Promise<unknown> => {
    await Promise.resolve();
    return { text: PAYLOAD };
  };
  return definePlan({
    name: 'together',
    nodes: Array.from({ length: width }, (_, at) => ({ id: `b${at}`, kind: 'task', output: `b${at}`, run: body })),
  });
}

/** A loop whose every step appends `bytes` bytes to a list; `eachStep` is called as it begins. */
function growingList(steps: number, bytes: number, eachStep: () => void): Runnable {
  const item = 'y'.repeat(bytes - 10);
  return definePlan({
    name: 'growing-list',
    entry: 'work',
    channels: { list: { reducer: 'append' } },
    nodes: [
      {
        id: 'work',
        kind: 'task',
        writes: ['list', 'n'],
        run: (state) => {
          eachStep();
          return { list: item, n: Number(state['n'] ?? 0) + 1 };
        },
      },
    ],
    routes: [{ from: 'work', choose: (state) => (Number(state['n']) < steps ? 'work' : END), targets: ['work', END] }],
    limits: { maxSteps: steps + 1 },
  });
}

/** Milliseconds of single-row transactions with the driver of the store, as one writes them by hand. */
function bare({ open }: SqlDriver, folder: string, rows: number, synchronous: 'NORMAL' | 'FULL'): number {
  const database = open(join(folder, `bare-${performance.now()}.db`));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  database.exec('CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)');
  const insert = database.prepare('INSERT INTO t (v) VALUES (?)');
  const text = JSON.stringify({ n: 1, text: PAYLOAD });
  const start = performance.now();
  for (let row = 0; row < rows; row++) insert.run([text]);
  const took = performance.now() - start;
  database.close();
  return took;
}

/** Milliseconds of a recorded run, from its start to its committed end. */
async function recorded(folder: string, job: Runnable, durability: 'fast' | 'full' = 'fast'): Promise<number> {
  const store = await openSqliteStore(join(folder, `skein-${performance.now()}.db`), { durability });
  const start = performance.now();
  const result = await run(job, { store }).result;
  const took = performance.now() - start;
  if (result.outcome !== 'succeeded') throw new Error(`the run ${result.outcome}: ${result.error?.message ?? ''}`);
  store.close();
  return took;
}

/** Milliseconds by job, round by round: each is warmed up, then they take turns, so that what else the machine does meets all of them. */
type Times = Readonly<Record<string, readonly number[]>>;

async function taken(jobs: Readonly<Record<string, () => number | Promise<number>>>): Promise<Times> {
  const times: Record<string, number[]> = {};
  for (const job of Object.values(jobs)) {
    for (const start = performance.now(); performance.now() - start < WARM_UP;) await job();
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, job] of Object.entries(jobs)) (times[name] ??= []).push(await job());
  }
  return times;
}

/** Median microseconds of one of `units` of a job. */
function each(times: Times, name: string, units: number): number {
  return (median(times[name] ?? []) * 1_000) / units;
}

/** One of `units` of a job by one of those of another: the median of the rounds, as a disk may be twice as fast in one round as in the next. */
function ratioOf(
  times: Times,
  [name, units]: readonly [string, number],
  [other, those]: readonly [string, number],
): number {
  return median((times[name] ?? []).map((ms, round) => ms / units / ((times[other]?.[round] ?? Number.NaN) / those)));
}

interface Row {
  readonly name: string;
  readonly figure: string;
  readonly compared: string;
  readonly goal: string;
  readonly held: boolean;
}

/** `steps` nodes in a row; each reads what the one before wrote, and writes `BYTES` bytes. */
function inARow(steps: number): Runnable {
  const ids = Array.from({ length: steps }, (_, at) => `s${at}`);
  const body = ({ last }: State): unknown => ({ n: (last as { n: number } | undefined)?.n ?? 0, text: PAYLOAD });
  return definePlan({
    name: 'row',
    nodes: ids.map((id) => ({ id, kind: 'task', output: 'last', run: body })),
    edges: [ids],
  });
}

/** A transaction as one writes it by hand, and jobs beside it, which may take `goal` times as long. */
function beside(
  times: Times,
  rows: number,
  bareName: string,
  jobs: readonly (readonly [job: string, units: number, name: string, goal: number])[],
): Row[] {
  const bareRow = { name: bareName, figure: `${each(times, 'bare', rows).toFixed(1)} us`, compared: '1.00' };
  return [
    { ...bareRow, goal: '', held: true },
    ...jobs.map(([job, units, name, goal]): Row => {
      const ratio = ratioOf(times, [job, units], ['bare', rows]);
      const figure = `${each(times, job, units).toFixed(1)} us`;
      return { name, figure, compared: ratio.toFixed(2), goal: `<= ${goal.toFixed(2)}`, held: ratio <= goal };
    }),
  ];
}

async function rates(driver: SqlDriver, folder: string): Promise<Row[]> {
  const [rows, width] = [2_000, 1_000];
  const [line, loop, many] = [inARow(rows), sequence(rows), together(width)];
  const times = await taken({
    bare: () => bare(driver, folder, rows, 'NORMAL'),
    line: () => recorded(folder, line),
    loop: () => recorded(folder, loop),
    many: () => recorded(folder, many),
  });
  return beside(times, rows, `bare single-row transaction, ${BYTES} bytes`, [
    ['line', rows, 'sequential step, recorded', 1.5],
    ['loop', rows, 'round of a loop by a route, recorded', 1.5],
    ['many', width, `step of ${width} at once, recorded`, 0.4],
  ]);
}

/**
 * Where each commit is forced to the disk: a step beside a transaction, and a choice between two steps, which must not be committed by itself. In runs of
 * fewer steps, the commits with which a run begins and ends would be measured with them.
 */
async function forced(driver: SqlDriver, folder: string): Promise<Row[]> {
  const rounds = 400;
  const [loop, chain, line] = [later(rounds, true), later(rounds, false), inARow(rounds)];
  const times = await taken({
    bare: () => bare(driver, folder, rounds, 'FULL'),
    line: () => recorded(folder, line, 'full'),
    loop: () => recorded(folder, loop, 'full'),
    chain: () => recorded(folder, chain, 'full'),
  });
  const ratio = ratioOf(times, ['loop', rounds], ['chain', rounds]);
  return [
    ...beside(times, rounds, 'bare single-row transaction, full', [
      ['line', rounds, 'sequential step, recorded, full', 1.2],
    ]),
    {
      name: 'round of a loop by a route, recorded, full',
      figure: `${each(times, 'loop', rounds).toFixed(0)} us`,
      compared: `${ratio.toFixed(2)} x step of a chain (${each(times, 'chain', rounds).toFixed(0)} us)`,
      goal: '<= 1.20',
      held: ratio <= 1.2,
    },
  ];
}

/**
 * Does a step take longer the longer the list is? Median steps are compared, as once in about 2,000 commits of this size SQLite moves its log into the
 * file, which takes some hundred times as long as a step, whatever was written; that is the longest step.
 */
async function growth(folder: string): Promise<Row[]> {
  const [steps, bytes] = [2_000, 1_000];
  const [times, ratios, sizes, longest]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const marks: number[] = [];
    const file = join(folder, `list-${round}.db`);
    const store = await openSqliteStore(file);
    const { outcome, error } = await run(
      growingList(steps, bytes, () => marks.push(performance.now())),
      { store },
    ).result;
    marks.push(performance.now());
    store.close();
    if (outcome !== 'succeeded') throw new Error(error?.message);
    const took = marks.slice(1).map((mark, at) => mark - (marks[at] ?? 0));
    const tenth = (at: number): number => median(took.slice((at * steps) / 10, ((at + 1) * steps) / 10));
    times.push((marks.at(-1) ?? 0) - (marks[0] ?? 0));
    ratios.push(tenth(9) / tenth(1));
    longest.push(Math.max(...took));
    sizes.push(statSync(file).size);
  }
  const [flat, size] = [median(ratios), median(sizes)];
  return [
    {
      name: `list of ${steps} x ${bytes} bytes: a step`,
      figure: `${((median(times) * 1_000) / steps).toFixed(1)} us`,
      compared: `median of the last/second tenth ${flat.toFixed(2)}, longest ${median(longest).toFixed(0)} ms`,
      goal: '<= 1.50',
      held: flat <= 1.5,
    },
    {
      name: 'the same: bytes on disk',
      figure: `${(size / 1e6).toFixed(1)} MB`,
      compared: `${(size / (steps * bytes)).toFixed(2)} x produced`,
      goal: '<= 2.50',
      held: size <= 2.5 * steps * bytes,
    },
  ];
}

/** From opening the store to the first step that is not in the record, in a warm process. `goal`: in milliseconds. */
async function resumption(folder: string, steps: number, goal: number): Promise<Row> {
  const file = join(folder, `resume-${steps}.db`);
  let broken = true;
  let reached = 0;
  const job = sequence(steps + 1, (round) => {
    if (round <= steps) return;
    reached = performance.now();
    if (broken) throw new Error('stopped');
  });
  const first = await openSqliteStore(file);
  const { runId } = await run(job, { store: first }).result;
  first.close();
  broken = false;
  const times: number[] = [];
  for (let round = -ROUNDS; round < ROUNDS; round++) {
    const copy = join(folder, `resume-${steps}-${round}.db`);
    copyFileSync(file, copy);
    const start = performance.now();
    const store = await openSqliteStore(copy);
    const result = await run(job, { store, resume: runId }).result;
    store.close();
    if (result.outcome !== 'succeeded' || result.ran !== 1) throw new Error(`not resumed: ${result.outcome}`);
    if (round >= 0) times.push(reached - start);
  }
  const took = median(times);
  return {
    name: `resume: ${steps} recorded steps to the first new one`,
    figure: `${took.toFixed(0)} ms`,
    compared: `${((took * 1_000) / steps).toFixed(1)} us a step`,
    goal: `< ${goal} ms`,
    held: took < goal,
  };
}

/** What the key of an update costs. */
function keys(): Row[] {
  const times: number[] = [];
  const count = 20_000;
  let sum = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now();
    for (let n = 0; n < count; n++) sum += digestText(recordText({ n, text: PAYLOAD })).length;
    if (round > 0) times.push(((performance.now() - start) * 1_000) / count);
  }
  const us = sum > 0 ? median(times) : Number.NaN;
  return [
    {
      name: `key of an update of ${BYTES} bytes`,
      figure: `${us.toFixed(1)} us`,
      compared: '',
      goal: '< 10 us',
      held: us < 10,
    },
  ];
}

/** What it costs to record a run, beside the bare database. */
export async function benchDurable(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-bench-'));
  try {
    const driver = await loadDriver();
    const rows = [
      ...(await rates(driver, folder)),
      ...(await forced(driver, folder)),
      ...(await growth(folder)),
      await resumption(folder, 1_000, 40),
      await resumption(folder, 10_000, 1_000),
      ...keys(),
    ];
    printTable(
      `Recorded runs of workflows that were defined once, on SQLite (WAL, fast), median of ${ROUNDS}`,
      ['', 'figure', 'compared', 'goal', ''],
      rows.map(({ name, figure, compared, goal, held }) => [name, figure, compared, goal, held ? 'held' : 'NOT held']),
    );
    return rows.filter(({ held }) => !held).map(({ name, compared, goal }) => `${name}: ${compared}, goal ${goal}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
