/** One figure of a benchmark: the same job done by several candidates, in units of work. */
export interface Case {
  readonly name: string;
  /** How many units (nodes, branches, rounds, runs) a job has: figures are per unit. */
  readonly units: number;
  readonly candidates: Readonly<Record<string, () => unknown>>;
  /** The bound that our figure must keep, and what it is compared with. */
  readonly goal?: string;
  readonly holds?: (figures: Readonly<Record<string, number>>) => boolean;
}

/** How long each candidate runs before it is measured, in milliseconds: long enough for its code to be compiled. */
const WARM_UP = 500;

/** Median time of a job in milliseconds, by candidate: each is warmed up, then they take turns for `rounds` rounds. */
export async function measure(one: Case, rounds = 5): Promise<Record<string, number>> {
  const times: Record<string, number[]> = {};
  for (const job of Object.values(one.candidates)) {
    for (const start = performance.now(); performance.now() - start < WARM_UP;) await job();
  }
  for (let round = 0; round < rounds; round++) {
    for (const [name, job] of Object.entries(one.candidates)) {
      const start = performance.now();
      await job();
      (times[name] ??= []).push(performance.now() - start);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
}

/** The middle value; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Prints rows as columns. */
export function printTable(title: string, header: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  console.log(`\n${title}\n${line(header)}\n${widths.map((width) => '-'.repeat(width)).join('  ')}`);
  for (const row of rows) console.log(line(row));
}
