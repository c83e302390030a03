import { asModelCall, stepOf } from '../base/address.js';
import { isPlainObject } from '../base/json.js';
import type { Usage } from '../events/event.js';
import type { Spending } from '../events/spending.js';
import { NO_USAGE, Tally } from '../events/spending.js';
import { StepFold } from '../events/step-fold.js';
import type { RunHistory } from './history.js';
import type { LogRecord, Stored } from './record.js';
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
}

/** What is gathered of one step while the records are gone through. */
export class StepTrace extends StepFold {
  /** What it gave. */
  output: Stored | undefined = undefined;
  /** The newest answer of its model. */
  lastTurn: RecordedTurn | undefined = undefined;
  /** Names of the tools that a turn called, by its number. */
  readonly toolsOfTurn = new Map<string, readonly string[]>();
  /** What it holds was freed: an agent that ends after that ends with its last turn. */
  closed = false;
  /** The step of the last record, with attempts. */
  step: string;
  private worked = 0;
  private to: number;

  constructor(
    readonly path: string,
    private session: number,
    private from: number,
    run: Tally,
  ) {
    super(from, new Tally(run));
    this.step = path;
    this.to = from;
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
    this.spent.answered(turn.model, turn.usage);
    this.spent.called(turn.calls);
    this.lastTurn = turn;
    this.toolsOfTurn.set(number, turn.tools);
  }

  /** The last turn of its model called no tool, so it is the answer. */
  get answered(): boolean {
    return this.lastTurn?.calls === 0;
  }
}

/** Reads the value of a recorded model call: it is data, whatever wrote it. */
export function readTurn(value: unknown): RecordedTurn | undefined {
  if (!isPlainObject(value)) return undefined;
  const { model, text, toolCalls, usage, dispatched } = value;
  const list: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : [];
  const tools = list.map((call) => (isPlainObject(call) && typeof call['name'] === 'string' ? call['name'] : '?'));
  return {
    model: typeof model === 'string' ? model : '?',
    text: typeof text === 'string' ? text : '',
    tools,
    calls: tools.length + count(dispatched),
    usage: readUsage(usage),
  };
}

/** Whether a line says of a model call that its step ended first. Calls that failed have records of their own. */
export function isCutOff({ body }: Pick<LogRecord, 'body'>): boolean {
  return isPlainObject(body['note']) && body['note']['kind'] === 'model.failed';
}

function readUsage(value: unknown): Usage {
  if (!isPlainObject(value)) return NO_USAGE;
  const { cachedTokens, reasoningTokens } = value;
  return {
    inputTokens: count(value['inputTokens']),
    outputTokens: count(value['outputTokens']),
    ...(cachedTokens === undefined ? {} : { cachedTokens: count(cachedTokens) }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens: count(reasoningTokens) }),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/**
 * What a run has cost so far: its model calls, not those of the run that it was forked from.
 *
 * @throws SkeinError `SKEIN_JOURNAL` for a value that is lost
 */
export function costOf(store: Store, { entries, logs }: RunHistory): Spending {
  const spent = new Tally();
  for (const log of logs) if (isCutOff(log)) spent.failed();
  for (const [key, list] of entries) {
    if (asModelCall(key.slice(stepOf(key).length + 1)) === undefined) continue;
    for (const { kind, record } of list) {
      if (record.error !== undefined) spent.failed(record.error);
      const turn = kind === 'success' ? readTurn(readStored(store, record)) : undefined;
      if (turn === undefined) continue;
      spent.answered(turn.model, turn.usage);
      spent.called(turn.calls);
    }
  }
  return spent.spending();
}
