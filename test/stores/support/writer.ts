/** A process that writes to a store: what it was told is committed is what it prints. Arguments: mode, file, run, number of batches. */
import { writeSync } from 'node:fs';
import { SkeinError } from '../../../src/base/errors.js';
import type { Lease, Store } from '../../../src/journal/store.js';
import { thisProcess } from '../../../src/stores/holder.js';
import { openSqliteStore } from '../../../src/stores/sqlite.js';

const [mode = '', path = '', run = '', count = '0'] = process.argv.slice(2);

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Tries something; what fails is told and tried once more. */
function insist<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!SkeinError.isInstance(error)) throw error;
    say(`failed ${error.code} ${error.message}`);
    return work();
  }
}

function write(store: Store, lease: Lease): void {
  for (let seq = 0; seq < Number(count); seq++) {
    // Every second batch has a blob, and so is a transaction of several statements.
    const blobs = seq % 2 === 1 ? [{ digest: `${run} ${seq}`, text: JSON.stringify('b'.repeat(5_000)) }] : [];
    const text = JSON.stringify({ run, seq, fill: 'x'.repeat(300) });
    const [written] = insist(() => store.append([{ lease, seq, text, sum: `sum ${seq}`, blobs }]));
    say(`${written === true ? 'wrote' : 'refused'} ${seq}`);
  }
}

/** Writes the next batch for each line that comes in. */
function hold(store: Store, lease: Lease): void {
  let seq = 0;
  process.stdin.on('data', () => {
    const [written] = store.append([{ lease, seq, text: `"${seq}"`, sum: '' }]);
    say(`${written === true ? 'wrote' : 'refused'} ${seq}`);
    seq += 1;
  });
}

async function main(): Promise<void> {
  const store = await openSqliteStore(path, { durability: mode === 'full' ? 'full' : 'fast' });
  say('opened');
  const lease = insist(() =>
    store.create({ id: run, name: 'writer', createdAt: Date.now() }, thisProcess(), Date.now()),
  );
  say('created');
  if (mode === 'hold') {
    hold(store, lease);
    return;
  }
  write(store, lease);
  insist(() => store.release(lease, { outcome: 'succeeded', endedAt: Date.now() }));
  store.close();
  say('closed');
}

main().catch((error: unknown) => {
  say(SkeinError.isInstance(error) ? `ended ${error.code} ${error.message}` : `thrown ${String(error)}`);
  process.exitCode = 3;
});
