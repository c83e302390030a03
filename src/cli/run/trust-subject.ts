import type { Problem } from '../../base/problem.js';
import type { LoadOptions } from './load-workflow.js';
import { isModule, loadWorkflow } from './load-workflow.js';
import type { TrustSubject } from './trusted-files.js';
import { subjectOf } from './workflow-powers.js';

/** What a user would be asked to trust, or what keeps the file from being looked at. */
type Looked = { readonly subject: TrustSubject } | { readonly problems: readonly Problem[] };

/**
 * Looks at a file for what it is made of and what it can do. A module is read, not loaded: its code would run. Of a file that names others elsewhere, to which
 * the user has not said yes, that is all.
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
