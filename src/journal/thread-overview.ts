import { systemClock } from '../base/clock.js';
import { SkeinError, type ErrorData } from '../base/errors.js';
import { present } from '../base/json.js';
import type { OpenQuestion } from '../events/question.js';
import type { Spending } from '../events/spending.js';
import { readRun, statusOfRow } from './overview.js';
import type { RunStatus, SessionOverview } from './run-overview.js';
import { spentBy } from './run-costs.js';
import { readStored } from './stored.js';
import { isHeld, type RunRow, type Store } from './store.js';
import { keptChannels, readHead, shapeOf, threadRecords } from './thread-journal.js';
import type { EndedRecord, PutRecord, TurnRecord } from './thread-record.js';
import { checkThreadId, endedWithoutSuccess, threadOfRow, threadOfRun, threadRow } from './thread-rows.js';

/** A conversation in a list. */
export interface ThreadSummary {
  readonly id: string;
  /** Name of the workflow that it began with. */
  readonly workflow: string;
  /** Number of turns, including those that don't count. */
  readonly turns: number;
  /** Status of its last turn. */
  readonly status: RunStatus;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
  /** End of its last turn; absent while a turn runs. */
  readonly endedAt?: number;
  /** Why it is unreadable. */
  readonly problem?: string;
}

/** A turn of a conversation. */
export interface ThreadTurn extends SessionOverview {
  /** Counts from 1. */
  readonly turn: number;
  readonly runId: string;
  /** True if later turns build on its result: it has succeeded, or is degraded. */
  readonly counts: boolean;
  readonly error?: ErrorData;
  /** Calls, tokens and dollars of its run; absent if the run's record is unreadable. */
  readonly spent?: Spending;
  /** Inputs of the turn. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Values that the turn left in the state; of values that grew, only the added part. Leaves out unchanged inputs. */
  readonly results: Readonly<Record<string, unknown>>;
}

