import * as Effect from 'effect/Effect';
import { startRun } from '../src/engine/run.js';
import { compile } from '../src/engine/graph/compile.js';
import { measure, printTable } from './measure.js';
import { waitingChain } from './plans.js';

const RUNS = 10_000;
const LATENCY = 20;

type Hops = { readonly hops?: number };

/** A node: it waits, as for a model, and counts. */
function hop(state: Hops): Promise<number> {
  return new Promise((resolve) => {
    setTimeout(resolve, LATENCY, (state.hops ?? 0) + 1);
  });
}

const HOPS = [hop, hop, hop, hop, hop];

/** What people write by hand: the same five functions, and a state that goes from one to the next. */
async function byHand(): Promise<Hops> {
  let state: Hops = {};
  for (const node of HOPS) state = { ...state, hops: await node(state) };
  return state;
}

const effectRun = Effect.gen(function* () {
  let hops = 0;
  for (let at = 0; at < 5; at++) {
    yield* Effect.sleep(LATENCY);
    hops += 1;
  }
  return hops;
});

function all<T>(start: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: RUNS }, start));
}

/** 10,000 runs of five waiting nodes at once, in wall time, and the heap that a waiting run holds. */
export async function benchManyRuns(): Promise<string[]> {
  const plan = waitingChain(LATENCY);
  const times = await measure({
    name: 'runs',
    units: RUNS,
    candidates: {
      skein: () => all(() => startRun(plan).result),
      promises: () => all(byHand),
      effect: () => all(() => Effect.runPromise(effectRun)),
    },
  });
  const hand = times['promises'] ?? 1;
  const rows = Object.entries(times).map(([name, ms]) => [name, ms.toFixed(0), (ms / hand).toFixed(2)]);
  printTable(
    `${RUNS} concurrent runs of 5 nodes with ${LATENCY} ms each, median of 5`,
    ['', 'ms', 'ratio to promises'],
    rows,
  );
  const ratio = (times['skein'] ?? Infinity) / hand;
  const bytes = await heapOfWaitingRun();
  console.log(`Goal: at most 1.5 times the hand-written version: ${ratio <= 1.5 ? 'held' : 'NOT held'}`);
  console.log(
    `Heap of a waiting run: ${bytes.toFixed(0)} bytes (goal <= 8192, ${bytes <= 8_192 ? 'held' : 'NOT held'})`,
  );
  return [
    ...(ratio <= 1.5 ? [] : [`many runs: ${ratio.toFixed(2)} times by hand, goal 1.5`]),
    ...(bytes <= 8_192 ? [] : [`heap of a waiting run: ${bytes.toFixed(0)} bytes, goal 8192`]),
  ];
}

/** Runs that wait in their third node for something that comes when the figure has been read. */
async function heapOfWaitingRun(): Promise<number> {
  const waiting: (() => void)[] = [];
  const nodes = [0, 1, 2, 3, 4].map((at) => ({ id: `n${at}`, kind: 'task', output: 'hops' }) as const);
  const edges = nodes.slice(1).map((node, at) => ({ from: `n${at}`, to: node.id }));
  const base = { format: 1, inputs: [], channels: [], routes: [] } as const;
  const next = (state: Readonly<Record<string, unknown>>): number => Number(state['hops'] ?? 0) + 1;
  const wait = (state: Readonly<Record<string, unknown>>): Promise<number> =>
    new Promise((resolve) => {
      waiting.push(() => resolve(next(state)));
    });
  const bindings = { n0: next, n1: next, n2: wait, n3: next, n4: next };
  const plan = compile({ ...base, name: 'heap', nodes, edges }, bindings);
  await startRunAndRelease();
  async function startRunAndRelease(): Promise<void> {
    const warm = startRun(plan);
    waiting.shift()?.();
    await warm.result;
  }
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const runs = Array.from({ length: RUNS }, () => startRun(plan));
  globalThis.gc?.();
  const bytes = (process.memoryUsage().heapUsed - before) / RUNS;
  for (const release of waiting) release();
  for (const { result } of runs) if ((await result).outcome !== 'succeeded') throw new Error('a run did not succeed');
  return bytes;
}
