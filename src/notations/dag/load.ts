import { dirname, resolve } from 'node:path';
import { quoteShort } from '../../lang/value-text.js';
import type { Plan } from '../../plan/plan.js';
import { createFindings } from '../../text/findings.js';
import type { Findings } from '../../text/findings.js';
import { checkName } from '../../text/names.js';
import { fromYaml, usable } from '../loading.js';
import { buildPlan } from './build-plan.js';
import { loadCalls, withCalled } from '../load-calls.js';
import { calledBy, valueSchemas } from './calls.js';
import { computedIn } from './conditions.js';
import { allSteps, schemasOf } from './definition.js';
import { agentFolders } from './discover-agents.js';
import { findAgents } from './find-agents.js';
import { findSkills } from './find-skills.js';
import { readWorkflow } from './read-workflow.js';
import { createReferences } from './create-references.js';
import { connectSteps } from './step-graph.js';
import { buildSettings, checkOutputSteps, readInitialMemory } from './settings.js';
import { openWorkspace } from '../opened-file.js';

/** Loads a DAG workflow, and the agent and skill files it names. */
export const load = fromYaml(async ({ source, yaml, root }, loading, findings) => {
  const definition = readWorkflow(root, findings);
  if (definition === undefined) return undefined;
  const { cwd, home, interactive = false, mayRead } = loading;
  const workspace = openWorkspace({ cwd: resolve(cwd), home, base: dirname(source.path) }, mayRead);
  const agents = await findAgents(definition, workspace, findings);
  const skills = await findSkills(definition, workspace, findings);
  const memory = await readInitialMemory(definition, workspace, findings);
  const calls = allSteps(definition.steps).flatMap(({ call, label, at }) =>
    call === undefined ? [] : [{ call, label, at }],
  );
  const called = await loadCalls(calls, { ...loading, base: dirname(source.path) }, findings);
  const graph = connectSteps(definition.steps, findings);
  const recorded = new Set(loading.recorded);
  const given = [...(loading.inputs ?? []), ...recorded].filter((name) =>
    checkName(name, 'input name', undefined, findings),
  );
  const named = {
    yaml,
    inputs: definition.inputs,
    given,
    schemas: new Map([...schemasOf(definition.steps), ...valueSchemas(definition.steps, called.plans)]),
    called: calledBy(definition.steps, called.plans),
  };
  const found = { definition, agents, skills, plans: called.plans, workspace, given, recorded, interactive };
  const build = (
    tells: ReadonlySet<string>,
    into: Findings,
  ): { readonly plan: Plan; readonly told: ReadonlySet<string> } => {
    const computed: Parameters<typeof createReferences>[0]['computed'] = (text, use, all) =>
      computedIn(text, use, all, into);
    const references = createReferences({ ...named, tells, computed }, graph, into);
    return { plan: buildPlan({ ...found, references }, into), told: references.told };
  };
  const first = build(new Set(), findings);
  // Resolving all references shows whose ending is read, so such plans are built twice.
  const { plan } = first.told.size === 0 ? first : build(first.told, createFindings());
  checkOutputSteps(definition, graph, findings);
  // The inputs of a called file are checked at the calling step.
  if (loading.chain.length === 1) checkGiven(given, plan, findings);
  const own = new Map([...agents.values()].flatMap(({ name, file }) => (file === undefined ? [] : [[name, file]])));
  const mine = {
    settings: buildSettings(definition, workspace, memory),
    files: [source, ...workspace.used],
    agentFiles: own,
    toolPlaces: new Map([...agents.values()].map(({ name, toolPlaces }) => [name, toolPlaces])),
    agentFolders: agentFolders(definition, workspace).map(({ path }) => path),
  };
  return usable(plan, withCalled(mine, called), findings);
});

/** Reports unused, undeclared inputs. Such an input is most likely a misspelling, so it is refused before anything is spent. */
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
