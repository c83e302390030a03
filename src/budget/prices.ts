import { present } from '../base/json.js';
import type { Cost, Usage } from '../events/event.js';
import type { CacheUse } from '../plan/agent-spec.js';
import builtIn from './prices.json' with { type: 'json' };

/** US dollars for a million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  /** Input that is read from a cache. Default: as other input. */
  readonly cached?: number;
  /** Input that is written to a cache for five minutes. Default: as other input. */
  readonly write?: number;
  /** Input that is written to a cache for an hour. */
  readonly write1h?: number;
  /** Reasoning, where it is billed apart. Default: as other output. */
  readonly reasoning?: number;
}

/** What a model costs. */
export interface Price extends Rates {
  /** Other rates for all tokens of a call whose input is longer than so many tokens, shortest first. */
  readonly above?: readonly (Rates & { readonly tokens: number })[];
  /** The most tokens that the model gives in one answer. */
  readonly limit?: number;
}

/**
 * Prices by model: `provider/model`, or what such names begin with and a `*`. The longest name that fits counts.
 *
 * @example
 * const prices: PriceTable = { models: { 'openai-compatible/*': { input: 0.2, output: 0.8 } } };
 * await run(workflow, { prices });
 */
export interface PriceTable {
  readonly currency?: string;
  /** The day of these prices, `2026-11-23`. */
  readonly date?: string;
  /** Where they are from, by provider. */
  readonly sources?: Readonly<Record<string, string>>;
  readonly models: Readonly<Record<string, Price>>;
}

/** A price, with where it stands. */
export interface FoundPrice {
  /** The name or pattern in the table. */
  readonly name: string;
  readonly price: Price;
  /** It is from a table that the user gave. */
  readonly isOwn: boolean;
  readonly date?: string;
  readonly source?: string;
}

/** The table that comes with this version. */
export const BUILT_IN_PRICES: PriceTable = builtIn;

/** Whose models OpenRouter passes on at their own prices, by its name for them. */
const PASSED_ON: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
  mistralai: 'mistral',
  'x-ai': 'xai',
};

/**
 * The price of a model, `provider/model`; undefined: nobody knows it. A table that the user gives wins over the one that comes with Skein.
 *
 * @example
 * findPrice('anthropic/claude-haiku-4-5-20251001')?.price.input; // 1
 */
export function findPrice(model: string, own?: PriceTable): FoundPrice | undefined {
  const name = model.toLowerCase();
  return (
    (own === undefined ? undefined : foundIn(own, name, true)) ??
    foundIn(BUILT_IN_PRICES, name, false) ??
    foundIn(BUILT_IN_PRICES, atMaker(name), false)
  );
}

/** {@link findPrice} without where it stands. */
export function priceOf(model: string, own?: PriceTable): Price | undefined {
  return findPrice(model, own)?.price;
}

/** What was found before, by table: each call of a model asks. */
const known = new WeakMap<PriceTable, Map<string, FoundPrice | undefined>>();

function foundIn(table: PriceTable, model: string, isOwn: boolean): FoundPrice | undefined {
  const before = known.get(table) ?? new Map<string, FoundPrice | undefined>();
  if (before.size === 0) known.set(table, before);
  if (!before.has(model)) before.set(model, lookedUp(table, model, isOwn));
  return before.get(model);
}

function lookedUp(table: PriceTable, model: string, isOwn: boolean): FoundPrice | undefined {
  const name = nameIn(table.models, model);
  const price = name === undefined ? undefined : table.models[name];
  if (name === undefined || price === undefined) return undefined;
  const source = table.sources?.[providerOf(name)];
  return { name, price, isOwn, ...present({ date: table.date, source }) };
}

function nameIn(models: PriceTable['models'], model: string): string | undefined {
  const names = Object.keys(models);
  const undated = model.replace(/-(?:latest|\d{4}-?\d{2}-?\d{2})$/, '');
  const exact =
    names.find((name) => name.toLowerCase() === model) ?? names.find((name) => name.toLowerCase() === undated);
  if (exact !== undefined) return exact;
  const fits = names.filter((name) => name.endsWith('*') && model.startsWith(name.slice(0, -1).toLowerCase()));
  return fits.toSorted((a, b) => b.length - a.length)[0];
}

/** A model that a provider passes on, as its maker names it. Names of Claude have no dots there. */
function atMaker(model: string): string {
  const [, vendor = '', rest = ''] = /^openrouter\/([^/]+)\/([^:]+)$/.exec(model) ?? [];
  const maker = Object.hasOwn(PASSED_ON, vendor) ? PASSED_ON[vendor] : undefined;
  const name = maker === undefined ? model : `${maker}/${rest}`;
  return name.startsWith('anthropic/') ? name.replaceAll('.', '-') : name;
}

function providerOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf('/')));
}

/** Billionths of a dollar for a token, where the rate is in dollars for a million. */
const NANO_PER_RATE = 1_000;

/**
 * What a call costs, rounded up to a billionth of a dollar.
 *
 * @example
 * costOf({ inputTokens: 1_000, outputTokens: 100 }, { input: 2, output: 10 }); // { usd: 0.003 }
 */
export function costOf(usage: Usage, price: Price): Cost {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const { input, output, cached = input, write = input, reasoning = output } = ratesFor(price, inputTokens);
  // Parts are never more than the whole, whatever a provider says.
  const read = Math.min(cachedTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - read);
  const reasoned = Math.min(reasoningTokens, outputTokens);
  return dollars(
    (inputTokens - read - written) * input +
      read * cached +
      written * write +
      (outputTokens - reasoned) * output +
      reasoned * reasoning,
  );
}

/** What a model costs an agent: what is written to a cache for an hour has a rate of its own. */
export function priceWith(price: Price, cache: CacheUse | undefined): Price {
  return cache === '1h' ? { ...forHour(price), ...present({ above: price.above?.map(forHour) }) } : price;
}

function forHour<T extends Rates>(rates: T): T {
  return { ...rates, ...present({ write: rates.write1h ?? rates.write }) };
}

/** The most that a call of so many tokens can cost, whatever of it is cached: its dearest rates. */
export function worstCost(price: Price, estimate: Pick<Usage, 'inputTokens' | 'outputTokens'>): Cost {
  const { inputTokens, outputTokens } = estimate;
  const reachable = [price, ...(price.above ?? []).filter(({ tokens }) => inputTokens > tokens)];
  const dearest = (rate: (rates: Rates) => readonly (number | undefined)[]): number =>
    Math.max(...reachable.flatMap(rate).map((one) => one ?? 0));
  const input = dearest((rates) => [rates.input, rates.cached, rates.write]);
  return dollars(inputTokens * input + outputTokens * dearest(({ output, reasoning }) => [output, reasoning]));
}

function ratesFor(price: Price, inputTokens: number): Rates {
  return price.above?.findLast(({ tokens }) => inputTokens > tokens) ?? price;
}

/** Of products of tokens and rates. Their sum is exact to far less than a billionth, which rounding up must not make one. */
function dollars(products: number): Cost {
  return { usd: Math.ceil(Number((products * NANO_PER_RATE).toFixed(3))) / 1e9 };
}
