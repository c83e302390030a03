import { fromErrorData, plainError, SkeinError } from '../../base/errors.js';
import { isPlainObject, present, type Json } from '../../base/json.js';
import { madeOnce } from '../../base/collections.js';
import type { CallSize } from '../../budget/estimate.js';
import type * as Prices from '../../budget/prices.js';
import type { PriceTable } from '../../budget/prices.js';
import type { CallUnderWay } from '../../engine/ports/executor.js';
import type { Asking, Cost, Spent, Usage } from '../../events/event.js';
import type { CacheUse } from '../../plan/agent-spec.js';
import { DEFAULT_OUTPUT_TOKENS } from '../../plan/limits.js';
import { LOCAL_MODELS } from '../../plan/providers.js';
import type { Message, Model, ModelRequest, ModelTurn, ToolSpec } from '../model.js';
import type { Heard } from './model-turn.js';

/** Computes the cost of a model's calls; undefined if the cost is unknown. */
export interface ModelPrice {
  readonly cost: (usage: Usage) => Cost | undefined;
  /** The highest cost of this usage, however its tokens are cached. */
  readonly worst: (usage: Usage) => Cost | undefined;
  /** Output limit of answers whose agent sets none; if absent, the server decides, which may allow less. */
  readonly outputLimit?: number;
}

const nothing = (): Cost => ({ usd: 0, pretended: true });
/** For models that bill nothing and do not stand in for a model that has a price. */
const FREE: ModelPrice = { cost: nothing, worst: nothing };
const UNKNOWN: ModelPrice = { cost: () => undefined, worst: () => undefined };

let table: typeof Prices | undefined;

/** Prices found in each table, because every model call needs one. */
const lookedUp = new WeakMap<PriceTable, Map<string, ModelPrice>>();

/** Returns the price of a model. Loads the table only for a model that may be in it; an echo in place of no model needs none. */
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

export class PricedCall implements CallUnderWay {
  private known: Spent | undefined = undefined;

  /** `estimate` returns the most tokens that the call uses; it runs at most once, and only when the figure is needed. */
  constructor(
    readonly asking: Asking,
    private readonly model: string,
    private readonly price: ModelPrice,
    private readonly estimate: () => Usage,
  ) {}

  /** The most that the call is expected to spend. */
  get reserved(): Spent {
    return (this.known ??= this.mostSpent());
  }

  /** Returns the answer with its cost; the reserved usage counts if the provider reports none. */
  answered(turn: ModelTurn, heard: Heard): ModelTurn {
    const { usage, cost } = this.spent(heard);
    return usage === turn.usage && cost === undefined ? turn : { ...turn, usage, ...present({ cost }) };
  }

  /** Adds what a failed call spent to its error: nothing unless the provider had begun to answer. */
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

/** More tokens than any model accepts or returns in one call. */
const ABSURD_TOKENS = 100_000_000;

function isSound({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens }: Usage): boolean {
  return [inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens].every((tokens) =>
    isCount(tokens),
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

/** The size of a call, of which only the parts that are read are counted. A class: a literal with getters would have a shape of its own in each call. */
export class SizeOfCall implements CallSize {
  readonly last: Usage | undefined;
  readonly maxOutputTokens: number;
  readonly strict: boolean | undefined;

  /** `added` returns the messages that the last turn neither read nor wrote. */
  constructor(
    private readonly request: Pick<ModelRequest, 'messages' | 'tools'>,
    private readonly added: () => readonly Message[],
    { last, maxOutputTokens, strict }: Pick<CallSize, 'last' | 'maxOutputTokens' | 'strict'>,
  ) {
    this.last = last;
    this.maxOutputTokens = maxOutputTokens;
    this.strict = strict;
  }

  get bytes(): number {
    return bytesIn(this.request.messages);
  }

  get toolBytes(): number {
    return bytesIn(this.request.tools);
  }

  get newBytes(): number {
    return bytesIn(this.added());
  }
}

const bytesOf = new WeakMap<Message | ToolSpec, number>();

/** Bytes of messages or tools; each is measured once. */
function bytesIn(parts: readonly (Message | ToolSpec)[]): number {
  let sum = 0;
  for (const part of parts) {
    const known = bytesOf.get(part) ?? Buffer.byteLength(JSON.stringify(part));
    bytesOf.set(part, known);
    sum += known;
  }
  return sum;
}
