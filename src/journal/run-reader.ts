import { answerRun, type GivenAnswer, type KeptAnswer } from './answering.js';
import { openRecord, readRun, type OpenRunRecord, type ReadRunOptions } from './overview.js';
import type { RunMoment } from './overview-moments.js';
import type { RunOverview } from './run-overview.js';
import { readCosts, type RunCosts } from './run-costs.js';
import { listRuns, type RunSummary } from './run-list.js';
import type { Store } from './store.js';

/**
 * The port for code that looks at runs and answers their questions: recorded runs in any place. Everything that crosses it is JSON, so that
 * a reader may use another machine.
 *
 * A run may exist before a process has leased it: its overview then has no sessions, and it has no moments.
 *
 * Methods reject with the errors of the functions that read a store: `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`.
 */
export interface RunReader {
  /** Ids of all runs, newest first. */
  ids(): Promise<readonly string[]>;
  /** Runs, newest first, at most `limit`. */
  list(limit?: number): Promise<readonly RunSummary[]>;
  costs(): Promise<RunCosts>;
  /** The data of a run's record, with its open questions. */
  read(runId: string, options?: ReadRunOptions): Promise<RunOverview>;
  /** What happened in a run, in order, from a position on. Default: 0, the beginning. */
  moments(runId: string, from?: number): Promise<MomentPage>;
  /** Answers an open question. Rejects with `SKEIN_ANSWER` if the answer is not accepted, or with `SKEIN_NOT_JSON`. */
  answer(runId: string, answer: GivenAnswer): Promise<KeptAnswer>;
}

export interface MomentPage {
  readonly moments: readonly RunMoment[];
  /** The position after the last moment: the next page from here misses and repeats nothing. */
  readonly next: number;
}

/** Reads the runs of a store. If moments are read from where the last page of the same run ended, reading the record continues there. */
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
    // After an error, the next call reads from the beginning.
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

/** The record of a run, read up to its current end. */
class Followed {
  /** Number of moments so far: the position after the last one. */
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

  /** Reads on. Returns false if what was read before is no longer the beginning of the record. */
  more(): boolean {
    return this.record.more();
  }

  takeFrom(from: number): readonly RunMoment[] {
    const { fresh, told } = this;
    this.fresh = [];
    return fresh.slice(Math.max(0, from - (told - fresh.length)));
  }
}
