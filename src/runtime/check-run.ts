import { MODEL_OPTIONS } from '../agent/models/registry-options.js';
import { SkeinError, textToRecord } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import { checkKinds, checkMethod, refuseUnknown, type OptionForms } from '../base/options.js';
import { didYouMean } from '../base/suggest.js';
import { checkPrices } from '../budget/price-check.js';
import { readLimits, type ProvidersLimits } from '../budget/provider-limits.js';
import type { RunResult } from '../engine/run.js';
import { areGuards } from '../guard/custom-guard.js';
import { kindText } from '../lang/value-text.js';
import type { Plan } from '../plan/plan.js';
import { securityGiven } from '../plan/security.js';
import { isSupervisor } from '../plan/supervision.js';
import type { Fork, RunOptions } from './options.js';
import { budgetChange } from './run-limits.js';
import { checkThreadOptions } from './threads/check-thread.js';

const OPTIONS: OptionForms<RunOptions> = {
  inputs: 'an object',
  untrusted: 'a list of texts',
  private: 'a list of texts',
  security: 'text, or an object',
  guards: 'a list',
  models: 'an object',
  prices: 'an object',
  limits: 'an object',
  cwd: 'text',
  policy: 'a list',
  allowPrivateAddresses: 'true or false',
  toolPins: 'an object',
  writtenFiles: 'an object',
  memory: 'text',
  supervisor: 'an object',
  answer: 'a function',
  runId: 'text',
  listeners: 'a list',
  signal: 'an object',
  concurrency: 'a number',
  maxSteps: 'a number',
  budget: 'text, or a number, or an object',
  streamState: 'true or false',
  check: 'a function',
  executors: 'an object',
  store: 'an object',
  resume: 'text',
  fork: 'an object',
  thread: 'text, or an object',
  origin: 'an object',
};

/**
 * Refuses unknown options, and values that are of no use. `more` has the kinds of options that only this kind of run has, `without` those it accepts in another way.
 *
 * @throws SkeinError `SKEIN_USAGE`
 */
export function checkRunOptions(
  options: object,
  more: Readonly<Record<string, string>> = {},
  without: readonly string[] = [],
): void {
  const isKnown = (name: string): boolean =>
    Object.hasOwn(more, name) || (Object.hasOwn(OPTIONS, name) && !without.includes(name));
  if (!Object.keys(options).every(isKnown))
    refuseUnknown('a run', options, Object.keys({ ...more, ...OPTIONS }).filter(isKnown));
  if ('inputs' in options) checkInputs(options.inputs, "run(workflow, { inputs: { topic: 'looms' } })");
  checkMaxSteps(options);
  checkNames(options);
  checkPolicies(options);
  checkBudget(options);
  checkSupervisor(options);
  checkSecurity(options);
  if ('prices' in options && options.prices !== undefined) checkPrices(options.prices);
  limitsOf(options);
  checkRecorded(options);
  checkThreadOptions(options);
  checkParts(options);
  checkKinds('a run', options, OPTIONS);
  checkKinds('a run', options, more);
  checkObjects(options);
}

/** @throws SkeinError `SKEIN_USAGE` for other objects, such as the promise of a store */
function checkObjects({ store, signal }: Pick<RunOptions, 'store' | 'signal'>): void {
  checkMethod('store', store, 'create', 'a store');
  checkMethod('signal', signal, 'addEventListener', 'an AbortSignal');
}

/**
 * Refuses inputs that are no values by name. `call`: how this kind of run is given some.
 *
 * @throws SkeinError `SKEIN_USAGE`
 */
export function checkInputs(inputs: unknown, call: string): void {
  if (inputs === undefined || (typeof inputs === 'object' && inputs !== null && !(Symbol.iterator in inputs))) return;
  const what = inputs instanceof Map || inputs instanceof Set ? `a ${inputs.constructor.name}` : kindText(inputs);
  throw new SkeinError('SKEIN_USAGE', `inputs are an object with a value for each name, not ${what}`, { hint: call });
}

/** @throws SkeinError `SKEIN_USAGE` for invalid limits */
export function limitsOf({
  limits: given,
  models,
}: Pick<RunOptions, 'limits' | 'models'>): ProvidersLimits | undefined {
  if (given === undefined) return undefined;
  const { limits, wrong } = readLimits(given, Object.keys(models?.providers ?? {}));
  const [first] = wrong;
  if (first === undefined) return limits;
  throw new SkeinError('SKEIN_USAGE', wrong.map(({ message }) => message).join('; '), { hint: first.hint });
}

function checkMaxSteps({ maxSteps }: Pick<RunOptions, 'maxSteps'>): void {
  if (maxSteps === undefined || (Number.isSafeInteger(maxSteps) && maxSteps > 0)) return;
  const hint = 'it counts how many nodes may run one after another: run(workflow, { maxSteps: 200 })';
  throw new SkeinError('SKEIN_USAGE', `maxSteps is a whole number from 1 up, not ${String(maxSteps)}`, { hint });
}

function isPolicy(one: unknown): boolean {
  return isPlainObject(one) && typeof one['file'] === 'string';
}

/** @throws SkeinError `SKEIN_USAGE` */
function checkPolicies({ policy }: Pick<RunOptions, 'policy'>): void {
  if (policy === undefined || (Array.isArray(policy) && policy.every(isPolicy))) return;
  const hint = "run(workflow, { policy: await openPolicies({ cwd, file: 'policy.yaml' }) })";
  throw new SkeinError('SKEIN_USAGE', `policy is a list of policies, not ${kindText(policy)}`, { hint });
}

