import { checkOptions } from '../base/options.js';
import { systemClock } from '../base/clock.js';
import { present, type Json } from '../base/json.js';
import { openQuestion, type OpenQuestion } from '../events/question.js';
import { addSpending } from '../events/spending.js';
import type { Plan } from '../plan/plan.js';
import { nodeIdOf } from '../base/address.js';
import { addTo } from '../base/collections.js';
import { atOnce } from '../base/slices.js';
import { timesOf, type Timing } from './block-times.js';
import type { RunHistory } from './history.js';
import { spentOn, type LostCall } from './lost-calls.js';
import { OverviewFold } from './overview-fold.js';
import { lostText, type RunMoment, type TellMoment } from './overview-moments.js';
import { nodeFinder } from '../plan/nodes.js';
import type { RunOverview, RunStatus, SessionOverview, StepOverview } from './run-overview.js';
import { parentOf, takenSteps } from './taken-steps.js';
import { recordedEnding, outputOf, type StepTrace } from './overview-trace.js';
import { readJournal, rowOf } from './reader.js';
import type { JournalRecord, Stored } from './record.js';
import { Replay } from './replay.js';
import { readStored } from './stored.js';
import { isHeld, type Answer, type RunRow, type Store } from './store.js';

/** Options for reading a record. */
export interface ReadRunOptions {
  /** Whether to include outputs of steps. Default: no. */
  readonly outputs?: boolean;
  /** Milliseconds since 1970. Default: the clock. */
  readonly now?: number;
}

/**
 * Returns the recorded data of a run: steps, time, tokens, sessions, open questions. The run may be in progress.
 *
 * @throws SkeinError `SKEIN_NO_RUN`; `SKEIN_JOURNAL` if the record is damaged; `SKEIN_STORE`; `SKEIN_USAGE` for options that do not exist
 * @example
 * const store = await openSqliteStore('.skein/skein.db');
 * const overview = readRun(store, listRuns(store)[0]?.id ?? '');
 * for (const step of overview.steps) console.log(step.path, step.outcome, step.ms);
 */
export function readRun(store: Store, runId: string, options: ReadRunOptions = {}): RunOverview {
  checkOptions<ReadRunOptions>('readRun', options, { outputs: 'true or false', now: 'a number' });
  return openRecord(store, runId, () => undefined, options).overview();
}

/**
 * Returns what happened in a run, in order: sessions, ends of steps, retries, warnings, model and tool calls, questions, answers.
 *
 * @throws SkeinError `SKEIN_NO_RUN`; `SKEIN_JOURNAL` if the record is damaged; `SKEIN_STORE`
 * @example
 * for (const { at, path, text } of readMoments(store, runId)) console.log(new Date(at).toISOString(), path, text);
 */
export function readMoments(store: Store, runId: string): readonly RunMoment[] {
  const moments: RunMoment[] = [];
  openRecord(store, runId, (moment) => moments.push(moment));
  return moments;
}

export interface OpenRunRecord {
  /** Reads what was written since. Returns false if what was read before was cut off: the record must then be opened again. */
  more(): boolean;
  overview(): RunOverview;
}

/**
 * Opens the record of a run and reads it; reports what happened, in order.
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 */
export function openRecord(store: Store, runId: string, tell: TellMoment, options: ReadRunOptions = {}): OpenRunRecord {
  let row = rowOf(store, runId);
  // Each record is folded when it is read, and not kept: a long journal needs little more memory than its report.
  let told = 0;
  const add = (record: JournalRecord): void => {
    fold.add(record);
    if (record.t !== 'open' || fold.sessions.length === 1) return;
    const { lost } = taken.history().calls;
    for (const { path, at, spent } of lost.slice(told)) tell({ at, kind: 'model', path, ...lostText(spent) });
    told = lost.length;
  };
  const taken = new Replay(runId, add, { keeps: false });
  const nodeAt = nodeInPlan(store, () => taken.plan);
  const fold = new OverviewFold({ nodeAt, tell, valueOf: (stored) => readStored(store, stored), ...options });
  let history = atOnce(readJournal(store, taken, runId));
  return {
    more() {
      row = rowOf(store, runId);
      taken.goOn();
      const [last, ...added] = store.read(runId, taken.good - 1);
      if (last?.sum !== history.sum) return false;
      for (const batch of added) taken.add(batch);
      history = taken.history();
      return true;
    },
    overview: () => overviewOf({ store, row, history, fold, nodeAt }, options),
  };
}

/** Returns a function that finds nodes in the plan of a run, which may be edited between two sessions. */
function nodeInPlan(store: Store, current: () => Stored | undefined): ReturnType<typeof nodeFinder> {
  let known: Stored | undefined;
  let find: ReturnType<typeof nodeFinder> | undefined;
  return (path) => {
    const plan = current();
    if (plan === undefined) return undefined;
    if (find === undefined || plan !== known) find = nodeFinder(readStored(store, plan) as Plan);
    known = plan;
    return find(path);
  };
}

interface Gathered {
  readonly store: Store;
  readonly row: RunRow;
  readonly history: RunHistory;
  readonly fold: OverviewFold;
  readonly nodeAt: ReturnType<typeof nodeFinder>;
}

