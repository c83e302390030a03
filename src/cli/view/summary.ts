import { countText, cellsOfText } from '../../base/text.js';
import { formatDuration } from '../../base/duration.js';
import type { ErrorData } from '../../base/errors.js';
import type { RunOutcome, Census } from '../../events/census.js';
import { billedOf, costText } from '../../events/cost-text.js';
import type { OpenQuestion } from '../../events/question.js';
import type { Spending, Tally } from '../../events/spending.js';
import { answerCommands, choiceLines, commandLine, moreWays, shellWord } from '../runs/text.js';
import { evidenceLines } from './evidence.js';
import { fitCells, isolated, oneLine, padCells, printable } from './printable.js';
import { ASK_AGAIN, nextSteps, stepsAtEnd } from './next-steps.js';
import type { Within } from './progress.js';
import type { RunLog } from './run-log.js';
import type { StepLog } from './step-log.js';
import {
  factsText,
  ofAgent,
  outcomeMark,
  outcomeWords,
  paintOutcome,
  spendingText,
  tokensText,
  tookText,
} from './step-text.js';
import type { Style } from './style.js';

export interface EndOfRun {
  readonly outcome: RunOutcome;
  readonly census: Census;
  readonly error: ErrorData | undefined;
  readonly log: RunLog;
  readonly auditFolder: string | undefined;
  readonly questions: readonly OpenQuestion[];
  /** Absent if nothing was recorded. */
  readonly recorded?: RecordedEnd | undefined;
}

export interface SummaryOptions extends EndOfRun {
  readonly name: string;
  readonly censusText: string;
  readonly strict: boolean;
  readonly style: Style;
}

/** Additional facts at the end of a recorded run. */
export interface RecordedEnd {
  /** The name of the run in commands. */
  readonly id: string;
  /** Steps whose results came from the record, and steps that ran in this session, of a continued run. */
  readonly reused?: number;
  readonly ran?: number;
  /** The spending of earlier sessions. */
  readonly before?: Spending;
  /** The original cost of the answers reused from the record. */
  readonly saved?: Spending;
  /** True if another process has taken over the run. */
  readonly takenOver: boolean;
  /** Whether the next command needs `--trust`. */
  readonly trust: boolean;
}

/** Above this number, only steps with a problem are listed one by one. */
const LISTED_STEPS = 24;
const LONGEST_REASON = 200;

/** The text at the end of a run: the outcome, the census, each step, tokens, the audit folder, and what to do next. */
export function summaryLines(options: SummaryOptions): readonly string[] {
  const { log } = options;
  const took = formatDuration(Math.max(0, log.now - log.startedAt));
  return [
    '',
    ...stepTable([...log.steps.values()], options),
    `${outcomeText(options)} in ${took}: ${options.censusText}${costOfCensus(log.spent)}`,
    ...reuseLines(options),
    ...(log.spent.modelCalls === 0 ? [] : [spendingText(log.spent.spending(), log.spent.byModel.values())]),
    ...costBefore(options),
    ...(options.auditFolder === undefined ? [] : [`audit folder: ${printable(options.auditFolder)}`]),
    ...(options.recorded === undefined ? [] : [`recorded as run ${options.recorded.id}`]),
    ...trouble(options),
  ];
}

/** The part of a summary that a quiet run prints too: unanswered questions, the error, and how to continue. */
export function trouble(options: SummaryOptions): readonly string[] {
  return [
    ...questionLines(options),
    ...errorLines(options),
    ...stepsAtEnd({ ...options, steps: options.log.steps.values() }),
  ];
}

/** A run without model calls has no cost to report. */
function costOfCensus(spent: Tally): string {
  const cost = spent.modelCalls === 0 ? '' : costText(spent.spending());
  return cost === '' ? '' : `; ${cost}`;
}

function reuseLines({ recorded }: SummaryOptions): readonly string[] {
  if (recorded?.reused === undefined || recorded.ran === undefined) return [];
  return [`${recorded.reused} reused${savedText(recorded.saved)}, ${recorded.ran} run`];
}

/** Reused calls of unknown price saved an unknown amount. */
function savedText(saved: Spending | undefined): string {
  if (saved === undefined || saved.usd === 0) return '';
  const text = costText({ ...saved, unpricedCalls: 0 });
  return billedOf(saved) === 0 ? ` (${text})` : ` (saved ${text})`;
}

function costBefore({ recorded }: SummaryOptions): readonly string[] {
  const { before } = recorded ?? {};
  if (before === undefined || before.modelCalls === 0) return [];
  const failed = before.failedModelCalls === 0 ? '' : ` (${before.failedModelCalls} failed)`;
  const parts = [`${countText(before.modelCalls, 'model call')}${failed}`, tokensText(before.usage), costText(before)];
  return [`before: ${parts.filter((part) => part !== '').join(', ')}`];
}

