import type { Clock } from '../base/clock.js';
import { present, type JsonObject } from '../base/json.js';
import { atOnce, type Slices } from '../base/slices.js';
import type { Label } from '../guard/label.js';
import { FIRST_SUM, chainSum, encodeBegin, encodeRecord, type JournalEnd } from './codec.js';
import { changes, storedSettings, type Definition } from './definition.js';
import { forgottenBy, type ForkWish } from './fork-from.js';
import { endsForGood, type RunHistory } from './history.js';
import type { Journal } from './journal.js';
import { staleLease } from './store-writer.js';
import { openLedger, type Ledger } from './ledger.js';
import type { BeginRecord, LogRecord, OpenRecord, TurnOf } from './record.js';
import { readJournal, type FamilyReader } from './reader.js';
import { Replay } from './replay.js';
import {
  LEASE_MS,
  type BlobText,
  type FirstBatch,
  type Holder,
  type Lease,
  type RunRow,
  type RunStanding,
  type SessionEnd,
  type Store,
} from './store.js';
import { codeText, storedPlan, storedValue } from './stored.js';
import { threadRow } from './thread-rows.js';

/** A session that may write: the run is leased, and its first lines are committed. */
export interface OpenSession {
  readonly store: Store;
  readonly lease: Lease;
  readonly ledger: Ledger;
  readonly end: JournalEnd;
  /** When the run began, milliseconds since 1970. */
  readonly beganAt: number;
  readonly seed: string;
  /** The first order of delivery that is new. */
  readonly nextOrder: number;
  /** True if the session first replays a record. */
  readonly goesOn: boolean;
  /** Log records of earlier sessions, of this run and of each that it was forked from, nearest first. */
  readonly logs: readonly (readonly LogRecord[])[];
  readonly before: SpentBefore;
  /** The recorded history; absent for a new run. */
  readonly history?: RunHistory;
  /** Number of earlier sessions, including those of the runs that this run was forked from. */
  readonly closings?: { readonly ended: number; readonly continued: number; readonly sessions: number };
  /** The end of a finished run: its journal then, and its outcome. */
  readonly finished?: { readonly batches: number; readonly end: SessionEnd };
}

/** What earlier sessions of a run have spent, and what they left open. */
export interface SpentBefore {
  /** In milliseconds. */
  readonly ms: number;
  readonly openedAt: number;
  readonly pauses: RunStanding['pauses'];
}

export interface NewSession extends Definition {
  readonly runId: string;
  readonly origin: JsonObject;
  /** The run that this one is forked from, with its own parents, and the steps that run again. */
  readonly parent?: ForkWish & {
    readonly family: Family;
    /** Replaced outputs of steps. */
    readonly edits?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  };
  /** The thread's turn that this run is, or was forked from. */
  readonly thread?: TurnOf | undefined;
  readonly influence?: Label | undefined;
}

/** The histories of a run and of its parents, nearest first. */
export type Family = readonly [RunHistory, ...RunHistory[]];

/** @throws SkeinError `SKEIN_STORE`; `SKEIN_USAGE` for steps that a parent does not have; `SKEIN_NOT_JSON` for such inputs */
export function* beginSession(store: Store, run: NewSession, holder: Holder, now: number): Slices<OpenSession> {
  const { runId, plan, parent, origin } = run;
  const parents = parent?.family ?? [];
  const forget = parent === undefined ? [] : forgottenBy(plan, parents, parent);
  const [plans, inputs, settings] = [storedPlan(plan), storedValue(run.inputs, 'the inputs'), storedSettings(run)];
  const set = parent?.edits === undefined ? undefined : storedValue(parent.edits, 'what is set');
  const begin: BeginRecord = {
    t: 'begin',
    at: now,
    run: runId,
    name: plan.name,
    seed: parents[0]?.begin.seed ?? runId,
    ...(parent === undefined ? {} : { parent: parent.family[0].begin.run, forget }),
    ...present({ thread: run.thread, influence: run.influence }),
    ...(set === undefined ? {} : { set: set.stored }),
    plan: plans.stored,
    code: run.code,
    inputs: inputs.stored,
    settings: settings.stored,
    origin,
  };
  const above = begin.parent ?? (run.thread === undefined ? undefined : threadRow(run.thread.id));
  const own = above === undefined ? {} : { parent: above };
  const open: OpenRecord = { t: 'open', at: now, fence: 1 };
  const texts = { plan: plans.text, code: codeText(run.code), inputs: inputs.text, settings: settings.text };
  const blobs = [...plans.blobs, ...inputs.blobs, ...settings.blobs, ...(set?.blobs ?? [])];
  const first = batchOf(runId, NO_END, [encodeBegin(begin, texts), encodeRecord(open)], blobs);
  const ledger = yield* openLedger(nothingYet(begin), parents);
  const lease = store.create({ id: runId, name: plan.name, createdAt: now, ...own }, holder, now, first);
  return {
    store,
    lease,
    ledger,
    end: { batches: 1, sum: first.sum },
    beganAt: now,
    seed: begin.seed,
    nextOrder: 0,
    goesOn: parents.length > 0,
    ...(parents.length === 0 ? {} : { closings: closingsOf(parents, parents) }),
    logs: [[], ...logsOf(parents)],
    before: { ms: 0, openedAt: now, pauses: [] },
  };
}

/**
 * Continues a run, from which `reader` may already have read. Changes by `definition` are recorded with the session (J11).
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_LEASE` while another process has the run, `SKEIN_JOURNAL` if it is damaged, `SKEIN_STORE`
 */
