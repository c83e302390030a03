import { resolve } from 'node:path';
import { present } from '../../base/json.js';
import { nameProblem } from '../../budget/price-check.js';
import type { Price, PriceTable, Rates } from '../../budget/prices.js';
import type { Findings } from '../../text/findings.js';
import { integer, list, map, names, number, text } from '../../text/forms.js';
import type { SourceEntry, SourceNode } from '../../text/nodes.js';
import { readFields, type Fields } from '../../text/shape.js';
import { readTextFile } from '../text-files.js';
import { readWhole } from '../../text/yaml.js';
import { noteReadFrom } from '../../plan/own-plan.js';

const rate = (about: string, more: { readonly needed?: true } = {}) =>
  number(`${about}, in US dollars for a million tokens`, { min: 0, max: 1_000_000, ...more });

const tokenCount = (about: string, more: { readonly needed?: true } = {}) =>
  integer(about, { min: 1, max: 1_000_000_000, ...more });

const RATES = {
  input: rate('what goes in', { needed: true }),
  output: rate('what comes out', { needed: true }),
  cached: rate('input that is read from a cache; by default as other input'),
  write: rate('input that is written to a cache for five minutes; by default as other input'),
  write1h: rate('input that is written to a cache for an hour'),
  reasoning: rate('reasoning, where it is billed apart'),
};

/** The rates for inputs above some length. */
const STEP = map(
  { tokens: tokenCount('the input of the call is longer than this', { needed: true }), ...RATES },
  'other rates for all tokens of a call with a long input',
);

const PRICE = map(
  {
    ...RATES,
    above: list(STEP, 'other rates for calls with a long input, shortest first'),
    limit: tokenCount('the most tokens that the model gives in one answer'),
  },
  'what a model costs',
);

const PRICES = map(
  {
    date: text('the day of these prices, such as 2026-11-23'),
    currency: text('USD, which is the only one'),
    sources: names(text('an address'), 'where the prices are from, by provider'),
    models: names(PRICE, 'prices by model: provider/model, or what such names begin with and a *', { needed: true }),
  },
  'prices of models',
);

/**
 * Opens a file of prices, YAML or JSON. Reports all problems at once, with line and column.
 *
 * @throws SkeinError `SKEIN_FILE` if it cannot be read, `SKEIN_DEFINITION` with the problems in `details.problems`
 */
export async function openPrices(path: string, file = path): Promise<PriceTable> {
  const prices = readPrices(await readTextFile(path, 'price file'), file);
  noteReadFrom(prices, [resolve(path)]);
  return prices;
}

/** Reads prices from a text. See {@link openPrices}. */
export function readPrices(source: string, file: string): PriceTable {
  const hint = 'correct the file; docs/models.md shows one';
  return readWhole(source, { file, problem: `the prices ${file} have problems`, hint }, readTable);
}

function readTable(node: SourceNode, findings: Findings): PriceTable | undefined {
  const top = readFields(node, { name: 'a price file', form: PRICES, exact: true }, findings);
  if (top === undefined) return undefined;
  const currency = top.text('currency');
  if (currency !== undefined && currency.toUpperCase() !== 'USD')
    top.error(
      'unknown-value',
      'currency',
      `currency must be USD, not ${JSON.stringify(currency)}`,
      'convert the prices',
    );
  const example = 'models: { openai/gpt-5: { input: 1.25, output: 10 } }';
  top.needs('models', 'missing-key', 'a price file needs "models"', example);
  const sources = (top.entries('sources') ?? []).flatMap(({ key, value }) =>
    value.kind === 'scalar' ? [[key, value.text] as const] : [],
  );
  const models = (top.entries('models') ?? []).map((entry) => [entry.key, readPrice(entry, findings)] as const);
  return {
    ...present({ currency: currency?.toUpperCase(), date: top.text('date') }),
    sources: Object.fromEntries(sources),
    models: Object.fromEntries(models.flatMap(([name, price]) => (price === undefined ? [] : [[name, price]]))),
  };
}

function readPrice({ key, at, value }: SourceEntry, findings: Findings): Price | undefined {
  const wrong = nameProblem(key);
  if (wrong !== undefined) findings.error('unknown-model', `the model ${JSON.stringify(key)} ${wrong}`, at);
  const price = readFields(value, { name: `the price of ${key}`, form: PRICE, exact: true }, findings);
  const rates = price === undefined ? undefined : readRates(price);
  if (price === undefined || rates === undefined) return undefined;
  const above = readSteps(price, findings);
  return {
    ...rates,
    ...present({ limit: price.integer('limit', PRICE.keys.limit) }),
    ...(above.length > 0 ? { above } : {}),
  };
}

function readSteps(price: Fields, findings: Findings): NonNullable<Price['above']> {
  const items = price.items('above', 'above: [{ tokens: 200000, input: 4, output: 15 }]') ?? [];
  const steps = items.flatMap((item) => {
    const fields = readFields(item, { name: `a step of ${price.name}`, form: STEP, exact: true }, findings);
    const rates = fields === undefined ? undefined : readRates(fields);
    const tokens = fields?.integer('tokens', STEP.keys.tokens);
    if (fields !== undefined) needed(fields, 'tokens');
    return rates === undefined || tokens === undefined ? [] : [{ tokens, ...rates }];
  });
  if (steps.some(({ tokens }, i) => tokens <= (steps[i - 1]?.tokens ?? 0)))
    price.error(
      'out-of-range',
      'above',
      `the steps of ${price.name} must stand in order`,
      'put the shortest input first',
    );
  return steps;
}

function readRates(fields: Fields): Rates | undefined {
  for (const key of ['input', 'output']) needed(fields, key);
  const rates = Object.entries(RATES).map(([key, row]) => [key, fields.number(key, row)] as const);
  const { input, output, ...others } = Object.fromEntries(rates) as {
    readonly [K in keyof Rates]: Rates[K] | undefined;
  };
  return input === undefined || output === undefined ? undefined : { input, output, ...present(others) };
}

function needed(fields: Fields, key: string): void {
  fields.needs(key, 'missing-key', `${fields.name} needs "${key}"`, 'in US dollars for a million tokens');
}
