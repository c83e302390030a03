import { SkeinError } from '../base/errors.js';
import type { Batch, FirstBatch, Holder, Lease, RunRow, RunStanding } from '../journal/store.js';
import { isHeld as isLeased } from '../journal/store.js';
import { isDead } from './holder.js';

/** What all stores have in common: who may take a run, which runs may go, which texts can be kept. */

/** The error for a run that the store does not have. */
export function noRun(id: string): SkeinError {
  return new SkeinError('SKEIN_NO_RUN', `there is no run ${id}`, { hint: '`skein runs` lists the runs of this store' });
}

/** The error for a run that is there already. */
export function taken(id: string): SkeinError {
  return new SkeinError('SKEIN_STORE', `there is a run ${id} already`, { hint: 'give each run an id of its own' });
}

/** The error for a batch that is not the next one of its run. */
export function outOfOrder({ lease, seq }: Batch): SkeinError {
  return new SkeinError('SKEIN_STORE', `batch ${seq} is not the next batch of run ${lease.runId}`, {
    hint: 'a batch that may have been written must not be written again: resume the run',
  });
}

/** True when a run may not be taken from whoever has it. */
export function isHeld(row: RunRow, now: number): boolean {
  return isLeased(row, now) && !(row.holder !== undefined && isDead(row.holder));
}

/** A row as it is reported: a process that is known to be dead has no run. */
export function withoutDead(row: RunRow): RunRow {
  if (row.holder === undefined || !isDead(row.holder)) return row;
  const { holder: _, leasedUntil: __, ...rest } = row;
  return rest;
}

/** A row without holder and end: what stays of it from session to session. */
export function begun(row: RunRow): RunRow {
  const { holder: _, leasedUntil: __, outcome: ___, endedAt: ____, ...rest } = row;
  return rest;
}

/** A row with how the run stands, unless it says more already. */
export function standingIn(row: RunRow, standing: RunStanding | undefined): RunRow {
  return standing === undefined || standing.batches < (row.standing?.batches ?? 0) ? row : { ...row, standing };
}

/** The error for a row that can't be believed. */
export function damagedRow(runId: string, damage: string): SkeinError {
  return new SkeinError('SKEIN_JOURNAL', `the store's record of the run ${runId} can't be used: ${damage}`, {
    hint: 'bring the store back from a backup, or start the workflow again',
    details: { run: runId },
  });
}

/** The error for a row of what was spent that can't be believed. */
export function damagedSpending(damage: string): SkeinError {
  return new SkeinError('SKEIN_JOURNAL', `the store's account of what runs have spent can't be used: ${damage}`, {
    hint: 'bring the store back from a backup, or take the limits of days and threads out of the budget',
  });
}

/** The error for a stored value that is not text. */
export function damagedValue(digest: string, offset: number): SkeinError {
  return new SkeinError(
    'SKEIN_JOURNAL',
    `the store has a damaged copy of the value ${digest}: byte ${offset} is not UTF-8`,
    {
      hint: 'bring the store back from a backup, or start the workflow again',
      details: { blob: digest, offset },
    },
  );
}

/** @throws SkeinError `SKEIN_LEASE` when a run may not be leased. */
export function checkLease(row: RunRow, holder: Holder, now: number): void {
  const current = row.holder;
  if (current === undefined || current.id === holder.id || !isHeld(row, now)) return;
  const until = new Date(row.leasedUntil ?? now).toISOString();
  throw new SkeinError(
    'SKEIN_LEASE',
    `run ${row.id} is run by process ${current.pid} on ${current.host}, which has it until ${until}`,
    { hint: 'wait until it has ended, or stop that process; a process that has died loses its runs within seconds' },
  );
}

/** Which of the runs that are to be removed may go: those that nobody has, and whose forks go with them. */
export function removable(rows: readonly RunRow[], asked: readonly string[], now: number): ReadonlySet<string> {
  const wanted = new Set(asked);
  const going = new Map(
    rows.filter((row) => wanted.has(row.id) && !isHeld(row, now)).map((row) => [row.id, row] as const),
  );
  // A run that stays keeps its parent, which keeps its own.
  const kept = rows.filter((row) => !going.has(row.id));
  for (let row = kept.pop(); row !== undefined; row = kept.pop()) {
    const parent = row.parent === undefined ? undefined : going.get(row.parent);
    if (parent === undefined) continue;
    going.delete(parent.id);
    kept.push(parent);
  }
  return new Set(going.keys());
}

/** The error for a lease that its holder has lost. */
export function lost({ runId }: Lease): SkeinError {
  return new SkeinError('SKEIN_LEASE', `run ${runId} can no longer be written by this process`, {
    hint: 'another process has taken it, because this one did not renew its lease in time',
  });
}

/** What Node 20 has and the compiler's list of ES2023 lacks. */
interface Utf16 {
  isWellFormed(): boolean;
}

/**
 * Databases cut texts at the first NUL and can't write half a surrogate pair. JSON text, as JSON.stringify makes it, has neither.
 *
 * @throws SkeinError `SKEIN_STORE` for a text that would not come back as it was.
 */
export function checkText(text: string): void {
  if ((text as unknown as Utf16).isWellFormed() && !text.includes('\0')) return;
  throw new SkeinError('SKEIN_STORE', 'a text with a NUL or with half a surrogate pair cannot be stored', {
    hint: 'store it as JSON text, which writes such characters as escapes',
  });
}

/** Checks all texts in plain data. */
export function checkTexts(...values: readonly unknown[]): void {
  for (const value of values) {
    if (typeof value === 'string') checkText(value);
    else if (typeof value === 'object' && value !== null) checkTexts(...(Object.values(value) as unknown[]));
  }
}

/** Checks the texts of a batch: its own, and its blobs. */
export function checkBatch({ text, sum, blobs }: FirstBatch): void {
  checkText(text);
  checkText(sum);
  if (blobs !== undefined) checkTexts(...blobs);
}
