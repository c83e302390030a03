import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasErrors } from '../../../src/base/problem.js';
import type { RunResult } from '../../../src/index.js';
import { checkPlan } from '../../../src/plan/checks.js';
import { seededRandom } from '../../../src/testing/index.js';
import { NO_LABEL_LOST, tell } from '../../guard/support/figures.js';
import { cases, seedOf } from '../../thorough.js';
import { rawPlan, type RawOptions, type RawPlan } from '../oracle/random-plan.js';
import { scenarioOf, type Scenario, type Sees } from '../oracle/scenario.js';
import { behindEpochs, historyOf, settable, undecided, withVersions, type Later } from './histories.js';
import { readingByName, varied } from './varied.js';

const PLANS: RawOptions = { racing: false, failing: true, cycles: true, conflicts: 'nowhere', subPlans: true };

interface Drawn {
  readonly raw: RawPlan;
  readonly mask: number;
  readonly left: readonly [number, number];
}

const drawn = fc.record<Drawn>({
  raw: rawPlan(PLANS),
  mask: fc.nat(),
  left: fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
});

const chance = (text: string, share: number): boolean => seededRandom(text)() < share;

/** The workflow as it was, and as it is after an edit of some of its functions, which read something else since. */
function workflows({ raw, mask }: Drawn): readonly [Scenario, Scenario] {
  // What chooses has no version: an edit of it would not be seen.
  const isEdited = (key: string): boolean => !key.includes(':') && chance(`${mask} edited ${key}`, 0.25);
  const decides = mask % 5 < 3;
  const made = (sees: Sees): Scenario => {
    const plain = scenarioOf(decides ? raw : undecided(raw), sees);
    const whole = mask % 2 === 0 ? behindEpochs(plain, sees) : plain;
    return readingByName(mask % 3 === 0 || !decides ? whole : varied(whole, mask));
  };
  // Where functions read little, labels part.
  const share = [0.03, 0.08, 0.25][Math.floor(seededRandom(`${mask} share`)() * 3)] ?? 0;
  const before: Sees = (key, channel) => chance(`${mask} ${key} ${channel}`, share);
  const edited = made((key, channel) =>
    isEdited(key) ? chance(`${mask} 2 ${key} ${channel}`, share) : before(key, channel),
  );
  return [made(before), { ...edited, plan: withVersions(edited.plan, isEdited) }];
}

/** What a person does to a fork. */
function laterOf({ plan }: Scenario, { mask, left }: Drawn): Later {
  const channels = plan.channels.filter(({ name }) => chance(`${mask} set ${name}`, 0.15));
  const values = channels.map(({ name }) => [name, settable(name, mask)] as const);
  const set = Object.fromEntries(values.filter(([, value]) => value !== undefined));
  return { left, set, forget: plan.nodes.flatMap(({ id }) => (chance(`${mask} forget ${id}`, 0.1) ? [id] : [])) };
}

function isUntrusted({ labels }: RunResult, channel: string): boolean {
  const label = labels?.[channel];
  return label?.level === 'untrusted' && label.sources.includes('input:seed');
}

describe('a label is never lost over the history of a run', () => {
  test('what differs when an untrusted input differs is labelled with it, after edits, resumes, forks and values that were set', async () => {
    const seen = { differs: 0, clean: 0, edited: 0, set: 0 };
    await fc.assert(
      fc.asyncProperty(drawn, fc.nat(), async (one, other) => {
        const [first, edited] = workflows(one);
        for (const { plan, bindings } of [first, edited]) if (hasErrors(checkPlan(plan, bindings))) return;
        const later = laterOf(edited, one);
        const mine = await historyOf(first, edited, one.raw.seed, later);
        const others = await historyOf(first, edited, `${other} instead`, later);
        for (const [at, { what, result, set }] of mine.entries()) {
          const twin = others[at];
          // A person sets values in a record that she sees: in which steps they stand is her choice.
          if (twin === undefined || twin.set !== set) return;
          if (what === 'resume under an edit' && result.ran > 0) seen.edited += 1;
          if (set !== 'null') seen.set += 1;
          for (const channel of new Set([...Object.keys(result.state), ...Object.keys(twin.result.state)])) {
            const differs = JSON.stringify(result.state[channel]) !== JSON.stringify(twin.result.state[channel]);
            for (const each of [result, twin.result]) {
              if (!Object.hasOwn(each.state, channel)) continue;
              const isLabelled = isUntrusted(each, channel);
              if (differs) seen.differs += 1;
              if (!isLabelled) seen.clean += 1;
              if (differs) expect(isLabelled, `the label of ${channel} after the ${what}`).toBe(true);
            }
          }
        }
      }),
      { numRuns: cases(25), seed: seedOf(16) },
    );
    tell({ what: 'labels: values over edits, resumes and forks', n: seen.differs, forbidden: 0, goal: NO_LABEL_LOST });
    // The histories are such that labels tell something.
    expect(seen.differs).toBeGreaterThan(100);
    expect(seen.clean).toBeGreaterThan(100);
    expect(seen.edited).toBeGreaterThan(10);
    expect(seen.set).toBeGreaterThan(10);
  });
});
