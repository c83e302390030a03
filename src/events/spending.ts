import { wasAsked, type ErrorData } from '../base/errors.js';
import { isPlainObject, present } from '../base/json.js';
import { addUsd, type Cost, type Dollars, type Spent, type Usage } from './cost.js';

/** Calls, tokens and dollars of a step or a run, in the form that all reports share. */
export interface Spending extends Dollars {
  /** All calls of models, including failed ones, because a provider may bill those. */
  readonly modelCalls: number;
  /** The calls of these that returned no answer. */
  readonly failedModelCalls: number;
  readonly toolCalls: number;
  /** Tokens of all calls, including what is known of failed ones. */
  readonly usage: Usage;
}

/** Calls, tokens and dollars of one model. */
export interface ModelSpending extends Dollars {
  readonly model: string;
  /** Answered calls. */
  readonly calls: number;
  readonly usage: Usage;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

const NO_DOLLARS: Dollars = { usd: 0, unpricedCalls: 0 };

export const NO_SPENDING: Spending = {
  modelCalls: 0,
  failedModelCalls: 0,
  toolCalls: 0,
  usage: NO_USAGE,
  ...NO_DOLLARS,
};

export function spendingOf(spent: Spending): Spending {
  const { modelCalls, failedModelCalls, toolCalls, usage, usd, unpricedCalls, estimated, pretendedUsd } = spent;
  return {
    modelCalls,
    failedModelCalls,
    toolCalls,
    usage,
    usd,
    unpricedCalls,
    ...present({ estimated, pretendedUsd }),
  };
}

export function addSpending(a: Spending, b: Spending): Spending {
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    failedModelCalls: a.failedModelCalls + b.failedModelCalls,
    toolCalls: a.toolCalls + b.toolCalls,
    usage: addUsage(a.usage, b.usage),
    usd: addUsd(a.usd, b.usd),
    unpricedCalls: a.unpricedCalls + b.unpricedCalls,
    ...present({
      estimated: a.estimated ?? b.estimated,
      pretendedUsd: b.pretendedUsd === undefined ? a.pretendedUsd : addUsd(a.pretendedUsd ?? 0, b.pretendedUsd),
    }),
  };
}

/** Adds two counts of tokens. A part that neither count has stays absent. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...present({
      cachedTokens: sum(a.cachedTokens, b.cachedTokens),
      cacheWriteTokens: sum(a.cacheWriteTokens, b.cacheWriteTokens),
      reasoningTokens: sum(a.reasoningTokens, b.reasoningTokens),
    }),
  };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}

function addCost(to: Dollars, cost: Cost | undefined): Dollars {
  const { usd, unpricedCalls, estimated, pretendedUsd } = to;
  if (cost === undefined) return { usd, unpricedCalls: unpricedCalls + 1, ...present({ estimated, pretendedUsd }) };
  return {
    usd: addUsd(usd, cost.usd),
    unpricedCalls,
    ...present({
      estimated: estimated ?? cost.estimated,
      pretendedUsd: cost.pretended === true ? addUsd(pretendedUsd ?? 0, cost.usd) : pretendedUsd,
    }),
  };
}

/** Parses counted tokens, which are data from outside. */
export function readUsage(value: unknown): Usage {
  if (!isPlainObject(value)) return NO_USAGE;
  const part = (name: keyof Usage): number | undefined =>
    value[name] === undefined ? undefined : readCount(value[name]);
  return {
    inputTokens: readCount(value['inputTokens']),
    outputTokens: readCount(value['outputTokens']),
    ...present({
      cachedTokens: part('cachedTokens'),
      cacheWriteTokens: part('cacheWriteTokens'),
      reasoningTokens: part('reasoningTokens'),
    }),
  };
}

/** Parses a counted number, which is data from outside. Anything invalid counts as 0. */
export function readCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Parses a cost. Returns undefined, an unknown cost, for anything invalid. */
export function readCost(value: unknown): Cost | undefined {
  if (!isPlainObject(value)) return undefined;
  const { usd, estimated, pretended } = value;
  if (typeof usd !== 'number' || !Number.isFinite(usd) || usd < 0) return undefined;
  return { usd, ...(estimated === true ? { estimated } : {}), ...(pretended === true ? { pretended } : {}) };
}

