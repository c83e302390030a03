import type { InnerCall, Cost, Spent, Usage } from '../events/event.js';
import { countInner } from '../events/call-fold.js';
import { asModelCall, nodeIdOf, segmentsOf, stepOf, triesOf } from '../base/address.js';
import { refusedCall } from '../base/names-inside.js';
import { isPlainObject, present, type Json } from '../base/json.js';
import type { StepEnding } from '../events/census.js';
import type { Plan, PlanNode } from '../plan/plan.js';
import { Tally, readCost, readCount, readUsage, spentOf, type Spending } from '../events/spending.js';
import { StepFold } from '../events/step-fold.js';
import type { RunHistory } from './history.js';
import type { JournalRecord, LogRecord, Stored } from './record.js';
import { readStored } from './stored.js';
import type { Store } from './store.js';

export interface RecordedTurn {
  readonly model: string;
  readonly text: string;
  readonly tools: readonly string[];
  /** Number of tool calls, including those that the model's own loop made. */
  readonly calls: number;
  readonly usage: Usage;
  /** As recorded with the call. */
  readonly cost?: Cost;
}

/** The data of one step, collected while the records are read. */
export class StepTrace extends StepFold {
  output: Stored | undefined = undefined;
  /** The latest answer of its model. */
  lastTurn: RecordedTurn | undefined = undefined;
  /** Names of the called tools by turn number; created with the first turn, since most steps have none. */
  toolsOfTurn: Map<string, readonly string[]> | undefined = undefined;
  /** True if the step's resources were freed: an agent then ends with its last turn, a step that makes a call directly with that call. */
  closed = false;
  /** True if the step can't use the latest answer of its model. */
  refused = false;
  /** True if the only record here is a retry: a fork repeats it for a step that it takes over. */
  onlyRetried = false;
  /** True if it was tried again in this run. */
  triedAgain = false;
  /** Result of its latest tool call; undefined after a failed call. */
  called: Stored | undefined = undefined;
  /** The step of the last record, including attempts. */
  step: string;
  private worked = 0;
  private to: number;
  /** When the work of the last record began. */
  private latest: number;
  /** When it began in the latest attempts of the outermost step around it, of the two outermost, and so on, if there was another one. */
  private begun: number[] | undefined = undefined;

  constructor(
    readonly path: string,
    private session: number,
    private from: number,
    tally: () => Tally,
  ) {
    super(from, tally);
    this.step = path;
    this.latest = from;
    this.to = from;
  }

  /** Counts an attempt of a step that may have no other record. */
  triesAgain(key: string, attempt: number): void {
    this.triedAgain = true;
    this.tried(key, attempt);
  }

  /** Counts an attempt. If a step around it began again, the attempts are counted anew. */
  tried(key: string, attempt: number): void {
    const step = stepOf(key);
    if (refusedCall(key) !== undefined) this.refused = true;
    if (step === this.step) {
      this.retry(attempt);
      return;
    }
    if (triesOf(step).at(-1)?.of !== triesOf(this.step).at(-1)?.of) this.attempts = attempt;
    else this.retry(attempt);
    this.beginsIn(step);
    this.step = step;
  }

  /** Notes attempts of the steps around it: of a step that a retry around it repeats, the last execution counts. */
  private beginsIn(step: string): void {
    const before = segmentsOf(this.step);
    const now = segmentsOf(step);
    const at = now.findIndex((segment, depth) => segment !== before[depth]);
    if (at < 0 || at === now.length - 1) return;
    this.begun ??= [];
    for (let depth = at + 1; depth < now.length; depth += 1) this.begun[depth] = this.latest;
    this.worked = 0;
    this.from = this.latest;
  }

  /** When it began in the latest attempts of so many steps around it. */
  begunIn(depth: number): number {
    return this.begun?.[depth] ?? this.startedAt;
  }

  /** Excludes the time between sessions, and counts the attempts of the current session only. */
  touch(session: number, from: number, to: number): void {
    if (session !== this.session) {
      this.worked += this.to - this.from;
      this.session = session;
      this.from = from;
      this.to = to;
      this.attempts = 1;
    }
    this.latest = from;
    this.from = Math.min(this.from, from);
    this.to = Math.max(this.to, to);
  }

  get ms(): number {
    return this.worked + this.to - this.from;
  }

  /** Counts an answered call of its model. */
  turn(number: string, turn: RecordedTurn): void {
    this.spent.answered(turn.model, turn.usage, turn.cost);
    this.spent.called(turn.calls);
    this.lastTurn = turn;
    this.refused = false;
    (this.toolsOfTurn ??= new Map<string, readonly string[]>()).set(number, turn.tools);
  }

  /** True if the last turn of its model called no tool, and is therefore the answer, unless the step can't use it. */
  get answered(): boolean {
    return this.lastTurn?.calls === 0 && !this.refused;
  }
}

/** The tool that a step calls directly; undefined for other steps. */
export function toolOf(node: PlanNode | undefined): string | undefined {
  return node?.kind === 'task' ? node.tool?.name : undefined;
}

