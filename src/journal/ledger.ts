import { stepOf } from '../base/address.js';
import type { Slices } from '../base/slices.js';
import { forgetting } from './forgotten.js';
import { endsForGood, type Entry, type RunHistory, type LostStart } from './history.js';
import type { DoneRecord, PauseRecord } from './record.js';
import { voidFailures } from './void-failures.js';

export interface Recorded {
  readonly record: DoneRecord;
  /** Position in the order of delivery. Outcomes of parents come before the run's own, and are negative. */
  readonly order: number;
}

/** The known outcomes of a run's steps, from its own journal and those of the runs that it was forked from (J3, J4). */
export interface Ledger {
  /** Reusable outcomes for a key, the preferred one first. */
  find(key: string): readonly Recorded[];
  /** An effect that was started and has not succeeded, in this run or in a parent: the process of that one may have been killed after it. */
  started(key: string): LostStart | undefined;
  /** When a timer of this run is due. */
  timer(key: string): { readonly id?: string; readonly due: number } | undefined;
  /** A question or an event that this run waits for. */
  pause(key: string): PauseRecord | undefined;
  /** Whether such a question or event counts as closed, because a step around it has ended. */
  isClosed(key: string): boolean;
  /** How many outcomes of a key failed in this run and count no longer, because the run failed: so often it is tried again. */
  failures(key: string): number;
}

/**
 * Opens the reusable outcomes. The run's own come first, newest first, then those of its parents, the nearest first. What a run forgets
 * hides the outcomes that its parents, and their parents, have for these steps. Final failures are void once a session ended `failed` or
 * `degraded`, and always in parents: a fork is made to get further.
 */
export function* openLedger(own: RunHistory | undefined, parents: readonly RunHistory[] = []): Slices<Ledger> {
  const sources: Source[] = [];
  const forgotten: string[] = [];
  let before = 0;
  if (own !== undefined) {
    sources.push({
      history: own,
      void: yield* voidFailures(own, failedSessions(own)),
      shift: 0,
      isForgotten: forgetting([]),
    });
    forgotten.push(...forgetOf(own));
  }
  for (const history of parents) {
    before += history.outcomes;
    const all = yield* voidFailures(history, [...failedSessions(history), history.sessions.length]);
    sources.push({ history, void: all, shift: -before, isForgotten: forgetting(forgotten) });
    forgotten.push(...forgetOf(history));
  }
  const only = sources.length === 1 ? sources[0] : undefined;
  return {
    find: (key) => (only === undefined ? sources.flatMap((source) => offered(source, key)) : offered(only, key)),
    started: (key) => lastStart(sources, key),
    timer: (key) => own?.timers.get(key),
    pause: (key) => own?.pauses.get(key),
    isClosed: (key) => own?.closed.has(key) === true,
    failures: (key) => (own === undefined ? 0 : failuresOf(own, sources[0]?.void, key)),
  };
}

interface Source {
  readonly history: RunHistory;
  readonly void: ReadonlySet<Entry>;
  /** Offset added to the orders. */
  readonly shift: number;
  readonly isForgotten: (step: string) => boolean;
}

function offered(source: Source, key: string): readonly Recorded[] {
  const known = source.history.entries;
  const entries = known.size === 0 ? undefined : known.get(key);
  if (entries === undefined || source.isForgotten(stepOf(key))) return NONE;
  const [first] = entries;
  // Nearly all keys have one outcome.
  if (entries.length === 1 && first !== undefined && source.void.size === 0) return [recorded(source, first)];
  return entries
    .filter((entry) => !source.void.has(entry))
    .map((entry) => recorded(source, entry))
    .toReversed();
}

function recorded({ shift }: Source, { record, order }: Entry): Recorded {
  return { record, order: order + shift };
}

/** The nearest run in which an effect was started decides. What a run forgets is meant to be done again. */
function lastStart(sources: readonly Source[], key: string): LostStart | undefined {
  for (const { history, isForgotten } of sources) {
    const start = history.started.get(key);
    if (start === undefined && !history.entries.has(key)) continue;
    return start === undefined || isForgotten(stepOf(key)) ? undefined : { ...start, runId: history.begin.run };
  }
  return undefined;
}

const NONE: readonly Recorded[] = [];

/** Not those of a run that is degraded: what came of them stays. */
function failuresOf({ entries, sessions }: RunHistory, voided: ReadonlySet<Entry> | undefined, key: string): number {
  const failed = sessions.findLastIndex((session) => session.end?.outcome === 'failed');
  return (entries.get(key) ?? []).filter((entry) => voided?.has(entry) === true && entry.session <= failed).length;
}

function forgetOf(history: RunHistory): readonly string[] {
  return history.begin.forget ?? [];
}

/** Not those that succeeded, ended as defined, were cancelled or paused, or lost their process: their record is repeated unchanged. */
function failedSessions({ sessions }: RunHistory): readonly number[] {
  return sessions.flatMap((session, at) => {
    const isFailed = session.end?.outcome === 'failed' && !endsForGood(session);
    return isFailed || session.end?.outcome === 'degraded' ? [at] : [];
  });
}
