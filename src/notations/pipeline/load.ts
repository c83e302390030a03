import { basename, dirname, extname } from 'node:path';
import type { Plan } from '../../plan/plan.js';
import { resultPaths } from '../../plan/result-nodes.js';
import type { WorkflowSettings } from '../../plan/workflow.js';
import { fromYaml, usable } from '../loading.js';
import { buildPlan } from './build-plan.js';
import { loadCalls, withCalled, type CalledFiles } from '../load-calls.js';
import { callsIn, type PipelineDef } from './definition.js';
import { readPipeline } from './read-pipeline.js';
import { checkGiven, listedInputs } from '../inputs-key.js';

/** Loads a pipeline, and the files its steps call. */
export const load = fromYaml(async ({ source, yaml, root }, loading, findings) => {
  const { path } = source;
  const definition = readPipeline(root, basename(path, extname(path)) || 'workflow', findings);
  if (definition === undefined) return undefined;
  const called = await loadCalls(callsIn(definition.steps), { ...loading, base: dirname(path) }, findings);
  const plan = buildPlan(definition, { yaml, calls: called.plans }, findings);
  // The inputs of a called file are checked at the calling step.
  if (loading.chain.length === 1) {
    const unknown = { message: (name: string) => `a pipeline has no input ${name}`, hint: listedInputs(plan.inputs) };
    checkGiven(loading.inputs ?? [], plan.inputs, unknown, findings);
  }
  const own = {
    settings: settingsOf(plan, definition, called),
    files: [source],
    agentFiles: new Map(),
    toolPlaces: new Map(),
    agentFolders: [],
  };
  return usable(plan, withCalled(own, called), findings);
});

function settingsOf(plan: Plan, definition: PipelineDef, called: CalledFiles): WorkflowSettings {
  const output: WorkflowSettings['output'] = { nodes: resultPaths(plan), format: 'markdown' };
  const inner = called.workflows.find(({ settings }) => settings.memory !== undefined)?.settings.memory;
  const remembers = [...definition.agents.values()].some(({ spec }) => spec.memory !== undefined);
  const memory = inner ?? (remembers ? { initial: '' } : undefined);
  return memory === undefined ? { output } : { output, memory };
}
