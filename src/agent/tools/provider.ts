import { resolve } from 'node:path';
import { stepCancelled } from '../../base/errors.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { NarrowPolicy } from '../../plan/policy.js';
import { serverRefusal } from '../permissions/policy-check.js';
import { NO_TOOLS, type Tool, type ToolSource, type ToolProvider, type ToolSession } from '../tool.js';
import { selectApproved, selectTools, type ToolSelection } from '../../plan/tool-names.js';
import { createBuiltIn } from './catalogue.js';
import type { Folders } from './paths.js';
import type { ToolProviderOptions } from './provider-options.js';
import { serverStandIns, standIn } from './stand-ins.js';

export type { ToolProviderOptions } from './provider-options.js';

/**
 * Creates the provider of agents' tools: the built-in ones and those of MCP servers. Each agent step gets its own tools; they close when it
 * ends, and leave no process running.
 *
 * Unknown names cause one warning (`unknown-tools`) per agent and run; so does a missing extra directory (`extra-dir-missing`). The code of
 * tools is loaded when the first agent needs some.
 */
export function createToolProvider(options: ToolProviderOptions): ToolProvider {
  const said = new Set<string>();
  const shared = oneForAll(options);
  return {
    open(spec, session) {
      const warn = once(said, session);
      const servers = Object.keys(spec.mcpServers ?? {});
      const selection = selectTools(spec.tools, servers);
      warnUnknown(selection, session.agent, warn);
      const gated = selectApproved(spec.approve ?? [], servers, session.agent);
      if (selection.builtIn.size === 0 && selection.servers.size === 0) return NO_TOOLS;
      const { mock } = options;
      if (mock === undefined || session.isAlone !== true)
        return openAll(selection, spec, { session, warn, options, gated, shared });
      return mock.isReal(session.path).then((isReal) => {
        const { mock: _mock, ...real } = options;
        return openAll(selection, spec, { session, warn, options: isReal ? real : options, gated, shared });
      });
    },
  };
}

async function openAll(
  selection: ToolSelection,
  spec: AgentSpec,
  opening: Omit<Opening, 'closing' | 'running'>,
): Promise<ToolSource> {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  const builtIn = await openBuiltIn(selection, spec, { ...opening, closing: closing.signal, running });
  const source = await openServers(selection, spec, opening);
  return {
    tools: [...builtIn, ...source.tools],
    async close() {
      closing.abort();
      await Promise.all([source.close(), ...running]);
    },
  };
}

function calledBy({ agent, isAlone }: ToolSession): string {
  return `${isAlone === true ? 'step' : 'agent'} ${agent}`;
}

/** Emits each warning once: an agent in a loop is opened repeatedly, with the same warnings. */
function once(said: Set<string>, session: ToolSession): ToolSession['warn'] {
  return (code, message) => {
    const key = JSON.stringify([session.runId, code, message]);
    if (said.has(key)) return;
    if (said.size >= MAX_REMEMBERED) said.clear();
    said.add(key);
    session.warn(code, message);
  };
}

/** Most warnings that a provider of a long-lived process remembers. */
const MAX_REMEMBERED = 1_000;

function warnUnknown({ unknown }: ToolSelection, agent: string, warn: ToolSession['warn']): void {
  if (unknown.length === 0) return;
  const names = unknown.map((name) => JSON.stringify(name)).join(', ');
  warn('unknown-tools', `agent ${agent}: Skein has no tool for ${names}; the agent runs without it`);
}

interface Opening {
  readonly session: ToolSession;
  /** Emits each warning once. */
  readonly warn: ToolSession['warn'];
  /** Tools whose calls need a person's approval. */
  readonly gated: ToolSelection;
  readonly options: ToolProviderOptions;
  /** The folders of all steps that have none of their own. */
  readonly shared: () => Promise<Folders>;
  readonly closing: AbortSignal;
  readonly running: Set<Promise<unknown>>;
}

async function openBuiltIn(selection: ToolSelection, spec: AgentSpec, opening: Opening): Promise<readonly Tool[]> {
  if (selection.builtIn.size === 0) return [];
  const { options, gated, closing, running } = opening;
  let made: Promise<Folders> | undefined;
  const folders = (): Promise<Folders> => (made ??= openFolders(spec, opening));
  // Skein's own places must be known from the start. Without models, only the calls of a script could change them.
  if (options.mock === undefined || (spec.extraDirs ?? []).length > 0) await folders();
  const searchesAll = spec.searchesAll === true;
  const { env, programMemory: memory } = options;
  const network = { ...options, domains: listsOf(policiesFor(options, spec), 'domains') };
  const context = { folders, env, sandbox: spec.sandbox, memory, searchesAll, network, closing, running };
  const approve = new Set(gated.builtIn.values());
  return [...selection.builtIn].map(([name, tool]) => {
    const real = createBuiltIn(tool, name, context);
    const usable = options.mock === undefined ? real : standIn(tool, real, options.mock);
    return approve.has(tool) ? { ...usable, approve: true as const } : usable;
  });
}

