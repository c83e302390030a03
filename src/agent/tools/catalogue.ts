import type { Tool } from '../tool.js';
import type { Environment } from './clean-env.js';
import { editFileTool } from './edit-file.js';
import { fetchTool } from './fetch.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import type { NetworkRules } from './http-hop.js';
import { listDirTool } from './list-dir.js';
import type { BuiltInTool } from './names.js';
import type { Folders } from './paths.js';
import { readFileTool } from './read-file.js';
import { shellTool } from './shell.js';
import { writeFileTool } from './write-file.js';

/** What the built-in tools of a session share. */
export interface BuiltInContext {
  readonly folders: Folders;
  readonly env: Environment;
  readonly network: NetworkRules;
  /** Aborted when the session is closed. */
  readonly closing: AbortSignal;
}

/** Makes a built-in tool under the name that the model shall see. */
export function createBuiltIn(tool: BuiltInTool, name: string, context: BuiltInContext): Tool {
  switch (tool) {
    case 'read_file':
      return readFileTool(name, context.folders);
    case 'list_dir':
      return listDirTool(name, context.folders);
    case 'glob':
      return globTool(name, context.folders);
    case 'grep':
      return grepTool(name, context.folders);
    case 'write_file':
      return writeFileTool(name, context.folders);
    case 'edit_file':
      return editFileTool(name, context.folders);
    case 'shell':
      return shellTool(name, context.folders, context.env, context.closing);
    case 'fetch':
      return fetchTool(name, context.network, context.closing);
  }
}
