import { DURATION_PATTERN, parseDuration } from '../base/duration.js';
import { isPlainObject, present, type Json } from '../base/json.js';
import { quoteShort } from '../lang/value-text.js';
import { BUDGET_PATTERN, BUDGET_UNITS, COUNT_PATTERN, readBudget, readCount } from '../plan/budget-text.js';
import { MOST_CALLS, MOST_TOKENS, MOST_USD, type Budget, type BudgetLimits } from '../plan/budget.js';
import { either, flag, integer, map, number, text, word, type EitherForm, type MapForm } from '../text/forms.js';
import { describe, seen, toJson, type SourceNode } from '../text/nodes.js';
import { readFields, type Fields } from '../text/shape.js';

const LEAST_USD = 0.000_001;
const USD = number('dollars', { min: LEAST_USD, max: MOST_USD });

const count = (about: string, max: number): EitherForm =>
  either([integer('', { min: 1, max }), text('', { pattern: COUNT_PATTERN, from: 'string' })], about);

const LIMITS = {
  usd: USD,
  tokens: count('tokens that go in and come out: 200k', MOST_TOKENS),
  calls: count('calls of models', MOST_CALLS),
  tool_calls: count('calls of tools', MOST_CALLS),
} as const;

const SOME_LIMIT = Object.keys(LIMITS);

const SHARED = map(LIMITS, '', { some: SOME_LIMIT, blank: false });

const CHEAPER = map({ model: text('provider/model', { needed: true }) }, '');

const OF_STEP = {
  ...LIMITS,
  time: text('time in which a process works on the run: 10m', { pattern: DURATION_PATTERN, from: 'string' }),
  on_limit: either(
    [text('', { pattern: '^(?:pause|stop|ask)$', from: 'string' }), CHEAPER],
    'what happens to a step that would pass a limit: it waits for more (pause), it ends, a person is asked, or another model answers',
  ),
  unpriced: word(['allow'], 'models without a price may be called where dollars are limited'),
  strict: flag('whether every byte of what is sent is reserved as a token', { default: false }),
} as const;

const OF_FILE = {
  ...OF_STEP,
  day: { ...SHARED, about: 'limits of all runs on a calendar day' },
  thread: { ...SHARED, about: 'limits of all turns of a conversation' },
} as const;

const STEP_MAP = map(OF_STEP, '', { some: [...SOME_LIMIT, 'time'] });
const FILE_MAP = map(OF_FILE, '', { some: [...SOME_LIMIT, 'time', 'day', 'thread'] });
const SHORT = [USD, text('', { pattern: BUDGET_PATTERN, from: 'string' })] as const;

export const STEP_BUDGET = either(
  [...SHORT, STEP_MAP],
  'what the step, and everything below it, may spend in all: dollars, 200k-tokens, 20-calls, 50-tool-calls, 10m, or a map',
);

export const FILE_BUDGET = either(
  [...SHORT, FILE_MAP],
  'what a run may spend: dollars, 200k-tokens, 20-calls, 50-tool-calls, 10m, or a map',
);

export function readBudgetKey(fields: Fields, of: 'file' | 'step'): Budget | undefined {
  const node = fields.node('budget');
  if (node === undefined) return undefined;
  const called = fields.called('budget');
  if (node.kind === 'map') checkMap(node, called, of, fields);
  else if (node.kind === 'list' || typeof node.value === 'boolean') {
    const message = `${called} must be dollars, a text such as 200k-tokens, or a map, not ${describe(node)}`;
    fields.error('wrong-type', 'budget', message, `give ${BUDGET_UNITS}`);
  } else if (typeof node.value === 'number') fields.number('budget', USD);
  else {
    const wrong = wrongText(node.text);
    if (wrong !== undefined) fields.error('bad-budget', 'budget', `${called}: ${wrong}`, `give ${BUDGET_UNITS}`);
  }
  return budgetOf(toJson(node));
}

function wrongText(written: string): string | undefined {
  const read = readBudget(written);
  if ('wrong' in read) return read.wrong;
  return Object.keys(read.add).length === 0 ? undefined : `${quoteShort(written)} adds to no budget`;
}

const FOREIGN = { file: [], step: ['day', 'thread'] } as const;

