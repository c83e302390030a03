import { SkeinError } from '../../base/errors.js';
import type { Json } from '../../base/json.js';
import { present } from '../../base/json.js';
import { formatProblem } from '../../base/problem.js';
import type { Price, PriceTable, Rates } from '../../budget/prices.js';
import { nameProblem } from '../../budget/price-check.js';
import { createFindings } from '../../text/findings.js';
import type { Findings } from '../../text/findings.js';
import type { SourceEntry, SourceNode } from '../../text/nodes.js';
import { PRICE, PRICES, RATES, STEP } from '../../text/price-keys.js';
import { readFields } from '../../text/shape.js';
import type { Fields } from '../../text/shape.js';
import { parseYaml } from '../../text/yaml.js';
import { readTextFile } from '../text-files.js';

/** Most problems to list; further ones repeat the first. */
const MAX_LISTED = 50;

/**
 * Opens a file of prices, YAML or JSON. Reports all problems at once, with line and column.
 *
 * @throws SkeinError `SKEIN_FILE` if it cannot be read, `SKEIN_DEFINITION` with the problems in `details.problems`
 */
export async function openPrices(path: string, file = path): Promise<PriceTable> {
  return readPrices(await readTextFile(path, 'price file'), file);
}

/** Reads prices from a text. See {@link openPrices}. */
export function readPrices(source: string, file: string): PriceTable {
  const findings = createFindings();
  const { root, problems, places } = parseYaml(source, file, { aliases: false });
  findings.add(problems);
  const empty: SourceNode = { kind: 'scalar', value: null, text: '', at: places.at(0), range: [0, 0] };
  const table = problems.length > 0 ? undefined : readTable(root ?? empty, findings);
  if (table !== undefined && findings.list.length === 0) return table;
  const listed = findings.list.slice(0, MAX_LISTED);
  throw new SkeinError(
    'SKEIN_DEFINITION',
    `the prices ${file} have problems:\n${listed.map(formatProblem).join('\n')}`,
    {
      hint: 'correct the file; docs/models.md shows one',
      details: { problems: listed.map((problem) => ({ ...problem, at: { ...problem.at } })) as unknown as Json },
    },
  );
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
  if (top.lacks('models'))
    top.error(
      'missing-key',
      'models',
      'a price file needs "models"',
      'models: { openai/gpt-5: { input: 1.25, output: 10 } }',
    );
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
  const node = price.node('above');
  if (node !== undefined && node.kind !== 'list')
    price.error(
      'wrong-type',
      'above',
      `above of ${price.name} must be a list`,
      'above: [{ tokens: 200000, input: 4, output: 15 }]',
    );
  const items = node?.kind === 'list' ? node.items : [];
  const steps = items.flatMap((item) => {
    const fields = readFields(item, { name: `a step of ${price.name}`, form: STEP, exact: true }, findings);
    const rates = fields === undefined ? undefined : readRates(fields);
    const tokens = fields?.integer('tokens', STEP.keys.tokens);
    if (fields?.lacks('tokens') === true) needed(fields, 'tokens');
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
  for (const key of ['input', 'output']) if (fields.lacks(key)) needed(fields, key);
  const rates = Object.entries(RATES).map(([key, row]) => [key, fields.number(key, row)] as const);
  const { input, output, ...others } = Object.fromEntries(rates) as {
    readonly [K in keyof Rates]: Rates[K] | undefined;
  };
  return input === undefined || output === undefined ? undefined : { input, output, ...present(others) };
}

function needed(fields: Fields, key: string): void {
  fields.error('missing-key', key, `${fields.name} needs "${key}"`, 'in US dollars for a million tokens');
}
