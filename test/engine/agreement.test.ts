import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { known, runEngine, runOracle } from './oracle/both.js';
import { rawPlan, type RawOptions } from './oracle/random-plan.js';
import { scenarioOf } from './oracle/scenario.js';

const EVERYTHING: RawOptions = { racing: true, failing: true, cycles: true, conflicts: 'everywhere', subPlans: true };
const TIMELESS: RawOptions = { racing: false, failing: false, cycles: false, conflicts: 'top', subPlans: true };

describe('agreement of engine and reference interpreter', () => {
  test('a random plan under a random order of completion: same outcome, final state and census', async () => {
    await fc.assert(
      fc.asyncProperty(rawPlan(EVERYTHING), fc.nat(), async (raw, seed) => {
        const scenario = scenarioOf(raw);
        const expected = runOracle(scenario, seed);
        const { result } = await runEngine(scenario, seed);
        expect({ outcome: result.outcome, code: result.error?.code }).toEqual({
          outcome: expected.outcome,
          code: expected.failure?.code,
        });
        expect(result.census).toEqual(expected.census);
        if (expected.failure === undefined) expect(known(result.state)).toEqual(expected.state);
      }),
      { numRuns: 300 },
    );
  });

  test('S2: two orders of completion give the same final state and census', async () => {
    await fc.assert(
      fc.asyncProperty(
        rawPlan(TIMELESS),
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 4 }),
        async (raw, first, second, concurrency) => {
          const scenario = scenarioOf(raw);
          const one = (await runEngine(scenario, first)).result;
          const other = (await runEngine(scenario, second, concurrency)).result;
          expect(other.outcome).toBe(one.outcome);
          if (one.outcome === 'failed') return;
          expect(other.census).toEqual(one.census);
          expect(other.state).toEqual(one.state);
        },
      ),
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
