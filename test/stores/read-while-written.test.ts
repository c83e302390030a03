import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadDriver, type SqlDriver } from '../../src/stores/sqlite-driver.js';
import { openDatabase } from '../../src/stores/sqlite-schema.js';
import { SqliteStore } from '../../src/stores/sqlite-store.js';
import { openSqliteStore } from '../../src/stores/sqlite.js';
import { thrown } from '../thrown.js';
import { batch, begin, tempFolder } from './support/stores.js';

/** The driver; `between` is called after each query for a page of batches. */
function interrupted(driver: SqlDriver, between: () => void): SqlDriver {
  const open: SqlDriver['open'] = (path) => {
    const database = driver.open(path);
    const prepare: typeof database.prepare = (sql) => {
      const statement = database.prepare(sql);
      if (!sql.includes('LIMIT ?')) return statement;
      return {
        run: (values) => statement.run(values),
        all: (values) => {
          const rows = statement.all(values);
          between();
          return rows;
        },
      };
    };
    return { exec: (sql) => database.exec(sql), prepare, close: () => database.close() };
  };
  return { ...driver, open };
}

test.each([
  { writes: 'a run that ends', count: 1 },
  { writes: 'more than a page of batches', count: 200 },
])('a run is read while another process writes to it: $writes', async ({ count }) => {
  const file = join(tempFolder(), 'skein.db');
  const writer = await openSqliteStore(file);
  const lease = begin(writer, 'a');
  writer.append([batch(lease, 0)]);
  let seq = 1;
  const between = (): void => {
    if (seq > count) return;
    for (let left = count; left > 0; left--) writer.append([batch(lease, seq++)]);
    writer.release(lease, {
      outcome: 'succeeded',
      endedAt: 5,
      standing: { batches: seq, steps: 1, ms: 1, pauses: [] },
    });
  };
  const reader = new SqliteStore(openDatabase(interrupted(await loadDriver(), between), file, 'fast'), file);
  expect(reader.read('a').map((one) => one.seq)).toEqual(Array.from({ length: count + 1 }, (_, at) => at));
  expect(reader.read('a', 1, 1).map((one) => one.seq)).toEqual([1]);
  reader.close();
  writer.close();
});

test('a run that lacks batches is damaged, however often it is read', async () => {
  const file = join(tempFolder(), 'skein.db');
  const store = await openSqliteStore(file);
  const lease = begin(store, 'a');
  store.append([batch(lease, 0)]);
  store.release(lease, { outcome: 'succeeded', endedAt: 5, standing: { batches: 3, steps: 1, ms: 1, pauses: [] } });
  for (let times = 0; times < 2; times++)
    expect(thrown(() => store.read('a'))).toMatchObject({
      code: 'SKEIN_JOURNAL',
      message: expect.stringContaining('has 1 batches, and had 3') as string,
    });
  store.close();
});
