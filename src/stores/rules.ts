import { SkeinError } from '../base/errors.js';
import {
  isHeld as isLeased,
  type Batch,
  type FirstBatch,
  type Holder,
  type Lease,
  type RunRow,
  type RunStanding,
} from '../journal/store.js';
import { isDead } from './holder.js';

/** Rules that all stores share: who may lease a run, which runs may be removed, which texts can be stored. */

export function noRun(id: string): SkeinError {
  return new SkeinError('SKEIN_NO_RUN', `there is no run ${id}`, { hint: '`skein runs` lists the runs of this store' });
}

/** The error for a run that already exists. */
export function taken(id: string): SkeinError {
  return new SkeinError('SKEIN_RUN_EXISTS', `run ${id} already exists`, {
    hint: 'resume it, which repeats nothing that is finished, or give the new run an id of its own',
  });
}

/** The error for a batch that is not the next one of its run. */
export function outOfOrder({ lease, seq }: Batch): SkeinError {
  return new SkeinError('SKEIN_STORE', `batch ${seq} is not the next batch of run ${lease.runId}`, {
    hint: 'a batch that may have been written must not be written again: resume the run',
  });
}

/** True if a run may not be taken from its holder. */
export function isHeld(row: RunRow, now: number): boolean {
  return isLeased(row, now) && !(row.holder !== undefined && isDead(row.holder));
}

/** A row as reported: without a holder whose process is known to be dead. */
export function withoutDead(row: RunRow): RunRow {
  if (row.holder === undefined || !isDead(row.holder)) return row;
  const { holder: _, leasedUntil: __, ...rest } = row;
  return rest;
}

/** A row without holder and end: the part that stays the same between sessions. */
export function begun(row: RunRow): RunRow {
  const { holder: _, leasedUntil: __, outcome: ___, endedAt: ____, ...rest } = row;
  return rest;
}

/** Returns the row with the standing of the run, unless the row already has a newer one. */
export function standingIn(row: RunRow, standing: RunStanding | undefined): RunRow {
  return standing === undefined || standing.batches < (row.standing?.batches ?? 0) ? row : { ...row, standing };
}

export function damagedRow(runId: string, damage: string): SkeinError {
  return new SkeinError('SKEIN_JOURNAL', `the store's record of the run ${runId} can't be used: ${damage}`, {
    hint: 'bring the store back from a backup, or start the workflow again',
    details: { run: runId },
  });
}

export function damagedSpending(damage: string): SkeinError {
  return new SkeinError('SKEIN_JOURNAL', `the store's account of what runs have spent can't be used: ${damage}`, {
    hint: 'bring the store back from a backup, or take the limits of days and threads out of the budget',
  });
}

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

/** @throws SkeinError `SKEIN_LEASE` if a run may not be leased. */
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

/** Selects the runs that may be removed: no process holds them, and their forks are removed, too. */
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

export function lost({ runId }: Lease): SkeinError {
  return new SkeinError('SKEIN_LEASE', `run ${runId} can no longer be written by this process`, {
    hint: 'another process has taken it, because this one did not renew its lease in time',
  });
}

/** Available in Node 20, but missing from the compiler's ES2023 library. */
interface Utf16 {
  isWellFormed(): boolean;
}

/**
 * Databases cut texts at the first NUL and can't write half a surrogate pair. JSON text by JSON.stringify contains neither.
 *
 * @throws SkeinError `SKEIN_STORE` for a text that would be read back differently.
 */
export function checkText(text: string): void {
  if ((text as unknown as Utf16).isWellFormed() && !text.includes('\0')) return;
  throw new SkeinError('SKEIN_STORE', 'a text with a NUL or with half a surrogate pair cannot be stored', {
    hint: 'store it as JSON text, which writes such characters as escapes',
  });
}

export function checkTexts(...values: readonly unknown[]): void {
  for (const value of values) {
    if (typeof value === 'string') checkText(value);
    else if (typeof value === 'object' && value !== null) checkTexts(...(Object.values(value) as unknown[]));
  }
}

export function checkBatch({ text, sum, blobs }: FirstBatch): void {
  checkText(text);
  checkText(sum);
  if (blobs !== undefined) checkTexts(...blobs);
}
