import { dirname, resolve } from 'node:path';
import { freezeData } from '../../base/json.js';
import { hasErrors } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import { checkPlan } from '../../plan/checks.js';
import type { Plan } from '../../plan/plan.js';
import { NO_BINDINGS } from '../../plan/plan.js';
import { noteReadFrom } from '../../plan/read-from.js';
import type { SourceFile, Workflow } from '../../plan/workflow.js';
import { createFindings, sortProblems } from '../source/findings.js';
import type { Findings } from '../source/findings.js';
import { judged } from '../source/judging.js';
import type { Judging } from '../source/judging.js';
import { openFile, openText, unusable } from '../source/open-file.js';
import type { OpenedFile } from '../source/open-file.js';
import type { ParsedYaml } from '../source/yaml.js';
import { buildPlan } from './build-plan.js';
import type { Definition } from './definition.js';
import { agentFolders } from './discover-agents.js';
import { findAgents } from './find-agents.js';
import type { Agent } from './find-agents.js';
import { findSkills } from './find-skills.js';
import { checkName } from '../source/names.js';
import { readWorkflow } from './read-workflow.js';
import { createReferences } from './references.js';
import { connectSteps } from './step-graph.js';
import { buildSettings, checkOutputSteps, readInitialMemory } from './settings.js';
import { openWorkspace } from './workspace.js';
import type { Workspace } from './workspace.js';

/** Where a workflow is loaded, and how strictly it is judged. */
export interface DagOptions extends Judging {
  /** Working directory: agent folders, `agent_search_paths`, `extra_dirs` and `audit_dir` start here. */
  readonly cwd: string;
  /** Home directory, for `~/` and `~/.copilot/agents`. Absent: these are not looked at. */
  readonly home?: string;
  /** Steps may ask the person unless the file says otherwise. Default false. */
  readonly interactive?: boolean;
  /** Names of the inputs that will be given. Templates may use them although the file does not declare them. */
  readonly inputs?: readonly string[];
  /** Names of the inputs that a run was begun with. They stay inputs although no text refers to them any more. */
  readonly recorded?: readonly string[];
}

/** How a workflow text is loaded. */
export interface DagTextOptions extends DagOptions {
  /** Path of the file that the text is from: relative paths in it start beside it. Default `workflow.yaml` in `cwd`. */
  readonly file?: string;
}

/**
 * Loads a DAG workflow file and the agent and skill files that it names. Nothing is run, started or written. All problems are collected in the
 * result, in the order of the text; with an error among them there is no plan.
 *
 * @example
 * const workflow = await loadDag('review.yaml', { cwd: process.cwd(), home: homedir() });
 * for (const problem of workflow.problems) console.error(formatProblem(problem));
 */
export async function loadDag(file: string, options: DagOptions): Promise<Workflow> {
  return judged(await loadOpenedDag(await openFile(file, options.cwd), options), options);
}

/**
 * Loads a DAG workflow from its text; agent and skill files that it names are read from disk. See {@link loadDag}.
 *
 * @example
 * const { plan, problems } = await loadDagText('name: hi\nsteps: ...', { cwd: '/project' });
 */
export async function loadDagText(text: string, options: DagTextOptions): Promise<Workflow> {
  const file = options.file ?? 'workflow.yaml';
  return judged(await loadOpenedDag(openText(text, file, resolve(options.cwd, file)), options), options);
}

/**
 * Loads a DAG workflow from a file that is open already. See {@link loadDag}.
 *
 * @example
 * const workflow = await loadOpenedDag(await openFile('review.yaml', cwd), { cwd });
 */
export async function loadOpenedDag(
  opened: OpenedFile,
  options: DagOptions & {
    /** It is a step of another file, which gives the inputs. */
    readonly called?: true;
  },
): Promise<Workflow> {
  const { source, content } = opened;
  const files = source === undefined ? [] : [source];
  if (source === undefined || content === undefined) return unusable(opened.problems, files);
  const findings = createFindings({ lenient: options.lenient });
  findings.add(opened.problems);
  const definition = readWorkflow(content.root, findings);
  if (definition === undefined) return unusable(findings.list, files);
  const workspace = openWorkspace({ cwd: resolve(options.cwd), home: options.home, base: dirname(opened.path) });
  return await assemble(definition, { yaml: content.yaml, source, workspace, options }, findings);
}

interface Loading {
  readonly yaml: ParsedYaml;
  readonly source: SourceFile;
  readonly workspace: Workspace;
  readonly options: Parameters<typeof loadOpenedDag>[1];
}

async function assemble(definition: Definition, loading: Loading, findings: Findings): Promise<Workflow> {
  const { yaml, workspace, options } = loading;
  const agents = await findAgents(definition, workspace, findings);
  const skills = await findSkills(definition, workspace, findings);
  const memory = await readInitialMemory(definition, workspace, findings);
  const graph = connectSteps(definition.steps, findings);
  const recorded = new Set(options.recorded);
  const given = [...(options.inputs ?? []), ...recorded].filter((name) =>
    checkName(name, 'input name', undefined, findings),
  );
  const references = createReferences({ yaml, inputs: definition.inputs, given }, graph, findings);
  const interactive = options.interactive ?? false;
  const plan = buildPlan({ definition, agents, skills, references, workspace, given, recorded, interactive }, findings);
  checkOutputSteps(definition, references.graph.ids, findings);
  // Whoever calls the file knows where the name is written.
  if (options.called !== true) checkGiven(given, plan, findings);
  // What is wrong here would be found again there, in words that are further from the file.
  if (!hasErrors(findings.list)) findings.add(checkPlan(freezeData(plan), NO_BINDINGS));
  const files = [loading.source, ...workspace.used];
  const folders = agentFolders(definition, workspace).map(({ path }) => path);
  noteReadFrom(plan, [...files.map(({ path }) => path), ...folders]);
  return {
    plan: hasErrors(findings.list) ? undefined : plan,
    bindings: NO_BINDINGS,
    settings: buildSettings(definition, workspace, memory),
    files,
    agentFiles: agentFiles(agents),
    agentFolders: folders,
    problems: sortProblems(findings.list),
  };
}

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

function agentFiles(agents: ReadonlyMap<string, Agent>): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { name, file } of agents.values()) if (file !== undefined) files.set(name, file);
  return files;
}
