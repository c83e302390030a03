import type { Counts } from '../journal/store.js';
import { damagedSpending } from './rules.js';
import type { SqlRow } from './sqlite-driver.js';
import { readColumns, readRun, SPENDING_COLUMNS, sumOf } from './sqlite-rows.js';
import type { Statements } from './sqlite-statements.js';
import { isOutdated, type SpendingRow, type SpendingRows } from './spending.js';

export function spendingRows(statements: Statements, key: string): SpendingRows {
  return {
    all: () =>
      statements.all('spending', [key]).map((found) => {
        const row = readSpending(found);
        if (typeof row === 'string') throw damagedSpending(row);
        return row;
      }),
    run: (id) => {
      const found = statements.first('run', [id]);
      return found === undefined ? undefined : readRun(found).row;
    },
    put: ({ run, fence, at, spent, reserved }) => {
      const values = [key, run, fence, at, JSON.stringify([spent, reserved])];
      statements.run('putSpending', [...values, sumOf(values)]);
    },
    drop: ({ run, fence }) => void statements.run('dropSpending', [key, run, fence]),
  };
}

/** Returns the result of a transaction. If it passes undefined to `orFull`, everything is rolled back: the amount exceeds a limit. */
export function unlessFull<T>(transaction: (orFull: (given: T | undefined) => T) => T): T | undefined {
  const full = new Error('what was to be spent does not fit');
  try {
    return transaction((given) => {
      if (given === undefined) throw full;
      return given;
    });
  } catch (error) {
    if (error === full) return undefined;
    throw error;
  }
}

/** Deletes rows that are no longer needed. */
export function dropOutdated(statements: Statements, now: number): void {
  const hasRow = (id: string): boolean => statements.first('run', [id]) !== undefined;
  for (const row of statements.all('allSpending').map(readSpending))
    if (typeof row !== 'string' && isOutdated(row, hasRow, now))
      statements.run('dropSpending', [row.key, row.run, row.fence]);
}

/** Returns the content of a row, or why the row is not valid. */
function readSpending({ bytes }: SqlRow): SpendingRow | string {
  const { columns, damage } = readColumns(bytes, SPENDING_COLUMNS);
  if (damage !== undefined) return damage;
  const [key = '', run = '', fence, at, counts = ''] = columns;
  const [spent = {}, reserved = {}] = JSON.parse(counts) as readonly Counts[];
  return { key, run, fence: Number(fence), at: Number(at), spent: sumsIn(spent), reserved: sumsIn(reserved) };
}

/** Nobody has spent less than nothing: a file of others would raise the limits with it. */
function sumsIn(counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).map(([name, sum]) => [name, Math.max(0, sum)]));
}
