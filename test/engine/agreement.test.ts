import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startRun, type RunResult } from '../../src/engine/run.js';
import { ManualDurable, seededRandom } from '../../src/testing/index.js';
import { interpret } from './oracle/interpret.js';
import type { OracleResult } from './oracle/world.js';
import { rawPlan, type RawOptions } from './oracle/random-plan.js';
import { scenarioOf, type Scenario } from './oracle/scenario.js';

const EVERYTHING: RawOptions = { racing: true, failing: true, cycles: true, conflicts: 'everywhere', subPlans: true };
const TIMELESS: RawOptions = { racing: false, failing: false, cycles: false, conflicts: 'top', subPlans: true };

/** Chooses among names by a seed, whatever order they are offered in. */
function chooserOfNames(seed: number): (names: readonly string[]) => number {
  const random = seededRandom(seed);
  return (names) => {
    const sorted = names.map((name, index) => ({ name, index })).toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.index - b.index));
    return sorted[Math.floor(random() * sorted.length)]?.index ?? 0;
  };
}

/** Runs a scenario on the engine; which bodies return promises is drawn from the seed as well. */
async function runEngine(scenario: Scenario, seed: number, concurrency?: number): Promise<{ result: RunResult; log: string[] }> {
  let label = '';
  const pick = chooserOfNames(seed);
  const durable = new ManualDurable({
    runId: `run-${seed}`,
    label: (key) => label || key,
    choose: (offered) => pick(offered.map((one) => one.label)),
  });
  const bindings: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(scenario.bindings)) {
    if (key.includes(':')) bindings[key] = value;
    else {
      const body = value as (state: unknown) => unknown;
      const later = seededRandom(`${seed} ${key}`)() < 0.5;
      bindings[key] = (state: unknown, step: { path: string }): unknown => {
        label = step.path.replaceAll(/~\d+/g, '');
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

function runOracle(scenario: Scenario, seed: number): OracleResult {
  const { plan, bindings, inputs } = scenario;
  return interpret(plan, bindings, { inputs, pick: chooserOfNames(seed) });
}

/** Without channels that have no value. */
function known(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined));
}

describe('agreement of engine and reference interpreter', () => {
  test('a random plan under a random order of completion: same outcome, final state and census', async () => {
    await fc.assert(
      fc.asyncProperty(rawPlan(EVERYTHING), fc.nat(), async (raw, seed) => {
        const scenario = scenarioOf(raw);
        const expected = runOracle(scenario, seed);
        const { result } = await runEngine(scenario, seed);
        expect({ outcome: result.outcome, code: result.error?.code }).toEqual({ outcome: expected.outcome, code: expected.failure?.code });
        expect(result.census).toEqual(expected.census);
        if (expected.failure === undefined) expect(known(result.state)).toEqual(expected.state);
      }),
      { numRuns: 300 },
    );
  });

  test('S2: two orders of completion give the same final state and census', async () => {
    await fc.assert(
      fc.asyncProperty(rawPlan(TIMELESS), fc.nat(), fc.nat(), fc.integer({ min: 1, max: 4 }), async (raw, first, second, concurrency) => {
        const scenario = scenarioOf(raw);
        const one = (await runEngine(scenario, first)).result;
        const other = (await runEngine(scenario, second, concurrency)).result;
        expect(other.outcome).toBe(one.outcome);
        if (one.outcome === 'failed') return;
        expect(other.census).toEqual(one.census);
        expect(other.state).toEqual(one.state);
      }),
      { numRuns: 150 },
    );
  });

  test('E9: the same seed gives the same event log byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(rawPlan(EVERYTHING), fc.nat(), async (raw, seed) => {
        const scenario = scenarioOf(raw);
        const one = await runEngine(scenario, seed);
        const other = await runEngine(scenario, seed);
        expect(one.log.length).toBeGreaterThan(1);
        expect(other.log.join('\n')).toBe(one.log.join('\n'));
      }),
      { numRuns: 100 },
    );
  });
});
