import { SkeinError } from '../base/errors.js';
import { present } from '../base/json.js';
import { amountText, readBudget, wholeNanos, type BudgetAmounts, type Measure } from './budget-text.js';
import { flag, integer, misfit, number, object, TEXT, word, wordOr, type Form, type Keys } from './form.js';

/** Limits that apply to all runs of a day or of a thread together. */
export interface BudgetLimits {
  /** Dollars. */
  readonly usd?: number;
  /** Input and output tokens. */
  readonly tokens?: number;
  /** Calls of models. */
  readonly calls?: number;
  /** Calls of tools. */
  readonly toolCalls?: number;
}

/**
 * What a run, or a node with everything below it, may spend. A budget never changes results: recorded results stay valid under any budget.
 *
 * @example
 * const budget: Budget = { usd: 0.5, calls: 20, onLimit: 'stop' };
 */
export interface Budget extends BudgetLimits {
  /** Milliseconds during which a process had the run. */
  readonly time?: number;
  /** What happens to a step that would exceed a limit: it waits, it ends, a person is asked, or a cheaper model answers. Default `pause`. */
  readonly onLimit?: 'pause' | 'stop' | 'ask' | { readonly model: string };
  /** Allows calls of models without a price although dollars are limited. */
  readonly unpriced?: 'allow';
  /** Bounds input tokens by the number of bytes, which no tokenizer exceeds; otherwise by half of it. */
  readonly strict?: true;
  /** Limits of all runs of the workflow on a calendar day. Only on a plan. */
  readonly day?: BudgetLimits;
  /** Limits of all turns of a thread. Only on a plan. */
  readonly thread?: BudgetLimits;
}

/** A budget in code: its fields, dollars as a number, or a text such as `0.50`, `200k-tokens, 20-calls` or `10m`. */
export type BudgetInput = Budget | number | string;

/** Bounds that keep sums exact. */
export const MOST_USD = 1_000_000;
export const MOST_TOKENS = 1_000_000_000_000;
export const MOST_CALLS = 1_000_000_000;
/** About 100 years. */
const MOST_TIME = 3_155_760_000_000;

const USD: Form<number> = (value) => {
  if (typeof value !== 'number') return misfit('must be a number');
  if (wholeNanos(value) > 0 && value <= MOST_USD) return undefined;
  const wanted = `an amount above 0, up to ${MOST_USD} dollars`;
  return misfit(`is ${value}, not ${wanted}`, `give ${wanted}`);
};

const LIMIT_KEYS: Keys<BudgetLimits> = {
  'usd?': USD,
  'tokens?': integer(1, MOST_TOKENS),
  'calls?': integer(1, MOST_CALLS),
  'toolCalls?': integer(1, MOST_CALLS),
};
const LIMITS = object<BudgetLimits>(LIMIT_KEYS);
const FIELDS = object<Budget>({
  ...LIMIT_KEYS,
  'time?': number(1, MOST_TIME),
  'onLimit?': wordOr(['pause', 'stop', 'ask'], object<{ readonly model: string }>({ model: TEXT })),
  'unpriced?': word('allow'),
  'strict?': flag<true>(),
  'day?': LIMITS,
  'thread?': LIMITS,
});

/** The form of a budget. A short text that can't be read stays in the plan as written and is reported here. */
export const BUDGET: Form<Budget> = (value) => {
  if (typeof value !== 'string' && typeof value !== 'number') return FIELDS(value);
  const read = readBudget(String(value));
  return misfit(`is not a budget: ${'wrong' in read ? read.wrong : 'there is no limit to add to'}`);
};

/** Returns a budget as plan data. Unreadable input stays as it is: the checks of the plan report it. */
export function budgetData(input: BudgetInput): Budget {
  if (typeof input === 'object') return input;
  const read = readBudget(String(input));
  const isWhole = !('wrong' in read) && Object.keys(read.add).length === 0;
  return isWhole ? read.set : (input as unknown as Budget);
}

/** A change of a budget: fields that replace those of the same name, and amounts added to its limits. */
export interface BudgetChange {
  readonly set: Budget;
  readonly add: BudgetAmounts;
}

/** @throws SkeinError `SKEIN_USAGE` if there is no limit to add to */
export function changedBudget(budget: Budget | undefined, { set, add }: BudgetChange): Budget {
  const amounts = (Object.entries(add) as [Measure, number][]).map(([measure, more]) => {
    const limit = set[measure] ?? budget?.[measure];
    if (limit !== undefined) return [measure, wholeNanos(limit + more)] as const;
    const amount = amountText(measure, more);
    const hint = `leave out the "+": then ${amount} is the limit`;
    throw new SkeinError('SKEIN_USAGE', `there is no limit to which ${amount} could be added`, { hint });
  });
  return { ...budget, ...set, ...Object.fromEntries(amounts) };
}

/** Formats a budget: `$0.50, 20 calls, then stop`. */
export function budgetText(budget: Budget): string {
  const { onLimit, day, thread, time } = budget;
  const then = onLimit === 'ask' ? 'ask a person' : typeof onLimit === 'object' ? onLimit.model : onLimit;
  return [
    ...limitTexts(budget),
    ...(time === undefined ? [] : [amountText('time', time)]),
    ...(day === undefined ? [] : [`${limitTexts(day).join(' and ')} a day`]),
    ...(thread === undefined ? [] : [`${limitTexts(thread).join(' and ')} a thread`]),
    ...(then === undefined ? [] : [`then ${then}`]),
  ].join(', ');
}

function limitTexts({ usd, tokens, calls, toolCalls }: BudgetLimits): readonly string[] {
  const said = present({ usd, tokens, calls, toolCalls });
  return (['usd', 'tokens', 'calls', 'toolCalls'] as const).flatMap((measure) => {
    const limit = said[measure];
    return limit === undefined ? [] : [amountText(measure, limit)];
  });
}
