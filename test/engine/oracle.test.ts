import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededChooser } from '../../src/testing/index.js';
import { cases } from '../thorough.js';
import { interpret } from './oracle/interpret.js';
import { rawPlan, type RawOptions } from './oracle/random-plan.js';
import { scenarioOf } from './oracle/scenario.js';

const everything: RawOptions = {
  racing: true,
  failing: true,
  cycles: true,
  conflicts: 'everywhere',
  subPlans: true,
  ends: true,
};
const timeless: RawOptions = { racing: false, failing: false, cycles: false, conflicts: 'top', subPlans: true };

const KINDS = ['succeeded', 'degraded', 'failed', 'released', 'route', 'cycle', 'pass', 'call', 'map', 'loop'];
const CODES = ['SKEIN_STEP_FAILED', 'SKEIN_WRITE_CONFLICT', 'SKEIN_MAX_VISITS'];
const ENDS = ['end', 'ended', 'SKEIN_ENDED', 'too few'];
const CLOSINGS = ['succeeded', 'degraded', 'failed', 'cancelled'].map((outcome) => `closed as ${outcome}`);

describe('the reference interpreter', () => {
  test.each([
    ['plans', everything, [...KINDS, ...CODES]],
    ['plans with ends', { ...everything, ends: true }, [...KINDS, ...ENDS, ...CLOSINGS]],
  ])('ends every one of random %s, and they are of every kind', (_, options, words) => {
    const seen = new Map<string, number>();
    const see = (word: string): unknown => seen.set(word, (seen.get(word) ?? 0) + 1);
    fc.assert(
      fc.property(rawPlan(options), fc.nat(), (raw, order) => {
        const { plan, bindings, inputs, closed } = scenarioOf(raw);
        const result = interpret(plan, bindings, { inputs, pick: seededChooser(order) });
        const steps = Object.values(result.census).reduce((sum, count) => sum + count, 0);
        const last = plan.finally === undefined ? 0 : 1;
        expect(steps).toBeGreaterThanOrEqual(plan.nodes.filter((node) => node.kind !== 'pass').length - last);
        see(result.outcome);
        if (result.failure !== undefined) see(result.failure.code);
        if (result.releases > 0) see('released');
        if (result.ended) see('ended');
        if (result.steps.some(({ failure }) => failure?.code === 'SKEIN_REQUIRE')) see('too few');
        for (const told of closed) see(`closed as ${told.split(' ')[1] ?? ''}`);
        for (const node of plan.nodes) see(node.kind);
        if (plan.routes.length > 0) see('route');
        if (result.starts.some((path, index) => !path.includes('/') && result.starts.indexOf(path) < index))
          see('cycle');
      }),
      { numRuns: cases(500), seed: 20 },
    );
    for (const word of words) expect(seen.get(word) ?? 0, word).toBeGreaterThan(1);
  });

  test('S2: gives the same final state and census for any order of completion', () => {
    fc.assert(
      fc.property(rawPlan(timeless), fc.nat(), fc.nat(), (raw, first, second) => {
        const { plan, bindings, inputs } = scenarioOf(raw);
        const one = interpret(plan, bindings, { inputs, pick: seededChooser(first) });
        const other = interpret(plan, bindings, { inputs, pick: seededChooser(second) });
        expect(other.outcome).toEqual(one.outcome);
        expect(other.state).toEqual(one.state);
        if (one.outcome !== 'failed') expect(other.census).toEqual(one.census);
      }),
      { numRuns: cases(300), seed: 20 },
    );
  });
});
