import { systemClock } from '../../base/clock.js';
import { SkeinError, type ErrorData } from '../../base/errors.js';
import { present } from '../../base/json.js';
import type { RunResult } from '../../engine/run.js';
import { readRun } from '../../journal/overview.js';
import type { Store } from '../../journal/store.js';
import { readHead, type ThreadHead } from '../../journal/thread-journal.js';
import { ThreadWriter } from '../../journal/thread-writer.js';
import { newHolder } from '../../stores/holder.js';
import { busy, checkGoing, pause, standInLine } from './line.js';
import { COUNTS, lastOutcome, shownOf, Turn } from './turn.js';
import type { EndedRecord } from '../../journal/thread-record.js';
import { endedWithoutSuccess, threadOfRun } from '../../journal/thread-rows.js';

/** A conversation over several runs, and how a turn handles the turn before it. */
export interface ThreadOptions {
  /** The name of the thread: a text of at most 200 characters. */
  readonly id: string;
  /**
   * What to do if the turn before failed or was cancelled: `skip` continues from the last turn that succeeded; `retry` retries it first,
   * and continues if it succeeds. Defaults to `skip`.
   */
  readonly onFailed?: 'skip' | 'retry';
  /** What to do while another turn runs, in this or another process: `wait` for its end, or `refuse`. Defaults to `wait`. */
  readonly onBusy?: 'wait' | 'refuse';
}

export interface Opening {
  readonly store: Store;
  readonly thread: ThreadOptions;
  readonly name: string;
  readonly signal: AbortSignal | undefined;
  readonly resume: (runId: string, turn: Turn) => Promise<RunResult>;
}

/** Delay in milliseconds before the first, and maximum delay before each further, attempt to take a busy thread. */
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 200;

interface Held {
  readonly writer: ThreadWriter;
  readonly leave: (outcome: string) => void;
  head: ThreadHead;
}

/**
 * Opens the next turn of a thread, and creates the thread if it does not exist. Waits for a turn in progress, resumes an interrupted one,
 * and skips or retries a failed one.
 *
 * @throws SkeinError `SKEIN_LEASE` if the thread is busy, `SKEIN_QUESTION` if a turn waits for an answer, `SKEIN_THREAD`, `SKEIN_CANCELLED`
 */
export async function openTurn(opening: Opening): Promise<Turn> {
  const held = await take(opening, true);
  if (held === undefined) throw new TypeError('a thread was not made');
  try {
    const words = await bringToEnd(opening, held);
    checkGoing(opening.signal);
    const { id, on, turns } = held.head;
    return new Turn(opening.store, { id, turn: turns + 1, on }, held, words);
  } catch (error) {
    held.leave(lastOutcome(opening.store, held.head));
    throw error;
  }
}

/**
 * Returns the turn that a resumed run is. Only the last turn of a thread takes part in it. Undefined for an earlier turn, or if the thread
 * does not exist.
 */
export async function rejoinTurn(opening: Omit<Opening, 'resume' | 'name'>, run: string): Promise<Turn | undefined> {
  const held = await take({ ...opening, name: '' }, false);
  if (held === undefined) return undefined;
  const { record, id } = held.head;
  const isLast = (record.t === 'turn' || record.t === 'ended') && record.run === run;
  const on = isLast ? record.on : undefined;
  if (isLast && on !== undefined) {
    const replaces = record.t === 'ended' && record.state !== undefined;
    return new Turn(opening.store, { id, turn: record.turn, on }, { ...held, replaces });
  }
  held.leave(lastOutcome(opening.store, held.head));
  return undefined;
}

/** Leases the thread. Undefined if the thread does not exist and is not to be created. */
async function take(
  { store, thread, name, signal }: Omit<Opening, 'resume'>,
  makes: boolean,
): Promise<Held | undefined> {
  const { id, onBusy = 'wait' } = thread;
  const waits = onBusy === 'wait';
  const leaveLine = await standInLine(store, id, { waits, signal });
  try {
    for (let ms = FIRST_WAIT_MS; ; ms = Math.min(ms * 2, LONGEST_WAIT_MS)) {
      checkGoing(signal);
      const held = tryToTake(store, id, makes ? name : undefined, leaveLine);
      if (held === 'none') break;
      if (held !== 'busy') return held;
      if (!waits) throw busy(id);
      await pause(ms, signal);
    }
  } catch (error) {
    leaveLine();
    throw error;
  }
  leaveLine();
  return undefined;
}

function tryToTake(store: Store, id: string, name: string | undefined, leaveLine: () => void): Held | 'none' | 'busy' {
  const known = readHead(store, id);
  if (known === undefined && name === undefined) return 'none';
  try {
    const writer =
      known === undefined
        ? createThread(store, id, name ?? '')
        : ThreadWriter.open(store, id, newHolder(), systemClock, () => headOf(store, id).end);
    return { ...holding(writer, leaveLine), head: headOf(store, id) };
  } catch (error) {
    const isTaken = SkeinError.isInstance(error) && (error.code === 'SKEIN_LEASE' || error.code === 'SKEIN_NO_RUN');
    // Another process may have created the thread at this moment.
    if (isTaken || (known === undefined && readHead(store, id) !== undefined)) return 'busy';
    throw error;
  }
}

