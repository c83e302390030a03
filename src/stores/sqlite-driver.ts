import { madeOnce } from '../base/collections.js';
import { SkeinError } from '../base/errors.js';
import { isAtLeast } from '../base/text.js';

export type SqlValue = string | number | null;

/** A row by column name. Texts are selected as bytes: see `readText` in `sqlite-rows.ts`. */
export type SqlRow = Readonly<Record<string, SqlValue | Uint8Array>>;

export interface SqlStatement {
  /** Runs the statement; returns the number of changed rows. */
  run(values: readonly SqlValue[]): number;
  all(values: readonly SqlValue[]): readonly SqlRow[];
}

/** An open database. Its errors are those of the driver; {@link resultCode} reads them. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

export const DRIVERS = ['node:sqlite', '@photostructure/sqlite'] as const;

export interface SqlDriver {
  readonly name: (typeof DRIVERS)[number];
  readonly version: string;
  readonly open: (path: string) => SqlDatabase;
  /** Opens a file by URL, read-only. */
  readonly look: (address: string) => SqlDatabase;
}

/**
 * The oldest accepted SQLite. In older ones, a commit of one process during a checkpoint of another can be lost, or damage the file (the
 * WAL-reset race), and any number of processes write the runs of one store.
 */
export const OLDEST_SQLITE = '3.51.3';

/** The package that contains a recent enough SQLite, as passed to npm. */
const PACKAGE = '@photostructure/sqlite@1.2.1';

/** The used part of a driver. The types of Node 20 lack `node:sqlite`. */
interface SqliteModule {
  readonly DatabaseSync: new (
    path: string,
    options?: { readonly readOnly: boolean },
  ) => {
    exec(sql: string): void;
    prepare(sql: string): {
      run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
      all(...values: readonly SqlValue[]): unknown[];
    };
    close(): void;
  };
}

const IMPORTS: Readonly<Record<(typeof DRIVERS)[number], () => Promise<SqliteModule>>> = {
  'node:sqlite'() {
    const name: string = 'node:sqlite';
    return import(name) as Promise<SqliteModule>;
  },
  '@photostructure/sqlite': () => import('@photostructure/sqlite'),
};

export interface DriverOptions {
  readonly names?: readonly SqlDriver['name'][];
  /** Whether to accept a SQLite before {@link OLDEST_SQLITE}. */
  readonly allowOld?: boolean;
}

/** What is known of a driver, such as its version, is asked for once in a process. */
const drivers = new Map<SqlDriver['name'], SqlDriver>();

/**
 * Loads the first available driver whose SQLite is recent enough.
 *
 * @throws SkeinError `SKEIN_PACKAGE_MISSING` if there is none, with the package to install
 */
export async function loadDriver({ names = DRIVERS, allowOld = false }: DriverOptions = {}): Promise<SqlDriver> {
  const causes: unknown[] = [];
  const old: SqlDriver[] = [];
  for (const name of names) {
    try {
      const module = await IMPORTS[name]();
      const driver = madeOnce(drivers, name, () => driverOf(name, module));
      if (isAtLeast(driver.version, OLDEST_SQLITE)) return driver;
      old.push(driver);
    } catch (error) {
      causes.push(error);
    }
  }
  const [first] = old;
  if (first !== undefined && allowOld) return first;
  const why =
    first === undefined
      ? `SQLite is not available: it comes with the package ${PACKAGE}, and with a Node that has SQLite ${OLDEST_SQLITE} or newer`
      : `SQLite ${first.version} of ${first.name} can lose what two processes write at the same time; ${OLDEST_SQLITE} or newer is needed`;
  throw new SkeinError('SKEIN_PACKAGE_MISSING', why, {
    hint: `npm install ${PACKAGE}`,
    cause: new AggregateError(causes),
  });
}

function driverOf(name: SqlDriver['name'], { DatabaseSync }: SqliteModule): SqlDriver {
  const opened = (path: string, readOnly: boolean): SqlDatabase => {
    const database = new DatabaseSync(path, { readOnly });
    return {
      exec: (sql) => database.exec(sql),
      prepare: (sql) => {
        const statement = database.prepare(sql);
        return {
          run: (values) => Number(statement.run(...values).changes),
          all: (values) => statement.all(...values) as SqlRow[],
        };
      },
      close: () => database.close(),
    };
  };
  const open: SqlDriver['open'] = (path) => opened(path, false);
  const look: SqlDriver['look'] = (address) => opened(address, true);
  return { name, version: name === 'node:sqlite' ? (process.versions['sqlite'] ?? '0') : versionBy(open), open, look };
}

function versionBy(open: SqlDriver['open']): string {
  const database = open(':memory:');
  try {
    return String(database.prepare('SELECT sqlite_version() AS version').all([])[0]?.['version']);
  } finally {
    database.close();
  }
}

/** SQLite's error messages: the package provides no code for failed reads. */
const CODES: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'database table is locked': 6,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'file is not a database': 26,
};
const CORRUPT = 11;

/** SQLite's own code of an error, with details in the higher bits; undefined for an error from elsewhere. */
export function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { errcode, message } = error as { readonly errcode?: unknown; readonly message?: unknown };
  if (typeof errcode === 'number') return errcode;
  const text = String(message);
  return text.startsWith('malformed database schema') ? CORRUPT : CODES[text];
}
