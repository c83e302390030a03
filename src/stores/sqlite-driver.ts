import { SkeinError } from '../base/errors.js';
import { isAtLeast } from '../base/text.js';

/** What SQLite takes. */
export type SqlValue = string | number | null;

/** A row, by names of its columns. Texts are asked for as bytes: see `readText` in `sqlite-rows.ts`. */
export type SqlRow = Readonly<Record<string, SqlValue | Uint8Array>>;

/** A statement that was compiled. */
export interface SqlStatement {
  /** Runs it; gives the number of rows that it changed. */
  run(values: readonly SqlValue[]): number;
  all(values: readonly SqlValue[]): readonly SqlRow[];
}

/** An open database. Errors are those of the driver; {@link resultCode} reads them. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

/** The drivers, in the order in which they are tried. They have the same interface. */
export const DRIVERS = ['node:sqlite', '@photostructure/sqlite'] as const;

/** A driver that was loaded. */
export interface SqlDriver {
  readonly name: (typeof DRIVERS)[number];
  /** Of SQLite itself. */
  readonly version: string;
  /** Opens a file. */
  readonly open: (path: string) => SqlDatabase;
  /** Opens a file that is named by a URL, and can't write to it. */
  readonly look: (address: string) => SqlDatabase;
}

/**
 * The oldest SQLite that may be used. In those before it, a commit of one process while another one empties the log can be lost, or can
 * damage the file (the WAL-reset race), and runs of one store are written by any number of processes.
 */
export const OLDEST_SQLITE = '3.51.3';

/** The package that brings a SQLite that will do, as one installs it. */
const PACKAGE = '@photostructure/sqlite@1.2.1';

/** What is used of a driver. The types of Node 20 do not know `node:sqlite`. */
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

/** How a driver is chosen. */
export interface DriverOptions {
  readonly names?: readonly SqlDriver['name'][];
  /** Takes a SQLite before {@link OLDEST_SQLITE}, too. */
  readonly allowOld?: boolean;
}

/**
 * Loads the first driver that is there and whose SQLite is new enough.
 *
 * @throws SkeinError `SKEIN_PACKAGE_MISSING` when there is none, with what is to be installed
 */
export async function loadDriver({ names = DRIVERS, allowOld = false }: DriverOptions = {}): Promise<SqlDriver> {
  const causes: unknown[] = [];
  const old: SqlDriver[] = [];
  for (const name of names) {
    try {
      const driver = driverOf(name, await IMPORTS[name]());
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

/** SQLite's words for what it reports: the package gives no code where reading fails. */
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

/** SQLite's own code of an error, with its details in the higher bits; undefined when it comes from somewhere else. */
export function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { errcode, message } = error as { readonly errcode?: unknown; readonly message?: unknown };
  if (typeof errcode === 'number') return errcode;
  const text = String(message);
  return text.startsWith('malformed database schema') ? CORRUPT : CODES[text];
}
