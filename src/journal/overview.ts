import { systemClock } from '../base/clock.js';
import type { ErrorData } from '../base/errors.js';
import type { Json, JsonObject } from '../base/json.js';
import { present } from '../base/json.js';
import type { Census, RunOutcome, StepOutcome } from '../events/census.js';
import type { DecidedCall, Endorsement, TrustFacts } from '../events/trust.js';
import type { OpenQuestion } from '../events/question.js';
import { openQuestion } from '../events/question.js';
import type { ModelSpending, Spending } from '../events/spending.js';
import { addSpending, Tally } from '../events/spending.js';
import type { StepAccount } from '../events/step-fold.js';
import type { Plan } from '../plan/plan.js';
import { nodeIdOf } from '../base/address.js';
import { atOnce } from '../base/slices.js';
import { forgetting } from './forgotten.js';
import type { RunHistory } from './history.js';
import type { LostCall } from './lost-calls.js';
import { OverviewFold } from './overview-fold.js';
import type { RunWarning } from './overview-fold.js';
import { lostText } from './overview-moments.js';
import type { RunMoment, TellMoment } from './overview-moments.js';
import { nodeFinder } from '../plan/nodes.js';
import { recordedEnding, outputOf } from './overview-trace.js';
import type { StepTrace } from './overview-trace.js';
import { readJournal, rowOf } from './reader.js';
import type { JournalRecord, Stored } from './record.js';
import { Replay } from './replay.js';
import { readStored } from './stored.js';
import type { Answer, RunRow, Store } from './store.js';
import { isHeld } from './store.js';

export type { OpenQuestion } from '../events/question.js';
export type { RunMoment } from './overview-moments.js';

/**
 * How a run stands: it runs now; its process died (`interrupted`), so that it can be resumed; or how its last session ended.
 */
export type RunStatus = 'running' | 'interrupted' | RunOutcome;

/**
 * What the record of a run says. Times are milliseconds since 1970, durations milliseconds. Calls and tokens are those of this run itself: what a
 * parent paid for is not in it.
 */
export interface RunOverview extends Spending {
  readonly id: string;
  /** Name of the workflow. */
  readonly name: string;
  readonly status: RunStatus;
  readonly beganAt: number;
  /** When its last session ended; absent while it runs. */
  readonly endedAt?: number;
  /** All sessions together: the time between them is not counted. */
  readonly ms: number;
  /** Why it did not succeed. */
  readonly error?: ErrorData;
  readonly census?: Census;
  /** The run that it was forked from, and the steps of which nothing was taken over. */
  readonly parent?: { readonly id: string; readonly forgotten: readonly string[] };
  /** Flags and file that it was started with. */
  readonly origin: JsonObject;
  readonly inputs: Json;
  readonly sessions: readonly SessionOverview[];
  /** In the order in which they began. Steps that only contain others are here when they did not succeed. */
  readonly steps: readonly StepOverview[];
  /** Answered calls by model. */
  readonly models: readonly ModelSpending[];
  /** Questions and events that it waits for. */
  readonly questions: readonly OpenQuestion[];
  readonly warnings: readonly RunWarning[];
  /** Calls of agents that a person had to allow, or that were refused, because of who had a say in them. */
  readonly guarded: readonly DecidedCall[];
  /** Results that a person or a schema made vetted, in the order in which that happened. */
  readonly endorsed: readonly Endorsement[];
  /** What was left out of the record because it was not written to its end. */
  readonly cut?: string;
}

/** One process that ran the run. Times are milliseconds since 1970. */
export interface SessionOverview {
  readonly beganAt: number;
  readonly endedAt?: number;
  readonly status: RunStatus;
}

/** What the record says of a step. */
export interface StepOverview extends StepAccount {
  readonly path: string;
  /** Id of its node. */
  readonly node: string;
  /** Kind of its node; absent when the plan has no such node any more. */
  readonly kind?: string;
  /** `interrupted`: its end is not recorded. */
  readonly outcome: StepOutcome | 'running' | 'interrupted';
  readonly startedAt: number;
  readonly endedAt?: number;
  /** From its start to its end, without the time between sessions. */
  readonly ms: number;
  readonly models: readonly string[];
  /** What had a say in what it did; absent: nobody but the user. */
  readonly label?: TrustFacts;
  /** What it gave; only when it was asked for. */
  readonly output?: Json;
  /** The run that this was taken over from. Its tokens were paid there. */
  readonly from?: string;
}

