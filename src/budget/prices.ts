import { present } from '../base/json.js';
import type { Cost, Usage } from '../events/event.js';
import type { CacheUse } from '../plan/agent-spec.js';
import builtIn from './prices.json' with { type: 'json' };

/** US dollars per million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  /** Input read from a cache. Defaults to the input rate. */
  readonly cached?: number;
  /** Input written to a cache for five minutes. Defaults to the input rate. */
  readonly write?: number;
  /** Input written to a cache for an hour. */
  readonly write1h?: number;
  /** Reasoning, if billed separately. Defaults to the output rate. */
  readonly reasoning?: number;
}

export interface Price extends Rates {
  /** Rates for all tokens of a call whose input exceeds `tokens`, in ascending order. */
  readonly above?: readonly (Rates & { readonly tokens: number })[];
  /** Maximum output tokens of the model in one answer. */
  readonly limit?: number;
}

/**
 * Prices by model: `provider/model`, or a prefix followed by `*`. The longest matching name wins.
 *
 * @example
 * const prices: PriceTable = { models: { 'openai-compatible/*': { input: 0.2, output: 0.8 } } };
 * await run(workflow, { prices });
 */
export interface PriceTable {
  readonly currency?: string;
  /** The date of these prices, `2026-11-23`. */
  readonly date?: string;
  /** The sources of the prices, by provider. */
  readonly sources?: Readonly<Record<string, string>>;
  readonly models: Readonly<Record<string, Price>>;
}

export interface FoundPrice {
  /** The name or pattern in the table. */
  readonly name: string;
  readonly price: Price;
  /** True if the price comes from the user's table. */
  readonly isOwn: boolean;
  readonly date?: string;
  readonly source?: string;
}

/** The table built into this version. */
export const BUILT_IN_PRICES: PriceTable = builtIn;

/** Vendors whose models OpenRouter sells at their own prices, by OpenRouter's name for them. */
const PASSED_ON: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
  mistralai: 'mistral',
  'x-ai': 'xai',
};

/** Finds the price of a model, `provider/model`; undefined if unknown. The user's table overrides the built-in one. */
export function findPrice(model: string, own?: PriceTable): FoundPrice | undefined {
  const name = model.toLowerCase();
  return (
    (own === undefined ? undefined : foundIn(own, name, true)) ??
    foundIn(BUILT_IN_PRICES, name, false) ??
    foundIn(BUILT_IN_PRICES, atMaker(name), false)
  );
}

/** {@link findPrice} without the place in a table. */
export function priceOf(model: string, own?: PriceTable): Price | undefined {
  return findPrice(model, own)?.price;
}

/** Prices found before, by table: every model call looks one up. */
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

/** The maker's name of a model that a provider resells. The maker's names of Claude have no dots. */
function atMaker(model: string): string {
  const [, vendor = '', rest = ''] = /^openrouter\/([^/]+)\/([^:]+)$/.exec(model) ?? [];
  const maker = Object.hasOwn(PASSED_ON, vendor) ? PASSED_ON[vendor] : undefined;
  const name = maker === undefined ? model : `${maker}/${rest}`;
  return name.startsWith('anthropic/') ? name.replaceAll('.', '-') : name;
}

function providerOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf('/')));
}

/** Billionths of a dollar per token, for a rate of one dollar per million. */
const NANO_PER_RATE = 1_000;

/** Computes the cost of a call, rounded up to a billionth of a dollar. */
export function costOf(usage: Usage, price: Price): Cost {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const { input, output, cached = input, write = input, reasoning = output } = ratesFor(price, inputTokens);
  // A part never exceeds the whole, whatever a provider reports.
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

/** The price of a model for an agent: writing to a cache for an hour has its own rate. */
export function priceWith(price: Price, cache: CacheUse | undefined): Price {
  return cache === '1h' ? { ...forHour(price), ...present({ above: price.above?.map(forHour) }) } : price;
}

function forHour<T extends Rates>(rates: T): T {
  return { ...rates, ...present({ write: rates.write1h ?? rates.write }) };
}

/** The maximum cost of a call with this many tokens, however much is cached: at its highest rates. */
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

/** Converts a sum of products of tokens and rates. Its error is far below a billionth, so it must not be rounded up to one. */
function dollars(products: number): Cost {
  return { usd: Math.ceil(Number((products * NANO_PER_RATE).toFixed(3))) / 1e9 };
}
