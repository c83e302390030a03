import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startRun, type RunResult } from '../../../src/engine/run.js';
import { RecordedDurable } from '../../../src/engine/durable/recorded/recorded-durable.js';
import type { SkeinEvent } from '../../../src/events/event.js';
import { systemClock } from '../../../src/base/clock.js';
import { atOnce } from '../../../src/base/slices.js';
import { FamilyReader } from '../../../src/journal/reader.js';
import { NO_SETTINGS } from '../../../src/plan/fields.js';
import { beginSession, resumeSession } from '../../../src/journal/session.js';
import type { Store } from '../../../src/journal/store.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { seededRandom } from '../../../src/testing/index.js';
import { known } from '../oracle/both.js';
import { rawPlan, type RawOptions } from '../oracle/random-plan.js';
import { scenarioOf, type Scenario } from '../oracle/scenario.js';
import { doneKeys, linesOf, prefixesOf, storeWith } from './in-process.js';

const seed = Number(process.env['SKEIN_SEED'] ?? 20);
const HOLDER = { id: 'h', host: 'h', pid: 1 };

interface Seen {
  readonly result: RunResult;
  /** What observers were told, without what differs from session to session. */
  readonly log: readonly string[];
  /** The bodies that ran. */
  readonly performed: readonly string[];
}

/** Runs or resumes; some bodies end at once, the others after some turns of the event loop, drawn from `order`. */
async function session(scenario: Scenario, store: Store, order: string): Promise<Seen> {
  const random = seededRandom(order);
  const performed: string[] = [];
  const bindings: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(scenario.bindings)) {
    if (key.includes(':')) bindings[key] = value;
    else {
      const body = value as (state: unknown) => unknown;
      bindings[key] = (state: unknown, { idempotencyKey }: { idempotencyKey: string }): unknown => {
        performed.push(idempotencyKey.slice('r/'.length));
        const turns = Math.floor(random() * 5);
        return turns === 0 ? body(state) : later(turns).then(() => body(state));
      };
    }
  }
  const definition = { plan: scenario.plan, code: {}, inputs: scenario.inputs, settings: NO_SETTINGS };
  const opened =
    store.run('r') === undefined
      ? atOnce(beginSession(store, { ...definition, runId: 'r', origin: {} }, HOLDER, 1_000_000))
      : atOnce(resumeSession(store, new FamilyReader(store, 'r'), definition, HOLDER, systemClock));
  const durable = new RecordedDurable(opened);
  const log: string[] = [];
  const listeners = [durable.listen, (event: SkeinEvent) => log.push(bare(event))];
  const run = startRun(scenario.plan, { bindings, durable, listeners, inputs: scenario.inputs });
  const result = await run.result;
  durable.close(result);
  return { result, log, performed };
}

async function later(turns: number): Promise<void> {
  for (let at = 0; at < turns; at++) await new Promise((next) => setImmediate(next));
}

function bare({ at: _at, replayed: _replayed, ...event }: SkeinEvent): string {
  return JSON.stringify(event);
}

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
      { numRuns: 100, seed },
    );
    expect(replays).toBe(100);
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
      { numRuns: 60, seed },
    );
    expect(resumed).toBeGreaterThan(100);
  },
);