/** How a record is read. */
export interface ReadRunOptions {
  /** Outputs of steps, too. Default: no. */
  readonly outputs?: boolean;
  /** Milliseconds since 1970. Default: the clock. */
  readonly now?: number;
}

/**
 * What the record of a run says: steps, time, tokens, sessions, what it waits for. It may be running meanwhile.
 *
 * @throws SkeinError `SKEIN_NO_RUN`; `SKEIN_JOURNAL` when it is damaged; `SKEIN_STORE`
 * @example
 * const store = await openSqliteStore('.skein/skein.db');
 * const overview = readRun(store, listRuns(store)[0]?.id ?? '');
 * for (const step of overview.steps) console.log(step.path, step.outcome, step.ms);
 */
export function readRun(store: Store, runId: string, options: ReadRunOptions = {}): RunOverview {
  return openRecord(store, runId, () => undefined, options).overview();
}

/**
 * What happened in a run, in order: sessions, ends of steps, retries, warnings, model and tool calls, questions, answers.
 *
 * @throws SkeinError `SKEIN_NO_RUN`; `SKEIN_JOURNAL` when it is damaged; `SKEIN_STORE`
 * @example
 * for (const { at, path, text } of readMoments(store, runId)) console.log(new Date(at).toISOString(), path, text);
 */
export function readMoments(store: Store, runId: string): readonly RunMoment[] {
  const moments: RunMoment[] = [];
  openRecord(store, runId, (moment) => moments.push(moment));
  return moments;
}

/** A record that is gone through, as far as it goes. */
export interface OpenRunRecord {
  /** Goes on with what was written since. False when what was read before was cut off: it has to be opened again. */
  more(): boolean;
  overview(): RunOverview;
}