/** Whether the work of a step is judged once its resources are freed: it may still fail then. */
export function isJudged(node: PlanNode | undefined): boolean {
  return node?.supervise !== undefined || (node?.kind === 'agent' && (node.agent.checks ?? []).length > 0);
}

/** Whether a record tells nothing of what its step did: a node that only contains others, or does nothing, has such records too. */
export function isAside(name: string | undefined): boolean {
  return name === 'timeout' || name === 'backoff' || name?.startsWith('route') === true;
}

/** `model#3.2` is the second call of turn 3. */
export function numberOf(name: string): string {
  return name.slice(name.indexOf('#') + 1).split('.')[0] ?? '';
}

export function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : 1;
}

/** Whether a step is part of what closes a run of a plan. A fork is closed anew, whatever closed its parent. */
export function closingIn({ finally: closing }: Plan): (path: string) => boolean {
  return (path) => closing !== undefined && nodeIdOf(segmentsOf(path)[0] ?? '') === closing;
}

/** The recorded end of a step. A step that makes a call directly has ended with it, unless a later line differs. */
export function recordedEnding(trace: StepTrace, node: PlanNode | undefined): StepEnding | undefined {
  const isMade = trace.closed && trace.called !== undefined && toolOf(node) !== undefined;
  return trace.ending ?? (isMade ? { outcome: 'succeeded' } : undefined);
}

/** The output of a step: of an agent the text of its last turn, of a step that makes a call directly the result of that call. */
export function outputOf(store: Store, trace: StepTrace): Json | undefined {
  const { output, lastTurn, called } = trace;
  if (output !== undefined) return readStored(store, output) as Json | undefined;
  if (lastTurn !== undefined || called === undefined) return lastTurn?.text;
  const given = readStored(store, called);
  return isPlainObject(given) ? (given['value'] as Json | undefined) : undefined;
}

/** Reads the value of a recorded model call. Treats it as data, whatever wrote it. */
export function readTurn(value: unknown): RecordedTurn | undefined {
  if (!isPlainObject(value)) return undefined;
  const { model, text, toolCalls, usage, cost, dispatched } = value;
  const list: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : [];
  const tools = list.map((call) => (isPlainObject(call) && typeof call['name'] === 'string' ? call['name'] : '?'));
  return {
    model: typeof model === 'string' ? model : '?',
    text: typeof text === 'string' ? text : '',
    tools,
    calls: tools.length + readCount(dispatched),
    usage: readUsage(usage),
    ...present({ cost: readCost(cost) }),
  };
}

/** Whether a line reports a model call whose step ended first. Failed calls have records of their own. */
export function isCutOff({ body }: Pick<LogRecord, 'body'>): boolean {
  return isPlainObject(body['note']) && body['note']['kind'] === 'model.failed';
}

/** Reads from a line a call made by a run that the step's function started. */
export function innerCallIn(note: unknown): Omit<InnerCall, 'kind'> | undefined {
  if (!isPlainObject(note) || note['kind'] !== 'inner.call') return undefined;
  const { model, usage, cost, failed } = note;
  return {
    usage: readUsage(usage),
    ...present({
      model: typeof model === 'string' ? model : undefined,
      cost: readCost(cost),
      failed: failed === true || undefined,
    }),
  };
}

export function spentOfCutOff(note: unknown): Spent | undefined {
  const error = isPlainObject(note) ? note['error'] : undefined;
  return isPlainObject(error) ? spentOf(error) : undefined;
}

export type CountCall = (tally: Tally) => void;

/**
 * Returns how to count the model call of a record; undefined for other records.
 *
 * @throws SkeinError `SKEIN_JOURNAL` if a value is lost
 */
export function callOf(store: Store, record: JournalRecord): CountCall | undefined {
  if (record.t === 'log') {
    const inner = innerCallIn(record.body['note']);
    if (inner !== undefined) return (tally) => countInner(tally, inner);
    return isCutOff(record) ? (tally) => tally.cutOff(spentOfCutOff(record.body['note'])) : undefined;
  }
  if (record.t !== 'done' || !isCallKey(record.key)) return undefined;
  const { error } = record;
  if (error !== undefined) return (tally) => tally.failed(error);
  const turn = readTurn(readStored(store, record));
  return (tally) => {
    if (turn === undefined) return;
    tally.answered(turn.model, turn.usage, turn.cost);
    tally.called(turn.calls);
  };
}

function isCallKey(key: string): boolean {
  return asModelCall(key.slice(stepOf(key).length + 1)) !== undefined;
}

/**
 * Returns what a run has spent so far, without what the parent of a fork spent.
 *
 * @throws SkeinError `SKEIN_JOURNAL` if a value is lost
 */
export function spentIn(store: Store, { entries, logs, calls }: RunHistory): Spending {
  const spent = new Tally();
  for (const call of [...calls.lost, ...calls.underWay]) spent.cutOff(call.spent);
  for (const log of logs) callOf(store, log)?.(spent);
  for (const [key, list] of entries) if (isCallKey(key)) for (const { record } of list) callOf(store, record)?.(spent);
  return spent.spending();
}