function outcomeText({ name, outcome, census, style, strict }: SummaryOptions): string {
  const subject = style.bold(printable(name));
  if (outcome !== 'degraded') return `${subject} ${paintOutcome(ENDED[outcome], outcome, style)}`;
  const verdict = strict ? style.bad('degraded, which --strict forbids') : style.warn('finished degraded');
  const what = census.degraded > 0 ? 'a step failed' : 'a limit was reached';
  return `${subject} ${verdict} (${what}, and the workflow allows it)`;
}

const ENDED: Readonly<Record<Exclude<RunOutcome, 'degraded'>, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  paused: 'paused',
  cancelled: 'was cancelled',
  out_of_budget: 'ran out of budget',
};

function stepTable(steps: readonly StepLog[], { error, style, log }: SummaryOptions): readonly string[] {
  const listed = listedOf(steps);
  const rows = listed
    .slice(0, LISTED_STEPS)
    .map((step) => ({ step, path: fitCells(printable(step.name), 60, 'middle', style.signs.cut) }));
  const width = Math.max(0, ...rows.map((row) => cellsOfText(row.path)));
  const lines = rows.map(
    ({ step, path }) =>
      `  ${outcomeMark(step.status, style)} ${padCells(isolated(path), width)}  ${rest(step, { error, style, log })}`,
  );
  const left = steps.length - rows.length;
  return left === 0 ? lines : [...lines, `  ${style.signs.cut} and ${countText(left, 'step')} more`];
}

/** Lists all steps. If there are many, leaves out succeeded steps in maps and loops, and if still too many, all succeeded steps. */
function listedOf(steps: readonly StepLog[]): readonly StepLog[] {
  if (steps.length <= LISTED_STEPS) return steps;
  const repeats = new Set(steps.filter(({ kind }) => kind === 'map' || kind === 'loop').map(({ path }) => path));
  // A step starts after the step that contains it.
  for (const { path, parent } of steps) if (repeats.has(parent)) repeats.add(path);
  const listed = steps.filter(({ status, parent }) => status !== 'succeeded' || !repeats.has(parent));
  return listed.length <= LISTED_STEPS ? listed : steps.filter(({ status }) => status !== 'succeeded');
}

/** The error of the run itself is reported below the table. */
function rest(step: StepLog, { error: told, style, log }: Pick<SummaryOptions, 'error' | 'style' | 'log'>): string {
  const why = step.error !== undefined && step.error === told ? undefined : (step.error?.message ?? step.reason);
  const within = log.progress.within(step.path);
  const time =
    step.endedAt === undefined || step.status === 'skipped' || step.reused ? '' : tookText(step, step.endedAt);
  const parts = [
    step.reused && step.status === 'succeeded' ? 'reused' : outcomeWords(step.status),
    time,
    within === undefined || step.kind === 'call' ? '' : withinText(step, within),
    factsText(step),
    why === undefined ? '' : oneLine(why, LONGEST_REASON, style.signs.cut),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function withinText({ kind }: StepLog, { done, total }: Within): string {
  return kind === 'loop' ? countText(done, 'round') : countText(total, 'item');
}

/** A run that failed or was cancelled asks again once it is resumed. */
function questionLines({ questions, outcome, recorded }: SummaryOptions): readonly string[] {
  if ((outcome !== 'paused' && outcome !== 'out_of_budget') || questions.length === 0) return [];
  const asked = questions.flatMap((one) => {
    const { path, name, question, choices = [], evidence, expires } = one;
    return [
      `question of ${printable(path)}: ${printable(question ?? `waits for the event ${name}`)}`,
      ...evidenceLines(evidence),
      ...choiceLines(choices),
      ...moreWays(one),
      ...(expires === undefined ? [] : [`  until ${new Date(expires).toISOString()}`]),
      ...(recorded === undefined ? [] : answerCommands(one, questions, recorded.id).map(commandLine)),
    ];
  });
  if (recorded !== undefined) return asked;
  return [...asked, ...nextSteps(ASK_AGAIN)];
}

/** To look costs nothing; only a run that left nothing behind has to be run again. */
function whereToLook({ auditFolder, recorded }: SummaryOptions): readonly string[] {
  if (auditFolder !== undefined) return nextSteps('the prompts and answers so far are in the audit folder');
  if (recorded !== undefined) return nextSteps('see every call that was made', `skein logs ${shellWord(recorded.id)}`);
  return nextSteps('run it again with --verbose to see every call');
}

function errorLines(options: SummaryOptions): readonly string[] {
  const { error, outcome, log, style } = options;
  if (error === undefined || outcome === 'cancelled') return [];
  // A step that contains others fails with the error of one of them, which started after it.
  const failed = [...log.steps.values()].findLast((step) => step.error?.message === error.message);
  const where = failed === undefined ? '' : ` in step ${printable(failed.name)}${ofAgent(failed)}`;
  return [
    `${style.bad('error')} ${error.code}${where}: ${printable(error.message)}`,
    ...(error.hint === undefined ? [] : [`    hint: ${printable(error.hint)}`]),
    ...whereToLook(options),
  ];
}
