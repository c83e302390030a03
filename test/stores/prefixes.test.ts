import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from 'skein/sqlite';
import { batch, begin, ME } from './support/stores.js';

/** A frame of SQLite's log: its header and a page. */
const FRAME = 24 + 4_096;
const HEADER = 32;

/**
 * What a power cut leaves of the log: any prefix of it, with its tail kept, dropped or torn. The log is only written at its end until
 * it is copied into the database, so a prefix of it is a prefix of all writes.
 */
const folder = mkdtempSync(join(tmpdir(), 'skein-prefixes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const base = join(folder, 'base.db');
let log = Buffer.alloc(0);
/** How long the log was when so many batches had been acknowledged. */
const lengths: number[] = [];
let createdAt = 0;

beforeAll(async () => {
  const file = join(folder, 'skein.db');
  const store = await openSqliteStore(file);
  copyFileSync(file, base);
  const lease = begin(store, 'r');
  createdAt = statSync(`${file}-wal`).size;
  for (let seq = 0; seq < 12; seq++) {
    const blobs = seq % 4 === 3 ? [{ digest: `d${seq}`, text: JSON.stringify('b'.repeat(9_000)) }] : [];
    store.append([batch(lease, seq, { blobs, text: JSON.stringify({ seq, fill: 'x'.repeat(seq * 200) }) })]);
    lengths.push(statSync(`${file}-wal`).size);
  }
  log = readFileSync(`${file}-wal`);
  store.close();
});

let tries = 0;

/** Opens what is left, and says how many batches are there; undefined when not even the run is. */
async function batchesIn(left: Buffer): Promise<number | undefined> {
  tries += 1;
  const file = join(folder, `try-${tries}.db`);
  copyFileSync(base, file);
  writeFileSync(`${file}-wal`, left);
  const store = await openSqliteStore(file);
  const found = store.run('r');
  const batches = store.read('r');
  for (const [at, { seq, text }] of batches.entries()) {
    expect(seq).toBe(at);
    expect(text).toBe(JSON.stringify({ seq, fill: 'x'.repeat(seq * 200) }));
    if (seq % 4 === 3) expect(store.blob(`d${seq}`)).toHaveLength(9_002);
  }
  if (found !== undefined) {
    const lease = store.lease('r', ME, 2_000);
    expect(store.append([batch(lease, batches.length)])).toEqual([true]);
  }
  store.close();
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  return found === undefined ? undefined : batches.length;
}

function expected(length: number): number | undefined {
  return length < createdAt ? undefined : lengths.filter((one) => one <= length).length;
}

describe('every prefix of the log opens to exactly what had been acknowledged by then', () => {
  test('cut between writes', async () => {
    for (let length = HEADER; length <= log.length; length += FRAME) {
      expect(await batchesIn(log.subarray(0, length)), `${length} bytes`).toBe(expected(length));
    }
    expect(tries).toBeGreaterThan(30);
  });

  test('cut within writes', async () => {
    for (let length = 1; length < log.length; length += 4_127) {
      expect(await batchesIn(log.subarray(0, length)), `${length} bytes`).toBe(expected(length));
    }
  });

  test.each([
    ['zeros', (rest: Buffer) => Buffer.alloc(rest.length)],
    ['garbage', (rest: Buffer) => Buffer.alloc(rest.length, 'torn')],
    ['with a page that is lost', (rest: Buffer) => Buffer.concat([Buffer.alloc(FRAME), rest.subarray(FRAME)])],
    [
      'with one byte that is wrong',
      (rest: Buffer) => Buffer.concat([Buffer.from([(rest[0] ?? 0) ^ 1]), rest.subarray(1)]),
    ],
  ])('with a tail of %s', async (_, tear) => {
    for (let length = HEADER; length < log.length; length += FRAME) {
      const left = Buffer.concat([log.subarray(0, length), tear(log.subarray(length))]);
      expect(await batchesIn(left), `${length} bytes`).toBe(expected(length));
    }
  });
});
