import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryStore, run } from '../../../src/index.js';
import type { RunOptions, RunResult } from '../../../src/index.js';
import { hasErrors } from '../../../src/base/problem.js';
import { checkPlan } from '../../../src/plan/checks.js';
import { seededRandom } from '../../../src/testing/index.js';
import { tell } from '../../guard/support/figures.js';
import { cases, seedOf } from '../../thorough.js';
import { rawPlan, type RawOptions } from '../oracle/random-plan.js';
import { scenarioOf } from '../oracle/scenario.js';
import { EndWatch } from './ends-watched.js';

const PLANS: RawOptions = {
  racing: false,
  failing: true,
  cycles: true,
  conflicts: 'nowhere',
  subPlans: true,
  ends: true,
  endings: true,
};

describe('labels are worked out anew from the record', () => {
  test('a run with a store, its resume and its forks have the labels of the run in memory', async () => {
    let labelled = 0;
    let reused = 0;
    await fc.assert(
      fc.asyncProperty(rawPlan(PLANS), fc.nat(), async (raw, mask) => {
        const { plan, bindings, inputs } = scenarioOf(
          raw,
          (key, channel) => seededRandom(`${mask} ${key} ${channel}`)() < 0.25,
        );
        fc.pre(!hasErrors(checkPlan(plan, bindings)));
        const ends = new EndWatch();
        const played = async (options: RunOptions) =>
          await run({ plan, bindings }, { ...options, listeners: [ends.listen] }).result;
        const store = memoryStore();
        const first = { inputs, untrusted: ['seed'] };
        const inMemory = await played(first);
        if (inMemory.outcome === 'failed') return;
        const agrees = ({ census, labels }: RunResult): void => {
          // How far steps come beside one that fails their plan, or ends it, is a matter of time.
          const isTimed = ends.ended || census.cancelled + inMemory.census.cancelled > 0;
          if (!isTimed || isDeepStrictEqual(census, inMemory.census)) expect(labels).toEqual(inMemory.labels);
        };
        agrees(await played({ ...first, store, runId: 'one' }));
        const fork = await played({ store, fork: { run: 'one' } });
        agrees(fork);
        agrees(await played({ store, fork: { run: 'one', forget: [plan.nodes[0]?.id ?? ''] } }));
        agrees(await played({ store, resume: 'one' }));
        if (inMemory.labels !== undefined) labelled += 1;
        reused += fork.reused;
      }),
      { numRuns: cases(60), seed: seedOf(16) },
    );
    tell({ what: 'labels: of resumes and forks of a run', n: labelled, forbidden: 0, goal: 'those of the run' });
    expect(labelled).toBeGreaterThan(20);
    expect(reused).toBeGreaterThan(50);
  });
});