function checkNames(options: Pick<RunOptions, 'untrusted' | 'private'>): void {
  for (const mark of ['untrusted', 'private'] as const) {
    const names: unknown = options[mark];
    if (names === undefined || (Array.isArray(names) && names.every((name) => typeof name === 'string'))) continue;
    const hint = `run(workflow, { inputs: { notes }, ${mark}: ['notes'] })`;
    throw new SkeinError('SKEIN_USAGE', `${mark} is a list of names of inputs, not ${kindText(names)}`, { hint });
  }
}

function checkBudget({ budget }: Pick<RunOptions, 'budget'>): void {
  if (budget !== undefined) budgetChange(budget);
}

/** @throws SkeinError `SKEIN_USAGE` for a supervisor that can't judge; `of` says whose it is */
export function checkSupervisor({ supervisor }: Pick<RunOptions, 'supervisor'>, of = 'a run'): void {
  if (supervisor === undefined || isSupervisor(supervisor)) return;
  const what = `the supervisor of ${of} needs the methods reconcile and supervise, and a timeoutMs above 0 or none`;
  throw new SkeinError('SKEIN_USAGE', what, { hint: "supervisor: supervisor({ model: 'openai/gpt-5' })" });
}

function checkSecurity({ security, guards }: Pick<RunOptions, 'security' | 'guards'>): void {
  securityGiven(security);
  if (guards === undefined || areGuards(guards)) return;
  const hint = "guards: [{ name: 'no-deletes', check: ({ tool }) => (tool.includes('delete') ? 'deny' : 'allow') }]";
  throw new SkeinError('SKEIN_USAGE', 'guards are a list of objects with a name of their own and a function check', {
    hint,
  });
}

function checkRecorded({ runId, origin }: Pick<RunOptions, 'runId' | 'origin'>): void {
  if (runId !== undefined && (typeof runId !== 'string' || !/^\P{C}+$/u.test(runId))) {
    const hint = "run(workflow, { runId: 'nightly-2027-01-31' }), or none: then it gets one";
    throw new SkeinError('SKEIN_USAGE', 'the id of a run must be a text of one line', { hint });
  }
  if (origin === undefined) return;
  const hint = "it is JSON: origin: { startedBy: 'cron' }";
  if (!isPlainObject(origin))
    throw new SkeinError('SKEIN_USAGE', `origin must be an object, not ${kindText(origin)}`, { hint });
  textToRecord(origin, 'origin', hint);
}

/** @throws SkeinError `SKEIN_INPUT` for inputs that a node would overwrite before any node reads them */
export function checkGiven(plan: Plan, { inputs = {}, untrusted = [], private: hidden = [], fork }: RunOptions): void {
  const { name, computed = [] } = plan;
  const given = { ...inputs, ...fork?.set };
  checkMarked(plan, given, { names: untrusted, mark: 'untrusted' });
  checkMarked(plan, given, { names: hidden, mark: 'private' });
  const lost = Object.keys(inputs).find((key) => inputs[key] !== undefined && computed.includes(key));
  if (lost === undefined) return;
  const message = `inputs of '${name}': '${lost}' has the name of a node that does not read it and whose value would replace it`;
  throw new SkeinError('SKEIN_INPUT', message, { hint: 'rename one of the two, or let the node read it' });
}

interface Marking {
  readonly names: readonly string[];
  readonly mark: 'untrusted' | 'private';
}

/** A misspelled name would leave an untrusted value trusted. */
function checkMarked({ name, inputs, channels }: Plan, given: object, { names, mark }: Marking): void {
  const known = [...new Set([...inputs.map((input) => input.name), ...channels.map((one) => one.name)])];
  const strange = names.find((one) => !known.includes(one) && !Object.hasOwn(given, one));
  if (strange === undefined) return;
  const hint =
    didYouMean(strange, known) ??
    (known.length === 0 ? 'the workflow declares no inputs' : `it takes ${known.join(', ')}`);
  throw new SkeinError('SKEIN_INPUT', `'${name}' has no input '${strange}' that could be ${mark}`, { hint });
}

/** Adds a hint to the result of a paused run that can never be answered. */
export function withAdvice(result: RunResult, { store }: RunOptions): RunResult {
  if (result.outcome !== 'paused' || store !== undefined) return result;
  const hint = 'pass an `answer` function, or a `store`: then the run can be answered and continues later';
  const message = 'the run waits for an answer, but no one can answer: the run is not recorded';
  return { ...result, error: { code: 'SKEIN_QUESTION', message, hint } };
}

const FORK: OptionForms<Fork> = { run: 'text', from: 'text', forget: 'a list of texts', set: 'an object' };

/** @throws SkeinError `SKEIN_USAGE` for parts that have no effect, or would keep a run from ever starting a step */
function checkParts({ fork, models, concurrency, listeners }: RunOptions): void {
  checkKeys('fork', fork, Object.keys(FORK), "run(workflow, { store, fork: { run: 'ID' } })");
  checkKeys(
    'models',
    models,
    Object.keys(MODEL_OPTIONS),
    "run(workflow, { models: { override: 'openai/gpt-5-mini' } })",
  );
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
