import type { Policy } from '../../plan/policy.js';
import type { Findings } from '../../text/findings.js';
import type { SourceNode } from '../../text/nodes.js';
import { parseToml } from '../../text/toml.js';
import { parseYaml } from '../../text/yaml.js';
import { readPolicyMap } from './read-policy.js';

/** Reads the text of a policy, YAML or TOML by the name of its file. Undefined: it can't be read as either. */
export async function readPolicyText(
  text: string,
  { file, widens, path }: { readonly file: string; readonly widens: boolean; readonly path: string },
  findings: Findings,
): Promise<Policy | undefined> {
  const root = await rootOf(text, path, file, findings);
  if (root === undefined) return undefined;
  return root.kind === 'scalar' && root.value === null ? { file } : readPolicyMap(root, { file, widens }, findings);
}

async function rootOf(text: string, path: string, file: string, findings: Findings): Promise<SourceNode | undefined> {
  const { root, problems } = path.endsWith('.toml')
    ? await parseToml(text, file)
    : parseYaml(text, file, { aliases: false });
  findings.add(problems);
  return root;
}
