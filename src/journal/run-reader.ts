import type { GivenAnswer, KeptAnswer } from './answering.js';
import { answerRun } from './answering.js';
import type { OpenRunRecord, ReadRunOptions, RunMoment, RunOverview } from './overview.js';
import { openRecord, readRun } from './overview.js';
import type { RunCosts } from './run-costs.js';
import { readCosts } from './run-costs.js';
import type { RunSummary } from './run-list.js';
import { listRuns } from './run-list.js';
import type { Store } from './store.js';

/**
 * The port of whoever looks at runs and answers their questions: recorded runs, wherever they are. All that crosses it is JSON, so that a
 * reader may ask another machine.
 *
 * A run may be there before any process has leased it: its overview has no sessions yet, and there are no moments of it.
 *
 * Methods reject with what the functions throw that read a store: `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`.
 */
export interface RunReader {
  /** Ids of all runs, newest first. */
  ids(): Promise<readonly string[]>;
  /** Runs, newest first; with a limit so many of them. */
  list(limit?: number): Promise<readonly RunSummary[]>;
  /** What all runs have spent. */
  costs(): Promise<RunCosts>;
  /** What the record of a run says, with the questions that are open. */
  read(runId: string, options?: ReadRunOptions): Promise<RunOverview>;
  /** What happened in a run, in order, from a position on; 0, the default, is the beginning. */
  moments(runId: string, from?: number): Promise<MomentPage>;
  /** Answers an open question; rejects with `SKEIN_ANSWER` when the answer can't be taken, `SKEIN_NOT_JSON`. */
  answer(runId: string, answer: GivenAnswer): Promise<KeptAnswer>;
}

/** Moments of a run from a position on. */
export interface MomentPage {
  readonly moments: readonly RunMoment[];
  /** The position after the last of them: asked from here, nothing is missing and nothing comes twice. */
  readonly next: number;
}

/**
 * Reads the runs of a store. The record of a run whose moments are asked for again, from where they ended, is gone on with, not read again.
 */
export function storeReader(store: Store): RunReader {
  return new StoreReader(store);
}

class StoreReader implements RunReader {
  private followed: Followed | undefined = undefined;

  constructor(private readonly store: Store) {}

  async ids(): Promise<readonly string[]> {
    return this.store.ids();
  }

  async list(limit?: number): Promise<readonly RunSummary[]> {
    return listRuns(this.store, limit);
  }

  async costs(): Promise<RunCosts> {
    return readCosts(this.store);
  }

  async read(runId: string, options?: ReadRunOptions): Promise<RunOverview> {
    return readRun(this.store, runId, options);
  }

  async moments(runId: string, from = 0): Promise<MomentPage> {
    const { followed } = this;
    // What failed half way is read from the beginning next time.
    this.followed = undefined;
    const goesOn = followed?.runId === runId && followed.told === from && followed.more();
    const run = goesOn ? followed : new Followed(this.store, runId);
    this.followed = run;
    return { moments: run.takeFrom(from), next: run.told };
  }

  async answer(runId: string, answer: GivenAnswer): Promise<KeptAnswer> {
    return answerRun(this.store, runId, answer);
  }
}

/** The record of a run, gone through as far as it goes. */
class Followed {
  /** How many moments there were: the position after the last one. */
  told = 0;
  private fresh: RunMoment[] = [];
  private readonly record: OpenRunRecord;

  constructor(
    store: Store,
    readonly runId: string,
  ) {
    this.record = openRecord(store, runId, (moment) => {
      this.fresh.push(moment);
      this.told += 1;
    });
  }

  /** Reads on. False when the record that was read is not the beginning of this one any more. */
  more(): boolean {
    return this.record.more();
  }

  /** The moments from a position on that have not been taken. */
  takeFrom(from: number): readonly RunMoment[] {
    const { fresh, told } = this;
    this.fresh = [];
    return fresh.slice(Math.max(0, from - (told - fresh.length)));
  }
}
