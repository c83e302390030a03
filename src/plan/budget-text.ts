import { formatDuration, parseDuration } from '../base/duration.js';
import { SkeinError } from '../base/errors.js';

/** A quantity that a budget can limit. */
export type Measure = 'usd' | 'tokens' | 'calls' | 'toolCalls' | 'time';

/** Amounts by measure; time in milliseconds. */
export type BudgetAmounts = { readonly [M in Measure]?: number };

/** The parsed form of a budget text: limits that replace those of the same measure, and amounts added to them (`+0.50`). */
export interface BudgetText {
  readonly set: BudgetAmounts;
  readonly add: BudgetAmounts;
}

export const BUDGET_UNITS =
  'dollars (0.50), tokens (200k-tokens), calls (20-calls), tool calls (50-tool-calls) or time (10m)';

const USD = String.raw`\$?(\d+(?:\.\d+)?)`;
const COUNT = String.raw`(\d+(?:\.\d+)?)([kKmM]?)`;
const COUNTED = `${COUNT}-(tokens?|calls?|tool-calls?)`;
const TIME = String.raw`(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+`;

/** The format of a count, as the source of a regular expression. */
export const COUNT_PATTERN = `^${COUNT}$`;
/** The format of a budget without additions, as the source of a regular expression. */
export const BUDGET_PATTERN = String.raw`^\s*(?:${USD}|${COUNTED}|${TIME})(?:\s*,\s*(?:${USD}|${COUNTED}|${TIME}))*\s*$`;

/** Returns the regular expression source of an amount that {@link amountOf} can read. A bare number of calls means calls. */
export function amountPattern(measure: Measure): string {
  if (measure === 'usd') return String.raw`\+?\s*\$?\d{1,9}(?:\.\d{1,9})?`;
  if (measure === 'time') return String.raw`\+?\s*\d{1,9}(?:ms|s|m|h|d)`;
  return String.raw`\+?\s*(?:\d{1,12}|\d{1,9}(?:\.\d{1,3})?[kK]|\d{1,6}(?:\.\d{1,6})?[mM])(?:-${UNIT_WORDS[measure]}?)?`;
}

/** Parses an amount of one measure, with or without its unit and a plus; returns undefined for anything else. */
export function amountOf(measure: Measure, text: string): number | undefined {
  const bare = text.replace(/^\+\s*/, '');
  const count = measure === 'usd' || measure === 'time' ? undefined : readCount(bare);
  const read = count ?? amountIn(bare);
  if (typeof read === 'number') return read;
  return typeof read === 'string' || read[0] !== measure ? undefined : read[1];
}

const AS_USD = new RegExp(`^${USD}$`);
const AS_COUNT = new RegExp(COUNT_PATTERN);
const AS_COUNTED = new RegExp(`^${COUNTED}$`);
const FACTORS: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** Parses a budget as written on a command line: parts separated by commas. `wrong` describes what can't be read. */
export function readBudget(text: string): BudgetText | { readonly wrong: string } {
  const set: Partial<Record<Measure, number>> = {};
  const add: Partial<Record<Measure, number>> = {};
  for (const part of text.split(',')) {
    const written = part.trim();
    const read = readAmount(written.replace(/^\+/, '').trim());
    if (typeof read === 'string') return { wrong: `${JSON.stringify(written.slice(0, 80))} ${read}` };
    const [measure, amount] = read;
    if (measure in set || measure in add) return { wrong: `${WORDS[measure]} are limited twice` };
    (written.startsWith('+') ? add : set)[measure] = amount;
  }
  return { set, add };
}

/** @throws SkeinError `SKEIN_USAGE` for what can't be read; its hint lists the units */
export function parseBudget(text: string): BudgetText {
  const read = readBudget(text);
  if (!('wrong' in read)) return read;
  throw new SkeinError('SKEIN_USAGE', `not a budget: ${read.wrong}`, { hint: `give ${BUDGET_UNITS}` });
}

/** Parses a whole number, also in thousands or millions: `readCount('1.5k')` returns 1500; undefined for anything else. */
export function readCount(text: string): number | undefined {
  const [, digits, factor = ''] = AS_COUNT.exec(text) ?? [];
  if (digits === undefined) return undefined;
  // Thousandths of the product are exact if it is a whole number.
  const count = Math.round(Number(digits) * (FACTORS[factor.toLowerCase()] ?? 1) * 1_000) / 1_000;
  return Number.isSafeInteger(count) ? count : undefined;
}

/** Parses one part, or returns what is wrong with it. */
function readAmount(text: string): readonly [Measure, number] | string {
  if (text.startsWith('-')) return 'is negative';
  const amount = amountIn(text);
  return typeof amount === 'string' || amount[1] > 0 ? amount : 'is not above zero';
}

function amountIn(text: string): readonly [Measure, number] | string {
  const usd = AS_USD.exec(text)?.[1];
  if (usd !== undefined) return ['usd', wholeNanos(Number(usd))];
  const [, digits = '', factor = '', unit] = AS_COUNTED.exec(text) ?? [];
  if (unit !== undefined) {
    const measure = unit.startsWith('tool') ? 'toolCalls' : unit.startsWith('token') ? 'tokens' : 'calls';
    const count = readCount(digits + factor);
    return count === undefined ? `is not a whole number of ${WORDS[measure]}` : [measure, count];
  }
  const time = parseDuration(text);
  if (time !== undefined) return ['time', time];
  return /^\d[\d.]*[^\d.]/.test(text) ? 'has an unknown unit' : 'is not an amount';
}

/** Rounds dollars to the nine decimals in which they are counted. */
export function wholeNanos(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

const WORDS: Readonly<Record<Measure, string>> = {
  usd: 'dollars',
  tokens: 'tokens',
  calls: 'calls',
  toolCalls: 'tool calls',
  time: 'times',
};

const UNIT_WORDS = { tokens: 'tokens', calls: 'calls', toolCalls: 'tool-calls' } as const;

/** Formats an amount as {@link readBudget} reads it: `0.50`, `200000-tokens`, `600000ms`. */
export function amountWord(measure: Measure, amount: number): string {
  if (measure === 'usd') return amountText(measure, amount).slice(1);
  if (measure === 'time') return `${amount}ms`;
  return `${amount}-${amount === 1 ? UNIT_WORDS[measure].slice(0, -1) : UNIT_WORDS[measure]}`;
}

/** Formats an amount for people: `$0.50`, `200,000 tokens`, `20 calls`, `10m 00s`. */
export function amountText(measure: Measure, amount: number): string {
  if (measure === 'time') return formatDuration(amount);
  if (measure === 'usd') {
    const [whole = '0', decimals = ''] = amount.toFixed(9).replace(/0+$/, '').split('.');
    return `$${whole}.${decimals.padEnd(2, '0')}`;
  }
  const words = amount === 1 ? WORDS[measure].slice(0, -1) : WORDS[measure];
  return `${amount.toLocaleString('en-US')} ${words}`;
}
