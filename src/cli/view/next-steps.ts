import { isInside, pathOf } from '../../base/address.js';
import { isDecided, isFromRecord } from '../../base/decided.js';
import { isEnding, type ErrorData } from '../../base/errors.js';
import { isPlainObject } from '../../base/json.js';
import type { RunOutcome } from '../../events/census.js';
import { commandLine, shellWord } from '../runs/text.js';
import { printable, quoted } from './printable.js';

/** What a person can do next: words, and below them commands, each alone on its line, so that it can be copied as a whole. */
export function nextSteps(words: string, ...commands: readonly string[]): readonly string[] {
  return [`next: ${words}`, ...commands.map(commandLine)];
}

/** What to do about a run that stopped. */
export const CONTINUED = 'continue the run; finished steps are not run again';

/** What to do about a run that can't be resumed: a step of it ended it. */
const FORKED = 'run it again from a step on';

/** What to do about a question of a run that no command finds. */
export const ASK_AGAIN = 'run it on a terminal to answer, or answer by a script: --mock=FILE with "answers:"';

interface EndedRun {
  readonly outcome: RunOutcome;
  readonly error: ErrorData | undefined;
  readonly steps: Iterable<EndedStep>;
  /** Absent if nothing was recorded. */
  readonly recorded?:
    | {
        readonly id: string;
        readonly takenOver: boolean;
        /** Whether the next command needs `--trust`. */
        readonly trust: boolean;
      }
    | undefined;
}

interface EndedStep {
  readonly path: string;
  readonly error?: ErrorData | undefined;
}

/** What can be done after a run: one that did not succeed can be resumed. */
export function stepsAtEnd({ recorded, outcome, error, steps }: EndedRun): readonly string[] {
  if (recorded === undefined || outcome === 'succeeded') return [];
  const run = shellWord(recorded.id);
  const flag = trustFlag(recorded.trust);
  if (isEnding(error)) return nextSteps(FORKED, `skein fork ${run} --from STEP${flag}`);
  if (recorded.takenOver) return nextSteps('look at its progress: another process runs it', `skein show ${run}`);
  const what = RESUMED[outcome];
  if (outcome === 'failed' || outcome === 'degraded') return afterFailure({ run, flag }, what, error, [...steps]);
  const raised = outcome === 'out_of_budget' ? raisedBudget(recorded.id, error, flag) : undefined;
  return raised ?? nextSteps(what, `skein resume ${run}${flag}`);
}

/** The last word of a command that continues a run whose file needs a yes. */
export function trustFlag(trust: boolean): string {
  return trust ? ' --trust' : '';
}

/** How to go on with a run that a budget stopped. Undefined if the error does not say which, as with the bounds of a pack. */
export function raisedBudget(id: string, error: ErrorData | undefined, flag: string): readonly string[] | undefined {
  const short = lackIn(error);
  if (short === undefined) return undefined;
  const run = shellWord(id);
  const what = RESUMED.out_of_budget;
  if (short.of === '') return nextSteps(what, `skein resume ${run} --budget ${short.raise}${flag}`);
  const raise = `skein budget ${run} ${short.raise} --of ${quoted(short.of)}`;
  return nextSteps(`raise the budget${short.who}, then ${what}`, printable(raise), `skein resume ${run}${flag}`);
}

/** A resume alone does not help where each failure follows from what is recorded: it would fail again and run nothing. */
function afterFailure(
  { run, flag }: { readonly run: string; readonly flag: string },
  what: string,
  told: ErrorData | undefined,
  steps: readonly EndedStep[],
): readonly string[] {
  const errors = [told, ...steps.map(({ error }) => error)].filter((error) => error !== undefined);
  // Nothing failed: a loop ended at its bound.
  if (errors.length === 0) return nextSteps(RAISED, `skein resume ${run}${flag}`);
  if (!errors.every(isDecided)) return nextSteps(what, `skein resume ${run}${flag}`);
  if (told?.code === 'SKEIN_MAX_STEPS')
    return nextSteps(`${HIGHER}, and ${KEPT}`, `skein resume ${run} --max-steps N${flag}`);
  const failed = steps.filter(({ error }) => error !== undefined && error.message === (told ?? error).message);
  // The steps around a failed one have its error.
  const last = failed.findLast((one) => !failed.some((other) => other !== one && isInside(other.path, one.path)));
  const isOwn = OWN.has(last?.error?.code) || isFromRecord(last?.error ?? {});
  const from = last === undefined || !isOwn ? 'STEP' : shellWord(pathOf(last.path));
  return [
    ...nextSteps(CHANGED, `skein resume ${run}${flag}`),
    ...nextSteps(
      'or get another result of a step: it and what follows from it run again',
      printable(`skein fork ${run} --from ${from}${flag}`),
    ),
  ];
}

const KEPT = 'keep what is finished';
const RAISED = 'raise the limit that was reached, then continue: without a change it is reached again';
const HIGHER = 'continue with a higher bound';
const CHANGED = 'change what led to the failure, then continue: without a change it fails again';

/** Errors about what the step itself gave: it is the one to run again. */
const OWN: ReadonlySet<unknown> = new Set([
  'SKEIN_MODEL_EMPTY',
  'SKEIN_TIMEOUT',
  'SKEIN_CHECK',
  'SKEIN_MODEL_CAP',
  'SKEIN_MAX_ROUNDS',
  'SKEIN_TOOL_REFUSED',
  'SKEIN_HALTED',
  'SKEIN_REJECTED',
  'SKEIN_NOT_ENDORSED',
]);

/** A limit that was too low, and what raises it. */
interface TooLow {
  /** What `--of` names; empty for the limit of the run. */
  readonly of: string;
  readonly raise: string;
  /** For whom alone it is raised, if others share it. */
  readonly who: string;
}

function lackIn(error: ErrorData | undefined): TooLow | undefined {
  const details = error?.code === 'SKEIN_BUDGET' ? error.details : undefined;
  if (!isPlainObject(details)) return undefined;
  const { name, path, raise } = details;
  if (typeof name !== 'string' || typeof path !== 'string' || typeof raise !== 'string') return undefined;
  const isShared = /^(?:day|thread)\b/.test(name);
  return isShared ? { of: name, raise, who: ' for this run alone' } : { of: path, raise, who: '' };
}

const RESUMED: Readonly<Record<Exclude<RunOutcome, 'succeeded'>, string>> = {
  degraded: `try again what failed, and ${KEPT}`,
  failed: `try again what failed, and ${KEPT}`,
  paused: 'continue when there are answers',
  cancelled: 'continue where it stopped',
  out_of_budget: 'continue where it stopped',
};
