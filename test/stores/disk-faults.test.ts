import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from 'skein/sqlite';
import { loadDriver } from '../../src/stores/sqlite-driver.js';
import { programOf } from '../programs.js';
import { THOROUGH } from '../thorough.js';
import { ME } from './support/stores.js';
import { injecting, startWriter, whyNoStrace } from './support/programs.js';

const missing = whyNoStrace();
if (missing !== undefined) console.info(`note: disk faults are not tested here: ${missing}`);

const BATCHES = 2;
/** Every ninth write shows each kind of them; `npm run test:fault` takes every one. */
const STRIDE = THOROUGH ? 1 : 9;
const WRITES = 'pwrite64,ftruncate';

const folder = mkdtempSync(join(tmpdir(), 'skein-disk-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const writer = missing === undefined ? await programOf(join(import.meta.dirname, 'support/writer.ts')) : '';
const prepared = join(folder, 'prepared.db');
if (missing === undefined) (await openSqliteStore(prepared)).close();

interface Outcome {
  readonly code: number | string;
  readonly said: readonly string[];
}

/** Runs the writer with a fault, and checks that what it was told is there, in order, and that the store can be used. */
async function writeWith(fault: string, file: string, mode: 'fast' | 'full' = 'fast'): Promise<Outcome> {
  const argv = [process.execPath, writer, mode, file, 'r', String(BATCHES)];
  const { ended, said } = startWriter(injecting(fault, file, argv));
  const code = await ended;
  const told = said.filter((line) => line.startsWith('wrote ')).length;
  expect(said.filter((line) => line.startsWith('thrown') || line.startsWith('refused'))).toEqual([]);
  await expectUsable(file, said.includes('created'), told);
  return { code, said };
}

async function expectUsable(file: string, created: boolean, told: number): Promise<void> {
  const store = await openSqliteStore(file);
  const found = store.run('r');
  if (created) expect(found).toBeDefined();
  const batches = store.read('r');
  expect(batches.length).toBeGreaterThanOrEqual(told);
  expect(batches.length).toBeLessThanOrEqual(told + 1);
  for (const [seq, { text, sum }] of batches.entries()) {
    expect(JSON.parse(text)).toMatchObject({ run: 'r', seq });
    expect(sum).toBe(`sum ${seq}`);
    if (seq % 2 === 1) expect(store.blob(`r ${seq}`)).toHaveLength(5_002);
  }
  // The process is gone: another one goes on at once, with its lease still running.
  const lease =
    found === undefined ? store.create({ id: 'r', name: 'x', createdAt: 1 }, ME, 1) : store.lease('r', ME, 1);
  expect(store.append([{ lease, seq: batches.length, text: '"on"', sum: '' }])).toEqual([true]);
  store.close();
  const database = (await loadDriver()).open(file);
  expect(database.prepare('PRAGMA integrity_check').all([])).toEqual([{ integrity_check: 'ok' }]);
  database.close();
}

/** A file of its own for each try: a store that is there already, or nothing. */
function fileFor(name: string, from: string | undefined): string {
  const file = join(folder, `${name}.db`);
  if (from !== undefined) copyFileSync(from, file);
  return file;
}

/** What the last line of a writer says that was stopped. */
function lastOf({ said }: Outcome): string {
  return said.at(-1) ?? '';
}

describe.skipIf(missing !== undefined).concurrent('at the n-th write', () => {
  test.each([
    // Making the tables takes many writes of one kind: every tenth will do.
    ['new', undefined, 10],
    ['ready', prepared, STRIDE],
  ])('the disk is full and stays full; the file is %s', async (name, from, step) => {
    let failures = 0;
    for (let n = 1, code: number | string = 3; code !== 0; n += step) {
      const outcome = await writeWith(`${WRITES}:error=ENOSPC:when=${n}+`, fileFor(`full-${name}-${n}`, from));
      code = outcome.code;
      if (code === 0) continue;
      failures += 1;
      expect(code).toBe(3);
      expect(lastOf(outcome)).toMatch(
        /^ended SKEIN_STORE full-\S+\.db could not be \w+: (the disk is full|the disk reports)/,
      );
    }
    expect(failures).toBeGreaterThan(2);
  });

  test('the disk is full for once: what is tried again is written', async () => {
    let failures = 0;
    for (let n = 1, failed = true; failed; n += STRIDE) {
      const outcome = await writeWith(`pwrite64:error=ENOSPC:when=${n}`, fileFor(`once-${n}`, prepared));
      failed = outcome.said.some((line) => line.startsWith('failed'));
      if (failed) failures += 1;
      expect(outcome.said.filter((line) => line.startsWith('wrote'))).toHaveLength(BATCHES);
      expect(outcome.code).toBe(0);
    }
    expect(failures).toBeGreaterThan(2);
  });

  test('an I/O error: nothing is tried again, because the next answer might be wrong', async () => {
    let failures = 0;
    for (let n = 1, code: number | string = 3; code !== 0; n += STRIDE) {
      const outcome = await writeWith(`${WRITES}:error=EIO:when=${n}`, fileFor(`io-${n}`, prepared));
      code = outcome.code;
      if (code === 0) continue;
      failures += 1;
      const failed = outcome.said.findIndex((line) => line.startsWith('failed'));
      expect(outcome.said.slice(failed + 1)).toEqual([outcome.said[failed]?.replace('failed', 'ended')]);
      expect(lastOf(outcome)).toContain('the disk reports an I/O error');
    }
    expect(failures).toBeGreaterThan(2);
  });

  test('an I/O error of fsync, where commits wait for the disk', async () => {
    let failures = 0;
    for (let n = 1, code: number | string = 3; code !== 0; n++) {
      const outcome = await writeWith(`fsync,fdatasync:error=EIO:when=${n}`, fileFor(`sync-${n}`, prepared), 'full');
      code = outcome.code;
      if (code === 0) continue;
      failures += 1;
      expect(outcome.said.filter((line) => line.startsWith('failed'))).toHaveLength(1);
      expect(lastOf(outcome)).toContain('reports an I/O error');
    }
    expect(failures).toBeGreaterThanOrEqual(BATCHES);
  });

  test('[XR8] a disk that turns out to be full as data is forced to it is called by its name', async () => {
    const outcome = await writeWith('fsync,fdatasync:error=ENOSPC:when=1', fileFor('sync-full', prepared), 'full');
    expect([outcome.code, lastOf(outcome)]).toEqual([3, expect.stringContaining('the disk is full')]);
  });

  test('the file may not grow any more', async () => {
    let failures = 0;
    for (let n = 1, code: number | string = 3; code !== 0; n += 2 * STRIDE) {
      const outcome = await writeWith(`pwrite64:error=EFBIG:when=${n}+`, fileFor(`big-${n}`, prepared));
      code = outcome.code;
      if (code === 0) continue;
      failures += 1;
      expect([code, lastOf(outcome)]).toEqual([
        3,
        expect.stringMatching(/^ended SKEIN_STORE big-\S+\.db could not be /),
      ]);
    }
    expect(failures).toBeGreaterThan(1);
  });

  test('a slow disk only takes time', async () => {
    const outcome = await writeWith('fsync,fdatasync:delay_enter=20000', fileFor('slow', prepared), 'full');
    expect([outcome.code, outcome.said.filter((line) => line.startsWith('wrote')).length]).toEqual([0, BATCHES]);
  });

  test('the process is killed', async () => {
    let kills = 0;
    for (let n = 1, code: number | string = ''; code !== 0; n += STRIDE) {
      code = (await writeWith(`${WRITES}:signal=KILL:when=${n}`, fileFor(`kill-${n}`, prepared))).code;
      if (code !== 0) kills += 1;
    }
    expect(kills).toBeGreaterThan(15 / STRIDE);
  });
});
