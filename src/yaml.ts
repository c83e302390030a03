/**
 * Workflows written in YAML.
 *
 * @example
 * import { loadWorkflow } from 'skein/yaml';
 *
 * const { plan, problems } = await loadWorkflow('review.yaml', { cwd: process.cwd() });
 */
export { loadDag, loadDagText } from './notations/dag/load.js';
export type { DagOptions, DagTextOptions } from './notations/dag/load.js';
export { loadPipeline, loadPipelineText, loadWorkflow, loadWorkflowText } from './notations/load-workflow.js';
export type { WorkflowOptions, WorkflowTextOptions } from './notations/load-workflow.js';
export { SCHEMA_NAMES, yamlSchema, type SchemaName } from './schema.js';
export type { SchemaData } from './text/form-schema.js';
