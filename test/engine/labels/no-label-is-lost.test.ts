import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startRun, type RunResult } from '../../../src/engine/run.js';
import { seededRandom } from '../../../src/testing/index.js';
import { NO_LABEL_LOST, tell } from '../../guard/support/figures.js';
import { cases, seedOf } from '../../thorough.js';
import { rawPlan, type RawOptions } from '../oracle/random-plan.js';
import { scenarioOf, type Scenario } from '../oracle/scenario.js';
import { MOST_CALLS, readingByName, varied } from './varied.js';

const PLANS: RawOptions = { racing: false, failing: true, cycles: true, conflicts: 'nowhere', subPlans: true };

/** Runs a scenario whose seed the user does not influence; one whose rounds multiply is cancelled. */
async function runWith({ plan, bindings, inputs }: Scenario, seed: unknown): Promise<RunResult> {
  let calls = 0;
  const counted = Object.entries(bindings).map(([name, fn]): [string, unknown] => [
    name,
    (...args: unknown[]): unknown => {
      calls += 1;
      if (calls > MOST_CALLS) handle.cancel();
      return (fn as (...all: unknown[]) => unknown)(...args);
    },
  ]);
  const given = { inputs: { ...inputs, seed }, bindings: Object.fromEntries(counted), untrusted: ['seed'] };
  const handle = startRun(plan, given);
  return await handle.result;
}

/** Whether a run ends at all is no value of it. */
const ENDED: ReadonlySet<string> = new Set(['succeeded', 'degraded']);

function isUntrusted({ labels }: RunResult, channel: string): boolean {
  const label = labels?.[channel];
  return label?.level === 'untrusted' && label.sources.includes('input:seed');
}

describe('a label is never lost', () => {
  // The reference is the run itself, with another value in place of the untrusted one: what differs then, the value influenced.
  test.each([
    ['plan', PLANS],
    ['plan that tells how its steps ended', { ...PLANS, endings: true }],
    ['plan with ends, groups and steps at the end', { ...PLANS, endings: true, ends: true }],
  ])('what differs when an untrusted input differs is labelled with it, whatever the %s', async (kind, options) => {
    const seen = { differs: 0, same: 0, clean: 0, over: 0 };
    await fc.assert(
      fc.asyncProperty(rawPlan(options), fc.nat(), fc.nat(), async (raw, other, mask) => {
        const sees = (key: string, channel: string): boolean => seededRandom(`${mask} ${key} ${channel}`)() < 0.25;
        const plain = scenarioOf(raw, sees);
        const changed = mask % 3 === 0 ? plain : varied(plain, mask);
        const scenario = mask % 2 === 0 ? changed : readingByName(changed);
        const [one, two] = [await runWith(scenario, raw.seed), await runWith(scenario, `${other} instead`)];
        if (!ENDED.has(one.outcome) || !ENDED.has(two.outcome)) return;
        for (const channel of new Set([...Object.keys(one.state), ...Object.keys(two.state)])) {
          const differs = JSON.stringify(one.state[channel]) !== JSON.stringify(two.state[channel]);
          for (const result of [one, two]) {
            if (!Object.hasOwn(result.state, channel)) continue;
            const isLabelled = isUntrusted(result, channel);
            seen[differs ? 'differs' : 'same'] += 1;
            if (!isLabelled) seen.clean += 1;
            if (!differs && isLabelled) seen.over += 1;
            if (differs) expect(isLabelled, `the label of ${channel}`).toBe(true);
          }
        }
      }),
      { numRuns: cases(150), seed: seedOf(16) },
    );
    tell({
      what: `labels: values that an untrusted input influenced (${kind})`,
      n: seen.differs,
      forbidden: 0,
      goal: NO_LABEL_LOST,
    });
    tell({ what: `labels: values that it could have influenced (${kind})`, n: seen.over, goal: 'counted' });
    // The plans are such that labels tell something.
    expect(seen.differs).toBeGreaterThan(100);
    expect(seen.clean).toBeGreaterThan(100);
  });
});
