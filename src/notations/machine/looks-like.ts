import { isPlainObject } from '../../base/json.js';
import { toJson } from '../../text/nodes.js';
import type { OpenedFile } from '../opened-file.js';

/** Files of the program that makes packs. */
export const NO_PACKS: ReadonlySet<string> = new Set(['Arena', 'PromptConfig', 'Scenario', 'Provider', 'Tool']);

/** True for a file with the keys of a pack, and for those of the program that makes packs. */
export function looksLikePack(opened: OpenedFile): boolean {
  const text = opened.source.text.trimStart();
  const isJson = text.startsWith('{') && !/\.ya?ml$/i.test(opened.file);
  const data = isJson ? readJson(text) : yamlOf(opened);
  // A pack with a mistake of form is a pack all the same.
  if (data === undefined)
    return isJson && (/\.pack\.json$/i.test(opened.file) || /"(?:prompts|template_engine)"\s*:/.test(text));
  if (!isPlainObject(data) || 'steps' in data) return false;
  if (typeof data['kind'] === 'string' && NO_PACKS.has(data['kind'])) return true;
  const { workflow } = data;
  return (
    isPlainObject(data['prompts']) || 'template_engine' in data || (isPlainObject(workflow) && 'states' in workflow)
  );
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function yamlOf(opened: OpenedFile): unknown {
  const root = opened.yaml().content?.root;
  return root?.kind === 'map' ? toJson(root) : undefined;
}
