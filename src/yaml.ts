/**
 * Workflows written in YAML.
 *
 * @example
 * import { loadDag } from 'skein/yaml';
 *
 * const { plan, problems } = await loadDag('review.yaml', { cwd: process.cwd() });
 */
export { loadDag, loadDagText } from './notations/dag/load.js';
export type { DagOptions, DagTextOptions } from './notations/dag/load.js';