function createThread(store: Store, id: string, name: string): ThreadWriter {
  const at = systemClock.now();
  return ThreadWriter.create(store, { id, name, holder: newHolder() }, systemClock, {
    at,
    head: (channels) => ({ t: 'thread', at, thread: id, state: { channels } }),
    turns: 0,
  });
}

function holding(writer: ThreadWriter, leaveLine: () => void): Omit<Held, 'head'> {
  return {
    writer,
    leave(outcome) {
      try {
        writer.release(outcome);
      } finally {
        leaveLine();
      }
    },
  };
}

function headOf(store: Store, id: string): ThreadHead {
  const head = readHead(store, id);
  if (head !== undefined) return head;
  throw new SkeinError('SKEIN_NO_THREAD', `the store no longer has a thread '${id}'`);
}

/** Brings the previous turn to an end. Returns what is reported about it. */
async function bringToEnd(opening: Opening, held: Held): Promise<readonly string[]> {
  const { store, thread } = opening;
  const { record } = held.head;
  const retries = thread.onFailed === 'retry';
  if (
    record.t === 'ended' &&
    record.state === undefined &&
    record.on !== undefined &&
    retries &&
    store.run(record.run) !== undefined
  )
    return await again(opening, held, record.run, record.turn, record.on);
  if (record.t !== 'turn') return [];
  const { run, turn, on } = record;
  const lost = givenUpTurn(store, held.head);
  const isGone = lost?.error === GONE;
  if (lost !== undefined && (isGone || !retries)) {
    passOver(held.writer, lost);
    held.head = headOf(store, thread.id);
    return isGone ? [`turn ${turn} of the thread '${thread.id}' left no run behind, and does not count`] : [];
  }
  if (store.run(run)?.outcome === 'paused') checkAnswered(store, thread.id, run, turn);
  return await again(opening, held, run, turn, on);
}

async function again(
  { store, thread, resume }: Opening,
  held: Held,
  run: string,
  turn: number,
  on: number,
): Promise<readonly string[]> {
  const { id } = thread;
  const kept = { writer: held.writer, leave: () => undefined };
  const result = await resume(run, new Turn(store, { id, turn, on }, kept));
  held.head = headOf(store, id);
  const { outcome, error } = result;
  if (outcome === 'paused') checkAnswered(store, id, run, turn);
  if (COUNTS.has(outcome))
    return [`turn ${turn} of the thread '${id}' had not ended, and was resumed first: it ${wordOf(outcome)}`];
  if (thread.onFailed !== 'retry')
    return [`turn ${turn} of the thread '${id}' was resumed first, and does not count: it ${wordOf(outcome)}`];
  throw new SkeinError(
    'SKEIN_THREAD',
    `turn ${turn} of the thread '${id}' was tried again, and ${wordOf(outcome)}: ${error?.message ?? outcome}`,
    { hint: `look at it with skein show ${run}, or continue without it: onFailed: 'skip'`, details: { run, turn } },
  );
}

function wordOf(outcome: string): string {
  if (outcome === 'cancelled') return 'was cancelled';
  return outcome === 'out_of_budget' ? 'ran out of budget' : outcome;
}

/** @throws SkeinError `SKEIN_QUESTION` that names the question */
function checkAnswered(store: Store, id: string, run: string, turn: number): void {
  const open = readRun(store, run).questions.filter(({ overdue }) => overdue !== true);
  const [first, ...more] = open;
  if (first === undefined) return;
  const text = first.question ?? first.name;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  throw new SkeinError('SKEIN_QUESTION', `turn ${turn} of the thread '${id}' waits for an answer: ${text}${others}`, {
    hint: `answer it: skein answer ${run}, or answerRun(store, '${run}', ...); the next turn continues it`,
    details: { run, turn, questions: open.map((one) => ({ ...one })) },
  });
}

/** A turn that was noted as begun and can't succeed: its run is gone, was cancelled from outside, or failed in a process that then died. */
export interface GivenUp extends Pick<EndedRecord, 'run' | 'turn' | 'outcome' | 'error'> {
  readonly on: number;
}

const GONE: ErrorData = { code: 'SKEIN_NO_RUN', message: 'its run is not recorded' };

/** Returns the last turn of a thread if it is given up. Undefined if it has ended, runs, waits or can be resumed. */
export function givenUpTurn(store: Store, { id, record }: ThreadHead): GivenUp | undefined {
  if (record.t !== 'turn') return undefined;
  const { run, turn, on } = record;
  const row = store.run(run);
  if (row === undefined || threadOfRun(row) !== id) return { run, turn, on, outcome: 'failed', error: GONE };
  const outcome = endedWithoutSuccess(row);
  return outcome === undefined ? undefined : { run, turn, on, outcome, ...present({ error: errorOf(store, run) }) };
}

function errorOf(store: Store, run: string): ErrorData | undefined {
  try {
    const { error } = readRun(store, run);
    return error && shownOf(error);
  } catch {
    // The record of a turn that does not count may be damaged.
    return undefined;
  }
}

/** Notes the end of a turn that is given up. The turn does not count. */
export function passOver(writer: ThreadWriter, turn: GivenUp): void {
  const at = systemClock.now();
  writer.write({ at, head: () => ({ t: 'ended', at, ...turn }), turns: turn.turn });
}
