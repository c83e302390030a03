import type { Tool } from '../tool.js';
import type { Environment } from './clean-env.js';
import type { BuiltInTool } from '../../plan/tool-names.js';
import { ownParameters } from './parameter-names.js';
import type { Folders } from './paths.js';
import type { ToolProviderOptions } from './provider-options.js';

/** What the built-in tools of a session share. */
export interface BuiltInContext {
  readonly folders: Folders;
  readonly env: Environment;
  /** Searches look into `node_modules` too. */
  readonly searchesAll: boolean;
  readonly network: Pick<ToolProviderOptions, 'allowPrivateAddresses' | 'resolveHost'>;
  /** Aborted when the session is closed. */
  readonly closing: AbortSignal;
  /** Calls that have processes: closing waits for them. */
  readonly running: Set<Promise<unknown>>;
}

/** Makes a built-in tool under the name that the model shall see. Only the code of that tool is loaded. */
export async function createBuiltIn(tool: BuiltInTool, name: string, context: BuiltInContext): Promise<Tool> {
  return { ...(await make(tool, name, context)), rename: (input) => ownParameters(tool, input) };
}

async function make(tool: BuiltInTool, name: string, context: BuiltInContext): Promise<Tool> {
  const { folders, env, closing } = context;
  switch (tool) {
    case 'read_file':
      return (await import('./read-file.js')).readFileTool(name, folders);
    case 'list_dir':
      return (await import('./list-dir.js')).listDirTool(name, folders);
    case 'glob':
      return (await import('./glob.js')).globTool(name, folders, context.searchesAll);
    case 'grep':
      return (await import('./grep.js')).grepTool(name, folders, context.searchesAll);
    case 'write_file':
      return (await import('./write-file.js')).writeFileTool(name, folders);
    case 'edit_file':
      return (await import('./edit-file.js')).editFileTool(name, folders);
    case 'shell':
      return tracked((await import('./shell.js')).shellTool(name, folders, env, closing), context.running);
    case 'fetch':
      return fetchTool(name, context);
  }
}

function tracked(tool: Tool, running: Set<Promise<unknown>>): Tool {
  return {
    ...tool,
    async execute(input, io) {
      const call = Promise.resolve(tool.execute(input, io));
      const ended = call.catch(() => undefined);
      running.add(ended);
      try {
        return await call;
      } finally {
        running.delete(ended);
      }
    },
  };
}

async function fetchTool(name: string, { network, closing }: BuiltInContext): Promise<Tool> {
  const [fetch, { networkRules }] = await Promise.all([import('./fetch.js'), import('./http-hop.js')]);
  const rules = networkRules(network.allowPrivateAddresses ?? false);
  const { resolveHost } = network;
  return fetch.fetchTool(name, resolveHost === undefined ? rules : { ...rules, resolve: resolveHost }, closing);
}
