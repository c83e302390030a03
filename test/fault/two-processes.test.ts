import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteStore } from '../../src/stores/sqlite.js';
import { LEASE_MS } from '../../src/journal/store.js';
import { calmState, finish, orderOf } from './support/calm.js';
import { linesIn, makeDir, startRunner } from './support/process.js';

test('J9: a process that slept past its lease writes nothing more, and says why', { timeout: 600_000 }, async () => {
  const wanted = await calmState('chain');
  const dir = makeDir();
  const order = orderOf('chain', dir, { pace: 80 });
  let asleep: (() => void) | undefined;
  const stopped = new Promise<void>((resolve) => {
    asleep = resolve;
  });
  const sleeper = startRunner(order, (line) => {
    if (line !== 'did s3') return;
    sleeper.child.kill('SIGSTOP');
    asleep?.();
  });
  try {
    await Promise.race([
      stopped,
      sleeper.ended.then(({ stderr }) => Promise.reject(new Error(`it ended early: ${stderr}`))),
    ]);
    const refused = await startRunner(order, () => undefined).ended;
    expect([refused.code, refused.error?.code]).toEqual([2, 'SKEIN_LEASE']);
    await endLease(join(dir, 'skein.db'));
    const other = await finish(order);
    expect([other.outcome, other.state]).toEqual(['succeeded', wanted]);
    const before = await journal(dir);
    const did = linesIn(dir, 'ledger.txt').length;
    sleeper.child.kill('SIGCONT');
    const ended = await sleeper.ended;
    expect([ended.code, ended.result?.outcome, ended.result?.error?.code]).toEqual([3, 'failed', 'SKEIN_LEASE']);
    const after = await journal(dir);
    expect(after).toEqual(before);
    expect(after.batches.length).toBeGreaterThan(8);
    expect(linesIn(dir, 'ledger.txt').slice(did)).toEqual([]);
  } finally {
    sleeper.child.kill('SIGKILL');
    rmSync(dir, { recursive: true });
  }
});

/** As if the time of the lease had gone by. */
async function endLease(file: string): Promise<void> {
  const store = await openSqliteStore(file);
  store.renew([{ runId: 'r', fence: store.run('r')?.fence ?? 0 }], -LEASE_MS);
  store.close();
}

async function journal(dir: string) {
  const store = await openSqliteStore(join(dir, 'skein.db'));
  const seen = { batches: store.read('r'), row: store.run('r') };
  store.close();
  return seen;
}

test(
  'a store that is opened twice in one process keeps its locks: another process leaves its log in place',
  { timeout: 600_000 },
  async () => {
    const dir = makeDir();
    const file = join(dir, 'skein.db');
    const first = await openSqliteStore(file);
    first.create({ id: 'here', name: 'here', createdAt: 1 }, { id: 'h', host: 'h', pid: 1 }, 1);
    (await openSqliteStore(file)).close();
    const log = statSync(`${file}-wal`).ino;
    const other = await startRunner(orderOf('chain', dir), () => undefined).ended;
    expect(other.code).toBe(0);
    expect(statSync(`${file}-wal`).ino).toBe(log);
    expect(first.list().map(({ id }) => id)).toEqual(['r', 'here']);
    first.close();
    rmSync(dir, { recursive: true });
  },
);
