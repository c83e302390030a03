import { isPlainObject } from '../base/json.js';
import { didYouMean } from '../base/suggest.js';
import { PROVIDER_NAMES } from '../plan/providers.js';
import type { ProviderLimits } from './pass.js';

/** The limits of providers, by name. */
export type ProvidersLimits = Readonly<Record<string, ProviderLimits>>;

/**
 * {@link ProvidersLimits} in the form people write: `{ openai: { concurrency: 8, requestsPerMinute: 500, tokensPerMinute: '200k' } }`.
 */
export type ProvidersLimitsInput = Readonly<
  Record<string, { readonly [K in keyof ProviderLimits]?: number | string | undefined }>
>;

/** An error and its place: names from the outermost in. */
export interface WrongLimit {
  readonly path: readonly string[];
  readonly message: string;
  readonly hint: string;
}

const KEYS = [
  'concurrency',
  'requestsPerMinute',
  'tokensPerMinute',
] as const satisfies readonly (keyof ProviderLimits)[];
const EXAMPLE = 'openai: { concurrency: 8, requestsPerMinute: 500, tokensPerMinute: 200k }';
const COUNT = /^(\d+(?:\.\d+)?)([km]?)$/i;
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 };
const MOST = 1_000_000_000;

/** Parses limits in the form people write. `more`: the user's own providers. */
export function readLimits(
  value: unknown,
  more: readonly string[] = [],
): { readonly limits: ProvidersLimits; readonly wrong: readonly WrongLimit[] } {
  const wrong: WrongLimit[] = [];
  if (!isPlainObject(value)) {
    wrong.push({ path: [], message: 'limits must name providers', hint: EXAMPLE });
    return { limits: {}, wrong };
  }
  const known = [...more, ...PROVIDER_NAMES];
  const limits = Object.entries(value).map(([provider, given]) => {
    if (!known.includes(provider)) {
      const hint = didYouMean(provider, known) ?? `providers are: ${known.join(', ')}`;
      wrong.push({ path: [provider], message: `limits: no provider is called ${JSON.stringify(provider)}`, hint });
    }
    return [provider, readOne(provider, given, wrong)] as const;
  });
  return { limits: Object.fromEntries(limits), wrong };
}

function readOne(provider: string, given: unknown, wrong: WrongLimit[]): ProviderLimits {
  if (!isPlainObject(given)) {
    wrong.push({ path: [provider], message: `the limits of ${provider} must have names`, hint: EXAMPLE });
    return {};
  }
  const limits: { -readonly [K in keyof ProviderLimits]: ProviderLimits[K] } = {};
  for (const [name, value] of Object.entries(given)) {
    const key = KEYS.find((one) => one === name);
    const count = countOf(value);
    const path = [provider, name];
    if (key === undefined) {
      const hint = didYouMean(name, KEYS) ?? `limits are: ${KEYS.join(', ')}`;
      wrong.push({ path, message: `${provider} has no limit ${JSON.stringify(name)}`, hint });
    } else if (count !== undefined) limits[key] = count;
    else if (value !== undefined) {
      const shown =
        typeof value === 'string' ? JSON.stringify(value) : typeof value === 'number' ? value : typeof value;
      const message = `${name} of ${provider} is ${shown}, not a whole number above 0`;
      wrong.push({ path, message, hint: `${name}: 500, or 200k, or 2m` });
    }
  }
  return limits;
}

function countOf(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const [, digits, unit = ''] = COUNT.exec(String(value).trim()) ?? [];
  const count = Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  return Number.isSafeInteger(count) && count > 0 && count <= MOST ? count : undefined;
}
