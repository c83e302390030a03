import * as Effect from 'effect/Effect';
import PQueue from 'p-queue';
import { definePlan, run } from '../src/index.js';
import { startRun } from '../src/engine/run.js';
import type { CompiledPlan } from '../src/engine/graph/compile.js';
import type { Case } from './measure.js';
import { measure, printTable } from './measure.js';
import { chain, fanOut, nodeLoop, routeLoop } from './plans.js';

const CHAIN = 1_000;
const WIDTH = 10_000;
const ROUNDS = 10_000;
const STARTS = 1_000;

async function ours(plan: CompiledPlan, channel: string, expected: number): Promise<void> {
  const { state, outcome } = await startRun(plan).result;
  if (outcome !== 'succeeded' || state[channel] !== expected)
    throw new Error(`wrong result: ${outcome} ${String(state[channel])}`);
}

function expectNumber(value: unknown, expected: number): void {
  if (value !== expected) throw new Error(`wrong result: ${String(value)}`);
}

async function promiseChain(): Promise<void> {
  let value = 0;
  for (let at = 0; at < CHAIN; at++) value = await Promise.resolve(value + 1);
  expectNumber(value, CHAIN);
}

async function effectChain(): Promise<void> {
  let effect = Effect.sync(() => 1);
  for (let at = 1; at < CHAIN; at++) effect = Effect.flatMap(effect, (value) => Effect.sync(() => value + 1));
  expectNumber(await Effect.runPromise(effect), CHAIN);
}

async function queueChain(): Promise<void> {
  const queue = new PQueue();
  let value = 0;
  for (let at = 0; at < CHAIN; at++) value = await queue.add(() => value + 1);
  expectNumber(value, CHAIN);
}

const SUM = (WIDTH * (WIDTH - 1)) / 2;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

async function promiseFan(): Promise<void> {
  const branches = Array.from({ length: WIDTH }, (_, at) => Promise.resolve(at));
  expectNumber(sum(await Promise.all(branches)), SUM);
}

async function effectFan(): Promise<void> {
  const indexes = Array.from({ length: WIDTH }, (_, at) => at);
  const all = Effect.forEach(indexes, (at) => Effect.sync(() => at), { concurrency: 'unbounded' });
  expectNumber(sum(await Effect.runPromise(all)), SUM);
}

async function queueFan(): Promise<void> {
  const queue = new PQueue();
  const branches = Array.from({ length: WIDTH }, (_, at) => queue.add(() => at));
  expectNumber(sum(await Promise.all(branches)), SUM);
}

async function promiseLoop(): Promise<void> {
  let count = 0;
  while (count < ROUNDS) count = await Promise.resolve(count + 1);
  expectNumber(count, ROUNDS);
}

async function effectLoop(): Promise<void> {
  let count = 0;
  const loop = Effect.whileLoop({
    while: () => count < ROUNDS,
    body: () => Effect.sync(() => count + 1),
    step: (value) => {
      count = value;
    },
  });
  await Effect.runPromise(loop);
  expectNumber(count, ROUNDS);
}

async function starts(job: () => Promise<unknown>): Promise<void> {
  for (let at = 0; at < STARTS; at++) await job();
}

function cases(): Case[] {
  const [chained, fanned, routed, looped, one] = [
    chain(CHAIN),
    fanOut(WIDTH),
    routeLoop(ROUNDS),
    nodeLoop(ROUNDS),
    chain(1),
  ];
  const queue = new PQueue();
  const upTo = (bound: number) => (figures: Readonly<Record<string, number>>) =>
    (figures['skein'] ?? Infinity) <= bound;
  return [
    {
      name: `chain of ${CHAIN}, a node`,
      units: CHAIN,
      candidates: {
        skein: () => ours(chained, `n${CHAIN - 1}.out`, CHAIN),
        promises: promiseChain,
        effect: effectChain,
        'p-queue': queueChain,
      },
      goal: '<= 2',
      holds: upTo(2),
    },
    {
      name: `fan-out and join of ${WIDTH}, a branch`,
      units: WIDTH,
      candidates: {
        skein: () => ours(fanned, 'sum', SUM),
        promises: promiseFan,
        effect: effectFan,
        'p-queue': queueFan,
      },
      goal: '<= 4',
      holds: upTo(4),
    },
    {
      name: `loop of ${ROUNDS} by a route, a round`,
      units: ROUNDS,
      candidates: { skein: () => ours(routed, 'count', ROUNDS), promises: promiseLoop, effect: effectLoop },
      goal: '<= 1.7',
      holds: upTo(1.7),
    },
    {
      name: `loop of ${ROUNDS} by a loop node, a round`,
      units: ROUNDS,
      candidates: { skein: () => ours(looped, 'count', ROUNDS), promises: promiseLoop, effect: effectLoop },
      goal: '<= 1.7',
      holds: upTo(1.7),
    },
    {
      name: 'start of a one-node run, a run',
      units: STARTS,
      candidates: {
        skein: () => starts(() => startRun(one).result),
        promises: () => starts(() => Promise.resolve(1)),
        effect: () => starts(() => Effect.runPromise(Effect.sync(() => 1))),
        'p-queue': () => starts(() => queue.add(() => 1)),
      },
      goal: '<= 5',
      holds: upTo(5),
    },
  ];
}