/** A change of the state between two turns. */
export interface ThreadEdit {
  /** The turn before it; 0 if it came before the first. */
  readonly after: number;
  readonly at: number;
  readonly who: string;
  readonly why: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The stored data of a conversation. */
export interface ThreadOverview {
  readonly id: string;
  /** Name of the workflow of the last turn that counted; absent before the first. */
  readonly workflow?: string;
  /** The turn of another thread that it was forked from. */
  readonly from?: { readonly thread: string; readonly turn: number };
  /** The initial state of the next turn. */
  readonly state: Readonly<Record<string, unknown>>;
  readonly turns: readonly ThreadTurn[];
  readonly edits: readonly ThreadEdit[];
  /** Open questions of the last turn. No other turn begins until they are answered. */
  readonly questions: readonly OpenQuestion[];
}

/**
 * Reads a whole conversation: its state, its turns, and the open questions.
 *
 * @throws SkeinError `SKEIN_NO_THREAD`; `SKEIN_JOURNAL` if it is damaged; `SKEIN_STORE`
 * @example
 * const { state, turns, questions } = getThread(store, 'support-4711');
 * for (const { turn, status, inputs, results } of turns) console.log(turn, status, inputs, results);
 */
export function getThread(store: Store, id: string): ThreadOverview {
  checkThreadId(id);
  const head = readHead(store, id);
  if (head === undefined) throw noThread(id);
  const { turns, edits, from } = readTurns(store, id);
  const shape = shapeOf(store, id, head.state);
  const values = [...keptChannels(store, id, head.state)].map(([name, { kept }]): [string, unknown] => [
    name,
    kept.value,
  ]);
  const open = head.record.t === 'turn' ? head.record.run : undefined;
  const row = open === undefined ? undefined : store.run(open);
  const mayWait = row !== undefined && endedWithoutSuccess(row) === undefined;
  return {
    id,
    ...(shape === undefined ? {} : { workflow: shape.workflow }),
    ...(from === undefined ? {} : { from }),
    state: Object.fromEntries(values),
    turns,
    edits,
    questions: mayWait ? readRun(store, row.id).questions : [],
  };
}

/**
 * Lists the conversations of a store, newest first.
 *
 * @throws SkeinError `SKEIN_STORE`
 * @example
 * for (const { id, turns, status } of listThreads(store)) console.log(id, turns, status);
 */
export function listThreads(store: Store): readonly ThreadSummary[] {
  return store.threads().map((row) => summaryOf(store, row));
}

/**
 * Removes a conversation with all its turns.
 *
 * @throws SkeinError `SKEIN_NO_THREAD`, `SKEIN_STORE`; `SKEIN_LEASE` while a turn runs, or a run exists that was forked from a turn
 * @example
 * removeThread(store, 'support-4711');
 */
export function removeThread(store: Store, id: string): void {
  checkThreadId(id);
  const now = systemClock.now();
  const row = store.run(threadRow(id));
  if (row === undefined) throw noThread(id);
  const runs = store.list();
  const turns = new Set(runs.filter((run) => threadOfRun(run) === id).map((run) => run.id));
  if ([row, ...runs.filter((run) => turns.has(run.id))].some((one) => isHeld(one, now)))
    throw inUse(id, 'a turn of it runs');
  if (runs.some(({ parent }) => parent !== undefined && turns.has(parent)))
    throw inUse(id, 'a run outside the thread was forked from one of its turns');
  const removed = store.remove([row.id, ...turns], now);
  if (!removed.includes(row.id)) throw inUse(id, 'another process has taken it');
}

function inUse(id: string, why: string): SkeinError {
  return new SkeinError('SKEIN_LEASE', `the thread '${id}' is in use: ${why}`, {
    hint: 'wait until the turn has ended, or remove the forks first',
  });
}

export function noThread(id: string): SkeinError {
  return new SkeinError('SKEIN_NO_THREAD', `the store has no thread '${id}'`, { hint: 'skein threads lists them' });
}

function summaryOf(store: Store, row: RunRow): ThreadSummary {
  const id = threadOfRow(row.id) ?? row.id;
  const fixed = { id, workflow: row.name, beganAt: row.createdAt };
  try {
    if (row.damage !== undefined) throw new SkeinError('SKEIN_JOURNAL', row.damage);
    const status = statusOfRow(row, systemClock.now());
    const ended = row.endedAt === undefined || status === 'running' ? {} : { endedAt: row.endedAt };
    return { ...fixed, turns: row.standing?.steps ?? readHead(store, id)?.turns ?? 0, status, ...ended };
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_JOURNAL') throw error;
    return { ...fixed, turns: 0, status: 'interrupted', problem: error.message };
  }
}

type Values = Readonly<Record<string, unknown>>;

function readTurns(store: Store, id: string): Pick<ThreadOverview, 'turns' | 'edits' | 'from'> {
  const turns = new Map<number, ThreadTurn>();
  const edits: ThreadEdit[] = [];
  let from: ThreadOverview['from'];
  let puts: PutRecord[] = [];
  const latest = new Map<string, PutRecord>();
  for (const record of threadRecords(store, id)) {
    if (record.t === 'put') {
      puts.push(record);
      latest.set(record.channel, record);
    } else if (record.t === 'turn') turns.set(record.turn, begunTurn(store, record, turns.get(record.turn)));
    else if (record.t === 'ended') {
      const known = turns.get(record.turn);
      const results = [...puts.filter(({ given }) => given !== true), ...repeatedOf(record, latest)];
      if (known !== undefined) turns.set(record.turn, endedTurn(known, record, valuesOf(store, results)));
      puts = [];
    } else if (record.t === 'edit') {
      const { turn, at, who, why, values } = record;
      const given = Object.entries(valuesOf(store, puts)).filter(([name]) => values.includes(name));
      edits.push({ after: turn, at, who, why, values: Object.fromEntries(given) });
      puts = [];
    } else if (record.t === 'thread') ({ from } = record);
  }
  return {
    turns: [...turns.values()].map((turn) => withSpent(store, turn)),
    edits,
    ...(from === undefined ? {} : { from }),
  };
}

function withSpent(store: Store, turn: ThreadTurn): ThreadTurn {
  try {
    return { ...turn, spent: spentBy(store, turn.runId) };
  } catch (error) {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_JOURNAL') return turn;
    throw error;
  }
}

/** Values that a turn wrote again unchanged. Leaves out values stored in pieces, to which the turn added nothing. */
function repeatedOf({ repeated = [] }: EndedRecord, latest: ReadonlyMap<string, PutRecord>): readonly PutRecord[] {
  return repeated.flatMap((name) => {
    const put = latest.get(name);
    return put === undefined || put.more === true ? [] : [put];
  });
}

function begunTurn(store: Store, { turn, run, at, inputs }: TurnRecord, before: ThreadTurn | undefined): ThreadTurn {
  const status = statusOfRow(store.run(run), systemClock.now());
  const given = inputs === undefined ? (before?.inputs ?? {}) : (readStored(store, inputs) as Values);
  return { turn, runId: run, status, counts: false, beganAt: before?.beganAt ?? at, inputs: given, results: {} };
}

/** A turn that is resumed ends more than once: its last end counts. */
function endedTurn(begun: ThreadTurn, { at, outcome, error, state }: EndedRecord, results: Values): ThreadTurn {
  const { turn, runId, beganAt, inputs } = begun;
  const ended = { status: outcome, counts: state !== undefined, endedAt: at };
  return { turn, runId, beganAt, inputs, ...ended, ...present({ error }), results };
}

function valuesOf(store: Store, puts: readonly PutRecord[]): Values {
  return Object.fromEntries(puts.map((put) => [put.channel, readStored(store, put)]));
}
