import { posix } from 'node:path';
import { present } from '../../base/json.js';
import type { Budget } from '../../plan/budget.js';
import type { Declarations } from '../../plan/declarations.js';
import { PROVIDER_NAMES } from '../../plan/providers.js';
import type { CacheUse, McpServerSpec, SandboxUse } from '../../plan/agent-spec.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { any, integer, list, map, names, number, text, texts, word } from '../../text/forms.js';
import { VARIABLE_FORM } from '../../text/names.js';
import type { SourceEntry, SourceMap, SourceNode, SourceScalar } from '../../text/nodes.js';
import { readFields, type Fields } from '../../text/shape.js';
import { readSupported, unsupportedKeys } from '../../text/unsupported.js';
import { lacksScope, NO_SCOPE, SECURITY_MODES } from '../../plan/security.js';
import { FILE_BUDGET, readBudgetKey } from '../budget-key.js';
import type { SecurityDef } from '../security-key.js';
import { DECLARATION_KEYS, readDeclarations } from '../declarations-key.js';
import { checkServerName, readPairs, readRemote, refuseSandbox } from '../mcp-servers.js';
import { CACHE, readCache, SANDBOX, TOKENS } from '../model-call-keys.js';

/** A model as written in a table of agent.toml. Absent fields default to `[llm]`. */
export interface WrittenModel {
  readonly provider?: SourceScalar;
  readonly model?: SourceScalar;
  readonly maxTokens?: number;
  readonly temperature?: number;
}

/** The content of one `agent.toml`, the same for both forms of the file. */
export interface AgentToml {
  readonly llm?: WrittenModel;
  readonly supervisor?: WrittenModel;
  readonly profiles: ReadonlyMap<string, WrittenModel>;
  readonly budget?: Budget;
  readonly declared: Declarations;
  readonly security?: SecurityDef;
  readonly servers: Readonly<Record<string, McpServerSpec>>;
  /** Folders searched for skills. */
  readonly roots?: readonly SourceScalar[];
  readonly cache?: CacheUse;
  readonly sandbox?: SandboxUse;
  /** Tools in addition to the read-only ones. */
  readonly tools?: readonly SourceScalar[];
}

const ADDRESSES = unsupportedKeys({
  meaning: {
    base_url: 'write model = "openai-compatible/NAME", and put the address into OPENAI_COMPATIBLE_BASE_URL',
    api_key_env: 'put the key into the variable that skein doctor names for the provider',
  },
  nothing: {
    thinking: 'the provider decides',
    max_retries: 'a call is tried again as docs/models.md says',
    retry_backoff: 'a call is tried again as docs/models.md says',
  },
});

const MODEL = map(
  {
    provider: text('openai, anthropic, ollama ...'),
    model: text('its name there, or provider/model'),
    max_tokens: integer('the longest answer, in tokens', TOKENS),
    temperature: number('how freely it answers', { min: 0, max: 2 }),
  },
  'a model',
  { foreign: ADDRESSES },
);

const SERVER = map(
  {
    command: text('the program of a server that is started'),
    args: texts('its arguments'),
    env: names(text(''), 'variables for it; ${NAME} stands for a variable of the environment'),
    endpoint: text('the address of a server that runs elsewhere'),
    url: text('the same as endpoint'),
    sandbox: SANDBOX,
  },
  'a tool server',
  {
    foreign: unsupportedKeys({
      safety: { denied_tools: 'name the tools that may be used: tools = ["SERVER/TOOL"]' },
    }),
  },
);

const SECURITY = map(
  {
    mode: word(SECURITY_MODES, 'the same as SECURITY in the file'),
    level: word(SECURITY_MODES, 'the same as mode'),
    scope: text('what research is allowed to look into'),
    model: text('the model that judges; by default that of the step'),
  },
  'models that look at calls of tools before they are made',
  {
    foreign: unsupportedKeys({
      safety: { user_trust: 'who runs the file is trusted' },
      nothing: { triage_llm: 'name a model: model = "provider/model"' },
    }),
  },
);

/** Tables that only other programs use. */
export const UNUSED = [
  'small_llm',
  'storage',
  'state',
  'embedding',
  'telemetry',
  'service',
  'web',
  'memory',
  'timeouts',
];