export function* resumeSession(
  store: Store,
  reader: FamilyReader,
  definition: Definition,
  holder: Holder,
  clock: Clock,
): Slices<OpenSession> {
  const { runId } = reader;
  const before = store.run(runId);
  const now = clock.now();
  const lease = store.lease(runId, holder, now);
  try {
    const [histories, ledger] = yield* keepingLease(store, lease, clock, readLedger(reader));
    const [history] = histories;
    if (history.cut !== undefined) store.cut(lease, history.batches);
    const { begin, outcomes } = history;
    const changed = changes(store, history, definition);
    const open: OpenRecord = { t: 'open', at: now, fence: lease.fence, ...changed.fields };
    return {
      store,
      lease,
      ledger,
      end: appendFirst(store, lease, history, [encodeRecord(open)], changed.blobs),
      beganAt: begin.at,
      seed: begin.seed,
      goesOn: true,
      logs: logsOf(histories),
      history,
      before: { ms: history.ms, openedAt: now, pauses: [...history.pauses.values()] },
      nextOrder: outcomes,
      closings: closingsOf(histories, histories.slice(1)),
      ...(history.cut === undefined ? finishedBefore(before, history) : {}),
    };
  } catch (error) {
    store.release(lease, { outcome: before?.outcome ?? 'interrupted', endedAt: before?.endedAt ?? now });
    throw error;
  }
}

function finishedBefore(row: RunRow | undefined, { batches }: RunHistory): Pick<OpenSession, 'finished'> {
  if (row?.endedAt === undefined || (row.outcome !== 'succeeded' && row.outcome !== 'degraded')) return {};
  const { outcome, endedAt, standing } = row;
  return { finished: { batches, end: { outcome, endedAt, ...(standing === undefined ? {} : { standing }) } } };
}

/**
 * Restores a finished run to its earlier state, without a session that only read its record. Returns false for any other session.
 *
 * @throws SkeinError `SKEIN_STORE`, `SKEIN_LEASE`
 */
export function leaveFinished({ store, lease, finished }: OpenSession, journal: Journal): boolean {
  if (finished === undefined || journal.worked) return false;
  journal.stop();
  store.cut(lease, finished.batches);
  store.release(lease, finished.end);
  return true;
}

/** Whether a run, or one that it was forked from, came to an intended end. */
function isOver(family: readonly RunHistory[]): boolean {
  return family.some(({ sessions }) => sessions.slice(-1).some(endsForGood));
}

/** Each fork counts as one more session: what closed the run before does not close the fork. */
function closingsOf(
  histories: readonly RunHistory[],
  parents: readonly RunHistory[],
): NonNullable<OpenSession['closings']> {
  const all = histories.flatMap(({ sessions }) => sessions);
  const forks = parents.length === 0 ? 0 : 1;
  const ended = all.filter((session) => isToTryAgain(session)).length;
  const short = all.filter(({ end }) => end?.outcome === 'out_of_budget').length;
  const continued = ended + short + (isOver(parents) ? 0 : forks);
  return { ended: ended + forks, continued, sessions: all.length + forks };
}

function logsOf(histories: readonly RunHistory[]): OpenSession['logs'] {
  return histories.map(({ logs }) => logs);
}

/** Whether a resume tries again what failed or was cut off. A run that only came to a limit of a loop has nothing of that. */
function isToTryAgain(session: RunHistory['sessions'][number]): boolean {
  const { end } = session;
  if (end?.outcome === 'degraded') return end.census.degraded > 0;
  return (end?.outcome === 'failed' && !endsForGood(session)) || end?.outcome === 'cancelled';
}

function* readLedger(reader: FamilyReader): Slices<readonly [Family, Ledger]> {
  const family = yield* reader.read();
  const [history, ...parents] = family;
  return [family, yield* openLedger(history, parents)];
}

/** Renews a lease during work that is done in slices. */
function* keepingLease<T>(store: Store, lease: Lease, clock: Clock, work: Slices<T>): Slices<T> {
  let renewed = clock.now();
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (clock.now() - renewed >= LEASE_MS / 3) {
      renewed = clock.now();
      if (store.renew([lease], renewed)[0] !== true) throw staleLease(lease);
    }
    yield;
  }
}

/** Releases a run that can't be recorded any more, if possible. */
export function giveBack({ store, lease }: OpenSession, now: number): void {
  try {
    store.release(lease, { outcome: 'interrupted', endedAt: now });
  } catch {
    // The lease expires on its own.
  }
}

/** @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE` */
export function readHistory(store: Store, runId: string): RunHistory {
  return atOnce(readJournal(store, new Replay(runId), runId));
}

const NO_END: JournalEnd = { batches: 0, sum: FIRST_SUM };

/** Records the start of the session before anything runs. */
function appendFirst(
  store: Store,
  lease: Lease,
  end: JournalEnd,
  lines: readonly string[],
  blobs: readonly BlobText[],
): JournalEnd {
  const batch = batchOf(lease.runId, end, lines, blobs);
  const [written] = store.append([{ ...batch, lease, seq: end.batches }]);
  if (written !== true) throw staleLease(lease);
  return { batches: end.batches + 1, sum: batch.sum };
}

function batchOf(
  runId: string,
  { batches, sum: before }: JournalEnd,
  lines: readonly string[],
  blobs: readonly BlobText[],
): FirstBatch {
  const text = lines.join('\n');
  return { text, sum: chainSum(before, runId, batches, text), ...(blobs.length === 0 ? {} : { blobs }) };
}

function nothingYet(begin: BeginRecord): RunHistory {
  const none = new Map<string, never>();
  return {
    begin,
    current: begin,
    sessions: [],
    entries: none,
    outcomes: 0,
    started: none,
    timers: none,
    pauses: none,
    closed: new Set(),
    spends: [],
    calls: { lost: [], underWay: [] },
    logs: [],
    skips: [],
    wrote: new Set(),
    ms: 0,
    batches: 0,
    sum: FIRST_SUM,
  };
}
