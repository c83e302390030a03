import { SkeinError } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';

const RATES: readonly string[] = ['input', 'output', 'cached', 'write', 'write1h', 'reasoning'];

/**
 * Checks a price table from code. For a file, the parser of prices reports more.
 *
 * @throws SkeinError `SKEIN_USAGE`
 */
export function checkPrices(table: unknown): void {
  const models = isPlainObject(table) ? table['models'] : undefined;
  const wrong = isPlainObject(models)
    ? Object.entries(models)
        .map(wrongPrice)
        .find((one) => one !== undefined)
    : '';
  if (wrong === undefined) return;
  const hint =
    "prices: { models: { 'openai-compatible/*': { input: 0.2, output: 0.8 } } }, in US dollars for a million tokens";
  const message = wrong === '' ? 'prices must be an object with "models"' : `prices: ${wrong}`;
  throw new SkeinError('SKEIN_USAGE', message, { hint });
}

function wrongPrice([name, price]: readonly [string, unknown]): string | undefined {
  const strange = nameProblem(name);
  if (strange !== undefined) return `${JSON.stringify(name)} ${strange}`;
  const steps: unknown = isPlainObject(price) ? (price['above'] ?? []) : [];
  if (!Array.isArray(steps)) return `"${name}": above must be a list`;
  const bad =
    wrongRate(price, RATES) ??
    steps.map((step) => wrongRate(step, [...RATES, 'tokens'])).find((one) => one !== undefined);
  return bad === undefined ? undefined : `"${name}": ${bad} must be a number from 0 up`;
}

function wrongRate(rates: unknown, names: readonly string[]): string | undefined {
  if (!isPlainObject(rates)) return 'input';
  const needed: readonly string[] = ['input', 'output', 'tokens'];
  return names.find((rate) => (needed.includes(rate) || rates[rate] !== undefined) && !isRate(rates[rate]));
}

function isRate(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** Returns what is wrong with a model name in a table. */
export function nameProblem(name: string): string | undefined {
  if (name !== '*' && !name.includes('/')) return 'needs its provider: write provider/model, such as openai/gpt-5-mini';
  return /\*(?!$)/.test(name) ? 'has a * that is not at its end' : undefined;
}
