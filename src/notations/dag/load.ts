import { dirname, resolve } from 'node:path';
import { present } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import { resultPaths, writingNodes } from '../../plan/result-nodes.js';
import type { Plan } from '../../plan/plan.js';
import type { WorkflowSettings } from '../../plan/workflow.js';
import { absolutePath, reportUnread } from '../../text/files.js';
import { createFindings, type Findings } from '../../text/findings.js';
import { checkName } from '../../text/names.js';
import { loadCalls, withCalled } from '../load-calls.js';
import { fromYaml, usable } from '../loading.js';
import { openWorkspace, type Workspace } from '../opened-file.js';
import { buildPlan } from './build-plan.js';
import { calledBy, valueSchemas } from './calls.js';
import { computedIn } from './conditions.js';
import { createReferences } from './create-references.js';
import { allSteps, schemasOf, type Definition } from './definition.js';
import { agentFolders } from './discover-agents.js';
import { findAgents } from './find-agents.js';
import { findSkills } from './find-skills.js';
import { readWorkflow } from './read-workflow.js';
import { connectSteps, nearestStep, type StepGraph } from './step-graph.js';
import { checkGiven, listedInputs } from '../inputs-key.js';

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
  if (loading.chain.length === 1) checkGiven(given, plan.inputs, unknownInput(plan), findings);
  const own = new Map([...agents.values()].flatMap(({ name, file }) => (file === undefined ? [] : [[name, file]])));
  const mine = {
    settings: buildSettings(definition, { plan, workspace, memory }),
    files: [source, ...workspace.used],
    agentFiles: own,
    toolPlaces: new Map([...agents.values()].map(({ name, toolPlaces }) => [name, toolPlaces])),
    agentFolders: agentFolders(definition, workspace).map(({ path }) => path),
  };
  return usable(plan, withCalled(mine, called), findings);
});

interface Loaded {
  readonly plan: Plan;
  readonly workspace: Workspace;
  readonly memory: string | undefined;
}

/**
 * Builds the settings for running and printing the workflow. `memory` is the initial shared memory; undefined if it is off. Printed outputs
 * are truncated by `output.truncate`, which defaults to `config.truncate`.
 */
function buildSettings(definition: Definition, { plan, workspace, memory }: Loaded): WorkflowSettings {
  const { config, output } = definition;
  return present({
    output: present({
      nodes: resultPaths(plan, output.steps?.map((step) => step.text) ?? writingNodes(plan)),
      format: output.format,
      truncate: output.truncate ?? config.truncate,
    }),
    audit: { dir: absolutePath(config.auditDir, workspace.cwd, workspace.home), keep: config.auditRetention },
    memory: memory === undefined ? undefined : { initial: memory },
    streaming: config.streaming,
    logLevel: config.logLevel,
  });
}

/** Returns the initial shared memory: the file beside the workflow, or the text in it, or empty. Undefined if memory is off. */
async function readInitialMemory(
  definition: Definition,
  workspace: Workspace,
  findings: Findings,
): Promise<string | undefined> {
  const { memory } = definition.config;
  if (memory?.file === undefined) return memory === undefined ? undefined : (memory.content ?? '');
  const path = absolutePath(memory.file.text, workspace.base, workspace.home);
  const text = await workspace.read(path);
  if (text.ok) {
    workspace.use(path, text.text);
    return text.text;
  }
  reportUnread(text, `initial_file ${workspace.shown(path)}`, memory.file.at, findings);
  return '';
}

/** Checks that the steps named in `output` exist (`unknown-step`) and have outputs (`missing-output`). */
function checkOutputSteps(definition: Definition, graph: StepGraph, findings: Findings): void {
  const { ids } = graph;
  for (const { text, at } of definition.output.steps ?? []) {
    if (ids.has(text) && graph.hasOutput(text)) continue;
    if (ids.has(text)) {
      const message = `output names the step ${quoteShort(text)}, which has no output`;
      findings.error('missing-output', message, at, 'leave it out: it ends the workflow');
      continue;
    }
    findings.error(
      'unknown-step',
      `output names the step ${quoteShort(text)}, which does not exist`,
      at,
      nearestStep(text, ids, findings),
    );
  }
}

function unknownInput({ inputs }: Plan): Parameters<typeof checkGiven>[2] {
  const others = inputs.length === 0 ? '' : ` (${listedInputs(inputs)})`;
  return {
    message: (name) => `no text refers to the input ${name}, and it is not declared`,
    hint: `declare it under inputs, refer to it, or leave it out${others}`,
  };
}
