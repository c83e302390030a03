import { resolve } from 'node:path';
import { readLimits, type ProvidersLimits } from '../../budget/provider-limits.js';
import { entryOf, toJson, type SourceNode } from '../../text/nodes.js';
import { readTextFile } from '../text-files.js';
import { readWhole } from '../../text/yaml.js';
import { noteReadFrom } from '../../plan/own-plan.js';

/**
 * Opens a file of limits, YAML or JSON. Reports all problems at once, with line and column.
 *
 * @throws SkeinError `SKEIN_FILE` if it cannot be read, `SKEIN_DEFINITION` with the problems in `details.problems`
 */
export async function openLimits(path: string, file = path): Promise<ProvidersLimits> {
  const text = await readTextFile(path, 'file of limits');
  const hint = 'correct the file; docs/money.md shows one';
  const opened = readWhole(text, { file, problem: `the limits ${file} have problems`, hint }, (root, findings) => {
    const { limits, wrong } = readLimits(toJson(root));
    for (const { path: names, message, hint: how } of wrong)
      findings.error('bad-limit', message, placeOf(root, names), how);
    return limits;
  });
  noteReadFrom(opened, [resolve(path)]);
  return opened;
}

function placeOf(root: SourceNode, names: readonly string[]): SourceNode['at'] {
  let at = root.at;
  let node: SourceNode | undefined = root;
  for (const name of names) {
    const entry = entryOf(node, name);
    at = entry?.at ?? at;
    node = entry?.value;
  }
  return at;
}
