import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { sha256 } from '../../src/base/hash.js';
import type { McpServerSpec } from '../../src/plan/agent-spec.js';
import type { ToolProviderOptions } from '../../src/agent/tools/provider.js';
import { folder, session, until } from '../tools/support/session.js';
import type { Session } from '../tools/support/session.js';

/** Below node_modules, so that what the servers import is found. */
const COMPILED = resolve(import.meta.dirname, '../../node_modules/.cache/skein-tests');

/** The servers are started often: they are compiled once and run by plain Node. */
function compiled(server: URL): string {
  const source = readFileSync(server, 'utf8');
  const file = join(COMPILED, `mcp-server-${sha256(source).slice(0, 16)}.mjs`);
  if (existsSync(file)) return file;
  const { outputText } = transpileModule(source, {
    compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2022, verbatimModuleSyntax: true },
  });
  mkdirSync(COMPILED, { recursive: true });
  const temporary = `${file}.${randomUUID()}`;
  writeFileSync(temporary, outputText);
  renameSync(temporary, file);
  return file;
}

const toolServerFile = compiled(new URL('../agent/support/mcp-tool-server.ts', import.meta.url));
const rawServerFile = compiled(new URL('../agent/support/mcp-raw-server.ts', import.meta.url));

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
  return {
    path,
    async pid() {
      await until(() => existsSync(path));
      return Number(readFileSync(path, 'utf8'));
    },
  };
}
