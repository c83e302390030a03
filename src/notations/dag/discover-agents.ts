import { join } from 'node:path';
import { quoteShort } from '../../lang/value-text.js';
import { absolutePath, reportUnread } from '../../text/files.js';
import { createFindings, type Findings } from '../../text/findings.js';
import type { SourceScalar } from '../../text/nodes.js';
import { nameOfFile, readAgentFile, type AgentFile } from './agent-file.js';
import type { Definition, StepDef } from './definition.js';
import type { Workspace } from '../opened-file.js';

/** A folder searched for agents, and the place where the workflow file names it. */
interface AgentFolder {
  readonly path: string;
  readonly at: SourceScalar | undefined;
  /** True if the folder belongs to the working directory, which may be somebody else's checkout. */
  readonly local: boolean;
}

export function agentFolders(definition: Definition, { cwd, home }: Workspace): readonly AgentFolder[] {
  return [
    { path: join(cwd, '.github', 'agents'), at: undefined, local: true },
    { path: join(cwd, '.claude', 'agents'), at: undefined, local: true },
    ...(home === undefined ? [] : [{ path: join(home, '.copilot', 'agents'), at: undefined, local: false }]),
    ...definition.config.searchPaths.map((at) => ({ path: absolutePath(at.text, cwd, home), at, local: false })),
  ];
}

export interface FoundAgent {
  readonly path: string;
  readonly text: string;
  readonly agent: AgentFile;
  readonly findings: Findings;
  readonly local: boolean;
}

interface Skipped {
  readonly file: string;
  /** Names by which a step may have meant the file. */
  readonly names: readonly string[];
  readonly why: string;
}

export interface Discovery {
  readonly found: ReadonlyMap<string, FoundAgent>;
  /** Returns the user's own files that an agent of this name hides, as shown in messages. */
  hides(name: string): Promise<readonly string[]>;
  skipped(name: string): string | undefined;
}

/** Searches for agents. The first folder that has a name wins. Problem codes: `agent-skipped` (a warning), `file-...`. */
export async function discoverAgents(
  definition: Definition,
  workspace: Workspace,
  asker: StepDef,
  findings: Findings,
): Promise<Discovery> {
  const found = new Map<string, FoundAgent>();
  const others = new Map<string, string[]>();
  const skipped: Skipped[] = [];
  for (const { path, at, local } of agentFolders(definition, workspace)) {
    const list = await workspace.list(path);
    if (!list.ok) {
      if (list.failure === 'missing') continue;
      reportUnread(list, `the agent folder ${workspace.shown(path)}`, at?.at ?? asker.agent?.at, findings);
      continue;
    }
    for (const name of list.names) {
      const file = await readFound(join(path, name), local, workspace, findings);
      if ('why' in file) skipped.push(file);
      else if (!found.has(file.agent.name)) found.set(file.agent.name, file);
      else if (!local)
        others.set(file.agent.name, [...(others.get(file.agent.name) ?? []), workspace.shown(file.path)]);
    }
  }
  return {
    found,
    hides: async (name) => [...(others.get(name) ?? []), ...(await besideWorkflow(name, workspace))],
    skipped(name) {
      const file = skipped.find(({ names }) => names.includes(name));
      return file === undefined ? undefined : `${file.file} is skipped: ${file.why}`;
    },
  };
}

async function readFound(
  path: string,
  local: boolean,
  workspace: Workspace,
  findings: Findings,
): Promise<FoundAgent | Skipped> {
  const file = workspace.shown(path);
  const start = { file, line: 1, column: 1 };
  const text = await workspace.read(path);
  const skip = (why: string, at = start, hint?: string): Skipped => {
    findings.warning('agent-skipped', `${file} is skipped: ${why}`, at, hint);
    const named = text.ok ? /^name:[ \t]*["']?([^"'\r\n]+?)["']?[ \t]*$/m.exec(text.text)?.[1] : undefined;
    return { file, names: [nameOfFile(path), ...(named === undefined ? [] : [named])], why };
  };
  if (!text.ok) return skip(`it ${text.message}`, start, text.hint);
  const own = createFindings(findings);
  const agent = readAgentFile(text.text, file, own);
  // What an agent file loses matters only where the agent is used.
  const wrong = own.list.filter((problem) => problem.severity === 'error' && problem.code !== 'not-supported');
  if (agent !== undefined && wrong.length === 0) return { path, text: text.text, agent, findings: own, local };
  const [first] = wrong;
  return skip(first?.message ?? 'it has no front matter', { ...start, ...first?.at }, first?.hint);
}

/** Folders, relative to the workflow, where its author might keep agents. */
const BESIDE = ['.', 'agents', '.github/agents', '.claude/agents'];

/** Finds files beside the workflow named like an agent. In the working directory itself, the agent folders are the same. */
async function besideWorkflow(name: string, workspace: Workspace): Promise<readonly string[]> {
  const { base, cwd } = workspace;
  if (base === cwd || !/^[\w.-]+$/.test(name)) return [];
  const paths = BESIDE.flatMap((folder) => ['.agent.md', '.md'].map((end) => join(base, folder, `${name}${end}`)));
  const read = await Promise.all(paths.map(async (path) => ({ path, ok: (await workspace.read(path)).ok })));
  return read.filter(({ ok }) => ok).map(({ path }) => workspace.shown(path));
}

/** Warns that an agent of the working directory hides one of the user's own (`agent-hides-another`). */
export function reportHidden(name: string, file: string, hidden: readonly string[], findings: Findings): void {
  if (hidden.length === 0) return;
  findings.warning(
    'agent-hides-another',
    `the agent ${quoteShort(name)} is taken from ${file} and hides ${hidden.join(', ')}`,
    { file, line: 1, column: 1 },
    'if that is not meant, name the right file under agents, or rename one of the two',
  );
}