/**
 * Opens the record of a run and goes through it; what happened is reported in order.
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 */
export function openRecord(store: Store, runId: string, tell: TellMoment, options: ReadRunOptions = {}): OpenRunRecord {
  let row = rowOf(store, runId);
  // Each record is folded when it is read, and not kept: a long journal costs little more memory than what is reported of it.
  let told = 0;
  const add = (record: JournalRecord): void => {
    fold.add(record);
    if (record.t !== 'open' || fold.sessions.length === 1) return;
    const { lost } = taken.history().calls;
    for (const { path, at, spent } of lost.slice(told)) tell({ at, kind: 'model', path, ...lostText(spent) });
    told = lost.length;
  };
  const taken = new Replay(runId, add, { keeps: false });
  const nodeAt = nodeInPlan(store, () => taken.history().current.plan);
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

/** Finds nodes in the plan of a run, which may have been edited between two sessions. */
function nodeInPlan(store: Store, current: () => Stored): ReturnType<typeof nodeFinder> {
  let known: Stored | undefined;
  let find: ReturnType<typeof nodeFinder> | undefined;
  return (path) => {
    const plan = current();
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
  const questions = isOver(status) ? [] : openQuestions(fold, store.answers(begin.run), now);
  const waiting = new Set(WAITING.has(status) ? questions.map((pause) => pause.path) : []);
  const lost = [...history.calls.lost, ...(status === 'running' ? [] : history.calls.underWay)];
  const own = [...fold.steps.values()]
    .filter((trace) => !fold.isAbandoned(trace))
    .map((trace) => stepOverview(trace, gathered, { status, outputs, waiting, lost }));
  return {
    id: begin.run,
    name: row.name,
    status,
    beganAt: begin.at,
    ...(last?.endedAt === undefined ? {} : { endedAt: last.endedAt }),
    ms: sessions.reduce((sum, one) => sum + Math.max(0, (one.endedAt ?? now) - one.beganAt), 0),
    ...(end?.error === undefined ? {} : { error: end.error }),
    ...(end === undefined ? {} : { census: end.census }),
    ...(begin.parent === undefined ? {} : { parent: { id: begin.parent, forgotten: begin.forget ?? [] } }),
    origin: begin.origin,
    inputs: readStored(store, history.current.inputs) as Json,
    sessions,
    steps: [...takenSteps(gathered, { outputs, now }), ...own],
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
  // A new holder has the run before its session is recorded.
  if (isHeld(row, now) && (last?.end === undefined || last.open.fence !== row.fence)) return 'running';
  return last?.end?.outcome ?? 'interrupted';
}

/** How a run stands, as its row says. */
export function statusOfRow(row: RunRow | undefined, now: number): RunStatus {
  if (row !== undefined && isHeld(row, now)) return 'running';
  return (row?.outcome as RunStatus | undefined) ?? 'interrupted';
}

/** Nothing is left to do in it. */
export function isOver(status: RunStatus): boolean {
  return status === 'succeeded' || status === 'degraded';
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

/** What calls without an end count as. */
function spentOn(calls: readonly LostCall[]): Spending {
  const tally = new Tally();
  for (const { spent } of calls) tally.cutOff(spent);
  return tally.spending();
}

interface StepOptions {
  readonly status: RunStatus;
  readonly outputs: boolean;
  /** Paths of steps that wait for an answer. */
  readonly waiting: ReadonlySet<string>;
  readonly lost: readonly LostCall[];
}

/** A step of such a run that has an open question waits for its answer. */
const WAITING: ReadonlySet<RunStatus> = new Set(['running', 'interrupted', 'paused']);

function stepOverview(
  trace: StepTrace,
  { store, nodeAt, fold }: Gathered,
  { status, outputs, waiting, lost }: StepOptions,
): StepOverview {
  const { path, endedAt } = trace;
  // Where other questions ended the session, a step that waits was cancelled with it.
  const waits = waiting.has(path) && (trace.status === 'running' || trace.status === 'cancelled');
  const node = nodeAt(path);
  const ending = waits
    ? ({ outcome: 'paused', reason: 'it waits for an answer' } as const)
    : recordedEnding(trace, node);
  const output = outputs && ending?.outcome === 'succeeded' ? outputOf(store, trace) : undefined;
  return {
    path,
    node: node?.id ?? nodeIdOf(path),
    ...(node === undefined ? {} : { kind: node.kind }),
    outcome: ending?.outcome ?? openOutcome(status, trace.closed ? undefined : node?.kind),
    ...trace.account(ending),
    ...addSpending(trace.spending(), spentOn(lost.filter((call) => call.path === path))),
    startedAt: trace.startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ms: trace.ms,
    models: [...trace.spent.byModel.keys()],
    ...present({ label: fold.decided.labels.get(path) }),
    ...(output === undefined ? {} : { output }),
  };
}

/**
 * Of a step without a recorded end. Those of executors of a program's own end without a record when they succeed. So do agents that end by a call, which have
 * been closed: they count as of no `kind`. What is cancelled closes nothing that is recorded.
 */
function openOutcome(status: RunStatus, kind: string | undefined): StepOverview['outcome'] {
  if (status === 'running' || status === 'interrupted') return status;
  if (!isOver(status)) return 'interrupted';
  return kind === 'task' || kind === 'agent' ? 'cancelled' : 'succeeded';
}

/** What is waited for and has no answer yet, also none that the run has not taken, in the order of asking. */
function openQuestions(fold: OverviewFold, answers: readonly Answer[], now: number): readonly OpenQuestion[] {
  const given = new Set(answers.map((answer) => `${answer.key} ${answer.id}`));
  return [...fold.pauses.values()]
    .filter((pause) => !given.has(`${pause.key} ${pause.id}`))
    .map((pause) => {
      const open = openQuestion(pause);
      return open.expires !== undefined && open.expires <= now ? { ...open, overdue: true } : open;
    });
}

/** What a fork took from its parents: what succeeded or was skipped there, was not to be forgotten, and did not happen here. */
function takenSteps({ store, history, fold, nodeAt }: Gathered, options: ReadRunOptions): readonly StepOverview[] {
  const { parent, forget = [] } = history.begin;
  if (parent === undefined) return [];
  const { steps } = readRun(store, parent, options);
  const isForgotten = forgetting(forget);
  return steps
    .filter(({ path, outcome }) => {
      const counts = outcome === 'succeeded' || outcome === 'skipped';
      const known = nodeAt(path) !== undefined;
      return counts && known && !fold.happened(path) && !isForgotten(path);
    })
    .map((step) => ({ ...step, from: step.from ?? parent }));
}
