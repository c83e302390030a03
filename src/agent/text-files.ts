import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { SkeinError } from '../base/errors.js';

/** Largest script or recording that is read, in bytes. */
export const LONGEST_FILE = 64 * 1024 * 1024;

/** @throws SkeinError `SKEIN_FILE` if it cannot be read or is too long */
export async function readTextFile(path: string, what: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > LONGEST_FILE) throw new Error(`${size} bytes are more than ${LONGEST_FILE}`);
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new SkeinError('SKEIN_FILE', `the ${what} ${path} can't be read: ${reason(error)}`, {
      hint: 'check the path',
      cause: error,
    });
  }
}

/**
 * Writes a text file in one step: readers see the old or the new text, never a part, even after a crash.
 *
 * @param token makes the name of the temporary file unique
 * @throws SkeinError `SKEIN_FILE` if it cannot be written; the old file is then untouched.
 */
export async function replaceTextFile(path: string, text: string, token: string, what: string): Promise<void> {
  const temporary = `${path}.${token}.tmp`;
  try {
    await writeFile(temporary, text, { encoding: 'utf8', flush: true, mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new SkeinError('SKEIN_FILE', `the ${what} ${path} can't be written: ${reason(error)}`, {
      hint: 'check that the folder exists and can be written',
      cause: error,
    });
  }
}

/** Errors of the system begin with a code, and end with the name of a function and the path, which the message has already. */
function reason(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^E[A-Z]+: (.+?), \w+(?: '.*')?$/s, '$1') : String(error);
}
