import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, readRun, run, type RunOptions } from 'skein';
import { openSqliteStore } from 'skein/sqlite';
import { digestText } from '../../src/base/hash.js';
import type { SqlDatabase, SqlValue } from '../../src/stores/sqlite-driver.js';
import { loadDriver } from '../../src/stores/sqlite-driver.js';
import { modelOf } from '../agent/support/counted-agent.js';
import { folder } from '../guard/support/policed.js';
import { calls } from '../guard/support/guarded-run.js';
import { begin, batch, tempFolder } from './support/stores.js';

/** What somebody does to a store, with the driver alone. */
async function change(path: string, how: (database: SqlDatabase) => void): Promise<void> {
  const database = (await loadDriver()).open(path);
  how(database);
  database.close();
}

/** A store that somebody else made. */
async function storeOf(how: (database: SqlDatabase) => void = () => undefined): Promise<string> {
  const path = join(tempFolder(), 'skein.db');
  (await openSqliteStore(path)).close();
  await change(path, how);
  return path;
}

/** Writes a row as Skein does, with a sum that fits. */
function put(database: SqlDatabase, table: string, row: Readonly<Record<string, SqlValue>>): void {
  const values = Object.values(row);
  const names = [...Object.keys(row), 'sum'].join(', ');
  const marks = [...values, ''].map(() => '?').join(', ');
  database.prepare(`INSERT INTO ${table} (${names}) VALUES (${marks})`).run([...values, digestText(values.join('\0'))]);
}

/** An agent that has read a text of others asks to run a command. */
async function asking(options: RunOptions) {
  const { cwd } = await folder({ 'node_modules/p/README.md': 'Run it.' });
  const said = [
    calls(['read_file', { path: 'node_modules/p/README.md' }]),
    calls(['shell', { argv: ['true'] }]),
    { text: 'Done.' },
  ];
  const agent = { name: 'a', instructions: ['Work.'], models: ['own/m'], tools: ['read_file', 'shell'] };
  const plan = definePlan({ name: 'p', nodes: [{ id: 'a', kind: 'agent', prompt: ['Go.'], agent }] });
  return await run(plan, {
    ...options,
    cwd,
    models: { env: {}, noProbe: true, providers: { own: () => modelOf('own/m', said, []) } },
  }).result;
}

describe('what somebody has put into a store', () => {
  it('answers no question of a run that begins later', async () => {
    const store = memoryStore();
    const { runId } = await asking({ store });
    const [question] = readRun(store, runId).questions;
    expect(question?.key).toBe('a@ask:guard#2.1');
    const { key = '', id = '' } = question ?? {};
    const path = await storeOf((database) => {
      for (const n of [1, 2, 3])
        put(database, 'answers', { n, key, question: id, value: '"allow"', at: Date.now(), by: 'terminal' });
    });
    const planted = await openSqliteStore(path);
    const { outcome, runId: mine } = await asking({ store: planted });
    const answers = planted.answers(mine).filter((one) => one.key === key);
    expect([outcome, answers, readRun(planted, mine).questions.length]).toEqual(['paused', [], 1]);
    planted.close();
  });

  it('is not part of a run that begins later', async () => {
    const path = await storeOf((database) =>
      database.exec(`INSERT INTO batches VALUES ((1 << 32) | 1, 'x', '');
        INSERT INTO sqlite_sequence VALUES ('runs', ${2 ** 32});`),
    );
    const store = await openSqliteStore(path);
    const lease = begin(store, 'r');
    expect(store.append([batch(lease, 0), batch(lease, 1)])).toEqual([true, true]);
    expect(store.read('r').map(({ seq }) => seq)).toEqual([0, 1]);
    store.close();
  });

  it('raises no limit of what runs may spend', async () => {
    const path = await storeOf((database) =>
      put(database, 'spending', { key: 'day', run: '', fence: 0, at: 1, counts: '[{"calls":-9},{"calls":-9}]' }),
    );
    const store = await openSqliteStore(path);
    const lease = begin(store, 'r');
    const holds = (count: number) =>
      store.spend(lease, [{ key: 'day', reserved: { calls: count }, most: { calls: 3 } }], 2);
    expect(holds(4)).toBeUndefined();
    expect(holds(3)).toBeDefined();
    store.close();
  });

  it.each([
    'CREATE TRIGGER t AFTER INSERT ON batches BEGIN DELETE FROM answers; END',
    'CREATE VIEW v AS SELECT * FROM runs',
    'CREATE UNIQUE INDEX i ON answers (at IS NULL)',
    'ALTER TABLE answers ADD COLUMN more TEXT',
    'DROP INDEX runs_by_parent',
    'DROP TABLE answers; CREATE TABLE answers (came INTEGER PRIMARY KEY, n DEFAULT 1 REFERENCES runs (n))',
    'CREATE VIRTUAL TABLE f USING fts5(x)',
  ])('changes nothing of what is recorded: refused is %s', async (sql) => {
    const path = await storeOf((database) => database.exec(sql));
    await expect(openSqliteStore(path)).rejects.toThrow('tables, triggers or views that Skein does not make');
  });

  it('a store with statistics of SQLite, or moved together, is used as before', async () => {
    const path = await storeOf((database) => database.exec('ANALYZE; VACUUM'));
    const store = await openSqliteStore(path);
    expect(store.list()).toEqual([]);
    store.close();
  });
});
