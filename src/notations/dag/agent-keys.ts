import {
  any,
  either,
  integer,
  list,
  map,
  named,
  names,
  text,
  texts,
  variants,
  type Form,
  type MapForm,
} from '../../text/forms.js';
import { CHECKS } from '../checks-key.js';
import { ADDRESS_FORM, SERVER_NAME } from '../mcp-servers.js';
import { CACHE, SANDBOX, TOKENS } from '../model-call-keys.js';
import { unsupportedKeys } from '../../text/unsupported.js';

/**
 * Keys in agent files of other systems that Skein does not support, by what is lost. If meaning or safety is lost, a workflow that uses the
 * agent does not load, unless it is read leniently. Keys not listed here concern only other programs and are ignored.
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

/** Unsupported values of `permissionMode`: those that allow less than asking a person does, and the others. */
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

export const UNSUPPORTED_OF_SERVERS = unsupportedKeys({
  meaning: { cwd: 'servers run in the working directory; name the folder in args' },
});

export const MODEL: Form = either(
  [text('', { from: 'string', blank: true }), list(text('', { from: 'string', needed: true }), '')],
  'a model such as openai/gpt-5-mini, or a list to try in order',
);

const toolNames = (about: string): Form => either([text('', { blank: true }), texts('')], about);

/** Transports of a tool server, and the key that each requires. */
export const TRANSPORTS: ReadonlyMap<string, 'command' | 'url'> = new Map([
  ['local', 'command'],
  ['stdio', 'command'],
  ['http', 'url'],
  ['streamable-http', 'url'],
  ['sse', 'url'],
  ['remote', 'url'],
]);

const PAIR = text('', { blank: true });
const URL_ABOUT = 'the address of the server: http:// or https://';

const SERVER_KEYS = {
  type: any('how the server is reached: local, or http at an address'),
  command: text('the program that is the server'),
  args: texts('arguments of the program'),
  env: names(PAIR, 'variables of the program; ${NAME} stands for one of the environment'),
  url: text(URL_ABOUT),
  headers: names(PAIR, 'headers of each request; ${NAME} stands for a variable of the environment'),
  tools: texts('those of its tools that are used; by default all'),
  sandbox: SANDBOX,
  disabled: any('true leaves the server out'),
  enabled: any('false leaves the server out'),
} as const;

const ADDRESS = text(URL_ABOUT, ADDRESS_FORM);

/** The form of a server, by its transport. Keys of other programs are ignored. */
const SERVER_BY: Readonly<Record<'command' | 'url' | 'either', MapForm>> = {
  command: serverMap({ ...SERVER_KEYS, command: { ...SERVER_KEYS.command, needed: true } }),
  url: serverMap({ ...SERVER_KEYS, url: { ...ADDRESS, needed: true } }),
  either: {
    ...serverMap({ ...SERVER_KEYS, url: { ...ADDRESS, blank: true } }),
    some: [
      ['command', /\S/],
      ['url', /\S/],
    ],
  },
};

function serverMap(keys: MapForm['keys']): MapForm {
  return map(keys, 'a tool server', { foreign: UNSUPPORTED_OF_SERVERS, open: true });
}

const SERVER = variants('type', Object.fromEntries([...TRANSPORTS].map(([type, key]) => [type, SERVER_BY[key]])), {
  without: SERVER_BY.either,
  blank: true,
  off: { disabled: true, enabled: false },
});

/** Forms used in several places, by name. */
export const NAMED_IN_AGENTS = { 'mcp-server': SERVER } as const;

export const TRAITS = {
  description: text('for people'),
  tools: toolNames('what the agent may use; [] for nothing'),
  approve: toolNames('tools whose calls a person must allow'),
  model: MODEL,
  checks: CHECKS,
  cache: CACHE,
  sandbox: SANDBOX,
  max_tokens: integer('the longest answer, in tokens; by default at most 16384', TOKENS),
  'mcp-servers': names(named('mcp-server'), 'tool servers by name', { pattern: SERVER_NAME.source }),
} as const;

/** The head of an agent file. Keys of other programs are ignored. */
export const AGENT_FILE = map(
  {
    name: text('the name by which steps find the agent; by default the name of the file'),
    ...TRAITS,
    permissionMode: text('what Claude Code may do without asking'),
  },
  'the head of an agent file',
  { foreign: UNSUPPORTED_OF_AGENT_FILES, open: true },
);
