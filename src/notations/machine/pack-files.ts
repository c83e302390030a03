import type { Json } from '../../base/json.js';
import { readSchemas } from './read-schemas.js';
import { readSkills } from './skills.js';
import type { PackSkill } from './skills.js';
import type { PlacedPack } from './pack.js';

/** What stands beside a pack in its folder: its skills, those that stand in it too, and the JSON Schemas of its compositions. */
export interface PackFiles {
  readonly skills: readonly PackSkill[];
  readonly schemas: ReadonlyMap<string, Json>;
}

/** Of a pack without any. */
export const NO_FILES: PackFiles = { skills: [], schemas: new Map() };

/** Reads them; what can't be read is a problem. `use` is told what was read. */
export async function readPackFiles(
  placed: PlacedPack,
  folder: string | undefined,
  use: (path: string, text: string) => void,
): Promise<PackFiles> {
  return { skills: await readSkills(placed, folder, use), schemas: await readSchemas(placed, folder, use) };
}