/** Returns what a failed call has spent, as far as its error reports it. */
export function spentOf({ details }: Pick<ErrorData, 'details'>): Spent | undefined {
  const spent = isPlainObject(details) ? details['spent'] : undefined;
  if (!isPlainObject(spent)) return undefined;
  const { model } = spent;
  return {
    usage: readUsage(spent['usage']),
    ...present({ model: typeof model === 'string' ? model : undefined, cost: readCost(spent['cost']) }),
  };
}

const NO_MODELS: ReadonlyMap<string, ModelSpending> = new Map();

export type CountsCalls = Pick<Tally, 'answered' | 'cutOff' | 'refused' | 'called'>;

/**
 * Counts the calls, tokens and dollars of a step, and passes them on to the tally of its run.
 *
 * @example
 * const run = new Tally();
 * new Tally(run).answered('openai/gpt-5-mini', { inputTokens: 900, outputTokens: 40 }, { usd: 0.0003 });
 * run.spending().usd; // 0.0003
 */
export class Tally {
  usage: Usage = NO_USAGE;
  failedModelCalls = 0;
  toolCalls = 0;
  /** Created with the first call: every run has tallies, whether or not it calls models. */
  private models: Map<string, ModelSpending> | undefined = undefined;
  private answeredCalls = 0;
  private dollars = NO_DOLLARS;

  /** `whole` also receives everything that is counted here. */
  constructor(private readonly whole?: CountsCalls) {}

  get modelCalls(): number {
    return this.answeredCalls + this.failedModelCalls;
  }

  /** By model. Failed calls are included if their spending is known. */
  get byModel(): ReadonlyMap<string, ModelSpending> {
    return this.models ?? NO_MODELS;
  }

  answered(model: string, usage: Usage, cost?: Cost): void {
    this.answeredCalls += 1;
    this.add(model, 1, usage, cost);
    this.whole?.answered(model, usage, cost);
  }

  /** Counts a failed call: nothing if no model was called, otherwise only the spending that its error reports. */
  failed(error: ErrorData): void {
    const spent = spentOf(error);
    if (spent !== undefined) this.cutOff(spent);
    else if (wasAsked(error)) this.refused();
  }

  /** Counts a call that was in flight when its step ended. Without `spent`, its price is unknown. */
  cutOff(spent: Spent | undefined): void {
    this.failedModelCalls += 1;
    if (spent === undefined) this.dollars = addCost(this.dollars, undefined);
    else this.add(spent.model, 0, spent.usage, spent.cost);
    this.whole?.cutOff(spent);
  }

  called(tools: number): void {
    this.toolCalls += tools;
    this.whole?.called(tools);
  }

  spending(): Spending {
    const { modelCalls, failedModelCalls, toolCalls, usage, dollars } = this;
    return { modelCalls, failedModelCalls, toolCalls, usage, ...dollars };
  }

  /** Counts a call that failed and spent nothing. */
  refused(): void {
    this.failedModelCalls += 1;
    this.whole?.refused();
  }

  private add(model: string | undefined, calls: number, usage: Usage, cost: Cost | undefined): void {
    this.usage = addUsage(this.usage, usage);
    this.dollars = addCost(this.dollars, cost);
    if (model === undefined) return;
    const models = (this.models ??= new Map<string, ModelSpending>());
    const before = models.get(model) ?? { model, calls: 0, usage: NO_USAGE, ...NO_DOLLARS };
    models.set(model, {
      model,
      calls: before.calls + calls,
      usage: addUsage(before.usage, usage),
      ...addCost(before, cost),
    });
  }
}

/** The spending of a run, and the recorded spending it reuses. Created with the first call: most of many waiting runs call nothing. */
export class RunTallies {
  private paid: Tally | undefined = undefined;
  private taken: Tally | undefined = undefined;

  /** `counts` receives everything that is spent, and `saves` what was spent before. */
  constructor(
    private readonly counts?: CountsCalls,
    private readonly saves?: CountsCalls,
  ) {}

  get spent(): Tally {
    return (this.paid ??= new Tally(this.counts));
  }

  get saved(): Tally {
    return (this.taken ??= new Tally(this.saves));
  }

  spending(): { readonly spent: Spending; readonly saved: Spending } {
    return { spent: this.paid?.spending() ?? { ...NO_SPENDING }, saved: this.taken?.spending() ?? { ...NO_SPENDING } };
  }
}