function checkMap(node: SourceNode, name: string, of: 'file' | 'step', { findings }: Fields): void {
  const form = of === 'file' ? FILE_MAP : STEP_MAP;
  const fields = readFields(node, { name, form, silent: FOREIGN[of] }, findings);
  if (fields === undefined) return;
  for (const key of FOREIGN[of]) {
    const message = `${key} of ${name} limits all runs of a workflow, not a step`;
    if (fields.names(key)) fields.error('bad-budget', key, message, 'move it to the budget of the workflow');
  }
  checkLimits(fields, form);
  fields.word('unpriced', OF_STEP.unpriced);
  fields.flag('strict');
  checkTime(fields);
  checkOnLimit(fields);
  for (const key of of === 'file' ? (['day', 'thread'] as const) : []) {
    const limits = fields.node(key);
    const shared = limits && readFields(limits, { name: `${key} of ${name}`, form: SHARED }, findings);
    if (shared !== undefined) checkLimits(shared, SHARED);
  }
}

function checkLimits(fields: Fields, { some = [] }: MapForm): void {
  fields.number('usd', USD);
  for (const key of ['tokens', 'calls', 'tool_calls'] as const) checkCount(fields, key);
  if (some.some((key) => typeof key === 'string' && (fields.has(key) || fields.isMisspelt(key)))) return;
  fields.findings.error('bad-budget', `${fields.name} limits nothing`, fields.at, `add one of: ${some.join(', ')}`);
}

function checkCount(fields: Fields, key: 'tokens' | 'calls' | 'tool_calls'): void {
  const node = fields.node(key);
  if (node === undefined) return;
  const most = key === 'tokens' ? MOST_TOKENS : MOST_CALLS;
  const value = countOf(toJson(node));
  if (value !== undefined && value >= 1 && value <= most) return;
  const message = `${key} of ${fields.name} must be a whole number from 1 to ${most}, not ${seen(node)}`;
  fields.error('bad-budget', key, message, 'write a number such as 20, 200k or 1.5m');
}

function checkTime(fields: Fields): void {
  const node = fields.scalar('time');
  if (node === undefined || (parseDuration(node.text) ?? 0) > 0) return;
  const message = `time of ${fields.name} is ${quoteShort(node.text)}`;
  fields.error('bad-duration', 'time', message, 'write 90s, 10m or 1h30m');
}

function checkOnLimit(fields: Fields): void {
  const node = fields.node('on_limit');
  if (node === undefined) return;
  if (node.kind === 'map') {
    const model = readFields(node, { name: `on_limit of ${fields.name}`, form: CHEAPER }, fields.findings);
    if (model?.given('model') === undefined)
      model?.needs('model', 'missing-model', `on_limit of ${fields.name} names no model`, 'write {model: NAME}');
    return;
  }
  if (node.kind === 'scalar' && ['pause', 'stop', 'ask'].includes(node.text)) return;
  const message = `on_limit of ${fields.name} must be pause, stop, ask or {model: NAME}, not ${seen(node)}`;
  fields.error('unknown-value', 'on_limit', message, 'write on_limit: stop');
}

/** Turns a budget as written, `{ usd: 0.5, tokens: '200k' }`, into plan data. Undefined if none of it can be read. */
export function budgetOf(written: Json | undefined): Budget | undefined {
  if (typeof written === 'number') return { usd: written };
  if (typeof written === 'string') {
    const read = readBudget(written);
    return 'wrong' in read ? undefined : read.set;
  }
  if (!isPlainObject(written)) return undefined;
  const { time, on_limit: onLimit, unpriced, strict, day, thread } = written;
  const model = isPlainObject(onLimit) ? onLimit['model'] : undefined;
  return present({
    ...limitsOf(written),
    time: typeof time === 'string' ? parseDuration(time) : undefined,
    onLimit:
      typeof model === 'string'
        ? { model: model.trim() }
        : (['pause', 'stop', 'ask'] as const).find((one) => one === onLimit),
    unpriced: typeof unpriced === 'string' ? ('allow' as const) : undefined,
    strict: strict === true ? (true as const) : undefined,
    day: isPlainObject(day) ? limitsOf(day) : undefined,
    thread: isPlainObject(thread) ? limitsOf(thread) : undefined,
  });
}

function limitsOf({ usd, tokens, calls, tool_calls: toolCalls }: Readonly<Record<string, unknown>>): BudgetLimits {
  return present({
    usd: typeof usd === 'number' ? usd : undefined,
    tokens: countOf(tokens),
    calls: countOf(calls),
    toolCalls: countOf(toolCalls),
  });
}

function countOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === 'string' ? readCount(value) : undefined;
}
