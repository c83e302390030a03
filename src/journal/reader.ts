import { SkeinError } from '../base/errors.js';
import type { Slices } from '../base/slices.js';
import type { RunHistory } from './history.js';
import { Replay } from './replay.js';
import type { RunRow, Store } from './store.js';

/** Number of batches read in one piece: some MiB at most, which take some milliseconds. */
const PAGE = 64;

/** The journal of a run and those of the runs that it was forked from, each read once; the reader continues where it stopped. */
export class FamilyReader {
  private readonly replays: Replay[] = [];

  constructor(
    private readonly store: Store,
    readonly runId: string,
  ) {}

  /**
   * Reads the current journals: the run's own, then those of its parents, nearest first.
   *
   * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
   */
  *read(): Slices<readonly [RunHistory, ...RunHistory[]]> {
    const own = yield* this.member(0, this.runId);
    const family: [RunHistory, ...RunHistory[]] = [own];
    const seen = new Set([this.runId]);
    for (let { parent } = own.begin; parent !== undefined; parent = family.at(-1)?.begin.parent) {
      if (seen.has(parent)) throw new SkeinError('SKEIN_JOURNAL', `the run ${parent} is recorded as its own ancestor`);
      seen.add(parent);
      family.push(yield* this.member(family.length, parent));
    }
    return family;
  }

  private *member(at: number, runId: string): Slices<RunHistory> {
    return yield* readJournal(this.store, (this.replays[at] ??= new Replay(runId)), runId);
  }
}

/** @throws SkeinError `SKEIN_NO_RUN` */
export function rowOf(store: Store, runId: string): RunRow {
  const row = store.run(runId);
  if (row !== undefined) return row;
  throw new SkeinError('SKEIN_NO_RUN', `the store has no run ${runId}`, { hint: 'skein runs lists them' });
}

/**
 * Reads the journal of a run from the position of `replay` on.
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 */
export function* readJournal(store: Store, replay: Replay, runId: string): Slices<RunHistory> {
  if (replay.good === 0) rowOf(store, runId);
  replay.goOn();
  for (let next = replay.good; ;) {
    const batches = store.read(runId, next, PAGE);
    for (const batch of batches) replay.add(batch);
    if (batches.length < PAGE) return replay.history();
    next = (batches.at(-1)?.seq ?? next) + 1;
    yield;
  }
}
