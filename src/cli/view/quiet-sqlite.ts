let quiet = false;

/**
 * Keeps Node from telling at every command that `node:sqlite` is experimental: nobody who runs a workflow can do anything about it. Other
 * warnings are reported.
 *
 * @example
 * quietSqlite();
 */
export function quietSqlite(): void {
  if (quiet) return;
  quiet = true;
  const emit = process.emitWarning.bind(process) as (...words: unknown[]) => void;
  process.emitWarning = (...words: unknown[]): void => {
    if (!String(words[0]).startsWith('SQLite is an experimental feature')) emit(...words);
  };
}
