import { SkeinError } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import { refuseUnknown } from '../base/suggest.js';
import { kindText } from '../lang/value-text.js';
import type { Fork, RunOptions } from './options.js';

const FORK: Readonly<Record<keyof Fork, true>> = { run: true, from: true, forget: true, set: true };

const MODELS: Readonly<Record<keyof NonNullable<RunOptions['models']>, true>> = {
  env: true,
  override: true,
  mock: true,
  script: true,
  record: true,
  inputs: true,
  replay: true,
  noProbe: true,
  providers: true,
  cwd: true,
  importPackage: true,
  limits: true,
  policies: true,
  prices: true,
};

/**
 * Refuses options whose parts would have no effect, or would keep a run from ever starting a step.
 *
 * @throws SkeinError `SKEIN_USAGE`
 */
export function checkParts({ fork, models, concurrency, listeners }: RunOptions): void {
  checkKeys('fork', fork, Object.keys(FORK), "run(workflow, { store, fork: { run: 'ID' } })");
  checkKeys('models', models, Object.keys(MODELS), "run(workflow, { models: { override: 'openai/gpt-5-mini' } })");
  checkConcurrency(concurrency);
  if (listeners === undefined || (Array.isArray(listeners) && listeners.every((one) => typeof one === 'function')))
    return;
  const hint = 'run(workflow, { listeners: [(event) => console.log(event.type)] })';
  throw new SkeinError('SKEIN_USAGE', `listeners are a list of functions, not ${kindText(listeners)}`, { hint });
}

function checkKeys(name: string, value: unknown, keys: readonly string[], hint: string): void {
  if (value === undefined) return;
  if (!isPlainObject(value))
    throw new SkeinError('SKEIN_USAGE', `${name} is an object, not ${kindText(value)}`, { hint });
  refuseUnknown(name, value, keys);
}

function checkConcurrency(concurrency: number | undefined): void {
  if (concurrency === undefined || concurrency === Number.POSITIVE_INFINITY) return;
  if (Number.isSafeInteger(concurrency) && concurrency > 0) return;
  const hint = 'it counts the steps that run at once: run(workflow, { concurrency: 4 })';
  throw new SkeinError('SKEIN_USAGE', `concurrency is a whole number from 1 up, not ${String(concurrency)}`, { hint });
}
