import { SkeinError } from '../base/errors.js';
import { FIRST_SUM, chainSum } from './codec.js';
import { HistoryFold } from './fold.js';
import type { RunHistory } from './history.js';
import type { JournalRecord } from './record.js';
import { readRecord } from './schema.js';
import type { StoredBatch } from './store.js';

/**
 * What the journal of a run says (J8).
 *
 * A batch is good when its sum is that of its text, its place, the run and the sum of the batch before. A store commits batch by batch, so
 * a crash can only have torn the last one: when that is not good it is left out, and `cut` says so. A batch that is not good and has
 * another after it is damage, whether or not the one after is good, and the journal is refused. So is a good batch whose records can't be
 * read or can't follow each other: nobody tore it, it was written like that.
 *
 * @throws SkeinError `SKEIN_JOURNAL` that names the run, the batch and the line
 * @example
 * const history = replay(runId, store.read(runId));
 */
export function replay(runId: string, batches: readonly StoredBatch[], tell: TellRecord = toNobody): RunHistory {
  const fold = new HistoryFold(runId);
  let sum = FIRST_SUM;
  let good = 0;
  let cut: string | undefined;
  for (const [at, batch] of batches.entries()) {
    if (batch.seq !== at) throw damaged(runId, at, `it has the number ${batch.seq}: batches are missing, or moved`);
    if (chainSum(sum, runId, at, batch.text) === batch.sum) {
      addBatch(fold, batch, { runId, tell });
      sum = batch.sum;
      good += 1;
    } else if (at === batches.length - 1) {
      cut = `batch ${at} was not written to its end and is left out (${batch.text.length} characters)`;
    } else {
      throw notAsWritten(runId, batch);
    }
  }
  const history = fold.history(good, sum);
  if (history !== undefined) return cut === undefined ? history : { ...history, cut };
  const why = cut === undefined ? 'its journal is empty' : cut;
  throw new SkeinError('SKEIN_JOURNAL', `the run ${runId} never began: ${why}`, {
    hint: 'nothing of it has run; start it again',
    details: { run: runId },
  });
}

/** Is told each record that counts, in order. */
type TellRecord = (record: JournalRecord) => void;

function toNobody(): void {
  // The history is enough.
}

interface Told {
  readonly runId: string;
  readonly tell: TellRecord;
}

function addBatch(fold: HistoryFold, batch: StoredBatch, { runId, tell }: Told): void {
  for (const [at, line] of batch.text.split('\n').entries()) {
    try {
      const record = readRecord(line);
      fold.add(record);
      tell(record);
    } catch (error) {
      throw SkeinError.isInstance(error) ? damaged(runId, batch.seq, error.message, at + 1, error) : error;
    }
  }
}

/** The sum is wrong; where a line can't be read, that is most likely why. */
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
  return damaged(runId, seq, `its sum is not that of its ${lines.length} lines and of the batch before`);
}

function noText(runId: string, batch: number, { column, offset }: NonNullable<StoredBatch['damage']>): SkeinError {
  const { message, hint = '' } = damaged(runId, batch, `byte ${offset} of its ${column} is no UTF-8`);
  return new SkeinError('SKEIN_JOURNAL', message, { hint, details: { run: runId, batch, column, offset } });
}

function damaged(runId: string, batch: number, why: string, line?: number, cause?: SkeinError): SkeinError {
  const place = line === undefined ? `batch ${batch}` : `batch ${batch}, line ${line}`;
  return new SkeinError('SKEIN_JOURNAL', `the journal of the run ${runId} can't be used: ${place}: ${why}`, {
    hint: cause?.hint ?? 'bring the store back from a backup, or start the workflow again',
    details: { run: runId, batch, ...(line === undefined ? {} : { line }) },
  });
}
