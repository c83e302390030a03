import { fromErrorData, plainError, SkeinError } from '../../base/errors.js';
import type { Json } from '../../base/json.js';
import { madeOnce } from '../../base/collections.js';
import { isPlainObject, present } from '../../base/json.js';
import type * as Prices from '../../budget/prices.js';
import type { PriceTable } from '../../budget/prices.js';
import type { CallUnderWay } from '../../engine/ports/executor.js';
import type { Asking, Cost, Spent, Usage } from '../../events/event.js';
import type { CacheUse } from '../../plan/agent-spec.js';
import { DEFAULT_OUTPUT_TOKENS } from '../../plan/limits.js';
import { LOCAL_MODELS } from '../../plan/providers.js';
import type { Message, Model, ModelTurn, ToolSpec } from '../model.js';
import type { Heard } from './model-turn.js';

/** What calls of a model cost; undefined: nobody knows. */
export interface ModelPrice {
  readonly cost: (usage: Usage) => Cost | undefined;
  /** The most that so many tokens cost, however they are cached. */
  readonly worst: (usage: Usage) => Cost | undefined;
  /** What an answer is limited to where its agent sets no limit; absent: it is left to the server, which may have room for less. */
  readonly outputLimit?: number;
}

const nothing = (): Cost => ({ usd: 0, pretended: true });
/** Of models that bill nobody, and stand in the place of none that has a price. */
const FREE: ModelPrice = { cost: nothing, worst: nothing };
const UNKNOWN: ModelPrice = { cost: () => undefined, worst: () => undefined };

let table: typeof Prices | undefined;

/** What was looked up in a table: each call of a model asks for its price. */
const lookedUp = new WeakMap<PriceTable, Map<string, ModelPrice>>();

/** The price of a model. The table is read for the first one that may stand in it: an echo that stands in the place of no model needs none. */
export function priceOfModel(
  model: Model,
  own: PriceTable | undefined,
  cache?: CacheUse,
): ModelPrice | Promise<ModelPrice> {
  const isLocal = LOCAL_MODELS.some((local) => model.id.startsWith(`${local}/`));
  const inPlaceOf = model.inPlaceOf ?? (isLocal ? '' : undefined);
  if (inPlaceOf === '') return FREE;
  const name = inPlaceOf ?? model.id;
  const pretended = inPlaceOf !== undefined;
  const found = (prices: typeof Prices): ModelPrice => {
    const before = madeOnce(lookedUp, own ?? prices.BUILT_IN_PRICES, () => new Map<string, ModelPrice>());
    return madeOnce(before, `${pretended} ${cache} ${name}`, () => foundPrice(prices, name, own, { pretended, cache }));
  };
  if (table !== undefined) return found(table);
  return import('../../budget/prices.js').then((prices) => found((table = prices)));
}

function foundPrice(
  { costOf, findPrice, priceWith, worstCost }: typeof Prices,
  name: string,
  own: PriceTable | undefined,
  { pretended, cache }: { readonly pretended: boolean; readonly cache: CacheUse | undefined },
): ModelPrice {
  const found = findPrice(name, own);
  const limit = found?.price.limit ?? (found?.isOwn === false || name.startsWith('anthropic/') ? Infinity : undefined);
  const limited = limit === undefined ? {} : { outputLimit: Math.min(DEFAULT_OUTPUT_TOKENS, limit) };
  if (found === undefined) return { ...(pretended ? FREE : UNKNOWN), ...limited };
  const price = priceWith(found.price, cache);
  const told = (cost: Cost): Cost => (pretended ? { ...cost, pretended } : cost);
  return {
    cost: (usage) => told(costOf(usage, price)),
    worst: (usage) => told(worstCost(price, usage)),
    ...limited,
  };
}

/** A call, from before it is made. */
export class PricedCall implements CallUnderWay {
  private known: Spent | undefined = undefined;

  /** `estimate`: what it takes and gives at most; asked at most once, and not before somebody has to know. */
  constructor(
    readonly asking: Asking,
    private readonly model: string,
    private readonly price: ModelPrice,
    private readonly estimate: () => Usage,
  ) {}

  /** The most that it is expected to spend. */
  get reserved(): Spent {
    return (this.known ??= this.mostSpent());
  }

  /** The answer with what it cost; what is reserved counts where the provider does not say what it counted. */
  answered(turn: ModelTurn, heard: Heard): ModelTurn {
    const { usage, cost } = this.spent(heard);
    return usage === turn.usage && cost === undefined ? turn : { ...turn, usage, ...present({ cost }) };
  }

  /** The error of a call that failed, with what it spent: nothing unless the provider had begun to answer. */
  failed(error: unknown, heard: Heard): unknown {
    return heard.begun && SkeinError.isInstance(error) ? withSpent(error, this.spent(heard)) : error;
  }

  private spent({ usage, cost: reported }: Heard): Spent {
    const { model, price } = this;
    if (usage !== undefined && isSound(usage)) return spentBy(model, usage, reported ?? price.cost(usage));
    return spentBy(model, this.reserved.usage, reported ?? this.reserved.cost);
  }

  private mostSpent(): Spent {
    const usage = this.estimate();
    const cost = this.price.worst(usage);
    return spentBy(this.model, usage, cost && { ...cost, estimated: true });
  }
}

function spentBy(model: string, usage: Usage, cost: Cost | undefined): Spent {
  return cost === undefined ? { model, usage } : { model, usage, cost };
}

/** No model takes or gives so many tokens in one call. */
const ABSURD_TOKENS = 100_000_000;

function isSound({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens }: Usage): boolean {
  return (
    isCount(inputTokens) &&
    isCount(outputTokens) &&
    isCount(cachedTokens) &&
    isCount(cacheWriteTokens) &&
    isCount(reasoningTokens)
  );
}

function isCount(tokens = 0): boolean {
  return Number.isSafeInteger(tokens) && tokens >= 0 && tokens < ABSURD_TOKENS;
}

function withSpent(error: SkeinError, spent: Spent): SkeinError {
  const data = plainError(error);
  const details = { ...(isPlainObject(data.details) ? data.details : {}), spent: spent as unknown as Json };
  return fromErrorData({ ...data, details });
}

const bytesOf = new WeakMap<Message | ToolSpec, number>();

/** Bytes of messages or tools; those of each are counted once. */
export function bytesIn(parts: readonly (Message | ToolSpec)[]): number {
  let sum = 0;
  for (const part of parts) {
    const known = bytesOf.get(part) ?? Buffer.byteLength(JSON.stringify(part));
    bytesOf.set(part, known);
    sum += known;
  }
  return sum;
}
