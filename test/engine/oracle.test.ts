import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededChooser } from '../../src/testing/index.js';
import { interpret } from './oracle/interpret.js';
import { rawPlan } from './oracle/random-plan.js';
import { scenarioOf } from './oracle/scenario.js';

const everything = { racing: true, failing: true, cycles: true, conflicts: 'everywhere', subPlans: true } as const;
const untimed = { racing: false, failing: false, cycles: false, conflicts: 'top', subPlans: true } as const;

describe('the reference interpreter', () => {
  test('ends every random plan', () => {
    const seen: Record<string, number> = {};
    fc.assert(
      fc.property(rawPlan(everything), fc.nat(), (raw, seed) => {
        const { plan, bindings, inputs } = scenarioOf(raw);
        const result = interpret(plan, bindings, { inputs, pick: seededChooser(seed) });
        const steps = Object.values(result.census).reduce((sum, count) => sum + count, 0);
        expect(steps).toBeGreaterThanOrEqual(plan.nodes.length);
        const code = result.failure?.code ?? result.outcome;
        seen[code] = (seen[code] ?? 0) + 1;
        if (result.releases > 0) seen['released'] = (seen['released'] ?? 0) + 1;
      }),
      { numRuns: 2000 },
    );
    console.error(seen);
  });

  test('S2: gives the same final state and census for any order of completion', () => {
    fc.assert(
      fc.property(rawPlan(untimed), fc.nat(), fc.nat(), (raw, first, second) => {
        const { plan, bindings, inputs } = scenarioOf(raw);
        const one = interpret(plan, bindings, { inputs, pick: seededChooser(first) });
        const other = interpret(plan, bindings, { inputs, pick: seededChooser(second) });
        expect(other.state).toEqual(one.state);
        expect(other.outcome).toEqual(one.outcome);
        if (one.outcome !== 'failed') expect(other.census).toEqual(one.census);
      }),
      { numRuns: 1000 },
    );
  });
});
