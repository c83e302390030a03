import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { changeBudget } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { openSqliteStore } from '../../../src/stores/sqlite.js';
import type { Order } from './process.js';
import { carriedOut, linesIn, makeDir } from './process.js';
import { answerAll, complete } from './session.js';
import { SHAPES } from './shapes.js';
import type { World } from './world.js';
import type { RunResult } from '../../../src/engine/run.js';

/** An order for the run `r` of a shape in a folder. */
export function orderOf(shape: string, dir: string, more: Partial<Order> = {}): Order {
  return { dir, shape, edition: 2, runId: 'r', pace: 6, durability: 'fast', ...more };
}

/** Goes on until the run has ended, answering what is asked. A process of its own is for those that are killed. */
export async function finish(order: Order): Promise<RunResult> {
  for (let rounds = 0; rounds < 20; rounds++) {
    const result = await carriedOut(order);
    if (result.outcome === 'out_of_budget') await raiseHere(order.dir);
    else if (result.outcome !== 'paused') return result;
    else if ((await answerHere(order.dir)) === 0) throw new Error('the run is paused and asks nothing');
  }
  throw new Error('the run asks for ever');
}

/** How a shape ends. */
export type Calm = Pick<RunResult, 'state' | 'labels'>;

const calm = new Map<string, Promise<Calm>>();

/** The final state of a shape that nobody disturbed, and who influenced it. */
export function calmResult(shape: string): Promise<Calm> {
  const known = calm.get(shape) ?? undisturbed(shape);
  calm.set(shape, known);
  return known;
}

/** The final state alone. */
export async function calmState(shape: string): Promise<unknown> {
  return (await calmResult(shape)).state;
}

/** In this process: one of its own is for those that are killed. */
async function undisturbed(shape: string): Promise<Calm> {
  const dir = makeDir();
  const receiver = join(dir, 'received.txt');
  const world: World = {
    cwd: dir,
    receiver,
    receive: (key) => appendFileSync(receiver, `${key}\n`),
    perform: async () => Promise.resolve(),
  };
  const build = SHAPES[shape];
  if (build === undefined) throw new Error(`no shape ${shape}`);
  const result = await complete(await build(world, 2), memoryStore(), { runId: 'r' }, () => false);
  rmSync(dir, { recursive: true });
  if (result.outcome !== 'succeeded')
    throw new Error(`${shape} does not even run undisturbed: ${result.error?.message}`);
  // As a runner tells it.
  return JSON.parse(JSON.stringify(endOf(result))) as Calm;
}

/** What is compared of a run that has ended. */
export function endOf(result: RunResult | undefined): Calm {
  const { state, labels } = result ?? {};
  return { state, labels } as Calm;
}

/** Gives a run that is out of budget two calls more. */
export async function raiseHere(dir: string): Promise<void> {
  const store = await openSqliteStore(join(dir, 'skein.db'));
  try {
    changeBudget(store, 'r', { budget: '+2-calls' });
  } finally {
    store.close();
  }
}

/** Answers all questions of the run as its world has it; gives how many there were. */
export async function answerHere(dir: string): Promise<number> {
  const store = await openSqliteStore(join(dir, 'skein.db'));
  const received = new Set(linesIn(dir, 'received.txt'));
  // The shell call writes a word of its own.
  const done = (key: string): boolean => received.has(key) || (key === 'worker@tool#1.2' && received.has('shell'));
  try {
    return answerAll(store, 'r', done);
  } finally {
    store.close();
  }
}
