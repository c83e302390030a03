import { SkeinError } from '../base/errors.js';

/** What SQLite takes and gives. */
export type SqlValue = string | number | null;

/** A row, by names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

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

/** Opens a file with a driver that was loaded. */
export type OpenDatabase = (path: string) => SqlDatabase;

/** The drivers, in the order in which they are tried. */
export const DRIVERS = ['libsql', 'node:sqlite'] as const;

/** What is used of `node:sqlite`, which the types of Node 20 do not know. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => {
    exec(sql: string): void;
    prepare(sql: string): {
      run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
      all(...values: readonly SqlValue[]): unknown[];
    };
    close(): void;
  };
}

const LOADERS: Readonly<Record<(typeof DRIVERS)[number], () => Promise<OpenDatabase>>> = {
  async libsql() {
    const { default: Database } = await import('libsql');
    return (path) => {
      const database = new Database(path);
      return {
        exec: (sql) => void database.exec(sql),
        prepare: (sql) => {
          const statement = database.prepare<[readonly SqlValue[]]>(sql);
          return {
            run: (values) => statement.run(values).changes,
            all: (values) => statement.all(values) as SqlRow[],
          };
        },
        close: () => void database.close(),
      };
    };
  },

  async 'node:sqlite'() {
    const name: string = 'node:sqlite';
    const { DatabaseSync } = (await import(name)) as NodeSqlite;
    return (path) => {
      const database = new DatabaseSync(path);
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
  },
};

/**
 * Loads the first driver that is there.
 *
 * @throws SkeinError `SKEIN_PACKAGE_MISSING` when none is.
 */
export async function loadDriver(names: readonly (typeof DRIVERS)[number][] = DRIVERS): Promise<OpenDatabase> {
  const causes: unknown[] = [];
  for (const name of names) {
    try {
      return await LOADERS[name]();
    } catch (error) {
      causes.push(error);
    }
  }
  throw new SkeinError('SKEIN_PACKAGE_MISSING', 'SQLite needs the package libsql, or a Node that has node:sqlite', {
    hint: 'npm install libsql',
    cause: new AggregateError(causes),
  });
}

/** SQLite's own code of an error, with its details in the higher bits; undefined when it comes from somewhere else. */
export function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { rawCode, errcode } = error as { readonly rawCode?: unknown; readonly errcode?: unknown };
  const code = rawCode ?? errcode;
  return typeof code === 'number' ? code : undefined;
}
