/**
 * Workflows written in YAML.
 *
 * @example
 * import { loadWorkflow } from 'skein/yaml';
 *
 * const { plan, problems } = await loadWorkflow('review.yaml');
 */
export {
  loadDag,
  loadDagText,
  loadPipeline,
  loadPipelineText,
  loadWorkflow,
  loadWorkflowText,
} from './notations/load-workflow.js';
export type { WorkflowOptions, WorkflowTextOptions } from './notations/loading.js';
export { openPolicies, type PolicySearch } from './notations/policy/policy-file.js';
export type { Policy } from './plan/policy.js';
export { SCHEMA_NAMES, yamlSchema, type SchemaName } from './notations/registry.js';
export type { SchemaData } from './text/form-schema.js';
