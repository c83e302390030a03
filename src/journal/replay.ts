import { SkeinError } from '../base/errors.js';
import { FIRST_SUM, chainSum } from './codec.js';
import { HistoryFold } from './fold.js';
import type { RunHistory } from './history.js';
import type { JournalRecord, Stored } from './record.js';
import { readRecord } from './schema.js';
import type { StoredBatch } from './store.js';

/** Receives each valid record, in order. */
type TellRecord = (record: JournalRecord) => void;

/**
 * Replays the journal of a run batch by batch (J8).
 *
 * A batch is good if its sum matches its text, its position, the run and the sum of the batch before. A store commits batch by batch, so a
 * crash can only have torn the last one: if that is not good, it is left out, and `cut` reports it. A batch that is not good and has
 * another after it is damage, whether or not the next one is good, and the journal is refused. So is a good batch whose records are
 * unreadable or can't follow each other: it was not torn but written like that.
 */
export class Replay {
  /** Number of good batches so far. */
  good = 0;
  private sum = FIRST_SUM;
  private torn: StoredBatch | undefined = undefined;
  private readonly fold: HistoryFold;

  constructor(
    private readonly runId: string,
    private readonly tell: TellRecord = () => undefined,
    /** Without `keeps` the history has no outcomes and no logs: each record is passed on and forgotten. */
    { keeps = true }: { readonly keeps?: boolean } = {},
  ) {
    this.fold = new HistoryFold(runId, keeps);
  }

  /** @throws SkeinError `SKEIN_JOURNAL` with the run, the batch and the line */
  add(batch: StoredBatch): void {
    const { runId, good } = this;
    if (this.torn !== undefined) throw notAsWritten(runId, this.torn);
    if (batch.seq !== good) throw damaged(runId, good, `it has the number ${batch.seq}: batches are missing, or moved`);
    if (chainSum(this.sum, runId, good, batch.text) !== batch.sum) {
      this.torn = batch;
      return;
    }
    this.addRecords(batch);
    this.sum = batch.sum;
    this.good += 1;
  }

  /** Forgets the torn tail: it, or what another process wrote instead, is read again. */
  goOn(): void {
    this.torn = undefined;
  }

  /** The plan of the last session; undefined before the first record. Asked for each step of a report. */
  get plan(): Stored | undefined {
    return this.fold.plan;
  }

  /** @throws SkeinError `SKEIN_JOURNAL` if there is no good batch */
  history(): RunHistory {
    const { runId, torn } = this;
    const cut =
      torn === undefined
        ? undefined
        : `batch ${torn.seq} was not written to its end and is left out (${torn.text.length} characters)`;
    const history = this.fold.history(this.good, this.sum);
    if (history !== undefined) return cut === undefined ? history : { ...history, cut };
    throw new SkeinError('SKEIN_JOURNAL', `the run ${runId} never began: ${cut ?? 'its journal is empty'}`, {
      hint: 'nothing of it has run; start it again',
      details: { run: runId },
    });
  }

  private addRecords(batch: StoredBatch): void {
    for (const [at, line] of batch.text.split('\n').entries()) {
      try {
        const record = readRecord(line);
        this.fold.add(record, line);
        this.tell(record);
      } catch (error) {
        throw SkeinError.isInstance(error) ? damaged(this.runId, batch.seq, error.message, at + 1, error) : error;
      }
    }
  }
}

/** @throws SkeinError `SKEIN_JOURNAL` */
export function replay(runId: string, batches: readonly StoredBatch[], tell?: TellRecord): RunHistory {
  const taken = new Replay(runId, tell);
  for (const batch of batches) taken.add(batch);
  return taken.history();
}

/** The sum is wrong; an unreadable line, if there is one, is the most likely reason. */
function notAsWritten(runId: string, { seq, text, damage }: StoredBatch): SkeinError {
  if (damage !== undefined) return noText(runId, seq, damage);
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    try {
      readRecord(line);
    } catch (error) {
      if (SkeinError.isInstance(error)) return damaged(runId, seq, error.message, at + 1);
    }
  }
  return damaged(runId, seq, `its checksum does not match its ${lines.length} lines and the batch before`);
}

function noText(runId: string, batch: number, { column, offset }: NonNullable<StoredBatch['damage']>): SkeinError {
  const { message, hint = '' } = damaged(runId, batch, `byte ${offset} of its ${column} is not UTF-8`);
  return new SkeinError('SKEIN_JOURNAL', message, { hint, details: { run: runId, batch, column, offset } });
}

function damaged(runId: string, batch: number, why: string, line?: number, cause?: SkeinError): SkeinError {
  const place = line === undefined ? `batch ${batch}` : `batch ${batch}, line ${line}`;
  return new SkeinError('SKEIN_JOURNAL', `the journal of the run ${runId} can't be used: ${place}: ${why}`, {
    hint: cause?.hint ?? 'bring the store back from a backup, or start the workflow again',
    details: { run: runId, batch, ...(line === undefined ? {} : { line }) },
  });
}
