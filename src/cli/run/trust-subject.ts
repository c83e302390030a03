import type { Problem } from '../../base/problem.js';
import { isModule, loadWorkflow, type LoadOptions } from './load-workflow.js';
import type { TrustSubject } from './trusted-files.js';
import { subjectOf } from './workflow-powers.js';

/** What a user would be asked to trust, or the problems that keep the file from being checked. */
type Looked = { readonly subject: TrustSubject } | { readonly problems: readonly Problem[] };

/**
 * Finds the parts and powers of a file. A module is read, not loaded, because loading runs its code. If a file names others outside the
 * project that the user has not agreed to, the result is limited to this part.
 */
export async function lookAt(file: string, options: LoadOptions): Promise<Looked> {
  const { cwd } = options;
  if (isModule(file)) {
    const { subjectOfModule } = await import('../modules/load-module.js');
    const subject = await subjectOfModule(file, cwd);
    return 'code' in subject ? { problems: [subject] } : { subject };
  }
  const { workflow, problems, part } = await loadWorkflow(file, { ...options, unasked: true });
  if (part !== undefined) return { subject: part };
  return workflow.plan === undefined ? { problems } : { subject: await subjectOf(workflow, file, cwd) };
}
