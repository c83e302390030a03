import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryStore } from '../../../src/stores/memory.js';
import { seededRandom } from '../../../src/testing/index.js';
import { known } from '../oracle/both.js';
import { rawPlan, type RawOptions } from '../oracle/random-plan.js';
import { scenarioOf } from '../oracle/scenario.js';
import { doneKeys, linesOf, prefixesOf, storeWith } from './in-process.js';
import { session } from './random-sessions.js';
import { cases, seedOf } from '../../thorough.js';

const seed = seedOf(20);
/** Events of a part of a run: those that both logs begin with. */
function inCommon(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((line, at) => other[at] !== line);
  return end < 0 ? one.length : end;
}

const EVERYTHING: RawOptions = { racing: true, failing: true, cycles: true, conflicts: 'everywhere', subPlans: true };
const TIMELESS: RawOptions = { racing: false, failing: false, cycles: false, conflicts: 'top', subPlans: true };

test(
  'J3: a run that is gone through again from its whole record does nothing and tells the same, byte for byte',
  {
    timeout: 120_000,
  },
  async () => {
    let replays = 0;
    await fc.assert(
      fc.asyncProperty(rawPlan(EVERYTHING), fc.nat(), async (raw, order) => {
        const scenario = scenarioOf(raw);
        const store = memoryStore();
        const first = await session(scenario, store, `${order} first`);
        // Without its end: as if it had been killed just before. With it, the failures of a failed run would be tried again.
        const end = prefixesOf('r', store.read('r')).findLast(
          ({ lines }) => !lines.some((line) => line.includes('"t":"end"')),
        );
        const again = await session(scenario, storeWith('r', end?.batches ?? []), `${order} again`);
        const notRecorded = again.performed.filter((key) => doneKeys(end?.lines ?? []).includes(key));
        expect(notRecorded).toEqual([]);
        expect([again.result.outcome, again.result.error?.code]).toEqual([
          first.result.outcome,
          first.result.error?.code,
        ]);
        expect(again.log.join('\n')).toBe(first.log.join('\n'));
        expect(known(again.result.state)).toEqual(known(first.result.state));
        replays += 1;
      }),
      { numRuns: cases(50), seed },
    );
    expect(replays).toBe(cases(50));
  },
);

test(
  'J8: a run that goes on from any beginning of its record repeats nothing, and comes to the same end',
  {
    timeout: 120_000,
  },
  async () => {
    let resumed = 0;
    await fc.assert(
      fc.asyncProperty(rawPlan(TIMELESS), fc.nat(), async (raw, order) => {
        const scenario = scenarioOf(raw);
        const store = memoryStore();
        const first = await session(scenario, store, `${order} first`);
        const random = seededRandom(`${order} prefixes`);
        for (const prefix of prefixesOf('r', store.read('r'))) {
          // After the end of a session with failures these are tried again.
          const ended = prefix.lines.some((line) => line.includes('"t":"end"'));
          if (random() > 0.3 || (ended && first.result.outcome !== 'succeeded')) continue;
          const recorded = new Set(doneKeys(prefix.lines));
          const copy = storeWith('r', prefix.batches, store);
          const next = await session(scenario, copy, `${order} ${prefix.name}`);
          expect(next.performed.filter((key) => recorded.has(key))).toEqual([]);
          expect([next.result.outcome, next.result.error?.code]).toEqual([
            first.result.outcome,
            first.result.error?.code,
          ]);
          if (first.result.outcome !== 'failed') {
            expect(known(next.result.state)).toEqual(known(first.result.state));
            expect(next.result.census).toEqual(first.result.census);
            expect(new Set(doneKeys(linesOf(copy, 'r')))).toEqual(new Set(doneKeys(linesOf(store, 'r'))));
          }
          // What was recorded comes first, in its order: the run began as it had.
          const delivered = first.log.length === 0 ? 0 : inCommon(first.log, next.log);
          expect(delivered).toBeGreaterThan(0);
          resumed += 1;
        }
      }),
      { numRuns: cases(30), seed },
    );
    expect(resumed).toBeGreaterThan(50);
  },
);
