import { dirname, resolve } from 'node:path';
import { quoteShort } from '../../lang/value-text.js';
import type { Plan } from '../../plan/plan.js';
import type { Findings } from '../../text/findings.js';
import { checkName } from '../../text/names.js';
import { fromYaml, usable } from '../loading.js';
import { buildPlan } from './build-plan.js';
import { schemasOf } from './definition.js';
import { agentFolders } from './discover-agents.js';
import { findAgents } from './find-agents.js';
import { findSkills } from './find-skills.js';
import { readWorkflow } from './read-workflow.js';
import { createReferences } from './references.js';
import { connectSteps } from './step-graph.js';
import { buildSettings, checkOutputSteps, readInitialMemory } from './settings.js';
import { openWorkspace } from '../opened-file.js';

/** Loads a DAG workflow, and the agent and skill files that it names. */
export const load = fromYaml(async ({ source, yaml, root }, loading, findings) => {
  const definition = readWorkflow(root, findings);
  if (definition === undefined) return undefined;
  const { cwd, home, interactive = false, mayRead } = loading;
  const workspace = openWorkspace({ cwd: resolve(cwd), home, base: dirname(source.path) }, mayRead);
  const agents = await findAgents(definition, workspace, findings);
  const skills = await findSkills(definition, workspace, findings);
  const memory = await readInitialMemory(definition, workspace, findings);
  const graph = connectSteps(definition.steps, findings);
  const recorded = new Set(loading.recorded);
  const given = [...(loading.inputs ?? []), ...recorded].filter((name) =>
    checkName(name, 'input name', undefined, findings),
  );
  const references = createReferences(
    { yaml, inputs: definition.inputs, given, schemas: schemasOf(definition.steps) },
    graph,
    findings,
  );
  const plan = buildPlan({ definition, agents, skills, references, workspace, given, recorded, interactive }, findings);
  checkOutputSteps(definition, graph, findings);
  // Whoever calls the file knows where the name is written.
  if (loading.chain.length === 1) checkGiven(given, plan, findings);
  const parts = {
    settings: buildSettings(definition, workspace, memory),
    files: [source, ...workspace.used],
    agentFiles: new Map([...agents.values()].flatMap(({ name, file }) => (file === undefined ? [] : [[name, file]]))),
    agentFolders: agentFolders(definition, workspace).map(({ path }) => path),
  };
  return usable(plan, parts, findings);
});

/** An input that nothing asks for is most likely another one, misspelt: it is refused before anything is spent. */
function checkGiven(given: readonly string[], plan: Plan, findings: Findings): void {
  const known = plan.inputs.map((input) => input.name);
  for (const name of new Set(given)) {
    if (known.includes(name)) continue;
    const others = known.length === 0 ? '' : ` (inputs are: ${known.join(', ')})`;
    const hint = findings.near(name, known) ?? `declare it under inputs, refer to it, or leave it out${others}`;
    findings.error(
      'unknown-input',
      `no text refers to the input ${quoteShort(name)}, and it is not declared`,
      undefined,
      hint,
    );
  }
}
