import { runStoreFile, quietSqlite } from '../run/open-store.js';
import { shortId } from '../runs/find-run.js';
import { localTime } from '../runs/text.js';
import { oneLine } from '../view/printable.js';
import type { Candidate, StoredKind } from './candidates.js';

/** Maximum number of candidates, the newest ones. */
const OFFERED = 100;
/** Maximum number of characters of a workflow name. */
const NAME_WIDTH = 40;

/**
 * Returns the runs or conversations in the store of the working directory whose name begins with the typed text, newest first. The store is
 * only read.
 *
 * @throws if no readable store exists
 * @example
 * await storedWords('runs', '56'); // [{ word: '56ab0b07', about: 'chain, 2026-11-22 01:37:02' }]
 */
export async function storedWords(kind: StoredKind, typed: string): Promise<readonly Candidate[]> {
  const file = runStoreFile(process.cwd());
  if (file === undefined) return [];
  quietSqlite();
  const { namesInStore } = await import('../../stores/sqlite-names.js');
  const names = (await namesInStore(file))[kind];
  const ids = names.map(({ id }) => id);
  // The end of an id identifies a run as well as its beginning, whichever is typed.
  const wordOf = (id: string): string | undefined =>
    [...(kind === 'runs' ? [shortId(id, ids)] : []), id].find((word) => word.startsWith(typed));
  return names
    .filter(({ id }) => id.includes(typed) && isWord(id))
    .slice(0, OFFERED)
    .flatMap(({ id, workflow, createdAt }) => {
      const word = wordOf(id);
      const about = [oneLine(workflow, NAME_WIDTH), localTime(createdAt)].filter((part) => part !== '').join(', ');
      return word === undefined ? [] : [{ word, about }];
    });
}

/** Whether an id can be offered: it must not break a line, disappear on a terminal, or look like a flag. */
function isWord(id: string): boolean {
  return id !== '' && !id.startsWith('-') && !/\p{C}/u.test(id);
}
