import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { startRun } from '../src/engine/run.js';
import type { CompiledPlan } from '../src/engine/graph/compile.js';
import type * as plans from './plans.js';

/** Jobs of about a millisecond are compared by so many turns. */
const TURNS = 300;
/** Fewer in a process of their own: processes differ more than turns of one do, so more of them tell more. */
const TURNS_ALONE = 100;

/** The plans of which it is measured what labels cost. */
export function labelPlans({
  chain,
  fanOut,
  routeLoop,
}: Pick<typeof plans, 'chain' | 'fanOut' | 'routeLoop'>): Readonly<Record<string, CompiledPlan>> {
  return { 'chain of 1,000': chain(1_000), 'fan-out of 1,000': fanOut(1_000), 'loop of 1,000': routeLoop(1_000) };
}

/** Microseconds of processors that jobs take: they take turns, and each did better in a quarter of its turns. */
export async function processorTimes(
  jobs: readonly (() => Promise<unknown>)[],
  turns = TURNS,
): Promise<readonly number[]> {
  const times = jobs.map((): number[] => []);
  for (let turn = -turns / 4; turn < turns; turn++) {
    for (const [at, job] of jobs.entries()) {
      const before = process.cpuUsage();
      await job();
      const { user, system } = process.cpuUsage(before);
      if (turn >= 0) times[at]?.push(user + system);
    }
  }
  return times.map((all) => all.toSorted((a, b) => a - b)[all.length >> 2] ?? Number.NaN);
}

// Started as a process of its own: what the plans take in the copy of the engine in a folder.
const [, program, folder] = process.argv;
if (program === import.meta.filename && folder !== undefined) {
  const load = async (module: string): Promise<unknown> => await import(pathToFileURL(join(folder, module)).href);
  const engine = (await load('src/engine/run.js')) as { readonly startRun: typeof startRun };
  const all = Object.entries(labelPlans((await load('bench/plans.js')) as typeof plans));
  const times: [string, number][] = [];
  for (const [name, plan] of all) {
    const [time = Number.NaN] = await processorTimes([async () => await engine.startRun(plan, {}).result], TURNS_ALONE);
    times.push([name, time]);
  }
  console.log(JSON.stringify(Object.fromEntries(times)));
}