/** Trivial nodes in memory, beside the same job by hand; prints microseconds a unit. Gives the goals that were missed. */
export async function benchEngine(): Promise<string[]> {
  const missed: string[] = [];
  const rows: string[][] = [];
  for (const one of cases()) {
    const times = await measure(one);
    const each = Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, (ms * 1_000) / one.units]));
    const cell = (name: string): string => each[name]?.toFixed(2) ?? '-';
    const ratio = ((each['skein'] ?? 0) / (each['effect'] ?? 1)).toFixed(2);
    const held = one.holds?.(each) ?? true;
    if (!held) missed.push(`${one.name}: ${cell('skein')}, goal ${one.goal ?? ''}`);
    rows.push([
      one.name,
      cell('skein'),
      cell('promises'),
      cell('effect'),
      cell('p-queue'),
      ratio,
      one.goal ?? '',
      held ? 'yes' : 'NO',
    ]);
  }
  printTable(
    'Engine, microseconds a unit, median of 5',
    ['job', 'skein', 'promises', 'effect', 'p-queue', 'skein/effect', 'goal', 'held'],
    rows,
  );
  missed.push(...(await flatness()), ...(await heapOfLongLoop()));
  return missed;
}

/** The last tenth of a loop against its first. */
async function flatness(): Promise<string[]> {
  const ratios: number[] = [];
  for (let turn = 0; turn < 9; turn++) {
    const marks: number[] = [];
    const plan = routeLoop(ROUNDS, () => marks.push(performance.now()));
    await startRun(plan).result;
    marks.push(performance.now());
    const part = (at: number): number => (marks[at + 1] ?? 0) - (marks[at] ?? 0);
    if (turn >= 4) ratios.push(part(9) / part(0));
  }
  const middle = ratios.toSorted((a, b) => a - b)[2] ?? Infinity;
  const held = middle <= 1.2;
  console.log(
    `\nLoop of ${ROUNDS}: last tenth / first tenth = ${middle.toFixed(2)} (goal <= 1.2, ${held ? 'held' : 'NOT held'})`,
  );
  return held ? [] : [`flat loop: ${middle.toFixed(2)}, goal 1.2`];
}

/** Memory is in what lives, not in what was: the heap in the last tenth of a million rounds against that in the first. */
async function heapOfLongLoop(): Promise<string[]> {
  const heaps: number[] = [];
  const plan = routeLoop(1_000_000, () => {
    globalThis.gc?.();
    heaps.push(process.memoryUsage().heapUsed);
  });
  await startRun(plan).result;
  const grown = (heaps.at(-1) ?? Infinity) - (heaps[1] ?? 0);
  const held = grown <= 1_048_576;
  console.log(
    `Loop of 1000000: heap grew by ${(grown / 1_024).toFixed(0)} kB after the first tenth (${held ? 'flat' : 'NOT flat'})`,
  );
  return held ? [] : [`heap of a long loop: grew by ${grown} bytes`];
}

/** What users call does more than the engine: it checks the plan, makes models and tools ready, and tells listeners. */
export async function benchRuntime(): Promise<void> {
  const one = definePlan({ name: 'one', nodes: [{ id: 'n', kind: 'task', output: 'n.out', run: () => 1 }] });
  const chained = chain(CHAIN);
  const listeners = [(): void => undefined];
  const starting = await measure({
    name: 'run',
    units: STARTS,
    candidates: { run: () => starts(() => run(one).result) },
  });
  const listening = await measure({
    name: 'listened',
    units: CHAIN,
    candidates: { skein: () => startRun(chained, { listeners }).result },
  });
  printTable(
    'With all that users get, microseconds a unit, median of 5',
    ['job', 'skein'],
    [
      [
        'run() of a one-node plan: checked, compiled, models and tools ready',
        (((starting['run'] ?? 0) * 1_000) / STARTS).toFixed(2),
      ],
      [`chain of ${CHAIN} with a listener, a node`, (((listening['skein'] ?? 0) * 1_000) / CHAIN).toFixed(2)],
    ],
  );
}
