import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryStore, run } from '../../../src/index.js';
import { hasErrors } from '../../../src/base/problem.js';
import { checkPlan } from '../../../src/plan/checks.js';
import { seededRandom } from '../../../src/testing/index.js';
import { tell } from '../../guard/support/figures.js';
import { cases, seedOf } from '../../thorough.js';
import { rawPlan, type RawOptions } from '../oracle/random-plan.js';
import { scenarioOf } from '../oracle/scenario.js';

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
        const workflow = { plan, bindings };
        const store = memoryStore();
        const first = { inputs, untrusted: ['seed'] };
        const inMemory = await run(workflow, first).result;
        // How far the others came when a step failed is a matter of time.
        if (inMemory.outcome === 'failed') return;
        const recorded = await run(workflow, { ...first, store, runId: 'one' }).result;
        expect(recorded.labels).toEqual(inMemory.labels);
        const fork = await run(workflow, { store, fork: { run: 'one' } }).result;
        expect(fork.labels).toEqual(inMemory.labels);
        const again = await run(workflow, { store, fork: { run: 'one', forget: [plan.nodes[0]?.id ?? ''] } }).result;
        expect(again.labels).toEqual(inMemory.labels);
        const resumed = await run(workflow, { store, resume: 'one' }).result;
        expect(resumed.labels).toEqual(inMemory.labels);
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
