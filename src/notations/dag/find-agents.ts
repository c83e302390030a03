import { join } from 'node:path';
import { quoteShort } from '../../lang/value-text.js';
import { absolutePath, listMarkdown } from '../source/files.js';
import { createFindings } from '../source/findings.js';
import type { Findings } from '../source/findings.js';
import { reportUnread } from '../source/open-file.js';
import type { SourceScalar } from '../source/nodes.js';
import { readAgentFile } from './agent-file.js';
import type { AgentFile } from './agent-file.js';
import type { AgentDef, AgentTraits, Definition, StepDef } from './definition.js';
import type { Workspace } from './workspace.js';

/** An agent that steps can use: instructions as fixed text (`body`), or as text with references (`prompt`). */
export interface Agent extends AgentTraits {
  readonly name: string;
  readonly body: string;
  readonly prompt: SourceScalar | undefined;
  /** The file that it was read from, as it is shown. */
  readonly file?: string;
}

/**
 * Finds the agents that the steps name. With a section `agents` these are the only ones; without it they are looked for in
 * `.github/agents` and `.claude/agents` of the working directory, `.copilot/agents` of the home directory and `agent_search_paths`;
 * the first place that has the name wins. A file there that is no agent is skipped with a warning (`agent-skipped`).
 *
 * Problem codes: `unknown-agent`, `file-...`, `agent-skipped`.
 *
 * @example
 * const agents = await findAgents(definition, workspace, findings);
 */
export async function findAgents(
  definition: Definition,
  workspace: Workspace,
  findings: Findings,
): Promise<ReadonlyMap<string, Agent>> {
  if (definition.agents === undefined) return await discover(definition, workspace, findings);
  const agents = new Map<string, Agent>();
  const broken = new Set<string>();
  for (const def of definition.agents) {
    const agent = await loadDeclared(def, workspace, findings);
    if (agent === undefined) broken.add(def.name);
    else agents.set(def.name, agent);
  }
  const names = definition.agents.map((def) => def.name);
  if (names.length === 0) return agents;
  for (const step of definition.steps) {
    const wanted = step.agent?.text;
    if (wanted === undefined || agents.has(wanted) || broken.has(wanted)) continue;
    const hint =
      findings.near(wanted, names) ??
      `agents of this workflow: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ' ...' : ''}`;
    findings.error(
      'unknown-agent',
      `${step.label} names the agent ${quoteShort(wanted)}, which is not in agents`,
      step.agent?.at,
      hint,
    );
  }
  return agents;
}

async function loadDeclared(def: AgentDef, workspace: Workspace, findings: Findings): Promise<Agent | undefined> {
  if (def.file === undefined) {
    return def.inline === undefined ? undefined : { ...def.inline, name: def.name, body: '' };
  }
  const path = absolutePath(def.file.text, workspace.base, workspace.home);
  const text = await workspace.read(path);
  if (!text.ok) {
    reportUnread(text, `the file ${workspace.shown(path)} of agent ${quoteShort(def.name)}`, def.file.at, findings);
    return undefined;
  }
  workspace.use(path, text.text);
  const file = workspace.shown(path);
  const agent = readAgentFile(text.text, file, findings);
  return agent === undefined ? undefined : { ...agent, name: def.name, prompt: undefined, file };
}

interface Found {
  readonly path: string;
  readonly text: string;
  readonly agent: AgentFile;
  readonly findings: Findings;
}

async function discover(
  definition: Definition,
  workspace: Workspace,
  findings: Findings,
): Promise<ReadonlyMap<string, Agent>> {
  const askers = definition.steps.filter((step) => step.agent !== undefined);
  const [asker] = askers;
  const agents = new Map<string, Agent>();
  if (asker === undefined) return agents;
  const found = await scanPlaces(definition, workspace, asker, findings);
  for (const step of askers) {
    const wanted = step.agent?.text ?? '';
    const match = found.get(wanted);
    if (match !== undefined) {
      if (agents.has(wanted)) continue;
      workspace.use(match.path, match.text);
      findings.add(match.findings.list);
      agents.set(wanted, { ...match.agent, prompt: undefined, file: workspace.shown(match.path) });
      continue;
    }
    const hint = findings.near(wanted, found.keys()) ?? missingHint([...found.keys()]);
    findings.error(
      'unknown-agent',
      `${step.label} names the agent ${quoteShort(wanted)}, which was not found`,
      step.agent?.at,
      hint,
    );
  }
  return agents;
}

/** A folder in which agents are looked for, and where the workflow file names it. */
interface AgentFolder {
  readonly path: string;
  readonly at: SourceScalar | undefined;
}

/**
 * The folders in which agents are looked for, in the order in which they count.
 *
 * @example
 * agentFolders(definition, workspace).map(({ path }) => path); // ['/project/.github/agents', ...]
 */
export function agentFolders(definition: Definition, { cwd, home }: Workspace): readonly AgentFolder[] {
  return [
    { path: join(cwd, '.github', 'agents'), at: undefined },
    { path: join(cwd, '.claude', 'agents'), at: undefined },
    ...(home === undefined ? [] : [{ path: join(home, '.copilot', 'agents'), at: undefined }]),
    ...definition.config.searchPaths.map((at) => ({ path: absolutePath(at.text, cwd, home), at })),
  ];
}

async function scanPlaces(
  definition: Definition,
  workspace: Workspace,
  asker: StepDef,
  findings: Findings,
): Promise<ReadonlyMap<string, Found>> {
  const found = new Map<string, Found>();
  for (const { path, at } of agentFolders(definition, workspace)) {
    const list = await listMarkdown(path);
    if (list.ok) {
      for (const name of list.names) await addFile(join(path, name), found, workspace, findings);
    } else if (list.failure !== 'missing') {
      reportUnread(list, `the agent folder ${workspace.shown(path)}`, at?.at ?? asker.agent?.at, findings);
    }
  }
  return found;
}

async function addFile(
  path: string,
  found: Map<string, Found>,
  workspace: Workspace,
  findings: Findings,
): Promise<void> {
  const shown = workspace.shown(path);
  const start = { file: shown, line: 1, column: 1 };
  const text = await workspace.read(path);
  if (!text.ok) {
    findings.warning('agent-skipped', `${shown} is skipped: it ${text.message}`, start, text.hint);
    return;
  }
  const own = createFindings(findings);
  const agent = readAgentFile(text.text, shown, own);
  // What is lost with an agent matters only where the agent is used.
  const wrong = own.list.filter(({ severity, code }) => severity === 'error' && code !== 'not-supported');
  if (agent === undefined || wrong.length > 0) {
    const [first] = wrong;
    const why = first?.message ?? 'it has no front matter';
    findings.warning('agent-skipped', `${shown} is skipped: ${why}`, first?.at ?? start, first?.hint);
    return;
  }

  if (!found.has(agent.name)) found.set(agent.name, { path, text: text.text, agent, findings: own });
}

/** How many found agents are named in a hint. */
const MOST_NAMED = 8;

function missingHint(found: readonly string[]): string {
  const add = 'add it to agents, or put a file NAME.agent.md with that name into .github/agents';
  if (found.length === 0) return add;
  const names = found
    .slice(0, MOST_NAMED)
    .map((name) => quoteShort(name))
    .join(', ');
  return `${add}; found are ${names}${found.length > MOST_NAMED ? ' ...' : ''}`;
}
