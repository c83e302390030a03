import { stepOf, triesOf } from '../base/address.js';
import { innermostStep, refusedCall } from '../base/names-inside.js';
import { lookAt, type Slices } from '../base/slices.js';
import type { Entry, RunHistory } from './history.js';

/**
 * Returns the recorded failures that no longer count (J3), so that failed steps run again while successes are reused.
 *
 * A failure is an outcome with an error, the timeout of an attempt, or the cleanup of a step that has a final failure. It is final if it
 * was the end of its step: no later attempt of the step or of one around it is known, and the same attempt had no success after it, until
 * the next session that failed had ended. What succeeded later did so because the failure was void. A timeout ends its attempt whatever
 * follows. `ends`: the sessions at whose ends failures become void, in order. The steps of a run that a step started are judged like others:
 * what succeeds beside one of them says nothing about it.
 *
 * A refused answer is a success of a model call that made its step fail. Unless a later attempt took up the failure, the two are void
 * together; a success that follows is a repetition of the call, or belongs to another definition.
 */
export function* voidFailures(history: RunHistory, ends: readonly number[]): Slices<ReadonlySet<Entry>> {
  const upTo = ends.at(-1);
  if (upTo === undefined) return new Set();
  const failures: Placed[] = [];
  const cleanups: Placed[] = [];
  yield* lookAt(history.entries, ([key, list]) => {
    const timeout = key.includes('@timeout') && key.startsWith('@timeout', stepOf(key).length);
    for (const entry of list) {
      if (entry.kind === 'failure' || timeout)
        failures.push({ step: innermostStep(key), entry, timeout, refuses: refusedCall(key) });
      else if (entry.kind === 'cleanup') cleanups.push({ step: stepOf(key), entry });
    }
  });
  if (failures.length === 0) return new Set();
  const succeeded = yield* successesOf(history, failures);
  const attempts = yield* knownAttempts(history);
  const isFollowed = ({ step, entry }: Placed): boolean => {
    const judged = ends.find((end) => end >= entry.session) ?? upTo;
    return succeeded.get(step)?.some(({ order, session }) => order > entry.order && session <= judged) === true;
  };
  const isFinal = (placed: Placed): boolean =>
    !attempts.wentOn(placed.step) && (placed.timeout === true || !isFollowed(placed));
  const found: Entry[] = [];
  const failedSteps = new Set<string>();
  for (const placed of failures) {
    const refused = refusedBy(history, placed);
    if (refused === undefined ? !isFinal(placed) : attempts.wentOn(placed.step)) continue;
    failedSteps.add(placed.step);
    found.push(placed.entry, ...(refused ?? []));
  }
  for (const placed of cleanups) if (failedSteps.has(placed.step) && isFinal(placed)) found.push(placed.entry);
  return new Set(found.filter((entry) => entry.session <= upTo));
}

/** Successes of each step with a failure, in order: most steps of a long history have no failure. */
function* successesOf(
  { entries }: RunHistory,
  failures: readonly Placed[],
): Slices<ReadonlyMap<string, readonly Entry[]>> {
  const failed = new Set(failures.map(({ entry }) => entry));
  const found = new Map(failures.map(({ step }): [string, Entry[]] => [step, []]));
  yield* lookAt(entries, ([key, list]) => {
    const successes = found.get(innermostStep(key));
    if (successes === undefined) return;
    for (const entry of list) if (entry.kind === 'success' && !failed.has(entry)) successes.push(entry);
  });
  return found;
}

/** Returns the answer that a failure refuses; undefined if it is another failure. */
function refusedBy({ entries }: RunHistory, { entry, refuses }: Placed): readonly Entry[] | undefined {
  if (refuses === undefined) return undefined;
  const answer = entries.get(refuses)?.findLast(({ kind, order }) => kind === 'success' && order < entry.order);
  return answer === undefined ? [] : [answer];
}

interface Placed {
  readonly step: string;
  readonly entry: Entry;
  readonly timeout?: boolean;
  /** Key of the model call whose answer this failure refuses. */
  readonly refuses?: string | undefined;
}

function* knownAttempts({ entries, started, timers, pauses }: RunHistory): Slices<Attempts> {
  const attempts = new Attempts();
  const maps = [entries, started, timers, pauses];
  let again = false;
  for (const map of maps) yield* lookAt(map.keys(), (key) => (again ||= key.includes('~')));
  if (again) for (const map of maps) yield* lookAt(map.keys(), (key) => attempts.note(key));
  return attempts;
}

class Attempts {
  private readonly last = new Map<string, number>();
  private readonly loops = new Set<string>();

  /** Whether a later attempt of the step, or of one around it, is known. */
  wentOn(step: string): boolean {
    if (this.last.size === 0) return false;
    return triesOf(step).some(
      ({ of, attempt, loop }) => (this.last.get(of) ?? 0) > attempt && (loop !== 'maybe' || this.loops.has(of)),
    );
  }

  note(key: string): void {
    for (const { of, attempt, loop } of triesOf(innermostStep(key))) {
      this.last.set(of, Math.max(this.last.get(of) ?? 0, attempt));
      if (loop === 'yes') this.loops.add(of);
    }
  }
}
