import { posix } from 'node:path';
import type { Json } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import { filesBeneath, readText, reportUnread } from '../../text/files.js';
import { parseJson } from '../../text/json.js';
import { toJson } from '../../text/nodes.js';
import { flattened } from './compositions/step-order.js';
import { reportNoFolder, type PlacedPack } from './pack.js';
import { readSkills, type PackSkill } from './skills.js';

/** Reads the JSON Schemas that compositions name, by these names. The files must lie beneath the folder of the pack. */
export async function readSchemas(
  { pack: { compositions = {} }, findings, at }: PlacedPack,
  folder: string | undefined,
  use: (path: string, text: string) => void,
): Promise<ReadonlyMap<string, Json>> {
  const schemas = new Map<string, Json>();
  for (const [name, { input_schema, output_schema, steps }] of Object.entries(compositions)) {
    const named = [input_schema, output_schema, ...flattened(steps).map(({ step }) => step.output_schema)];
    for (const path of new Set(named.filter((one) => one !== undefined))) {
      if (schemas.has(path)) continue;
      if (folder === undefined) {
        reportNoFolder(
          findings,
          `compositions[${JSON.stringify(name)}]: the schema ${quoteShort(path)}`,
          at('compositions', name),
        );
        continue;
      }
      const found = await filesBeneath(folder, path, posix.basename(path));
      const [file] = found.ok ? found.names : [];
      const text = file === undefined ? found : await readText(posix.join(folder, file));
      if (!text.ok || !('text' in text) || file === undefined) {
        const unread = text.ok ? { ok: false as const, failure: 'missing' as const, message: 'is not a file' } : text;
        reportUnread(unread, `the schema ${quoteShort(path)}`, at('compositions', name), findings);
        continue;
      }
      use(posix.join(folder, file), text.text);
      const { root, problems } = parseJson(text.text, file);
      findings.add(problems);
      if (root !== undefined) schemas.set(path, toJson(root));
    }
  }
  return schemas;
}

/** A pack's skills, from files and from the pack itself, and the JSON Schemas of its compositions. */
export interface PackFiles {
  readonly skills: readonly PackSkill[];
  readonly schemas: ReadonlyMap<string, Json>;
}

export const NO_FILES: PackFiles = { skills: [], schemas: new Map() };

/** Reads the files of a pack. Unreadable ones are problems. `use` is called with each file read. */
export async function readPackFiles(
  placed: PlacedPack,
  folder: string | undefined,
  use: (path: string, text: string) => void,
): Promise<PackFiles> {
  return { skills: await readSkills(placed, folder, use), schemas: await readSchemas(placed, folder, use) };
}