const AGENT = map(
  { id: text('a name for the configuration'), workspace: text('the folder in which tools work') },
  'the configuration itself',
  { foreign: unsupportedKeys({ meaning: { tools: 'write tools = [...] above the first [table]' } }) },
);

/** The form of `agent.toml`, as in the public examples and as in the specification. */
export const AGENT_TOML = map(
  {
    agent: AGENT,
    llm: MODEL,
    model: MODEL,
    supervisor: MODEL,
    profiles: names(MODEL, 'models by the names that REQUIRES uses'),
    mcp: names(SERVER, 'tool servers by name, also under mcp.servers'),
    skills: map({ paths: list(text(''), 'folders in which skills are looked for') }, 'skills'),
    security: SECURITY,
    budget: FILE_BUDGET,
    ...DECLARATION_KEYS,
    cache: CACHE,
    sandbox: SANDBOX,
    tools: texts('tools in addition to those that only read: write, edit, bash, web_fetch, SERVER/TOOL'),
    ...Object.fromEntries(UNUSED.map((key) => [key, any('')])),
  },
  'agent.toml',
  { foreign: unsupportedKeys({ safety: { limits: 'an agent has 25 turns and 100 tool calls' } }) },
);

/** Reads `agent.toml`. Codes: `credential`, `unused-table`, `bad-reference`, `mcp-server`, `not-supported`, those of the shape reader. */
export function readAgentToml(root: SourceMap, findings: Findings): AgentToml {
  const file = readSupported(root, '', AGENT_TOML, findings);
  if (file === undefined) return { profiles: new Map(), servers: {}, declared: {} };
  checkCredentials(root, [], findings);
  const unused = root.entries.filter(({ key }) => UNUSED.includes(key));
  const [first] = unused;
  if (first !== undefined) {
    const message = `these tables are not used: ${unused.map(({ key }) => key).join(', ')}`;
    findings.warning('unused-table', message, first.at, 'they mean something to other programs; they may stay');
  }
  readWorkspace(file);
  const model = (key: string): WrittenModel | undefined => {
    const node = file.node(key);
    return node === undefined ? undefined : readModel(node, key, findings);
  };
  if (file.has('llm') && file.has('model'))
    file.error('duplicate-table', 'model', '[llm] and [model] are two names of one table', 'keep one of them');
  const profiles = (file.entries('profiles') ?? []).map(
    ({ key, value }) => [key, readModel(value, `profiles.${key}`, findings)] as const,
  );
  const skills = file.node('skills');
  const paths = skills && readSupported(skills, 'skills', AGENT_TOML.keys.skills, findings)?.texts('paths');
  return {
    ...present({ llm: model('llm') ?? model('model'), supervisor: model('supervisor'), security: readSecurity(file) }),
    profiles: new Map(profiles),
    servers: readServers(file),
    declared: readDeclarations(file),
    ...present({
      roots: paths,
      tools: file.texts('tools'),
      budget: readBudgetKey(file, 'file'),
      cache: readCache(file),
      sandbox: file.word('sandbox', SANDBOX),
    }),
  };
}

function readModel(node: SourceNode, name: string, findings: Findings): WrittenModel {
  const fields = readSupported(node, name, MODEL, findings);
  if (fields === undefined) return {};
  const { max_tokens: maxTokens, temperature } = fields.values(MODEL);
  const [provider, model] = [fields.given('provider'), fields.given('model')];
  return present({ provider, model, maxTokens, temperature });
}

/** Warns about `workspace` unless it is the folder where the run starts: that is where tools work. */
function readWorkspace(file: Fields): void {
  const agent = file.node('agent');
  const fields = agent && readSupported(agent, 'agent', AGENT, file.findings);
  const path = fields?.text('workspace');
  if (fields === undefined || path === undefined || posix.normalize(`${path}/`) === './') return;
  const hint = 'start skein in that folder';
  fields.warning(
    'not-supported',
    'workspace',
    'workspace of agent is not supported: tools work where skein runs',
    hint,
  );
}

