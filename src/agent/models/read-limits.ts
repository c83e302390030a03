import { SkeinError } from '../../base/errors.js';
import type { Json } from '../../base/json.js';
import { formatProblem } from '../../base/problem.js';
import type { ProvidersLimits } from '../../budget/provider-limits.js';
import { readLimits } from '../../budget/provider-limits.js';
import { createFindings } from '../../text/findings.js';
import type { SourceNode } from '../../text/nodes.js';
import { entryOf, toJson } from '../../text/nodes.js';
import { parseYaml } from '../../text/yaml.js';
import { readTextFile } from '../text-files.js';

/**
 * Opens a file of limits, YAML or JSON. Reports all problems at once, with line and column.
 *
 * @throws SkeinError `SKEIN_FILE` if it cannot be read, `SKEIN_DEFINITION` with the problems in `details.problems`
 */
export async function openLimits(path: string, file = path): Promise<ProvidersLimits> {
  const findings = createFindings();
  const { root, problems, places } = parseYaml(await readTextFile(path, 'file of limits'), file, { aliases: false });
  findings.add(problems);
  const { limits, wrong } = readLimits(root === undefined ? undefined : toJson(root));
  if (problems.length === 0)
    for (const { path: names, message, hint } of wrong)
      findings.error('bad-limit', message, placeOf(root, names) ?? places.at(0), hint);
  const { list } = findings;
  if (list.length === 0) return limits;
  throw new SkeinError('SKEIN_DEFINITION', `the limits ${file} have problems:\n${list.map(formatProblem).join('\n')}`, {
    hint: 'correct the file; docs/money.md shows one',
    details: { problems: list.map((problem) => ({ ...problem, at: { ...problem.at } })) as unknown as Json },
  });
}

function placeOf(root: SourceNode | undefined, names: readonly string[]): SourceNode['at'] | undefined {
  let at = root?.at;
  let node = root;
  for (const name of names) {
    const entry = entryOf(node, name);
    at = entry?.at ?? at;
    node = entry?.value;
  }
  return at;
}
