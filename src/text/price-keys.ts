import { integer, list, map, names, number, text } from './forms.js';

const rate = (about: string, more: { readonly needed?: true } = {}) =>
  number(`${about}, in US dollars for a million tokens`, { min: 0, max: 1_000_000, ...more });

const tokens = (about: string, more: { readonly needed?: true } = {}) =>
  integer(about, { min: 1, max: 1_000_000_000, ...more });

/** The rates of a model. */
export const RATES = {
  input: rate('what goes in', { needed: true }),
  output: rate('what comes out', { needed: true }),
  cached: rate('input that is read from a cache; by default as other input'),
  write: rate('input that is written to a cache for five minutes; by default as other input'),
  write1h: rate('input that is written to a cache for an hour'),
  reasoning: rate('reasoning, where it is billed apart'),
};

/** The rates for inputs above some length. */
export const STEP = map(
  { tokens: tokens('the input of the call is longer than this', { needed: true }), ...RATES },
  'other rates for all tokens of a call with a long input',
);

/** The price of a model. */
export const PRICE = map(
  {
    ...RATES,
    above: list(STEP, 'other rates for calls with a long input, shortest first'),
    limit: tokens('the most tokens that the model gives in one answer'),
  },
  'what a model costs',
);

/** A file of prices. */
export const PRICES = map(
  {
    date: text('the day of these prices, such as 2026-11-23'),
    currency: text('USD, which is the only one'),
    sources: names(text('an address'), 'where the prices are from, by provider'),
    models: names(PRICE, 'prices by model: provider/model, or what such names begin with and a *', { needed: true }),
  },
  'prices of models',
);