function readSecurity(file: Fields): AgentToml['security'] {
  const node = file.node('security');
  const fields = node && readSupported(node, 'security', SECURITY, file.findings);
  if (fields === undefined) return undefined;
  const { mode, level } = fields.values(SECURITY);
  const chosen = mode ?? level;
  if (chosen === undefined) return undefined;
  const said = present({ mode: chosen, scope: fields.given('scope')?.text.trim() });
  if (lacksScope(said)) {
    fields.error('no-scope', mode === undefined ? 'level' : 'mode', NO_SCOPE, 'add scope = "TEXT"');
    return undefined;
  }
  return { ...said, ...present({ model: fields.given('model') }) };
}

/** Reads both `[mcp.NAME]` and `[mcp.servers.NAME]`. */
function readServers(file: Fields): AgentToml['servers'] {
  const entries = (file.entries('mcp') ?? []).flatMap((entry) =>
    entry.key === 'servers' && entry.value.kind === 'map' ? entry.value.entries : [entry],
  );
  const servers = entries.flatMap((entry) => {
    const server = readServer(entry, file.findings);
    return server === undefined ? [] : [[entry.key, server] as const];
  });
  return Object.fromEntries(servers);
}

function readServer(entry: SourceEntry, findings: Findings): McpServerSpec | undefined {
  const { key, value, at } = entry;
  const name = `MCP server ${quoteShort(key)}`;
  checkServerName(entry, findings);
  const fields = readSupported(value, name, SERVER, findings);
  if (fields === undefined) return undefined;
  const address = fields.given('endpoint') ?? fields.given('url');
  const command = fields.given('command');
  if ((address === undefined) === (command === undefined)) {
    const what = command === undefined ? 'needs a command, or an endpoint' : 'has a command and an endpoint';
    findings.error('mcp-server', `${name} ${what}`, at, 'write command = "PROGRAM", or endpoint = "https://..."');
    return undefined;
  }
  for (const plain of [address, command, ...(fields.texts('args') ?? [])]) if (plain) checkPlain(plain, name, findings);
  if (address !== undefined) {
    refuseSandbox(fields);
    const remote: SourceMap = { kind: 'map', at, entries: [{ key: 'url', at: address.at, value: address }] };
    const only = readFields(remote, { name }, findings);
    return only && readRemote(only, { type: undefined, typeKey: 'url' });
  }
  const args = fields.texts('args')?.map((arg) => arg.text);
  const sandbox = fields.word('sandbox', SANDBOX);
  return present({ command: command?.text, args, env: readPairs(fields, 'env', { name }), sandbox });
}

/** Reports a value that would be replaced by an environment variable when the server starts. */
function checkPlain({ text: written, at }: SourceScalar, name: string, findings: Findings): void {
  if (!/\$(?:\{|[A-Za-z_])/.test(written)) return;
  const message = `${name}: variables of the environment can stand in env only`;
  findings.error(
    'bad-reference',
    message,
    at,
    'write the value, or give the server a variable: env = { NAME = "${NAME}" }',
  );
}

const SECRET = /(?:^|[_-])(?:api[_-]?key|token|secret|password|credential)s?$/i;
const REFERENCE = new RegExp(`^\\$\\{${VARIABLE_FORM.slice(1, -1)}\\}$`);

/** Reports keys of services: they belong in the environment, because the file is shared. The value is never shown. */
function checkCredentials(node: SourceNode, path: readonly string[], findings: Findings): void {
  if (node.kind === 'list') for (const item of node.items) checkCredentials(item, path, findings);
  if (node.kind !== 'map') return;
  for (const { key, value, at } of node.entries) {
    const isText = value.kind === 'scalar' && typeof value.value === 'string' && value.value !== '';
    if (isText && SECRET.test(key) && !REFERENCE.test(value.text)) {
      const name = [...path, key].join('.');
      const hint = path.includes('env')
        ? `write ${key} = "\${${key}}"`
        : 'put it into the environment, and remove it here';
      findings.error('credential', `${name} holds a credential`, at, hint);
    } else checkCredentials(value, [...path, key], findings);
  }
}

/** Returns the provider that a name in the file means. */
export function providerNamed(name: string): string | undefined {
  const plain = name.toLowerCase() === 'ollama-local' ? 'ollama' : name.toLowerCase();
  return PROVIDER_NAMES.includes(plain) ? plain : undefined;
}
