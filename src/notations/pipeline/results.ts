import type { Plan } from '../../plan/plan.js';

/**
 * The nodes that hold the results of a pipeline: where its flow ends.
 *
 * @example
 * const settings = { output: { nodes: resultNodes(plan), format: 'markdown' } };
 */
export function resultNodes(plan: Plan): readonly string[] {
  void plan;
  return [];
}
