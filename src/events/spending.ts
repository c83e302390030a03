import type { ErrorData } from '../base/errors.js';
import { wasAsked } from '../base/errors.js';
import { present } from '../base/json.js';
import type { Usage } from './event.js';

/** Calls and tokens of a step or a run: the same wherever they are reported. */
export interface Spending {
  /** Those that failed, too: a provider may bill them. */
  readonly modelCalls: number;
  /** Of these, those without an answer. */
  readonly failedModelCalls: number;
  readonly toolCalls: number;
  readonly usage: Usage;
}

/** Answered calls of one model. */
export interface ModelSpending {
  readonly model: string;
  readonly calls: number;
  readonly usage: Usage;
}

/** No tokens. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** Sum of two counts of tokens; what neither of them counts stays uncounted. */
export function addUsage(a: Usage, b: Usage): Usage {
  const cachedTokens = sum(a.cachedTokens, b.cachedTokens);
  const reasoningTokens = sum(a.reasoningTokens, b.reasoningTokens);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...present({ cachedTokens, reasoningTokens }),
  };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}

/**
 * Counts calls and tokens, of a step also for its run.
 *
 * @example
 * const run = new Tally();
 * new Tally(run).answered('openai/gpt-5-mini', { inputTokens: 900, outputTokens: 40 });
 * run.spending().modelCalls; // 1
 */
export class Tally {
  usage: Usage = NO_USAGE;
  failedModelCalls = 0;
  toolCalls = 0;
  /** Answered calls by model. */
  readonly byModel = new Map<string, ModelSpending>();
  private answeredCalls = 0;

  constructor(private readonly whole?: Tally) {}

  get modelCalls(): number {
    return this.answeredCalls + this.failedModelCalls;
  }

  answered(model: string, usage: Usage): void {
    const before = this.byModel.get(model) ?? { calls: 0, usage: NO_USAGE };
    this.byModel.set(model, { model, calls: before.calls + 1, usage: addUsage(before.usage, usage) });
    this.answeredCalls += 1;
    this.usage = addUsage(this.usage, usage);
    this.whole?.answered(model, usage);
  }

  /** A call failed; nothing of it counts when no model was asked. */
  failed(error?: Pick<ErrorData, 'code'>): void {
    if (error !== undefined && !wasAsked(error)) return;
    this.failedModelCalls += 1;
    this.whole?.failed(error);
  }

  called(tools: number): void {
    this.toolCalls += tools;
    this.whole?.called(tools);
  }

  spending(): Spending {
    const { modelCalls, failedModelCalls, toolCalls, usage } = this;
    return { modelCalls, failedModelCalls, toolCalls, usage };
  }
}