function overviewOf(gathered: Gathered, { now = systemClock.now(), outputs = false }: ReadRunOptions): RunOverview {
  const { store, row, history, fold } = gathered;
  const { begin, cut } = history;
  const status = statusOf(gathered, now);
  const sessions = fold.sessions.map((session, at) =>
    sessionOverview(session, at === fold.sessions.length - 1, status),
  );
  const end = fold.sessions.at(-1)?.end;
  const last = sessions.at(-1);
  const questions = isAnswerable(status) ? openQuestions(fold, store.answers(begin.run), now) : [];
  const waiting = new Set(WAITING.has(status) ? questions.map((pause) => pause.path) : []);
  const lost = [...history.calls.lost, ...(status === 'running' ? [] : history.calls.underWay)];
  const lostByPath = new Map<string, LostCall[]>();
  for (const call of lost) addTo(lostByPath, call.path, call);
  const read = (id: string): RunOverview => readRun(store, id, { outputs, now });
  const steps = takenSteps(gathered, read);
  const counted = [...fold.steps.values()].filter((trace) => !fold.isAbandoned(trace, isOver(status)));
  const timing = timesOf(counted, { sessions, nodeAt: gathered.nodeAt });
  for (const trace of counted)
    steps.push(stepOverview(trace, gathered, { status, outputs, waiting, lostByPath, ...timing(trace) }));
  return {
    id: begin.run,
    name: row.name,
    status,
    beganAt: begin.at,
    ...(last?.endedAt === undefined ? {} : { endedAt: last.endedAt }),
    ms: sessions.reduce((sum, one) => sum + Math.max(0, (one.endedAt ?? now) - one.beganAt), 0),
    ...(end?.error === undefined ? {} : { error: end.error }),
    ...(end === undefined ? {} : { census: end.census }),
    ...parentOf(gathered),
    origin: begin.origin,
    inputs: readStored(store, history.current.inputs) as Json,
    sessions,
    steps,
    ...addSpending(fold.spent.spending(), spentOn(lost)),
    models: [...fold.spent.byModel.values()],
    questions,
    warnings: fold.warnings,
    guarded: fold.decided.list,
    endorsed: fold.decided.endorsed,
    ...(cut === undefined ? {} : { cut }),
  };
}

function statusOf({ row, fold }: Gathered, now: number): RunStatus {
  const last = fold.sessions.at(-1);
  // A new holder leases the run before its session is recorded.
  if (isHeld(row, now) && (last?.end === undefined || last.open.fence !== row.fence)) return 'running';
  return last?.end?.outcome ?? 'interrupted';
}

export function statusOfRow(row: RunRow | undefined, now: number): RunStatus {
  if (row !== undefined && isHeld(row, now)) return 'running';
  return (row?.outcome as RunStatus | undefined) ?? 'interrupted';
}

function isOver(status: RunStatus): boolean {
  return status === 'succeeded' || status === 'degraded';
}

/** Whether a question of the run can be answered: one that is resumed after it was cancelled asks again. */
export function isAnswerable(status: RunStatus): boolean {
  return !isOver(status) && status !== 'cancelled';
}

function sessionOverview(
  { open, end, lastAt }: OverviewFold['sessions'][number],
  isLast: boolean,
  status: RunStatus,
): SessionOverview {
  if (end !== undefined) return { beganAt: open.at, endedAt: end.at, status: end.outcome };
  if (isLast && status === 'running') return { beganAt: open.at, status };
  return { beganAt: open.at, endedAt: lastAt, status: 'interrupted' };
}

interface StepOptions extends Timing {
  readonly status: RunStatus;
  readonly outputs: boolean;
  readonly waiting: ReadonlySet<string>;
  readonly lostByPath: ReadonlyMap<string, readonly LostCall[]>;
}

/** In a run with one of these statuses, a step that has an open question waits for its answer. */
const WAITING: ReadonlySet<RunStatus> = new Set(['running', 'interrupted', 'paused']);

function stepOverview(
  trace: StepTrace,
  { store, nodeAt, fold }: Gathered,
  { status, outputs, waiting, lostByPath, startedAt, ms }: StepOptions,
): StepOverview {
  const { path, endedAt } = trace;
  // If other questions ended the session, a waiting step was cancelled with it.
  const waits = waiting.has(path) && (trace.status === 'running' || trace.status === 'cancelled');
  const node = nodeAt(path);
  const ending = waits
    ? ({ outcome: 'paused', reason: 'it waits for an answer' } as const)
    : recordedEnding(trace, node);
  const output = outputs && ending?.outcome === 'succeeded' ? outputOf(store, trace) : undefined;
  const lost = lostByPath.get(path);
  return {
    path,
    node: node?.id ?? nodeIdOf(path),
    ...(node === undefined ? {} : { kind: node.kind }),
    outcome: ending?.outcome ?? openOutcome(status, node?.kind, trace.closed),
    ...trace.account(ending),
    ...(lost === undefined ? {} : addSpending(trace.spending(), spentOn(lost))),
    startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ms,
    models: trace.models,
    ...present({ label: fold.decided.labels.get(path) }),
    ...(output === undefined ? {} : { output }),
  };
}

/**
 * The outcome of a step without a recorded end. Steps of a program's own executors have no record when they succeed; nor have agents that
 * end by a call and were closed. Any other end is recorded, and a cancelled step closes nothing that is recorded.
 */
function openOutcome(status: RunStatus, kind: string | undefined, isClosed: boolean): StepOverview['outcome'] {
  if (status === 'running' || status === 'interrupted') return status;
  if (!isOver(status)) return isClosed ? 'succeeded' : 'interrupted';
  return isClosed || (kind !== 'task' && kind !== 'agent') ? 'succeeded' : 'cancelled';
}

/** Returns what is open and has no answer yet, including none that the run has not taken, in the order of asking. */
function openQuestions(fold: OverviewFold, answers: readonly Answer[], now: number): readonly OpenQuestion[] {
  const given = new Set(answers.map((answer) => `${answer.key} ${answer.id}`));
  return [...fold.pauses.values()]
    .filter((pause) => !given.has(`${pause.key} ${pause.id}`))
    .map((pause) => {
      const open = openQuestion(pause);
      return open.expires !== undefined && open.expires <= now ? { ...open, overdue: true } : open;
    });
}
