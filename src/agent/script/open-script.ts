import { readTextFile } from '../text-files.js';
import { readScript } from './read-script.js';
import type { ScriptBook } from './script-book.js';
import { openScriptBook } from './script-book.js';

/**
 * Opens a script file for one run.
 *
 * @param path where it is
 * @param name how messages call it
 * @throws SkeinError `SKEIN_FILE` when it can't be read, `SKEIN_DEFINITION` with all of its problems.
 * @example
 * const book = await openScript('/home/me/story.yaml', 'story.yaml');
 */
export async function openScript(path: string, name: string): Promise<ScriptBook> {
  return openScriptBook(readScript(await readTextFile(path, 'script'), name));
}
