import { stepOf, triesOf } from '../base/address.js';
import type { Entry, RunHistory } from './history.js';

/**
 * Recorded failures that no longer count (J3), so that what failed is tried again while what succeeded is reused.
 *
 * A failure is an outcome with an error, the timeout of an attempt, or the cleanup of a step that has a final failure. It is final when it
 * was the end of its step: no later attempt of the step or of one around it is known, and the same attempt had no success after it.
 * `upTo` is the last session of which final failures are void.
 */
export function voidFailures(history: RunHistory, upTo: number): ReadonlySet<Entry> {
  if (upTo < 0) return new Set();
  const failures: Placed[] = [];
  const cleanups: Placed[] = [];
  /** Order of the last success of a step. */
  const succeeded = new Map<string, number>();
  for (const [key, list] of history.entries) {
    const step = stepOf(key);
    const timeout = key.startsWith('@timeout', step.length);
    for (const entry of list) {
      if (entry.kind === 'failure' || timeout) failures.push({ step, entry });
      else if (entry.kind === 'cleanup') cleanups.push({ step, entry });
      else succeeded.set(step, Math.max(succeeded.get(step) ?? -1, entry.order));
    }
  }
  if (failures.length === 0) return new Set();
  const attempts = new Attempts(history);
  const isFinal = ({ step, entry }: Placed): boolean =>
    (succeeded.get(step) ?? -1) < entry.order && !attempts.wentOn(step);
  const found: Entry[] = [];
  const failedSteps = new Set<string>();
  for (const placed of failures) {
    if (!isFinal(placed)) continue;
    failedSteps.add(placed.step);
    found.push(placed.entry);
  }
  for (const placed of cleanups) if (failedSteps.has(placed.step) && isFinal(placed)) found.push(placed.entry);
  return new Set(found.filter((entry) => entry.session <= upTo));
}

/** A recorded outcome and its step. */
interface Placed {
  readonly step: string;
  readonly entry: Entry;
}

/** The attempts that a history knows of. */
class Attempts {
  private readonly last = new Map<string, number>();
  private readonly loops = new Set<string>();

  constructor({ entries, started, timers, pauses }: RunHistory) {
    const keys = [entries, started, timers, pauses].flatMap((map) => [...map.keys()]);
    if (!keys.some((key) => key.includes('~'))) return;
    for (const key of keys) this.note(key);
  }

  /** A later attempt is known, of a step or of one around it. */
  wentOn(step: string): boolean {
    if (this.last.size === 0) return false;
    return triesOf(step).some(
      ({ of, attempt, loop }) => (this.last.get(of) ?? 0) > attempt && (loop !== 'maybe' || this.loops.has(of)),
    );
  }

  private note(key: string): void {
    for (const { of, attempt, loop } of triesOf(stepOf(key))) {
      this.last.set(of, Math.max(this.last.get(of) ?? 0, attempt));
      if (loop === 'yes') this.loops.add(of);
    }
  }
}
