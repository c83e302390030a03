import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startRun } from '../../../src/engine/run.js';
import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { seededRandom } from '../../../src/testing/index.js';
import type { RawOptions } from '../oracle/random-plan.js';
import { rawPlan } from '../oracle/random-plan.js';
import type { Scenario } from '../oracle/scenario.js';
import { scenarioOf } from '../oracle/scenario.js';
import { linesOf, prefixesOf, storeWith, doneKeys } from '../recorded/in-process.js';
import { runOn } from './on-store.js';
import { ScriptedPhases } from './scripted-phases.js';
import { cases, seedOf } from '../../thorough.js';

const seed = seedOf(20);
const TIMELESS: RawOptions = { racing: false, failing: false, cycles: false, conflicts: 'nowhere', subPlans: true };

/** The same plan with some of its nodes supervised, at any depth. */
function supervised(plan: Plan, random: () => number): Plan {
  const nodes = plan.nodes.map((node): PlanNode => {
    const inner = 'plan' in node ? { ...node, plan: supervised(node.plan, random) } : node;
    const isWork = node.kind !== 'pass' && node.kind !== 'ask' && node.kind !== 'wait';
    return isWork && random() < 0.5 ? { ...inner, supervise: { by: 'model', instruction: ['Work.'] } } : inner;
  });
  return { ...plan, nodes };
}

/** Corrects some attempts, as a function of the step and the attempt. */
const someCorrected = (order: number): ScriptedPhases =>
  new ScriptedPhases(({ corrections }, path) =>
    corrections < 2 && seededRandom(`${order} ${path} ${corrections}`)() < 0.3 ? `fix: ${corrections}` : 'ok',
  );

function scenario(raw: Parameters<typeof scenarioOf>[0], order: number): { bare: Scenario; judged: Scenario } {
  const bare = scenarioOf(raw);
  return { bare, judged: { ...bare, plan: supervised(bare.plan, seededRandom(order)) } };
}

describe('[addition 1] random plans', () => {
  it('come out as without supervision, whoever is corrected, also with few slots', async () => {
    let corrected = 0;
    await fc.assert(
      fc.asyncProperty(rawPlan(TIMELESS), fc.nat(), fc.integer({ min: 1, max: 4 }), async (raw, order, concurrency) => {
        const { bare, judged } = scenario(raw, order);
        const phases = someCorrected(order);
        const one = await startRun(bare.plan, bare).result;
        const other = await startRun(judged.plan, { ...judged, phases, concurrency }).result;
        corrected += phases.judged.filter(({ correction }) => correction !== undefined).length;
        expect([other.outcome, other.state, other.census]).toEqual([one.outcome, one.state, one.census]);
      }),
      { numRuns: cases(60), seed },
    );
    expect(corrected).toBeGreaterThan(25);
  });

  it('go on from every beginning of their journal, and do nothing twice', async () => {
    let beginnings = 0;
    await fc.assert(
      fc.asyncProperty(rawPlan(TIMELESS), fc.nat(), async (raw, order) => {
        const { judged } = scenario(raw, order);
        const one = { ...judged, executors: {} as never };
        const store = memoryStore();
        const inputs = judged.inputs;
        const { result: wanted } = await runOn(store, one, someCorrected(order), { inputs });
        // A session that came to its end as degraded has its failures tried again (J3).
        const killed = prefixesOf('r', store.read('r')).filter(
          ({ lines }) => !lines.some((line) => line.includes('"t":"end"')),
        );
        for (const prefix of killed.filter((_, at) => (at + order) % 7 === 0)) {
          const copy = storeWith('r', prefix.batches, store);
          const again = someCorrected(order);
          const { result } = await runOn(copy, one, again, { resume: 'r' });
          expect([result.outcome, result.state, result.census]).toEqual([wanted.outcome, wanted.state, wanted.census]);
          const recorded = doneKeys(prefix.lines);
          expect(again.calls.filter((key) => recorded.includes(key))).toEqual([]);
          expect(doneKeys(linesOf(copy, 'r')).toSorted()).toEqual(doneKeys(linesOf(store, 'r')).toSorted());
          beginnings += 1;
        }
      }),
      { numRuns: 15, seed },
    );
    expect(beginnings).toBeGreaterThan(30);
  });
});
