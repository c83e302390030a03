import { stepOf } from '../base/address.js';
import type { ErrorData } from '../base/errors.js';
import { wasAsked } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import type { Usage } from '../events/event.js';
import type { StepOutcome } from '../events/outcome.js';
import type { RunHistory } from './history.js';
import type { Stored } from './record.js';
import type { Store } from './store.js';
import { readStored } from './stored.js';

/** How a step ended, as far as the records say. */
export interface TraceEnd {
  readonly outcome: StepOutcome;
  readonly reason?: string;
  readonly error?: ErrorData;
}

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
export class StepTrace {
  attempts = 1;
  end: TraceEnd | undefined = undefined;
  endedAt: number | undefined = undefined;
  /** What it gave. */
  output: Stored | undefined = undefined;
  readonly turns: RecordedTurn[] = [];
  /** Model calls without an answer. */
  failedCalls = 0;
  /** Names of the tools that a turn called, by its number. */
  readonly toolsOfTurn = new Map<string, readonly string[]>();
  /** What it holds was freed: an agent that ends after that ends with its last turn. */
  closed = false;
  /** The step of the last record, with attempts. */
  step: string;
  readonly startedAt: number;
  private worked = 0;
  private from: number;
  private to: number;

  constructor(
    readonly path: string,
    private session: number,
    from: number,
  ) {
    this.step = path;
    this.startedAt = from;
    this.from = from;
    this.to = from;
  }

  /** Time between sessions is not counted. */
  touch(session: number, from: number, to: number): void {
    if (session !== this.session) {
      this.worked += this.to - this.from;
      this.session = session;
      this.from = from;
      this.to = to;
    }
    this.from = Math.min(this.from, from);
    this.to = Math.max(this.to, to);
  }

  get ms(): number {
    return this.worked + this.to - this.from;
  }

  /** It goes on. */
  reopen(): void {
    this.end = undefined;
    this.endedAt = undefined;
  }

  finish(end: TraceEnd, at: number): void {
    this.end = end;
    this.endedAt = at;
  }

  /** The last turn of its model called no tool, so it is the answer. */
  get answered(): boolean {
    return this.turns.at(-1)?.calls === 0;
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

/** No tokens. */
const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** Sum of counts of tokens. */
export function sumUsage(usages: readonly Usage[]): Usage {
  let [inputTokens, outputTokens, cached, reasoning] = [0, 0, 0, 0];
  for (const usage of usages) {
    inputTokens += usage.inputTokens;
    outputTokens += usage.outputTokens;
    cached += usage.cachedTokens ?? 0;
    reasoning += usage.reasoningTokens ?? 0;
  }
  return {
    inputTokens,
    outputTokens,
    ...(cached === 0 ? {} : { cachedTokens: cached }),
    ...(reasoning === 0 ? {} : { reasoningTokens: reasoning }),
  };
}

/** Calls of one model. */
export interface ModelOverview {
  readonly model: string;
  readonly calls: number;
  readonly usage: Usage;
}

/** Answered calls by model. */
export function modelsOf(turns: readonly RecordedTurn[]): readonly ModelOverview[] {
  const models = new Map<string, ModelOverview>();
  for (const { model, usage } of turns) {
    const { calls, usage: before } = models.get(model) ?? { calls: 0, usage: NO_USAGE };
    models.set(model, { model, calls: calls + 1, usage: sumUsage([before, usage]) });
  }
  return [...models.values()];
}

/** Calls and tokens. */
export interface RecordedCost {
  /** Those that failed, too: a provider may bill them. */
  readonly modelCalls: number;
  readonly failedModelCalls: number;
  readonly toolCalls: number;
  readonly usage: Usage;
}

/**
 * What a run has cost so far: its model calls, not those of the run that it was forked from.
 *
 * @throws SkeinError `SKEIN_JOURNAL` for a value that is lost
 */
export function costOf(store: Store, { entries }: RunHistory): RecordedCost {
  let [answered, failedModelCalls, toolCalls] = [0, 0, 0];
  const usages: Usage[] = [];
  for (const [key, list] of entries) {
    if (!key.startsWith('@model#', stepOf(key).length)) continue;
    for (const { kind, record } of list) {
      const { error } = record;
      if (error !== undefined && wasAsked(error)) failedModelCalls += 1;
      const turn = kind === 'success' ? readTurn(readStored(store, record)) : undefined;
      if (turn === undefined) continue;
      answered += 1;
      toolCalls += turn.calls;
      usages.push(turn.usage);
    }
  }
  return { modelCalls: answered + failedModelCalls, failedModelCalls, toolCalls, usage: sumUsage(usages) };
}
