import { checkOptions } from '../../base/options.js';
import { dirname, resolve } from 'node:path';
import { policyPlaces } from '../../base/own-names.js';
import { fileError } from '../../base/problem.js';
import type { Policy } from '../../plan/policy.js';
import { NOT_READ, isBeneath, leadsOut, readText, reportUnread, shownPath } from '../../text/files.js';
import { createFindings } from '../../text/findings.js';

/** Where policies are searched for. */
export interface PolicySearch {
  /** The working directory. Default: that of the process. */
  readonly cwd?: string | undefined;
  /** The policy named by the person who runs the workflow. */
  readonly file?: string | undefined;
}

/**
 * Opens the policies that apply in a folder: those of the user's configuration, the named one, and the project's `skein.policy.yaml` or
 * `skein.policy.toml`. One inside the project, even if named, can only narrow: anyone who writes there could change it.
 *
 * @throws SkeinError `SKEIN_FILE` if the named one can't be read, `SKEIN_DEFINITION` with all problems in `details.problems`
 * @example
 * await run(workflow, { policy: await openPolicies({ file: 'ci-policy.yaml' }) });
 */
export async function openPolicies(search: PolicySearch = {}): Promise<readonly Policy[]> {
  checkOptions<PolicySearch>('openPolicies', search, { cwd: 'text', file: 'text' });
  const { cwd = process.cwd(), file } = search;
  const findings = createFindings();
  const named = file === undefined ? undefined : resolve(cwd, file);
  const places = policyPlaces(cwd);
  const paths = [...new Set([...(named === undefined ? [] : [named]), ...places])];
  const policies: Policy[] = [];
  for (const path of paths) {
    const shown = path === named && file !== undefined ? file : shownPath(path, cwd);
    // The project's own policy could be a link to any file of the user.
    const isOther = path !== named && dirname(path) === resolve(cwd) && (await leadsOut(path, resolve(cwd)));
    const text = isOther ? NOT_READ : await readText(path);
    if (!text.ok) {
      if (path === named || text.failure !== 'missing')
        reportUnread(text, `the policy ${shown}`, { file: shown, line: 1, column: 1 }, findings);
      continue;
    }
    const widens = !(await isBeneath(path, cwd));
    // Most projects have no policy, so its reader loads on first use.
    const { readPolicyText } = await import('./read-policy.js');
    const policy = await readPolicyText(text.text, { file: shown, widens, path }, findings);
    if (policy !== undefined) policies.push(policy);
  }
  const { list } = findings;
  if (list.length > 0)
    throw fileError('a policy has problems', list, 'correct the file; docs/policies.md lists its keys');
  // The named policy takes precedence over the user's own.
  return policies.toSorted((a, b) => Number(a.file === file) - Number(b.file === file));
}
