import { startRun, type RunResult } from '../../../src/engine/run.js';
import { ManualDurable, seededRandom } from '../../../src/testing/index.js';
import { interpret } from './interpret.js';
import type { Scenario } from './scenario.js';
import type { OracleResult } from './world.js';

/** Chooses among names by a seed, whatever order they are offered in. */
function chooserOfNames(seed: number): (names: readonly string[]) => number {
  const random = seededRandom(seed);
  return (names) => {
    // Visits and rounds (`#2`) are left out: how a second visit is written is not what is compared here.
    const bare = names.map((name, index) => ({ name: name.replaceAll(/#\d+/g, ''), index }));
    const sorted = bare.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.index - b.index));
    return sorted[Math.floor(random() * sorted.length)]?.index ?? 0;
  };
}

/** Runs a scenario on the engine; which bodies return promises is drawn from the seed as well. */
export async function runEngine(
  scenario: Scenario,
  seed: number,
  concurrency?: number,
): Promise<{ result: RunResult; log: string[] }> {
  let label = '';
  const pick = chooserOfNames(seed);
  const durable = new ManualDurable({
    runId: `run-${seed}`,
    // Bodies name themselves; conditions and choosers don't, and are no steps whose end is chosen.
    settleAtOnce: () => label === '',
    label: () => {
      const own = label;
      label = '';
      return own;
    },
    choose: (offered) => pick(offered.map((one) => one.label)),
  });
  const bindings: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(scenario.bindings)) {
    if (key.includes(':')) bindings[key] = value;
    else {
      const body = value as (state: unknown) => unknown;
      const later = seededRandom(`${seed} ${key}`)() < 0.5;
      bindings[key] = (state: unknown, step: { path: string }): unknown => {
        label = step.path;
        return later ? Promise.resolve().then(() => body(state)) : body(state);
      };
    }
  }
  const log: string[] = [];
  const listeners = [(event: unknown) => log.push(JSON.stringify(event))];
  const run = startRun(scenario.plan, {
    inputs: scenario.inputs,
    bindings,
    durable,
    listeners,
    ...(concurrency === undefined ? {} : { concurrency }),
  });
  return { result: await run.result, log };
}

export function runOracle(scenario: Scenario, seed: number): OracleResult {
  const { plan, bindings, inputs } = scenario;
  return interpret(plan, bindings, { inputs, pick: chooserOfNames(seed) });
}

/** Without channels that have no value. */
export function known(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined));
}
