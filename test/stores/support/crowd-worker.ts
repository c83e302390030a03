/** One of many processes that use a store at once. Arguments: file, name, number of runs. What it was told is committed is what it prints. */
import { writeSync } from 'node:fs';
import { SkeinError } from '../../../src/base/errors.js';
import { pruneRuns } from '../../../src/journal/pruning.js';
import type { Batch } from '../../../src/journal/store.js';
import { thisProcess } from '../../../src/stores/holder.js';
import type { FileStore } from '../../../src/stores/sqlite-upkeep.js';
import { openSqliteStore } from '../../../src/stores/sqlite.js';

const [path = '', name = '', runs = '0'] = process.argv.slice(2);

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** As runs do while their lease is good. */
function insist<T>(work: () => T): T {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!SkeinError.isInstance(error) || !error.retryable) throw error;
    }
  }
}

/** Undefined when the run was removed meanwhile. */
function unlessRemoved<T>(work: () => T): T | undefined {
  try {
    return insist(work);
  } catch (error) {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_NO_RUN') return undefined;
    throw error;
  }
}

function record(store: FileStore, id: string): void {
  const count = 1 + Math.floor(Math.random() * 20);
  const now = Date.now();
  const lease = insist(() => store.create({ id, name, createdAt: now }, thisProcess(), now));
  for (let seq = 0; seq < count; seq++) {
    const fill = 'x'.repeat(Math.floor(Math.random() * 2_000));
    const blobs = seq % 5 === 4 ? [{ digest: `shared ${seq}`, text: JSON.stringify('b'.repeat(70_000)) }] : [];
    const batch: Batch = { lease, seq, text: JSON.stringify({ id, seq, fill }), sum: `sum ${seq}`, blobs };
    const [written] = insist(() => store.append([batch]));
    if (written !== true) throw new Error(`${id} ${seq} was refused`);
    if (seq % 7 === 6) insist(() => store.renew([lease], Date.now()));
  }
  store.release(lease, { outcome: 'succeeded', endedAt: Date.now() });
  say(`recorded ${id} ${count}`);
}

function answerSomething(store: FileStore): void {
  const rows = store.list();
  const row = rows[Math.floor(Math.random() * Math.min(rows.length, 20))];
  if (row === undefined) return;
  const key = `${name} ${Date.now()} ${Math.random()}`;
  const kept = unlessRemoved(() => store.answer(row.id, { key, id: '1', value: '"yes"', at: Date.now(), by: 'code' }));
  if (kept === true) say(`answered ${row.id} ${key}`);
}

async function main(): Promise<void> {
  let store = await openSqliteStore(path);
  for (let n = 0; n < Number(runs); n++) {
    record(store, `${name}-${n}`);
    if (n % 2 === 0) answerSomething(store);
    if (n % 25 === 24) for (const id of pruneRuns(store, { keep: 40 }).removed) say(`removed ${id}`);
    if (n % 40 === 39) store.shrink();
    if (n % 15 === 14) {
      // To close moves the log into the file.
      store.close();
      store = await openSqliteStore(path);
    }
  }
  store.close();
  say('closed');
}

main().catch((error: unknown) => {
  say(`thrown ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  process.exitCode = 3;
});
