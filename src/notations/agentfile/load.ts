import { dirname, resolve } from 'node:path';
import { noteReadFrom } from '../../plan/own-plan.js';
import type { Workflow } from '../../plan/workflow.js';
import { createFindings, sortProblems } from '../../text/findings.js';
import type { Findings } from '../../text/findings.js';
import { hasErrors } from '../../base/problem.js';
import { present } from '../../base/json.js';
import { openWorkspace } from '../dag/workspace.js';
import type { Workspace } from '../dag/workspace.js';
import type { Loading } from '../loading.js';
import type { OpenedFile } from '../opened-file.js';
import { compileTree } from '../tree/compile.js';
import type { TreeWorkflow } from '../tree/definition.js';
import { readConfiguration } from './configuration.js';
import type { Configuration } from './configuration.js';
import { defineTree } from './define.js';
import { parseAgentfile } from './parser.js';
import { readPolicy } from './policy-toml.js';
import { readSource } from './sources.js';
import type { Source } from './sources.js';
import type { Agentfile, WorkStatement } from './statements.js';
import { offerTools } from './tools.js';
import type { OfferedTools } from './tools.js';

/** An Agentfile as the tree that it describes, with all that it is compiled with. */
export interface ReadAgentfile {
  readonly tree: TreeWorkflow;
  readonly configuration: Configuration;
  readonly offered: OfferedTools;
  readonly workspace: Workspace;
}

/** Loads an Agentfile, the prompts and skills that it names, and the configuration beside it. */
export async function load(opened: OpenedFile, loading: Loading): Promise<Workflow> {
  const findings = createFindings(loading);
  const { tree, configuration, offered, workspace } = await readTree(opened, loading, findings);
  const { model, supervisor } = configuration;
  const compiled = compileTree(tree, {
    notation: 'agentfile',
    ...present({ supervisor }),
    defaults: { ...model, tools: offered.tools, mcpServers: offered.mcpServers },
  });
  findings.add(compiled.problems);
  const files = [opened.source, ...workspace.used];
  const plan = hasErrors(findings.list) ? undefined : compiled.plan;
  if (plan !== undefined)
    noteReadFrom(
      plan,
      files.map(({ path }) => path),
    );
  return {
    plan,
    bindings: compiled.bindings,
    settings: { output: { format: 'markdown' } },
    files,
    notes: [offered.note],
    problems: sortProblems(findings.list),
  };
}

/** Reads an Agentfile and everything around it, and makes the tree of it. */
export async function readTree(opened: OpenedFile, loading: Loading, findings: Findings): Promise<ReadAgentfile> {
  const { file, source } = opened;
  const { cwd, home, config, tools = [] } = loading;
  const workspace = openWorkspace({ cwd: resolve(cwd), home, base: dirname(source.path) });
  const statements = parseAgentfile(source.text, file, findings);
  const configuration = await readConfiguration(config, workspace, findings);
  const policy = await readPolicy(workspace, findings);
  const offered = offerTools(configuration, tools, policy, findings);
  const sources = await readSources(statements, configuration.roots, workspace, findings);
  return {
    tree: defineTree(statements, { file, configuration, offered, sources }, findings),
    configuration,
    offered,
    workspace,
  };
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
