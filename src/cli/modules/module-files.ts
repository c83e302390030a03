import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { SourceFile } from '../../plan/workflow.js';
import { sourceNameOf } from './module-hooks.js';

/** Modules that are looked for, from one file on. */
const MOST_FILES = 500;

/** A relative name in an import, an export or a call of `import` or `require`. */
const RELATIVE = /\b(?:from|import|require)\s*\(?\s*(["'])(\.{1,2}\/[^"'\n]+)\1/g;

/**
 * A module and the modules that it imports by relative names, and those by them: what a workflow in code is made of. Names that are put
 * together when the code runs are not found, and neither are packages.
 *
 * @example
 * const files = await moduleFiles({ path: '/project/flow.ts', text: "import './nodes.js';" });
 */
export async function moduleFiles(entry: SourceFile): Promise<readonly SourceFile[]> {
  const files = new Map([[entry.path, entry]]);
  for (const file of files.values()) {
    for (const [, , name = ''] of file.text.matchAll(RELATIVE)) {
      if (files.size >= MOST_FILES) return [...files.values()];
      const from = pathToFileURL(file.path).href;
      const path = fileURLToPath(sourceNameOf(name, from) ?? new URL(name, from));
      if (files.has(path)) continue;
      const text = await readFile(path, 'utf8').catch(() => undefined);
      if (text !== undefined) files.set(path, { path, text });
    }
  }
  return [...files.values()];
}
