import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { openSqliteStore } from 'skein/sqlite';
import { loadDriver } from '../../src/stores/sqlite-driver.js';
import { batch, begin, closing, ME, tempFolder, textsOf } from './support/stores.js';
import { thrown } from '../thrown.js';

/** The error that opening a file gives. */
async function refusal(path: string): Promise<SkeinError> {
  const error: unknown = await openSqliteStore(path).then(
    (store) => store.close(),
    (reason: unknown) => reason,
  );
  if (SkeinError.isInstance(error)) return error;
  throw new Error('it was opened');
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** Makes a database with the driver alone. */
async function makeDatabase(path: string, sql: string): Promise<void> {
  const database = (await loadDriver()).open(path);
  database.exec(sql);
  database.close();
}

describe('a file that is not there', () => {
  test('is made with its folders, for its owner alone', async () => {
    const folder = join(tempFolder(), 'project/.skein');
    const store = closing(await openSqliteStore(join(folder, 'skein.db')));
    begin(store, 'r');
    expect(modeOf(folder)).toBe('700');
    for (const file of ['skein.db', 'skein.db-wal', 'skein.db-shm'])
      expect(modeOf(join(folder, file)), file).toBe('600');
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
  });

  test('gets no .gitignore in a folder of another name, or that was there', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, '.skein'));
    for (const name of ['data', '.skein']) closing(await openSqliteStore(join(folder, name, 'skein.db')));
    expect(existsSync(join(folder, 'data/.gitignore'))).toBe(false);
    expect(existsSync(join(folder, '.skein/.gitignore'))).toBe(false);
  });
});

describe('a file that was closed', () => {
  test('holds everything that was committed, beside nothing else', async () => {
    const path = join(tempFolder(), 'skein.db');
    const store = await openSqliteStore(path);
    const lease = begin(store, 'r');
    store.append([batch(lease, 0, { blobs: [{ digest: 'd', text: '"blob"' }] })]);
    store.answer('r', { key: 'q', id: '1', at: 1, by: 'code' });
    store.close();
    const log = `${path}-wal`;
    expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
    const again = closing(await openSqliteStore(path, { durability: 'full' }));
    expect(again.run('r')).toMatchObject({ id: 'r', fence: 1, holder: ME });
    expect(textsOf(again, 'r')).toEqual(['{"run":"r","seq":0}']);
    expect(again.blob('d')).toBe('"blob"');
    expect(again.answers('r')).toHaveLength(1);
    expect(again.append([batch(lease, 1)])).toEqual([true]);
  });

  test('is used no more by the store that closed it', async () => {
    const store = await openSqliteStore(join(tempFolder(), 'skein.db'));
    const lease = begin(store, 'r');
    store.close();
    const calls = [() => store.list(), () => store.append([batch(lease, 0)]), () => store.lease('r', ME, 1)];
    for (const call of calls) {
      const error = thrown(call);
      expect(error.code).toBe('SKEIN_STORE');
      expect(error.message).toBe('skein.db has been closed');
    }
    expect(() => store.close()).not.toThrow();
  });

  test('has at most 1.5 times the bytes that were stored', async () => {
    const path = join(tempFolder(), 'skein.db');
    const store = await openSqliteStore(path);
    const lease = begin(store, 'r');
    const text = JSON.stringify('x'.repeat(1_198));
    for (let seq = 0; seq < 2_000; seq++) store.append([{ lease, seq, text, sum: 'x'.repeat(22) }]);
    store.close();
    expect(statSync(path).size).toBeLessThan(1.5 * 2_000 * text.length);
  });
});

describe('what is no store', () => {
  test.each([
    ['a long text', 'this is no database\n'.repeat(1_000)],
    ['a short text', 'hello'],
  ])('%s is refused and left as it is', async (_, content) => {
    const path = join(tempFolder(), 'notes.db');
    writeFileSync(path, content);
    const error = await refusal(path);
    expect(error.code).toBe('SKEIN_STORE');
    expect(error.message).toContain('notes.db');
    expect(error.message).toContain('not an SQLite database');
    expect(error.hint).toContain('another file');
    expect(error.cause).toBeDefined();
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  test('a folder is refused', async () => {
    const error = await refusal(tempFolder());
    expect(error.code).toBe('SKEIN_STORE');
    expect(error.message).toContain('it is a folder');
    expect(error.hint).toBe('move the folder away, or name a file in it');
  });

  test('a path through a file is refused', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'file'), '');
    const error = await refusal(join(folder, 'file/skein.db'));
    expect(error).toMatchObject({ code: 'SKEIN_STORE', hint: 'name a file in a folder that you may write to' });
  });

  const isRoot = process.getuid?.() === 0;
  if (isRoot) console.info('note: root may write everywhere, so the test of read-only folders is skipped');
  test.skipIf(isRoot)('a folder that may not be written to', async () => {
    const folder = tempFolder();
    chmodSync(folder, 0o500);
    const error = await refusal(join(folder, 'skein.db'));
    expect(error).toMatchObject({ code: 'SKEIN_STORE', hint: 'name a file in a folder that you may write to' });
  });

  test('the database of another program is refused and left as it is', async () => {
    const path = join(tempFolder(), 'other.db');
    await makeDatabase(path, 'CREATE TABLE things (a); INSERT INTO things VALUES (1)');
    const error = await refusal(path);
    expect(error.code).toBe('SKEIN_STORE');
    expect(error.message).toBe('other.db is a database of another program');
    expect(readdirSync(join(path, '..'))).toEqual(['other.db']);
  });

  test('a file of a newer Skein is refused, with what to do', async () => {
    const path = join(tempFolder(), 'skein.db');
    const store = await openSqliteStore(path);
    begin(store, 'r');
    store.close();
    await makeDatabase(path, 'PRAGMA user_version = 99');
    const error = await refusal(path);
    expect(error.code).toBe('SKEIN_STORE');
    expect(error.message).toContain('newer Skein');
    expect(error.hint).toContain('newer Skein');
  });

  test('a file whose pages were damaged is refused when they are read', async () => {
    const path = join(tempFolder(), 'skein.db');
    const store = await openSqliteStore(path);
    const lease = begin(store, 'r');
    for (let seq = 0; seq < 100; seq++) store.append([batch(lease, seq, { text: JSON.stringify('x'.repeat(3_000)) })]);
    store.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4_096 * 2);
    writeFileSync(path, bytes);
    const damaged = await openSqliteStore(path).catch((reason: unknown) => reason);
    const error = damaged instanceof Error ? damaged : thrown(() => (damaged as typeof store).read('r'));
    expect(error).toMatchObject({ code: 'SKEIN_STORE', message: expect.stringContaining('damaged') as unknown });
  });
});

test('without a driver the error names the package', async () => {
  const error: unknown = await loadDriver({ names: [] }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'SKEIN_PACKAGE_MISSING', hint: 'npm install @photostructure/sqlite@1.2.1' });
});
