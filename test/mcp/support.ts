import { join, resolve } from 'node:path';
import type { McpServerSpec } from '../../src/plan/agent-spec.js';
import type { ToolProviderOptions } from '../../src/agent/tools/provider.js';
import { programOf } from '../programs.js';
import { folder, session, textOnceWritten } from '../tools/support/session.js';
import type { Session } from '../tools/support/session.js';

const toolServerFile = await programOf(resolve(import.meta.dirname, '../agent/support/mcp-tool-server.ts'));
const rawServerFile = await programOf(resolve(import.meta.dirname, '../agent/support/mcp-raw-server.ts'));

/** Entry of the well-behaved server; see its file for the arguments. */
export function toolServer(...args: readonly string[]): McpServerSpec {
  return { command: process.execPath, args: [toolServerFile, ...args] };
}

/** Entry of the misbehaving server. */
export function rawServer(mode: string, ...args: readonly string[]): McpServerSpec {
  return { command: process.execPath, args: [rawServerFile, mode, ...args] };
}

/** Opens an agent that has nothing but these servers. */
export async function servers(
  mcpServers: Readonly<Record<string, McpServerSpec>>,
  options: Partial<ToolProviderOptions> & { readonly signal?: AbortSignal; readonly tools?: readonly string[] } = {},
): Promise<Session> {
  const { tools, ...rest } = options;
  const spec = { mcpServers, tools: tools ?? Object.keys(mcpServers) };
  return session(spec, { cwd: await folder(), ...rest });
}

/** A file for process ids, and the number that a server writes into it. */
export async function pidFile(): Promise<{ readonly path: string; pid: () => Promise<number> }> {
  const path = join(await folder(), 'pid');
  return { path, pid: async () => Number(await textOnceWritten(path)) };
}
