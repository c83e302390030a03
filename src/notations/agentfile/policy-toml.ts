import { join } from 'node:path';
import type { Findings } from '../../text/findings.js';
import type { SourceEntry, SourceNode } from '../../text/nodes.js';
import type { Workspace } from '../opened-file.js';
import { readTomlFile } from './configuration.js';

/** What `policy.toml` beside a file allows. */
export interface ToolPolicy {
  /** Tools that have no table of their own may not be used. */
  readonly defaultDeny: boolean;
  /** Tools with a table of their own, and whether they may be used. */
  readonly enabled: ReadonlyMap<string, boolean>;
  /** As it is shown. */
  readonly file: string;
}

/**
 * Reads `policy.toml`: `default_deny`, and `enabled` of each tool, as `[write]` or `[tools.write]`. Any other rule is named: nothing enforces it yet, and a rule that is
 * read and ignored is worse than none. Problem codes: `policy-not-enforced` (a warning that keeps a run from starting), `wrong-type` and those of TOML.
 */
export async function readPolicy(workspace: Workspace, findings: Findings): Promise<ToolPolicy | undefined> {
  const path = join(workspace.base, 'policy.toml');
  const root = await readTomlFile(path, false, workspace, findings);
  if (root === undefined) return undefined;
  const enabled = new Map<string, boolean>();
  let defaultDeny = false;
  for (const entry of root.entries) {
    const { key, value } = entry;
    if (key === 'default_deny') defaultDeny = readFlag(entry, findings);
    else if (key === 'tools' && value.kind === 'map') {
      for (const tool of value.entries) readTool(tool, `tools.${tool.key}`, enabled, findings);
    } else readTool(entry, key, enabled, findings);
  }
  return { defaultDeny, enabled, file: workspace.shown(path) };
}

function readTool(
  { key, value, at }: SourceEntry,
  name: string,
  enabled: Map<string, boolean>,
  findings: Findings,
): void {
  if (value.kind !== 'map') return reportRule(name, { key, value, at }, findings);
  const { entries } = value;
  const flag = entries.find((entry) => entry.key === 'enabled');
  const isOn = flag === undefined || readFlag(flag, findings);
  enabled.set(key, isOn);
  // Nothing is left of a tool that is switched off that a rule could forbid; and a default that denies nothing is no rule.
  const rules = entries.filter((entry) => entry !== flag && !(entry.key === 'default_deny' && isFalse(entry.value)));
  for (const rule of isOn ? rules : []) reportRule(`${name}.${rule.key}`, rule, findings);
}

function reportRule(name: string, { value, at }: SourceEntry, findings: Findings): void {
  if (value.kind === 'list' && value.items.length === 0) return;
  const hint = 'remove the rule, or switch the tool off: enabled = false';
  const message = `the rule ${name} is not enforced yet: a run does not start`;
  findings.add([{ code: 'policy-not-enforced', severity: 'warning', message, at, hint, holds: true }]);
}

function readFlag({ key, value }: SourceEntry, findings: Findings): boolean {
  if (value.kind === 'scalar' && typeof value.value === 'boolean') return value.value;
  findings.error('wrong-type', `${key} must be true or false`, value.at, 'write true or false, without quotes');
  return false;
}

function isFalse(value: SourceNode): boolean {
  return value.kind === 'scalar' && value.value === false;
}
