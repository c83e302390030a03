import { basename, dirname, extname } from 'node:path';
import { quoteShort } from '../../lang/value-text.js';
import type { Plan } from '../../plan/plan.js';
import type { WorkflowSettings } from '../../plan/workflow.js';
import type { Findings } from '../../text/findings.js';
import { fromYaml, usable } from '../loading.js';
import { buildPlan } from './build-plan.js';
import { loadCalls, withCalled } from '../load-calls.js';
import type { CalledFiles } from '../load-calls.js';
import { callsIn } from './definition.js';
import type { PipelineDef } from './definition.js';
import { readPipeline } from './read-pipeline.js';
import { resultNodes } from '../results.js';

/** Loads a pipeline, and the files its steps call. */
export const load = fromYaml(async ({ source, yaml, root }, loading, findings) => {
  const { path } = source;
  const definition = readPipeline(root, basename(path, extname(path)) || 'workflow', findings);
  if (definition === undefined) return undefined;
  const called = await loadCalls(callsIn(definition.steps), { ...loading, base: dirname(path) }, findings);
  const plan = buildPlan(definition, { yaml, calls: called.plans }, findings);
  // The inputs of a called file are checked at the calling step.
  if (loading.chain.length === 1) checkGiven(loading.inputs ?? [], plan, findings);
  const own = {
    settings: settingsOf(plan, definition, called),
    files: [source],
    agentFiles: new Map(),
    toolPlaces: new Map(),
    agentFolders: [],
  };
  return usable(plan, withCalled(own, called), findings);
});

function checkGiven(given: readonly string[], plan: Plan, findings: Findings): void {
  const known = plan.inputs.map((input) => input.name);
  for (const name of new Set(given)) {
    if (known.includes(name)) continue;
    const hint = findings.near(name, known) ?? `inputs are: ${known.join(', ')}`;
    findings.error('unknown-input', `a pipeline has no input ${quoteShort(name)}`, undefined, hint);
  }
}

function settingsOf(plan: Plan, definition: PipelineDef, called: CalledFiles): WorkflowSettings {
  const output: WorkflowSettings['output'] = { nodes: resultNodes(plan), format: 'markdown' };
  const inner = called.workflows.find(({ settings }) => settings.memory !== undefined)?.settings.memory;
  const remembers = [...definition.agents.values()].some(({ spec }) => spec.memory !== undefined);
  const memory = inner ?? (remembers ? { initial: '' } : undefined);
  return memory === undefined ? { output } : { output, memory };
}
