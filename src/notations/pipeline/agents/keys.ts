import {
  any,
  either,
  flag,
  integer,
  list,
  map,
  names,
  number,
  text,
  texts,
  variants,
  word,
  type Form,
  type MapForm,
} from '../../../text/forms.js';
import { VARIABLE_FORM } from '../../../text/names.js';
import { CHECKS } from '../../checks-key.js';
import { ADDRESS_FORM } from '../../mcp-servers.js';
import { KNOWN_PROVIDERS, SANDBOX, TOKENS } from '../../model-call-keys.js';
import { SCHEMA_MAP } from '../../schema-form.js';
import { toolNames } from './tool-names.js';
import { UNSUPPORTED } from './unsupported-keys.js';

export const AGENT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** Creates a row that allows no value. */
const nothing = (about: string): Form => either([], about);

const ADDRESS = {
  base_url: text('another address where it is called', { pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?://' }),
  token_key: text('the variable of the environment that holds the key', { pattern: VARIABLE_FORM }),
} as const;

export const MODEL = map(
  {
    provider: text('openai, anthropic, ollama ..., or a name of the section providers'),
    model: text('its name there', { needed: true }),
    temperature: number('how freely it answers', { min: 0, max: 2 }),
    top_p: number('the share of likely words that it chooses from', { min: 0, max: 1 }),
    frequency_penalty: number('how much it avoids words that it used often', { min: -2, max: 2 }),
    presence_penalty: number('how much it avoids words that it used at all', { min: -2, max: 2 }),
    max_tokens: integer('the longest answer, in tokens', TOKENS),
    seed: integer('makes answers repeatable, where the provider can', { min: 0, max: Number.MAX_SAFE_INTEGER }),
    parallel_tool_calls: flag('false: tool calls happen one after the other'),
    ...ADDRESS,
  },
  'a model with settings',
  {
    needed: true,
    foreign: UNSUPPORTED.model,
    some: [
      ['provider', /\S/],
      ['model', /\//],
    ],
  },
);

export const PROVIDER = map(
  {
    api_type: word(['openai_chatcompletions', 'openai_responses'], 'the protocol'),
    ...ADDRESS,
    provider: word(KNOWN_PROVIDERS, 'the provider that it is compatible with; by default OpenAI'),
  },
  'where models are called',
  { needed: true, foreign: UNSUPPORTED.provider },
);

const PAIR = text('', { blank: true });

export const REMOTE = map(
  {
    url: text('the address, with http:// or https://', { ...ADDRESS_FORM, needed: true }),
    transport_type: word(['streamable', 'streamable-http', 'http', 'sse'], 'how the server speaks'),
    headers: names(PAIR, 'headers of each request; ${NAME} stands for a variable of the environment'),
  },
  'a server at an address',
  { blank: false, foreign: UNSUPPORTED.remote },
);

const REF = 'a name of the section mcps';

export const MCP = map(
  {
    type: text('mcp'),
    name: text('what its tools are called by'),
    ref: text(REF),
    command: text('the program that is the server', { pattern: '\\S' }),
    args: texts('arguments of the program'),
    env: names(PAIR, 'variables of the program; ${NAME} stands for one of the environment'),
    remote: REMOTE,
    tools: texts('those of its tools that are used; by default all'),
    sandbox: SANDBOX,
  },
  'a tool server',
  { needed: true, foreign: UNSUPPORTED.mcp, some: ['ref', 'command', 'remote'] },
);

const NAMED_MCP: MapForm = {
  ...MCP,
  keys: {
    ...MCP.keys,
    type: any('mcp'),
    name: any('has no effect here'),
    ref: nothing("Docker's catalogue is not supported: use command or remote"),
  },
  some: ['command', 'remote'],
};

type Toolset = 'filesystem' | 'shell' | 'think' | 'todo' | 'memory' | 'fetch' | 'user_prompt';

const TYPE = text('which tools');

function toolset(type: Toolset, about: string, keys: MapForm['keys'] = {}): MapForm {
  const tools = toolNames(type);
  const isLimited = tools.length > 0;
  const rows = isLimited
    ? { tools: list(word(tools, '', { exact: true }), 'those that the agent gets; by default all') }
    : {};
  return map({ type: TYPE, ...rows, ...keys }, about, { needed: true, foreign: UNSUPPORTED[type] });
}

export const TOOLSETS: ReadonlyMap<string, MapForm> = new Map(
  Object.entries({
    filesystem: toolset('filesystem', 'reads and writes files', {
      ignore_vcs: flag('false: searches look into node_modules, too', { default: true }),
    }),
    shell: toolset('shell', 'runs programs'),
    think: toolset('think', 'a place for thoughts'),
    todo: toolset('todo', 'a list that lasts as long as the step'),
    memory: toolset('memory', 'a text that all agents of the run share'),
    fetch: toolset('fetch', 'reads addresses'),
    user_prompt: toolset('user_prompt', 'questions to the person'),
    mcp: MCP,
  }),
);

export const FALLBACK = map({ models: texts('further models, tried in order') }, 'what is tried when the model fails', {
  blank: false,
  foreign: UNSUPPORTED.fallback,
});

export const STRUCTURED_OUTPUT = map(
  {
    name: text('what the answer is called'),
    description: text('what it is'),
    strict: flag('changes nothing: answers are always checked'),
    schema: { ...SCHEMA_MAP, needed: true },
  },
  'the answer must be JSON that fits a schema',
);

export const AGENT = map(
  {
    model: text('a name of the section models, or provider/model; several with commas are tried in order'),
    fallback: FALLBACK,
    description: text('for people'),
    instruction: text('the system prompt; {{ $steps.ID.output }} is filled in'),
    toolsets: list(
      variants('type', Object.fromEntries(TOOLSETS), { exact: true, about: 'tools of an agent' }),
      'its tools; without it none',
      {
        blank: false,
      },
    ),
    structured_output: STRUCTURED_OUTPUT,
    checks: CHECKS,
    // In cagent, this key caches answers; here, records do that.
    cache: either(
      [
        text('', { from: 'string', blank: true, pattern: '^(?:[oO][nN]|[oO][fF][fF]|1[hH])$' }),
        map({}, 'of cagent, and not supported', { open: true }),
      ],
      'off: providers are not told what they may take from a cache; 1h: Anthropic keeps prompts for an hour',
    ),
    sandbox: SANDBOX,
    max_iterations: integer('turns of the model at most; 0: 25', { min: 0, max: 10_000 }),
    add_date: flag('the system prompt has the date', { default: false }),
    add_environment_info: flag('the system prompt has the working directory and the operating system', {
      default: false,
    }),
  },
  'an agent',
  { needed: true, foreign: UNSUPPORTED.agent },
);

export const PERMISSIONS = map(
  {
    deny: texts('calls that never happen, such as "shell:cmd=git push*"'),
    allow: texts('calls that need no permission'),
    ask: texts('calls for which a person is asked'),
  },
  'which tool calls are allowed or refused without asking',
);

export const SECTIONS = {
  version: either(
    [text('', { pattern: '^\\s*(?:[vV]?(?:0?\\d|1[0-2]))?\\s*$', from: 'string' }), integer('', { min: 0, max: 12 })],
    "the version of cagent's format, 1 to 12",
  ),
  agents: names(AGENT, 'the agents by name', { pattern: AGENT_NAME.source }),
  models: names(MODEL, 'named models'),
  providers: names(PROVIDER, 'where models are called'),
  mcps: names(NAMED_MCP, 'tool servers that several agents use'),
  permissions: PERMISSIONS,
  metadata: any('for people; its description is shown by skein plan'),
} as const;
