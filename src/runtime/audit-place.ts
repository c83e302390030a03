import { resolve } from 'node:path';
import { AUDIT_FOLDER } from '../base/own-names.js';
import { SkeinError } from '../base/errors.js';
import { strangersRefusal } from '../guard/strangers.js';
import type { Policy } from '../plan/policy.js';

/**
 * A folder for run folders that a workflow names is decided about as a write outside is: by the folders of all policies, and not at all in a project of strangers.
 * That of Skein itself needs no leave.
 *
 * @throws SkeinError `SKEIN_POLICY`
 */
export async function checkAuditPlace(dir: string, cwd: string, policies: readonly Policy[]): Promise<void> {
  if (policies.length === 0 || resolve(cwd, dir) === resolve(cwd, AUDIT_FOLDER)) return;
  // Code of tools: most runs have no policy.
  const { folderRefusal } = await import('../agent/tools/policy-folders.js');
  const why =
    folderRefusal(policies, cwd, resolve(cwd, dir)) ??
    strangersRefusal({ effect: 'send', tool: 'audit_dir', input: { path: dir } }, policies);
  if (why === undefined) return;
  throw new SkeinError('SKEIN_POLICY', `run folders are not written to ${dir}: ${why}`, {
    hint: 'run with --no-audit or --audit-dir, or let your policy allow the folder',
    retryable: false,
  });
}
