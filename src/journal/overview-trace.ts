import type { InnerCall } from '../events/event.js';
import { countInner } from '../events/call-fold.js';
import { asModelCall, stepOf, triesOf } from '../base/address.js';
import type { Json } from '../base/json.js';
import { isPlainObject, present } from '../base/json.js';
import type { StepEnding } from '../events/census.js';
import type { PlanNode } from '../plan/plan.js';
import type { Cost, Spent, Usage } from '../events/event.js';
import type { Spending } from '../events/spending.js';
import { readCost, readUsage, spentOf, Tally } from '../events/spending.js';
import { StepFold } from '../events/step-fold.js';
import type { RunHistory } from './history.js';
import type { JournalRecord, LogRecord, Stored } from './record.js';
import { readStored } from './stored.js';
import type { Store } from './store.js';

/** A recorded turn of a model, as far as it is counted. */
export interface RecordedTurn {
  readonly model: string;
  readonly text: string;
  readonly tools: readonly string[];
  /** Tool calls, also those that the model's own loop made. */
  readonly calls: number;
  readonly usage: Usage;
  /** As it was recorded with the call. */
  readonly cost?: Cost;
}

/** What is gathered of one step while the records are gone through. */
export class StepTrace extends StepFold {
  /** What it gave. */
  output: Stored | undefined = undefined;
  /** The newest answer of its model. */
  lastTurn: RecordedTurn | undefined = undefined;
  /** Names of the tools that a turn called, by its number; made with the first turn, as most steps have none. */
  toolsOfTurn: Map<string, readonly string[]> | undefined = undefined;
  /** What it holds was freed: an agent that ends after that ends with its last turn, a step that makes a call by itself with that. */
  closed = false;
  /** Nothing is known of it here but that it was tried again: a fork tells this anew of a step that it takes over. */
  onlyRetried = false;
  /** What its newest call of a tool gave; absent after one that failed. */
  called: Stored | undefined = undefined;
  /** The step of the last record, with attempts. */
  step: string;
  private worked = 0;
  private to: number;

  constructor(
    readonly path: string,
    private session: number,
    private from: number,
    tally: () => Tally,
  ) {
    super(from, tally);
    this.step = path;
    this.to = from;
  }

  /** A record of an attempt; where a step around it began again, the attempts are counted anew. */
  tried(step: string, attempt: number): void {
    if (step !== this.step && triesOf(step).at(-1)?.of !== triesOf(this.step).at(-1)?.of) this.attempts = attempt;
    else this.retry(attempt);
    this.step = step;
  }

  /** Time between sessions is not counted, and attempts are those of the session. */
  touch(session: number, from: number, to: number): void {
    if (session !== this.session) {
      this.worked += this.to - this.from;
      this.session = session;
      this.from = from;
      this.to = to;
      this.attempts = 1;
    }
    this.from = Math.min(this.from, from);
    this.to = Math.max(this.to, to);
  }

  get ms(): number {
    return this.worked + this.to - this.from;
  }

  /** A call of its model was answered. */
  turn(number: string, turn: RecordedTurn): void {
    this.spent.answered(turn.model, turn.usage, turn.cost);
    this.spent.called(turn.calls);
    this.lastTurn = turn;
    (this.toolsOfTurn ??= new Map<string, readonly string[]>()).set(number, turn.tools);
  }

  /** The last turn of its model called no tool, so it is the answer. */
  get answered(): boolean {
    return this.lastTurn?.calls === 0;
  }
}

/** It calls a tool by itself. */
export function isToolStep(node: PlanNode | undefined): boolean {
  return node?.kind === 'task' && node.tool !== undefined;
}

/** How a step ended, as far as it is recorded. A step that makes a call by itself has ended with that, unless a later line says otherwise. */
export function recordedEnding(trace: StepTrace, node: PlanNode | undefined): StepEnding | undefined {
  const isMade = trace.closed && trace.called !== undefined && isToolStep(node);
  return trace.ending ?? (isMade ? { outcome: 'succeeded' } : undefined);
}

/**
 * What a step gave. An agent's answer is the text of its last turn; JSON when that is what it was asked for is still text here. A step that makes a call by
 * itself gave what that did.
 */
export function outputOf(store: Store, trace: StepTrace): Json | undefined {
  const { output, lastTurn, called } = trace;
  if (output !== undefined) return readStored(store, output) as Json | undefined;
  if (lastTurn !== undefined || called === undefined) return lastTurn?.text;
  const given = readStored(store, called);
  return isPlainObject(given) ? (given['value'] as Json | undefined) : undefined;
}

/** Reads the value of a recorded model call: it is data, whatever wrote it. */
export function readTurn(value: unknown): RecordedTurn | undefined {
  if (!isPlainObject(value)) return undefined;
  const { model, text, toolCalls, usage, cost, dispatched } = value;
  const list: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : [];
  const tools = list.map((call) => (isPlainObject(call) && typeof call['name'] === 'string' ? call['name'] : '?'));
  return {
    model: typeof model === 'string' ? model : '?',
    text: typeof text === 'string' ? text : '',
    tools,
    calls: tools.length + count(dispatched),
    usage: readUsage(usage),
    ...present({ cost: readCost(cost) }),
  };
}

/** Whether a line says of a model call that its step ended first. Calls that failed have records of their own. */
export function isCutOff({ body }: Pick<LogRecord, 'body'>): boolean {
  return isPlainObject(body['note']) && body['note']['kind'] === 'model.failed';
}

/** A call of a run that a function of the step started, as a line tells of it. */
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

/** What such a call counts as. */
export function spentOfCutOff(note: unknown): Spent | undefined {
  const error = isPlainObject(note) ? note['error'] : undefined;
  return isPlainObject(error) ? spentOf(error) : undefined;
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Counts a call. */
export type CountCall = (tally: Tally) => void;

/**
 * How the model call of a record is counted; undefined for records of anything else.
 *
 * @throws SkeinError `SKEIN_JOURNAL` for a value that is lost
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
 * What a run has spent so far: itself, not what the run has paid that it was forked from.
 *
 * @throws SkeinError `SKEIN_JOURNAL` for a value that is lost
 */
export function spentIn(store: Store, { entries, logs, calls }: RunHistory): Spending {
  const spent = new Tally();
  for (const call of [...calls.lost, ...calls.underWay]) spent.cutOff(call.spent);
  for (const log of logs) callOf(store, log)?.(spent);
  for (const [key, list] of entries) if (isCallKey(key)) for (const { record } of list) callOf(store, record)?.(spent);
  return spent.spending();
}
