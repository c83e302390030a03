import { resolve } from 'node:path';
import type { Problem } from '../../base/problem.js';
import type { LoadOptions } from './load-workflow.js';
import { isModule, loadWorkflow } from './load-workflow.js';
import type { TrustSubject } from './trusted-files.js';
import { moduleSubject, subjectOf } from './workflow-powers.js';

/** What a user would be asked to trust, or what keeps the file from being looked at. */
type Looked = { readonly subject: TrustSubject } | { readonly problems: readonly Problem[] };

/** Looks at a file for what it is made of and what it can do. A module is read, not loaded: its code would run. */
export async function lookAt(file: string, options: LoadOptions): Promise<Looked> {
  const { cwd } = options;
  if (isModule(file)) {
    const { sourcesOf } = await import('../modules/load-module.js');
    const sources = await sourcesOf(file, cwd);
    if ('code' in sources) return { problems: [sources] };
    return { subject: moduleSubject(resolve(cwd, file), sources) };
  }
  const { workflow, problems } = await loadWorkflow(file, options);
  return workflow.plan === undefined ? { problems } : { subject: await subjectOf(workflow, file, cwd) };
}
