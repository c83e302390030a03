import { describe, expect, it } from 'vitest';
import { SkeinError } from '../../../src/base/errors.js';
import type { Problem } from '../../../src/base/problem.js';
import { pathOf } from '../../../src/base/address.js';
import { MemoryDurable } from '../../../src/engine/durable/memory-durable.js';
import type { RunResult } from '../../../src/engine/run.js';
import { startRun } from '../../../src/engine/run.js';
import type { SkeinEvent } from '../../../src/events/event.js';
import { checkPlan } from '../../../src/plan/checks.js';
import { caseOf, FEATURES, KINDS } from './cases.js';
import type { Case } from './cases.js';
import { ScriptedPhases } from './scripted-phases.js';
import type { Saying } from './scripted-phases.js';

/** What is said of the first attempt, by a supervisor or a person, and of the second. */
const VERDICTS = {
  continue: ['ok'],
  reorient: ['fix: <shorter> & "so"', 'ok'],
  halt: ['halt'],
  approve: ['ask', 'approve'],
  revise: ['ask', 'revise: shorter'],
  reject: ['ask', 'reject'],
} as const;

type Verdict = keyof typeof VERDICTS;

const ROWS = KINDS.flatMap((kind) =>
  FEATURES.flatMap((feature) => (Object.keys(VERDICTS) as Verdict[]).map((verdict) => ({ kind, feature, verdict }))),
);

/** What can be seen of a run: paths without attempts. */
function seen(result: RunResult, events: readonly SkeinEvent[]): object {
  const { outcome, state, census, steps } = result;
  const ended = events.flatMap((event) => {
    if (event.type !== 'step.ended') return [];
    return [{ path: pathOf(event.path), outcome: event.outcome, to: event.to, update: event.update }];
  });
  // What an attempt was that did not count is part of the events alone.
  const last = new Map(ended.map((end) => [end.path, end]));
  return { outcome, state, census, steps, last: [...last.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

async function ran(one: Case, verdict?: Verdict): Promise<{ result: RunResult; events: SkeinEvent[] }> {
  const events: SkeinEvent[] = [];
  const said: readonly string[] = verdict === undefined ? [] : VERDICTS[verdict];
  const says: Saying = ({ corrections }) => (corrections === 0 ? (said[0] ?? 'ok') : 'ok');
  const answer = () => Promise.resolve(said[1]);
  const result = await startRun(one.plan, {
    bindings: one.bindings,
    executors: one.executors,
    phases: new ScriptedPhases(says),
    durable: new MemoryDurable('r', { answer }),
    listeners: [(event) => events.push(event)],
  }).result;
  return { result, events };
}

const correctionOf = (verdict: Verdict): string | undefined =>
  VERDICTS[verdict].flatMap((said) => /^(?:fix|revise): (.*)$/.exec(said)?.[1] ?? [])[0];

const isError = ({ severity }: Problem): boolean => severity === 'error';

const work = (place: string, correction: string | undefined): string =>
  `${place} ${correction === undefined ? 'first' : `after ${correction}`}`;

const ACCEPTED = ROWS.filter(({ verdict }) => verdict !== 'halt' && verdict !== 'reject');
const ENDED = ROWS.filter(({ verdict }) => verdict === 'halt' || verdict === 'reject');

describe('[addition 1] supervision changes nothing but what is accepted', () => {
  it.each(ACCEPTED)('$kind, $feature, $verdict: as without it', async ({ kind, feature, verdict }) => {
    const supervised = caseOf(kind, feature, true, work);
    expect(checkPlan(supervised.plan, supervised.bindings).filter(isError)).toEqual([]);
    const bare = caseOf(kind, feature, false, (place) => work(place, correctionOf(verdict)));
    const [one, other] = [await ran(supervised, verdict), await ran(bare)];
    expect(other.result).toMatchObject({ outcome: 'succeeded' });
    expect(seen(one.result, one.events)).toEqual(seen(other.result, other.events));
  });
});

describe('[addition 2] a halt, and a rejection, is final', () => {
  it.each(ENDED)('$kind, $feature, $verdict', async ({ kind, feature, verdict }) => {
    const supervised = caseOf(kind, feature, true, work);
    const code = verdict === 'halt' ? 'SKEIN_HALTED' : 'SKEIN_REJECTED';
    const { result, events } = await ran(supervised, verdict);
    expect('out' in result.state && feature !== 'reducer').toBe(false);
    expect(events.filter((event) => event.type === 'step.started' && event.node === 'z')).toEqual([]);
    // The retry of the work is not one of the verdict.
    const retried = events.filter((event) => event.type === 'step.retrying' && event.error.code === code);
    expect(retried).toEqual([]);
    if (feature === 'handler') {
      // It sees why, and on what grounds.
      const mended = { code, details: { reason: verdict, commitment: { interpretation: 'Do the work.' } } };
      expect(result).toMatchObject({ outcome: 'degraded', state: { mended } });
    } else {
      expect(result).toMatchObject({ outcome: 'failed', error: { code, details: { reason: verdict } } });
      expect(result.census.degraded).toBe(0);
    }
  });

  it('not even where items that fail are left out, or a step around it may fail or is tried again', async () => {
    const allowing = caseOf('map item', 'plain', true, work);
    for (const more of [
      { onItemError: 'leaveOut' },
      { onItemError: 'continue' },
      { onError: 'ignore' },
      { onError: 'skipDependents' },
      { retry: { retries: 3, backoff: 'fixed', delayMs: 0, on: 'any' } },
    ] as const) {
      const nodes = allowing.plan.nodes.map((node) => (node.id === 'b' ? { ...node, ...more } : node));
      const { result } = await ran({ ...allowing, plan: { ...allowing.plan, nodes } }, 'reject');
      expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_REJECTED' } });
    }
  });

  it('an error of these codes that a function throws is one', async () => {
    const bare = caseOf('task', 'onError', false, () => {
      throw new SkeinError('SKEIN_HALTED', 'halted inside');
    });
    expect((await ran(bare)).result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_HALTED' } });
  });
});
