import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamRun } from '../src/index.js';
import type { Runnable } from '../src/index.js';
import { openSqliteStore } from '../src/sqlite.js';
import type { Job } from './growth-jobs.js';
import { AGENTS, RECORDS, done } from './growth-jobs.js';
import * as plans from './growth-plans.js';
import { median, printTable } from './measure.js';

const FEW = 1_000;
const MANY = 50_000;
const GOAL = 1.5;
const SAMPLES = 3;

async function streamed(plan: Runnable): Promise<void> {
  let read = 0;
  for await (const event of streamRun(plan)) read += event.type === 'run.ended' ? 1 : 0;
  if (read !== 1) throw new Error('the stream has no end');
}

const ofPlan =
  (make: (count: number) => Runnable): Job['make'] =>
  (count) => {
    const plan = make(count);
    return () => done(plan, { answer: () => Promise.resolve('yes') });
  };

const PLANS: Readonly<Record<string, (count: number) => Runnable>> = {
  'steps in a row': plans.row,
  'branches and their join': plans.fan,
  'rounds by a route': plans.rounds,
  'rounds of a loop node': plans.loopNode,
  'rounds of two loops side by side': (count) => plans.twoLoops(count, undefined),
  'items of a map': plans.items,
  'targets of a route, all chosen': plans.targets,
  'steps, each beside a skipped one': plans.skips,
  'failures that meet in a join': plans.failures,
  'entries of a list, one a round': plans.grownList,
  'entries of a list, one a branch': plans.appending,
  'entries of a list, one a join': plans.comb,
  'entries of a list, loops side by side': (count) => plans.twoLoops(count, 'append'),
  'entries of a list, ends and a row': plans.looseEnds,
  'entries of a list, glanced at each round': plans.glancedList,
  'keys of an object, one a round': plans.grownDict,
  'rounds that hand a growing state on': plans.handedState,
  questions: plans.questions,
};

const IN_MEMORY: readonly Job[] = [
  ...Object.entries(PLANS).map(([name, make]) => ({ name, make: ofPlan(make) })),
  {
    name: 'events of a stream',
    make: (count) => {
      const plan = plans.rounds(count);
      return () => streamed(plan);
    },
  },
  {
    name: 'runs, one after the other',
    make: (count) => {
      const plan = plans.row(1);
      return async () => {
        for (let at = 0; at < count; at++) await done(plan);
      };
    },
  },
  {
    name: 'runs at once',
    make: (count) => {
      const plan = plans.row(1);
      return () => Promise.all(Array.from({ length: count }, () => done(plan)));
    },
  },
  { name: 'keys of a state that is copied', make: ofPlan(plans.copied) },
  {
    name: 'entries of a list, handed on each round',
    make: ofPlan(plans.handedList),
    many: 10_000,
    why: 'an array has 8 bytes an entry',
  },
];

const RECORDED: readonly string[] = [
  'steps in a row',
  'branches and their join',
  'rounds by a route',
  'items of a map',
  'entries of a list, one a round',
  'entries of a list, one a branch',
  'entries of a list, glanced at each round',
  'rounds that hand a growing state on',
];

/** Processor time of `MANY` units in microseconds a unit, done `count` at a time. Other work on the machine is not in it. */
async function sample(job: () => Promise<unknown>, count: number, units: number): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  for (let at = 0; at < units; at += count) await job();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / units;
}

/** Median cost a unit at both sizes; they take turns, and the first turn warms up. */
async function costs({ make, few: size = FEW, many = MANY }: Job): Promise<readonly [number, number]> {
  const small = await make(size);
  const large = await make(many);
  const few: number[] = [];
  const lots: number[] = [];
  for (let turn = 0; turn <= SAMPLES; turn++) {
    const one = await sample(small, size, many);
    const other = await sample(large, many, many);
    if (turn === 0) continue;
    few.push(one);
    lots.push(other);
  }
  return [median(few), median(lots)];
}

async function table(title: string, jobs: readonly Job[]): Promise<string[]> {
  const missed: string[] = [];
  const rows: string[][] = [];
  for (const job of jobs) {
    const [few, lots] = await costs(job);
    const ratio = lots / few;
    const held = ratio <= GOAL;
    if (!held && job.why === undefined) missed.push(`${job.name}: ${ratio.toFixed(2)}, goal ${GOAL}`);
    const verdict = job.why ?? (held ? 'yes' : 'NO');
    const sizes = `${job.few ?? FEW} : ${job.many ?? MANY}`;
    rows.push([job.name, sizes, few.toFixed(2), lots.toFixed(2), ratio.toFixed(2), verdict]);
  }
  printTable(title, ['units', 'few : many', 'at few', 'at many', 'ratio', `<= ${GOAL}`], rows);
  return missed;
}

function recorded(folder: string): Job[] {
  return RECORDED.map((name) => ({
    name,
    make: (count) => {
      const plan = PLANS[name]?.(count) ?? plans.row(count);
      return async () => {
        const store = await openSqliteStore(join(folder, `${performance.now()}.db`));
        await done(plan, { store });
        store.close();
      };
    },
  }));
}

/** What a unit costs where there are many, against where there are few: nothing grows worse than linearly. Gives the goals that were missed. */
export async function benchGrowth(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-growth-'));
  try {
    return [
      ...(await table('Growth in memory, microseconds of processor time a unit, median of 3', IN_MEMORY)),
      ...(await table('Growth of agents, microseconds of processor time a unit, median of 3', AGENTS)),
      ...(await table('Growth of records and files, microseconds of processor time a unit, median of 3', RECORDS)),
      ...(await table('Growth of recorded runs, microseconds of processor time a unit, median of 3', recorded(folder))),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
