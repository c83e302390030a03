import { resolve } from 'node:path';
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { BUILT_IN_PRICES, findPrice, openPrices, type FoundPrice, type Price, type PriceTable } from '../../prices.js';
import { fullName } from '../run/plan-cost.js';
import type { JsonFlag } from '../run/run-flags.js';
import { pricesOption } from '../run/run-options.js';
import { tableLines } from '../runs/text.js';
import { jsonText, printable } from '../view/printable.js';
import { printResult } from '../view/streams.js';

interface Flags extends JsonFlag {
  readonly prices?: string;
}

/** `skein prices [MODEL]`. */
export function define(command: Command): void {
  command
    .argument('[model]', 'a model, provider/model, or a provider; without it: all')
    .addOption(pricesOption())
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP)
    .action(async (asked: string | undefined, { prices, json = false }: Flags) => {
      const own = prices === undefined ? undefined : await openPrices(resolve(prices), prices);
      const found = asked === undefined ? allOf(own) : asksFor(asked, own);
      printResult(json ? jsonText({ currency: 'USD', tokens: 1_000_000, models: found.map(entryOf) }) : text(found));
    });
}

function allOf(own: PriceTable | undefined): readonly FoundPrice[] {
  const names = [...Object.keys(own?.models ?? {}), ...Object.keys(BUILT_IN_PRICES.models)];
  return [...new Set(names)].flatMap((name) => findPrice(name, own) ?? []);
}

function asksFor(asked: string, own: PriceTable | undefined): readonly FoundPrice[] {
  const all = allOf(own);
  const ofProvider = all.filter(({ name }) => name.startsWith(`${asked.toLowerCase()}/`));
  if (ofProvider.length > 0) return ofProvider;
  const found = findPrice(fullName(asked), own);
  if (found !== undefined) return [found];
  const nearest = didYouMean(
    fullName(asked),
    all.map(({ name }) => name),
  );
  const example = `--prices FILE, with models: { ${fullName(asked)}: { input: 1, output: 4 } } in it`;
  throw new SkeinError('SKEIN_USAGE', `no price is known for ${printable(asked)}`, {
    hint: `${nearest === undefined ? '' : `${nearest} `}you can give one: ${example}`,
  });
}

function entryOf({ name, price, isOwn, date, source }: FoundPrice) {
  return { model: name, own: isOwn, date, source, ...price };
}

const COLUMNS = [
  'model',
  'input',
  'from cache',
  'to cache',
  '1 hour',
  'output',
  'reasoning',
  'longest output',
] as const;

function text(found: readonly FoundPrice[]): string {
  const rows = found.flatMap(({ name, price }) => [
    [printable(name), ...cells(price, price.limit)],
    ...(price.above ?? []).map((step) => [`  input above ${count(step.tokens)}`, ...cells(step)]),
  ]);
  const shown = COLUMNS.map((_, at) => at < 2 || rows.some((row) => row[at] !== ''));
  const table = [COLUMNS, ...rows].map((row) => row.filter((_, at) => shown[at]));
  return ['US dollars for a million tokens', '', ...tableLines(table), '', ...sourceLines(found)].join('\n');
}

type Row = NonNullable<Price['above']>[number] | Price;

function cells({ input, cached, write, write1h, output, reasoning }: Row, limit?: number): readonly string[] {
  const dollars = [input, cached, write, write1h, output, reasoning];
  return [...dollars.map((one) => (one === undefined ? '' : String(one))), limit === undefined ? '' : count(limit)];
}

function count(tokens: number): string {
  return tokens.toLocaleString('en');
}

function sourceLines(found: readonly FoundPrice[]): readonly string[] {
  const lines = found.map(({ name, isOwn, date, source }) => {
    const provider = name.slice(0, Math.max(0, name.indexOf('/'))) || name;
    const from = [date === undefined ? '' : `as of ${date}`, source ?? ''].filter((part) => part !== '').join(', ');
    return `${provider}: ${isOwn ? `your prices${from === '' ? '' : `, ${from}`}` : from}`;
  });
  return [...new Set(lines)].map(printable);
}

const HELP = `
A file of prices is YAML or JSON; the longest name that fits counts, and it wins over the prices that come with Skein:
  models:
    openai-compatible/*: { input: 0.2, output: 0.8 }   # US dollars for a million tokens`;
