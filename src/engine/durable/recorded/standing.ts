import type { SkeinEvent } from '../../../events/event.js';
import { isInside, pathOf, stepOf } from '../../../base/address.js';
import type { SpentBefore } from '../../../journal/session.js';
import type { RunStanding } from '../../../journal/store.js';

/** Kinds of nodes that only contain others: they count if they did not succeed. */
const COMPOSITE: ReadonlySet<string> = new Set(['call', 'map', 'loop']);

/** Counts the facts that a list of runs shows, while a run continues. Needs memory only for open questions. */
export class StandingCount {
  /** Number of ended steps that neither ran nor were reused. */
  private others = 0;
  private readonly pauses: Map<string, string>;

  constructor(private readonly before: SpentBefore) {
    this.pauses = new Map(before.pauses.map(({ key, id }) => [key, id]));
  }

  /** Listeners that only record do not receive successes. */
  listen(event: SkeinEvent): void {
    if (event.type === 'step.retrying') this.forget(event.path);
    if (event.type !== 'step.ended' || event.outcome === 'paused') return;
    const { path, replayed, outcome, kind } = event;
    if (outcome !== 'cancelled' && outcome !== 'out_of_budget') this.forget(path);
    if (outcome === 'succeeded' || (kind === 'pass' && outcome === 'skipped')) return;
    const ran = outcome !== 'skipped' && outcome !== 'cancelled' && replayed !== true;
    if (!ran || COMPOSITE.has(kind)) this.others += 1;
  }

  asked(key: string, id: string): void {
    this.pauses.set(key, id);
  }

  answered(key: string): void {
    this.pauses.delete(key);
  }

  /** The standing of the run after this number of batches, and of steps that ran or were reused. */
  standing(batches: number, ended: number, now: number): RunStanding {
    const { ms, openedAt } = this.before;
    return {
      batches,
      steps: ended + this.others,
      ms: Math.round(ms + Math.max(0, now - openedAt)),
      pauses: [...this.pauses].map(([key, id]) => ({ key, id })),
    };
  }

  private forget(path: string): void {
    for (const key of this.pauses.keys()) if (isInside(pathOf(stepOf(key)), path)) this.pauses.delete(key);
  }
}
