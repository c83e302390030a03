import { unsupportedKeys } from '../../text/unsupported.js';

/**
 * What agent files of other systems may ask for and Skein does not do, and what is lost by it. What loses meaning or safety keeps a workflow from
 * being loaded that uses the agent, unless it is read leniently. Keys that are not here concern other programs alone, and are left alone.
 */
export const UNSUPPORTED_OF_AGENT_FILES = unsupportedKeys({
  meaning: {
    mcpServers: 'write each server under mcp-servers: NAME: {command: ...}',
    skills: 'name the skills in the step: skills: [...]',
    memory: 'use shared_memory of config',
  },
  safety: {
    hooks: 'run the command before or after the workflow; such hooks are never run',
    disallowedTools: 'name the tools that the agent may use: tools: [...]',
    isolation: 'start the run in a copy of the folder',
  },
  nothing: { maxTurns: 'an agent has 25 turns' },
});

/** Values of `permissionMode` that allow less than asking a person does, and the others. */
export const PERMISSION_MODES = unsupportedKeys({
  safety: {
    plan: 'name tools that only read: tools: [read_file, list_dir, glob, grep]',
    dontAsk: 'name tools that only read: tools: [read_file, list_dir, glob, grep]',
  },
  nothing: {
    acceptEdits: 'a person allows calls that are under approve; --yes allows them all',
    auto: 'a person allows calls that are under approve; --yes allows them all',
    bypassPermissions: 'a person allows calls that are under approve; --yes allows them all',
  },
});

/** Keys of a tool server. */
export const UNSUPPORTED_OF_SERVERS = unsupportedKeys({
  meaning: { cwd: 'servers run in the working directory; name the folder in args' },
});
