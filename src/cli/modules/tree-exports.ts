import { readFile } from 'node:fs/promises';
import { definitionError } from '../../base/problem.js';
import type { convertTree } from '../../converting.js';
import { problemsOfFailure } from './import-failure.js';
import { importModule, settled } from './import-module.js';

/** What `converting.ts` takes of a module: a tree, and what it runs with. */
type Exports = Parameters<typeof convertTree>[0];

/**
 * What a module exports: as default, and as `runtime`.
 *
 * @throws SkeinError `SKEIN_DEFINITION` when the module can't be imported, with all problems in `details.problems`
 */
export async function treeExports(path: string, shown: string, cwd: string): Promise<Exports> {
  try {
    const { default: tree, runtime } = await settled(importModule(path));
    return { tree: await tree, runtime };
  } catch (cause) {
    const sources = async () => [{ path, text: await readFile(path, 'utf8').catch(() => '') }];
    throw definitionError(await problemsOfFailure(cause, { path, shown, cwd }, sources));
  }
}
