import { dirname, join, resolve } from 'node:path';
import { AUDIT_FOLDER } from '../../base/own-names.js';
import { noteReadFrom } from '../../plan/own-plan.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Workflow } from '../../plan/workflow.js';
import { createFindings, sortProblems, type Findings } from '../../text/findings.js';
import { hasErrors, type Problem } from '../../base/problem.js';
import { present } from '../../base/json.js';
import type { NarrowPolicy } from '../../plan/policy.js';
import { unusable, type Loading, type PlacedOptions } from '../loading.js';
import { looksLikeAgentfile } from '../looks-like.js';
import { openFile, openWorkspace, type OpenedFile, type Workspace } from '../opened-file.js';
import { readPolicyMap } from '../policy/read-policy.js';
import { compileTree } from '../tree/compile.js';
import type { TreeOverride, TreeWorkflow } from '../tree/definition.js';
import { readConfiguration, readTomlFile, type Configuration } from './configuration.js';
import { defineTree } from './define.js';
import { parseAgentfile } from './parser.js';
import { readSource, type Source } from './sources.js';
import type { Agentfile, WorkStatement } from './statements.js';
import { offerTools, type OfferedTools } from './tools.js';
import { checkGiven, listedInputs } from '../inputs-key.js';

interface ReadAgentfile {
  readonly tree: TreeWorkflow;
  readonly defaults: TreeOverride;
  readonly configuration: Configuration;
  readonly offered: OfferedTools;
  readonly workspace: Workspace;
}

/** Loads an Agentfile, the prompts and skills it names, and the configuration beside it. */
export async function load(opened: OpenedFile, loading: Loading): Promise<Workflow> {
  const findings = createFindings(loading);
  const { tree, configuration, offered, workspace, defaults } = await readTree(opened, loading, findings);
  if (tree.sequences.length === 0) return unusable(findings.list, [opened.source, ...workspace.used]);
  const { supervisor: judge } = configuration;
  const compiled = compileTree(tree, { notation: 'agentfile', defaults, ...present({ judge }) });
  findings.add(compiled.problems);
  // The inputs of a called file are checked at the calling step.
  if (loading.chain.length === 1) {
    const unknown = {
      message: (name: string) => `the Agentfile has no input ${name}`,
      hint: listedInputs(tree.inputs),
    };
    checkGiven(loading.inputs ?? [], tree.inputs, unknown, findings);
  }
  const files = [opened.source, ...workspace.used];
  const plan = hasErrors(findings.list) ? undefined : compiled.plan;
  if (plan !== undefined)
    noteReadFrom(
      plan,
      files.map(({ path }) => path),
    );
  return {
    ...(plan === undefined ? { plan, inputs: compiled.plan?.inputs ?? [] } : { plan }),
    bindings: compiled.bindings,
    settings: { output: { format: 'markdown' }, audit: { dir: join(workspace.cwd, AUDIT_FOLDER), keep: 0 } },
    files,
    notes: [offered.note],
    problems: sortProblems(findings.list),
  };
}

/** Converts an Agentfile to a module for `skein/tree`. The code is undefined if there are errors. */
export async function convertAgentfile(
  file: string,
  options: PlacedOptions,
): Promise<{ readonly code: string | undefined; readonly problems: readonly Problem[] }> {
  const opened = await openFile(file, options);
  if (!('source' in opened)) return { code: undefined, problems: opened };
  const findings = createFindings(options);
  if (!looksLikeAgentfile(opened)) {
    const hint = 'convert takes Agentfiles, and modules that export a tree';
    findings.error('not-agentfile', `${quoteShort(file)} is not an Agentfile`, { file, line: 1, column: 1 }, hint);
    return { code: undefined, problems: findings.list };
  }
  const { tree, defaults } = await readTree(opened, options, findings);
  if (tree.sequences.length > 0) findings.add(compileTree(tree, { defaults }).problems);
  const problems = sortProblems(findings.list);
  if (hasErrors(problems) || tree.sequences.length === 0) return { code: undefined, problems };
  const { treeCode } = await import('./convert/to-code.js');
  return { code: treeCode(tree, defaults, opened.source), problems };
}

async function readTree(opened: OpenedFile, options: PlacedOptions, findings: Findings): Promise<ReadAgentfile> {
  const { file, source } = opened;
  const { cwd, home, config, tools = [], mayRead } = options;
  const workspace = openWorkspace({ cwd: resolve(cwd), home, base: dirname(source.path) }, mayRead);
  const statements = parseAgentfile(source.text, file, findings);
  const configuration = await readConfiguration(config, workspace, findings);
  const policy = await policyBeside(workspace, findings);
  const offered = offerTools(configuration, tools, policy, findings);
  const sources = await readSources(statements, configuration.roots, workspace, findings);
  const { tools: builtIn, mcpServers } = offered;
  const defaults = {
    ...configuration.model,
    ...present({ cache: configuration.cache, sandbox: configuration.sandbox, policy: limitsOf(policy) }),
    tools: builtIn,
    ...(Object.keys(mcpServers).length > 0 && { mcpServers }),
  };
  const tree = defineTree(statements, { file, configuration, offered, sources }, findings);
  return { tree, defaults, configuration, offered, workspace };
}

/** Reads `policy.toml` beside the file. It lies in the project, so it can only narrow permissions. */
async function policyBeside(workspace: Workspace, findings: Findings): Promise<NarrowPolicy | undefined> {
  const path = join(workspace.base, 'policy.toml');
  const root = await readTomlFile(path, false, workspace, findings);
  return root && readPolicyMap(root, { file: workspace.shown(path), widens: false }, findings);
}

/** Returns the part of a policy that must be checked in a run. Tools that are switched off are not offered at all. */
function limitsOf(policy: NarrowPolicy | undefined): NarrowPolicy | undefined {
  if (policy === undefined) return undefined;
  const { allow, deny, folders, domains, mcp, tools = {} } = policy;
  const hasMore = [allow, deny, folders, domains].some((list) => list !== undefined);
  const rules = Object.values(tools).some((tool) => Object.keys(tool).some((key) => key !== 'enabled'));
  const limitsServers = mcp?.enabled === false || mcp?.defaultDeny === true;
  return hasMore || rules || limitsServers ? policy : undefined;
}

async function readSources(
  { agents, goals }: Agentfile,
  roots: readonly string[],
  workspace: Workspace,
  findings: Findings,
): Promise<ReadonlyMap<WorkStatement, Source>> {
  const sources = new Map<WorkStatement, Source>();
  for (const statement of [...agents, ...goals]) {
    const { from } = statement;
    const source = from && (await readSource(from, roots, workspace, findings));
    if (source !== undefined) sources.set(statement, source);
  }
  return sources;
}
