import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Plan } from '../../../src/plan/plan.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { cases, seedOf } from '../../thorough.js';
import { known } from '../oracle/both.js';
import { rawPlan, type RawOptions } from '../oracle/random-plan.js';
import { scenarioOf } from '../oracle/scenario.js';
import { doneKeys, prefixesOf, storeWith } from './in-process.js';
import { session, type Seen } from './random-sessions.js';

const TIMELESS: RawOptions = {
  racing: false,
  failing: false,
  cycles: false,
  conflicts: 'nowhere',
  subPlans: true,
  ends: true,
};

/** What a failed run knew is a rule only where it was meant to fail. */
function verdict({ result: { outcome, error, state } }: Seen): unknown {
  const isKnown = outcome !== 'failed' || error?.code === 'SKEIN_ENDED';
  return [outcome, error?.code, isKnown ? known(state) : undefined];
}

/** What runs at the end of the run's own plan. */
const isLast = (key: string): boolean => /^finally(#\d+)?$/.test(key);

test('[addition 9] [addition 10] a run that is over is resumed with nothing to do, and forked with its end alone', async () => {
  let over = 0;
  await fc.assert(
    fc.asyncProperty(rawPlan({ ...TIMELESS, failing: true }), fc.nat(), async (raw, order) => {
      const scenario = scenarioOf(raw);
      const store = memoryStore();
      const first = await session(scenario, store, `${order} first`);
      const { outcome, error, steps } = first.result;
      if (outcome !== 'succeeded' && error?.code !== 'SKEIN_ENDED') return;
      // What failed and was not meant to is tried again in a fork. An end that comes while a failed plan is closed hides the failure of its step.
      if (steps.some((step) => step.error !== undefined && step.error.code !== 'SKEIN_ENDED')) return;
      if (first.closed.some((told) => / failed (?!SKEIN_ENDED)/.test(told))) return;
      const again = await session(scenario, store, `${order} again`);
      expect([verdict(again), again.performed]).toEqual([verdict(first), []]);
      const fork = await session(scenario, store, `${order} fork`, true);
      expect(verdict(fork)).toEqual(verdict(first));
      expect(fork.performed.filter((key) => !isLast(key))).toEqual([]);
      expect(fork.closed).toEqual(first.closed.filter((told) => told.startsWith('finally ')));
      over += 1;
    }),
    { numRuns: cases(75), seed: seedOf(20) },
  );
  expect(over).toBeGreaterThan(20);
});

test('[addition 9] [addition 10] a run that is killed at any record repeats nothing, and comes to the same end', async () => {
  let resumed = 0;
  await fc.assert(
    fc.asyncProperty(rawPlan(TIMELESS), fc.nat(), async (raw, order) => {
      const scenario = scenarioOf(raw);
      const store = memoryStore();
      const first = await session(scenario, store, `${order} first`);
      const prefixes = prefixesOf('r', store.read('r')).filter(
        ({ lines }, at) => at % 5 === order % 5 && !lines.some((line) => line.includes('"t":"end"')),
      );
      for (const prefix of prefixes) {
        const next = await session(scenario, storeWith('r', prefix.batches, store), `${order} ${prefix.name}`);
        const done = doneKeys(prefix.lines);
        expect([prefix.name, next.performed.filter((key) => done.includes(key))]).toEqual([prefix.name, []]);
        resumed += 1;
        // What is not recorded may come to its end in another order, and an end, or a group that fails, cuts off what is late.
        if (hasEnd(scenario.plan)) continue;
        expect([prefix.name, verdict(next)]).toEqual([prefix.name, verdict(first)]);
        const cutsOff = first.result.census.cancelled + next.result.census.cancelled > 0;
        if (first.result.outcome !== 'failed' && !cutsOff) expect(next.result.census).toEqual(first.result.census);
      }
    }),
    { numRuns: cases(40), seed: seedOf(20) },
  );
  expect(resumed).toBeGreaterThan(20);
});

function hasEnd({ nodes }: Plan): boolean {
  return nodes.some((node) => node.kind === 'end' || ('plan' in node && hasEnd(node.plan)));
}
