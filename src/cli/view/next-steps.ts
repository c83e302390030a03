import { isEnding } from '../../base/errors.js';
import type { ErrorData } from '../../base/errors.js';
import { isPlainObject } from '../../base/json.js';
import type { RunOutcome } from '../../events/census.js';
import { commandLine, shellWord } from '../runs/text.js';
import { printable, quoted } from './printable.js';

/**
 * What a person can do next: words, and below them commands, each alone on its line. So a command can be copied as a whole line;
 * words behind it would be arguments.
 *
 * @example
 * nextSteps('continue where it stopped', 'skein resume 4711');
 * // ['next: continue where it stopped', '  skein resume 4711']
 */
export function nextSteps(words: string, ...commands: readonly string[]): readonly string[] {
  return [`next: ${words}`, ...commands.map(commandLine)];
}

/** What to do about a run that stopped. */
export const CONTINUED = 'continue the run; finished steps are not run again';

/** What to do about a run that can't be resumed: a step of it ended it. */
export const FORKED = 'run it again from a step on';

/** What to do about a question of a run that no command finds. */
export const ASK_AGAIN = 'run it on a terminal to answer, or answer by a script: --mock=FILE with "answers:"';

/** How a run ended. */
interface EndedRun {
  readonly outcome: RunOutcome;
  readonly error: ErrorData | undefined;
  /** Absent if nothing was recorded. */
  readonly recorded?: { readonly id: string; readonly takenOver: boolean } | undefined;
}

/** What can be done after a run: one that did not succeed can be resumed. */
export function stepsAtEnd({ recorded, outcome, error }: EndedRun): readonly string[] {
  if (recorded === undefined || outcome === 'succeeded') return [];
  const run = shellWord(recorded.id);
  if (isEnding(error)) return nextSteps(FORKED, `skein fork ${run} --from STEP`);
  if (recorded.takenOver) return nextSteps('look at its progress: another process runs it', `skein show ${run}`);
  const what = RESUMED[outcome];
  const short = outcome === 'out_of_budget' ? lackIn(error) : undefined;
  if (short === undefined) return nextSteps(what, `skein resume ${run}`);
  if (short.path === '') return nextSteps(what, `skein resume ${run} --budget ${short.raise}`);
  const raise = `skein budget ${run} ${short.raise} --of ${quoted(short.path)}`;
  return nextSteps(`raise the budget, then ${what}`, printable(raise), `skein resume ${run}`);
}

/** The limit that was too low, and what raises it. */
function lackIn(error: ErrorData | undefined): { readonly path: string; readonly raise: string } | undefined {
  const details = error?.code === 'SKEIN_BUDGET' ? error.details : undefined;
  if (!isPlainObject(details)) return undefined;
  const { path, raise } = details;
  return typeof path === 'string' && typeof raise === 'string' ? { path, raise } : undefined;
}

const RESUMED: Readonly<Record<Exclude<RunOutcome, 'succeeded'>, string>> = {
  degraded: 'try again what failed, and keep what is finished',
  failed: 'try again what failed, and keep what is finished',
  paused: 'continue when there are answers',
  cancelled: 'continue where it stopped',
  out_of_budget: 'continue where it stopped',
};
