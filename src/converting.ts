import { isPlainObject } from './base/json.js';
import { hasErrors, type Problem } from './base/problem.js';
import { agentfileOf, type ConvertedTree } from './notations/agentfile/convert/to-agentfile.js';
import type { TreeWorkflow } from './notations/tree/definition.js';
import { compileTree } from './notations/tree/compile.js';
import { definitionOf, type Workflow } from './tree/objects.js';
import { defaultsOf } from './tree/runtime.js';

export { convertAgentfile } from './notations/agentfile/load.js';

/**
 * Converts a tree that a program built to an Agentfile, with the configuration it needs.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for a runtime that can't be used
 */
export function convertTree({ tree, runtime }: { readonly tree: unknown; readonly runtime?: unknown }): ConvertedTree {
  const isObject = typeof tree === 'object' && tree !== null;
  // Only trees of the tree notation have a definition.
  const definition = isObject ? (definitionOf(tree as Workflow) as TreeWorkflow | undefined) : undefined;
  if (definition?.kind !== 'workflow') return { files: [], problems: [NO_TREE] };
  const { problems } = compileTree(definition);
  if (hasErrors(problems)) return { files: [], problems };
  return agentfileOf(definition, isPlainObject(runtime) ? defaultsOf(runtime) : {});
}

const NO_TREE: Problem = {
  code: 'module-export',
  severity: 'error',
  message: 'the default export is not a tree',
  hint: "export what workflow('name') of skein/tree gives",
};