/**
 * The folders of all steps that have none of their own and no narrower policy, opened by the first. Their knowledge of Skein's own places
 * persists, so that a place renamed during one step is recognized in the next.
 */
function oneForAll(options: ToolProviderOptions): () => Promise<Folders> {
  let made: Promise<Folders> | undefined;
  return () =>
    (made ??= foldersOf(options, {}).catch((error: unknown) => {
      // A missing folder may exist for a later step.
      made = undefined;
      throw error;
    }));
}

async function openFolders(
  spec: AgentSpec,
  { session, warn, options, shared }: Pick<Opening, 'session' | 'warn' | 'options' | 'shared'>,
): Promise<Folders> {
  if (spec.extraDirs === undefined && spec.policy === undefined) return await shared();
  const missing: string[] = [];
  const folders = await foldersOf(options, spec, (dir) => missing.push(dir));
  if (missing.length > 0) {
    warn('extra-dir-missing', `${calledBy(session)}: no such directory: ${missing.join(', ')}`);
  }
  return folders;
}

async function foldersOf(
  options: ToolProviderOptions,
  spec: Pick<AgentSpec, 'extraDirs' | 'policy'>,
  onMissing?: (dir: string) => void,
): Promise<Folders> {
  const { createFolders } = await import('./paths.js');
  return await createFolders(resolve(options.cwd), spec.extraDirs, onMissing, {
    own: options.own,
    written: options.written,
    only: listsOf(policiesFor(options, spec), 'folders'),
  });
}

/** Policies restrict each other: a place must be in each of these lists. */
function listsOf(policies: readonly NarrowPolicy[], key: 'folders' | 'domains'): readonly (readonly string[])[] {
  return policies.flatMap((policy) => (policy[key] === undefined ? [] : [policy[key]]));
}

function policiesFor(
  { policies = [] }: ToolProviderOptions,
  { policy }: Pick<AgentSpec, 'policy'>,
): readonly NarrowPolicy[] {
  return policy === undefined ? policies : [...policies, policy];
}

/** A server whose tools are all denied is neither started nor reached. */
function withoutDenied(
  selection: ToolSelection,
  spec: AgentSpec,
  { warn, options, session }: Pick<Opening, 'session' | 'warn' | 'options'>,
): ToolSelection['servers'] {
  const policies = policiesFor(options, spec);
  if (policies.length === 0) return selection.servers;
  const left = [...selection.servers].filter(([name]) => {
    const why = serverRefusal(policies, name, spec.mcpServers?.[name]?.url);
    if (why !== undefined) warn('policy-denies', `${calledBy(session)}: the server ${name} is not opened: ${why}`);
    return why === undefined;
  });
  return new Map(left);
}

async function openServers(
  selection: ToolSelection,
  spec: AgentSpec,
  { session, warn, options, gated, shared }: Omit<Opening, 'closing' | 'running'>,
): Promise<ToolSource> {
  const servers = withoutDenied(selection, spec, { session, warn, options });
  if (servers.size === 0) return { tools: [], close: () => Promise.resolve() };
  if (session.signal.aborted) throw stepCancelled();
  if (options.mock !== undefined) {
    const names = [...servers.keys()].join(', ');
    warn('not-started', `${calledBy(session)}: a run without models does not start or reach MCP servers (${names})`);
    const tools = await serverStandIns({ ...selection, servers }, spec.mcpServers ?? {}, gated, options.mock);
    return { tools, close: () => Promise.resolve() };
  }
  const { openMcpServers } = await import('../mcp/servers.js');
  return openMcpServers(servers, spec.mcpServers ?? {}, {
    cwd: resolve(options.cwd),
    env: options.env,
    agent: session.agent,
    approve: gated.servers,
    signal: session.signal,
    startMs: options.mcpStartMs ?? 30_000,
    callMs: options.mcpCallMs ?? 120_000,
    confine: async (argv, use, path) => {
      const { runConfined } = await import('../sandbox/run-confined.js');
      const { signal } = session;
      const folders = await openFolders(spec, { session, warn, options, shared });
      return runConfined(argv, { use, folders, cwd: folders.cwd, path, signal });
    },
    pins: options.pins,
    memory: options.programMemory,
    warn,
  });
}
