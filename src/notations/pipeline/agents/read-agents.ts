import type { Findings } from '../../source/findings.js';
import type { Fields } from '../../source/shape.js';
import type { AgentDef } from '../definition.js';

/** The keys of a pipeline file that say what agents are; all but `workflow` and those of Skein itself. */
export const AGENT_SECTIONS: readonly string[] = [
  'version',
  'agents',
  'models',
  'providers',
  'mcps',
  'permissions',
  'metadata',
];

/**
 * Reads the sections `agents`, `models`, `providers`, `mcps` and `permissions` of a file: its agents by name, in the order of the file.
 * What is not supported is one warning each (`not-supported`), with its line.
 *
 * @example
 * const agents = readAgents(root, findings);
 */
export function readAgents(root: Fields, findings: Findings): ReadonlyMap<string, AgentDef> {
  const agents = new Map<string, AgentDef>();
  for (const entry of root.entries('agents') ?? []) {
    findings.near(entry.key, []);
  }
  return agents;
}
