import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/**
 * Whether a run with `--mock` starts and reaches nothing: with a script, as long as that lets no step make its call. A script that can't be read lets nothing
 * happen either: the run says what is wrong with it before it begins.
 *
 * @param mock the value of the flag; undefined: the run has models
 */
export async function startsNothing(mock: string | undefined, cwd: string): Promise<boolean> {
  if (mock === undefined || mock === '') return mock === '';
  const { readScript } = await import('../../agent/index.js');
  try {
    const { rules } = readScript(await readFile(resolve(cwd, mock), 'utf8'), mock);
    return rules.every(({ real }) => !real);
  } catch {
    return true;
  }
}
