import { quoteShort } from '../../lang/value-text.js';
import { absolutePath, reportUnread } from '../../text/files.js';
import type { Findings } from '../../text/findings.js';
import type { SourceScalar } from '../../text/nodes.js';
import { readAgentFile } from './agent-file.js';
import { allSteps, type AgentDef, type AgentTraits, type Definition } from './definition.js';
import { discoverAgents, reportHidden } from './discover-agents.js';
import type { Workspace } from '../opened-file.js';

/** An agent that steps can use. Its instructions are fixed text (`body`) or text with references (`prompt`). */
export interface Agent extends AgentTraits {
  readonly name: string;
  readonly body: string;
  readonly prompt: SourceScalar | undefined;
  /** The path of the agent's file, as shown in messages. */
  readonly file?: string;
}

/**
 * Finds the agents that the steps name. If there is a section `agents`, only its agents count. Otherwise, they are searched for in
 * `.github/agents` and `.claude/agents` of the working directory, `.copilot/agents` of the home directory and `agent_search_paths`; the
 * first place that has the name wins. A file there that is not an agent is skipped with a warning (`agent-skipped`). An agent of the
 * working directory that hides one of the user's own is also a warning (`agent-hides-another`).
 *
 * Problem codes: `unknown-agent`, `file-...`, `agent-skipped`, `agent-hides-another`.
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
  for (const step of allSteps(definition.steps)) {
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

async function discover(
  definition: Definition,
  workspace: Workspace,
  findings: Findings,
): Promise<ReadonlyMap<string, Agent>> {
  const askers = allSteps(definition.steps).filter((step) => step.agent !== undefined);
  const [asker] = askers;
  const agents = new Map<string, Agent>();
  if (asker === undefined) return agents;
  const discovery = await discoverAgents(definition, workspace, asker, findings);
  const { found } = discovery;
  for (const step of askers) {
    const wanted = step.agent?.text ?? '';
    const match = found.get(wanted);
    if (match !== undefined) {
      if (agents.has(wanted)) continue;
      workspace.use(match.path, match.text);
      findings.add(match.findings.list);
      const file = workspace.shown(match.path);
      if (match.local) reportHidden(wanted, file, await discovery.hides(wanted), findings);
      agents.set(wanted, { ...match.agent, prompt: undefined, file });
      continue;
    }
    const why = discovery.skipped(wanted);
    const hint = findings.near(wanted, found.keys()) ?? missingHint([...found.keys()]);
    findings.error(
      'unknown-agent',
      `${step.label} names the agent ${quoteShort(wanted)}, which was not found${why === undefined ? '' : `: ${why}`}`,
      step.agent?.at,
      why === undefined ? hint : 'correct the head of that file',
    );
  }
  return agents;
}

/** The maximum number of agents named in a hint. */
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
