import {
  SPENDING_MS,
  type Batch,
  type Counts,
  type Lease,
  type RunRow,
  type SharedSpending,
  type SpendingChange,
} from '../journal/store.js';
import { threadOfRow } from '../journal/thread-rows.js';
import { isHeld } from './rules.js';

/** Spending and reservations of one session of a run under a key. The sums of ended sessions are kept under no run. */
export interface SpendingRow extends SharedSpending {
  readonly key: string;
  readonly run: string;
  readonly fence: number;
  /** When it was last changed. */
  readonly at: number;
}

export interface SpendingRows {
  all(): readonly SpendingRow[];
  run(id: string): RunRow | undefined;
  /** Writes a row, replacing that of the same session. */
  put(row: SpendingRow): void;
  drop(row: SpendingRow): void;
}

export function spendingOf(rows: SpendingRows, now: number): SharedSpending {
  const { spent, reserved } = summed(rows, now);
  return { spent, reserved };
}

/** Changes the row of a session, and merges those of ended ones. Returns the sums; undefined, without a change, if over a limit. */
function spendIn(
  rows: SpendingRows,
  { runId, fence }: Lease,
  change: SpendingChange,
  at: number,
): SharedSpending | undefined {
  const { key, most = {} } = change;
  const before = summed(rows, at);
  const more = plus(change.spent, change.reserved);
  const [spent, reserved] = [plus(before.spent, change.spent), plus(before.reserved, change.reserved)];
  const sum = plus(spent, reserved);
  const fits = Object.entries(most).every(([name, limit]) => (more[name] ?? 0) <= 0 || (sum[name] ?? 0) <= limit);
  if (!fits) return undefined;
  for (const row of before.over) rows.drop(row);
  if (before.over.length > 0) rows.put({ key, run: '', fence: 0, at, spent: before.past, reserved: {} });
  const own = rows.all().find((row) => row.run === runId && row.fence === fence);
  const mine = { spent: plus(own?.spent, change.spent), reserved: plus(own?.reserved, change.reserved) };
  rows.put({ key, run: runId, fence, at, ...mine });
  return { spent, reserved };
}

/** {@link spendIn} for several keys, in order. Undefined if one exceeds its limit: the keys before it were changed. */
export function spendAll(
  rowsOf: (key: string) => SpendingRows,
  lease: Lease,
  changes: readonly SpendingChange[],
  at: number,
): readonly SharedSpending[] | undefined {
  const sums: SharedSpending[] = [];
  for (const change of changes) {
    const sum = spendIn(rowsOf(change.key), lease, change, at);
    if (sum === undefined) return undefined;
    sums.push(sum);
  }
  return sums;
}

/** Makes changes that no limit applies to. */
export function settleAll(
  rowsOf: (key: string) => SpendingRows,
  { lease, spending }: Pick<Batch, 'lease' | 'spending'>,
): void {
  if (spending === undefined) return;
  for (const { most: _, ...change } of spending.changes) spendIn(rowsOf(change.key), lease, change, spending.at);
}

interface Summed extends SharedSpending {
  readonly past: Counts;
  readonly over: readonly SpendingRow[];
}

function summed(rows: SpendingRows, now: number): Summed {
  const over: SpendingRow[] = [];
  let [past, spent, reserved]: [Counts, Counts, Counts] = [{}, {}, {}];
  for (const row of rows.all()) {
    const run = row.run === '' ? undefined : rows.run(row.run);
    if (run?.fence === row.fence && isHeld(run, now)) {
      spent = plus(spent, row.spent);
      reserved = plus(reserved, row.reserved);
    } else {
      past = plus(plus(past, row.spent), row.reserved);
      if (row.run !== '') over.push(row);
    }
  }
  return { spent: plus(past, spent), reserved, past, over };
}

function plus(one: Counts = {}, other: Counts = {}): Counts {
  const sum: Record<string, number> = { ...one };
  for (const [name, more] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + more;
  return sum;
}

/** Whether a row is no longer needed. `hasRow`: whether a run or a thread with an id exists. */
export function isOutdated({ key, at }: SpendingRow, hasRow: (id: string) => boolean, now: number): boolean {
  const [first = ''] = key.split('\n', 1);
  return threadOfRow(first) === undefined ? now - at > SPENDING_MS : !hasRow(first);
}
