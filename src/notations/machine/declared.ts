import type { Declarations } from '../../plan/declarations.js';
import { declarationsOf } from '../../plan/declarations.js';
import type { Findings } from '../../text/findings.js';
import { entryOf } from '../../text/nodes.js';
import type { SourceNode } from '../../text/nodes.js';
import { readFields } from '../../text/shape.js';
import { readDeclarations } from '../declarations-key.js';
import type { Pack } from './pack.js';

/** What a pack declares of the calls of its agents: in the settings of the runtime, or in its notes where it has no workflow. */
export function packDeclarations({ workflow, metadata }: Pack): Declarations {
  return declarationsOf((workflow === undefined ? metadata?.skein : workflow.engine?.skein) ?? {});
}

/** What the form of a pack can't say of them. Problem codes: those of {@link readDeclarations}. */
export function checkDeclared(root: SourceNode, findings: Findings): void {
  for (const path of [
    ['workflow', 'engine', 'skein'],
    ['metadata', 'skein'],
  ]) {
    const node = path.reduce<SourceNode | undefined>((inside, key) => inside && entryOf(inside, key)?.value, root);
    const fields = node && readFields(node, { name: path.join('.') }, findings);
    if (fields !== undefined) readDeclarations(fields);
  }
}
