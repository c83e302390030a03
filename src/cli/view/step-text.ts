import { formatDuration } from '../../base/duration.js';
import { countText } from '../../base/text.js';
import type { Usage } from '../../events/event.js';
import { answeredText } from '../../events/question.js';
import type { StepOutcome } from '../../events/census.js';
import { cachedText, costText, usdText } from '../../events/cost-text.js';
import type { ModelSpending, Spending, Tally } from '../../events/spending.js';
import type { StepAccount } from '../../events/step-fold.js';
import { oneLine, printable } from './printable.js';
import type { StepLog } from './step-log.js';
import type { Signs, Style } from './style.js';

/** The mark and colour of each outcome. */
const LOOKS: Readonly<
  Record<StepOutcome, readonly [mark: Exclude<keyof Signs, 'spinner'>, colour: 'good' | 'bad' | 'warn' | 'dim']>
> = {
  succeeded: ['done', 'good'],
  skipped: ['skipped', 'dim'],
  failed: ['failed', 'bad'],
  timed_out: ['failed', 'bad'],
  cancelled: ['stopped', 'warn'],
  paused: ['paused', 'warn'],
  out_of_budget: ['stopped', 'bad'],
};

/** Maximum length of an explanation on one line. */
const LONGEST_REASON = 300;

/** Describes an ended step: `step review succeeded in 1.2s: openai/gpt-5-mini, 2 model calls, 1.2k + 300 tokens`. */
export function endedLine(step: StepLog, style: Style): string {
  const status = step.status === 'running' ? 'cancelled' : step.status;
  const time = step.endedAt === undefined || status === 'skipped' ? '' : ` in ${tookText(step, step.endedAt)}`;
  const tries = step.attempts > 1 ? ` after ${step.attempts} attempts` : '';
  const facts = status === 'skipped' ? '' : factsText(step);
  const why = step.error?.message ?? step.reason;
  const because = why === undefined ? '' : `: ${oneLine(why, LONGEST_REASON, style.signs.cut)}`;
  const agent = step.error === undefined ? '' : ofAgent(step);
  const head = `step ${style.bold(printable(step.name))}${agent} ${paintOutcome(outcomeWords(status), status, style)}${time}${tries}`;
  return `${head}${facts === '' ? '' : style.dim(` (${facts})`)}${because}`;
}

/** Names the agent of a step, if the path does not. */
export function ofAgent({ agent, node }: StepLog): string {
  return agent === undefined || agent === node ? '' : ` (agent ${printable(agent)})`;
}

export function outcomeMark(status: StepLog['status'], style: Style): string {
  if (status === 'running') return ' ';
  return paintOutcome(style.signs[LOOKS[status][0]], status, style);
}

export function paintOutcome(text: string, outcome: StepOutcome, style: Style): string {
  return style[LOOKS[outcome][1]](text);
}

/** The words for an outcome or the status of a run. */
export function outcomeWords(status: string): string {
  return status.replaceAll('_', ' ');
}

/** Models, calls, tokens and cost of a step. Empty if it used none. */
export function spentText(spent: Spending, models: readonly string[]): string {
  const { modelCalls, toolCalls, usage } = spent;
  const parts = [
    ...models.map(modelText),
    modelCalls > 1 ? `${modelCalls} model calls` : '',
    toolCalls > 0 ? countText(toolCalls, 'tool call') : '',
    tokensText(usage),
    modelCalls === 0 ? '' : costText(spent),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** Describes the supervision of a step. Empty if there was none. */
export function judgedText({ supervision }: Pick<StepAccount, 'supervision'>): string {
  if (supervision === undefined) return '';
  const { by, answeredBy, corrections, accepted } = supervision;
  const often = corrections === 0 ? '' : countText(corrections, 'correction');
  if (!accepted) return often;
  return `${by === 'human' ? `approved ${answeredText(answeredBy)}` : 'accepted'}${often === '' ? '' : ` after ${often}`}`;
}

/** Model, calls, tokens and cost of a step that the log follows. */
export function factsText({ spent, model = '' }: StepLog): string {
  return spentText(spent.spending(), model === '' ? [] : [model]);
}

/** The spending of a whole run: `3 model calls (openai/gpt-5-mini 2, 1 failed), 1 tool call, 1.2k + 300 tokens, $0.31`. */
export function spendingText(spent: Spending, models: Iterable<ModelSpending>): string {
  const tokens = tokensText(spent.usage) || 'tokens not counted';
  return [callsText(spent, models), tokens, costText(spent)].filter((part) => part !== '').join(', ');
}

function callsText(spent: Spending, models: Iterable<ModelSpending>): string {
  const { modelCalls, failedModelCalls, toolCalls } = spent;
  const each = [...models].filter(({ calls }) => calls > 0).map(({ model, calls }) => `${modelText(model)} ${calls}`);
  if (failedModelCalls > 0) each.push(`${failedModelCalls} failed`);
  const tools = toolCalls === 0 ? '' : `, ${countText(toolCalls, 'tool call')}`;
  return `${countText(modelCalls, 'model call')} (${each.join(', ')})${tools}`;
}

/** The displayed name of a model: for a script, only the name of its file. */
export function modelText(model: string): string {
  return printable(model.replace(/^script\/.*[/\\]/, 'script/'));
}

/** Input and output tokens: `1.2k + 300 tokens, 62% of input from cache`. Empty if none were counted. */
export function tokensText(usage: Usage): string {
  const { inputTokens, outputTokens } = usage;
  if (inputTokens + outputTokens === 0) return '';
  const counts = `${shortCount(inputTokens)} + ${shortCount(outputTokens)} tokens`;
  return [counts, cachedText(usage)].filter((part) => part !== '').join(', ');
}

export function tookText(step: StepLog, now: number): string {
  return formatDuration(Math.max(0, now - step.startedAt));
}

/** A cost in few characters: `$0.31`, `~$0.31` if estimated or mocked, `$0.31+?` with calls of unknown price, `$?` with no others. */
export function shortCost(spent: Tally): string {
  const { modelCalls, usd, unpricedCalls, estimated, pretendedUsd } = spent.spending();
  const about = estimated === true || pretendedUsd !== undefined ? '~' : '';
  if (modelCalls === 0 || (usd === 0 && pretendedUsd !== undefined)) return '';
  if (unpricedCalls === 0) return about + usdText(usd);
  return usd === 0 ? '$?' : `${about}${usdText(usd)}+?`;
}

/** A count in about four characters: `950`, `4.7k`, `84k`, `1.2M`. */
export function shortCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}
