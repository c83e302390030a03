import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Executor } from '../../../src/engine/ports/executor.js';
import { startRun } from '../../../src/engine/run.js';
import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { seededRandom } from '../../../src/testing/index.js';
import { NO_LABEL_LOST, tell } from '../../guard/support/figures.js';
import { cases, seedOf } from '../../thorough.js';
import type { PureBody } from '../oracle/random-bodies.js';
import { rawPlan, type RawOptions } from '../oracle/random-plan.js';
import { scenarioOf, type Scenario } from '../oracle/scenario.js';
import { EndWatch } from './ends-watched.js';
import { MOST_CALLS } from './varied.js';

const PLANS: RawOptions = {
  racing: false,
  failing: true,
  cycles: true,
  conflicts: 'nowhere',
  subPlans: true,
  ends: true,
  endings: true,
};

/** What a step has read when it began to act, and whether it knows that the untrusted input had a say. */
interface Acted {
  readonly read: string;
  readonly isLabelled: boolean;
}

/** The plan with an agent in place of each function. */
function withAgents(plan: Plan): Plan {
  const nodes = plan.nodes.map((node): PlanNode => {
    if (node.kind === 'task') return { ...node, kind: 'agent', agent: {} } as unknown as PlanNode;
    return 'plan' in node ? { ...node, plan: withAgents(node.plan) } : node;
  });
  return { ...plan, nodes };
}

/** What the steps of a run did, by their paths. */
interface Played {
  readonly acted: ReadonlyMap<string, Acted>;
  /** It says nothing that a step is not among them. */
  readonly ended: boolean;
}

/** Runs a scenario; undefined: the run failed. */
async function playedOut({ plan, bindings, inputs }: Scenario, seed: unknown): Promise<Played | undefined> {
  const acted = new Map<string, Acted>();
  const agent: Executor = async (_node, step) => {
    const key = step.path.replaceAll(/#\d+|\[[^\]]*\]/g, '');
    const read: [string, unknown][] = [];
    const state = new Proxy(
      {},
      {
        get(_target, name: string) {
          const value = step.read({ channel: name });
          read.push([name, value]);
          return value;
        },
      },
    );
    let result: { output?: unknown; error?: unknown };
    try {
      result = { output: (bindings[key] as PureBody)(state) };
    } catch (error) {
      result = { error };
    }
    const { sources } = step.influence.label();
    // Plans of which the rounds multiply are left.
    if (acted.size > MOST_CALLS) handle.cancel();
    acted.set(step.path, { read: JSON.stringify(read), isLabelled: sources.includes('input:seed') });
    await Promise.resolve();
    if ('error' in result) return { type: 'failed', error: { code: 'SKEIN_STEP_FAILED', message: 'no' } };
    return { type: 'done', output: result.output };
  };
  const ends = new EndWatch();
  const options = { untrusted: ['seed'], executors: { agent }, listeners: [ends.listen] };
  const given = { inputs: { ...inputs, seed }, bindings, ...options };
  const handle = startRun(withAgents(plan), given);
  const { outcome } = await handle.result;
  return outcome === 'failed' || outcome === 'cancelled' ? undefined : { acted, ended: ends.ended };
}

describe('a step knows when an untrusted input influenced what it does', () => {
  test('in that it runs at all, and in all that it reads', async () => {
    const seen = { labelled: 0, clean: 0, alone: 0, differs: 0 };
    await fc.assert(
      fc.asyncProperty(rawPlan(PLANS), fc.nat(), fc.nat(), async (raw, other, mask) => {
        const scenario = scenarioOf(raw, (key, channel) => seededRandom(`${mask} ${key} ${channel}`)() < 0.25);
        const [one, two] = [await playedOut(scenario, raw.seed), await playedOut(scenario, `${other} instead`)];
        if (one === undefined || two === undefined) return;
        for (const path of new Set([...one.acted.keys(), ...two.acted.keys()])) {
          const [a, b] = [one.acted.get(path), two.acted.get(path)];
          if ((a === undefined && one.ended) || (b === undefined && two.ended)) continue;
          for (const acted of [a, b]) {
            if (acted === undefined) continue;
            seen[acted.isLabelled ? 'labelled' : 'clean'] += 1;
            if (a?.read === b?.read) continue;
            seen[a === undefined || b === undefined ? 'alone' : 'differs'] += 1;
            expect(acted.isLabelled, path).toBe(true);
          }
        }
      }),
      { numRuns: cases(300), seed: seedOf(16) },
    );
    tell({
      what: 'labels: steps that an untrusted input influenced',
      n: seen.labelled,
      forbidden: 0,
      goal: NO_LABEL_LOST,
    });
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
  });
});
