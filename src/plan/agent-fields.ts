import { lazily } from '../base/collections.js';
import type {
  AgentSpec,
  CallBounds,
  FunctionTool,
  McpServerSpec,
  MemoryUse,
  ModelChanges,
  ModelSettings,
  Permissions,
  ProviderSpec,
  SkillText,
  StructuredOutput,
  Until,
} from './agent-spec.js';
import type { AnswerCheck, CheckOptions, CheckRule, LengthBounds } from './answer-check.js';
import {
  any,
  flag,
  integer,
  list,
  names,
  NUMBER,
  object,
  options,
  someObject,
  TEXT,
  variants,
  word,
  wordOr,
  type Form,
  type Keys,
} from './form.js';
import { MOST_ROUNDS } from './limits.js';
import type { NarrowPolicy, ServersPolicy, ToolPolicy } from './policy.js';
import { byName, formOf, policy, result, type Rows } from './rows.js';
import { TEMPLATE } from './value-forms.js';

const CALLS = object<CallBounds['modelCalls']>({ typical: NUMBER, worst: wordOr(['unbounded'], NUMBER) });

const FUNCTION = object<FunctionTool>({
  name: TEXT,
  description: TEXT,
  input: someObject(),
  effect: word('read', 'idempotent', 'once'),
  'trust?': word('trusted', 'untrusted'),
  'approve?': wordOr(['code'], flag<true>()),
  'probe?': flag<true>(),
  'coerce?': flag<true>(),
  'calls?': object<CallBounds>({ modelCalls: CALLS, toolCalls: CALLS }),
});

export const SANDBOX = word('on', 'offline');
const SERVER = options<McpServerSpec>({
  'type?': TEXT,
  'command?': TEXT,
  'args?': list(TEXT),
  'env?': names(TEXT),
  'url?': TEXT,
  'headers?': names(TEXT),
  'tools?': list(TEXT),
  'sandbox?': SANDBOX,
});

export const MCP_SERVERS = names(SERVER);

export const PERMISSIONS = options<Permissions>({ 'deny?': list(TEXT), 'allow?': list(TEXT), 'ask?': list(TEXT) });

const TOOL_POLICY = object<ToolPolicy>({
  'enabled?': flag(),
  'allow?': list(TEXT),
  'deny?': list(TEXT),
  'timeoutMs?': NUMBER,
});
const POLICY = object<NarrowPolicy>({
  file: TEXT,
  'defaultDeny?': flag(),
  'allow?': list(TEXT),
  'deny?': list(TEXT),
  'folders?': list(TEXT),
  'domains?': list(TEXT),
  'tools?': names(TOOL_POLICY),
  'mcp?': object<ServersPolicy>({ 'enabled?': flag(), 'defaultDeny?': flag() }),
});

const SETTINGS = options<ModelSettings>({
  'temperature?': NUMBER,
  'topP?': NUMBER,
  'topK?': NUMBER,
  'frequencyPenalty?': NUMBER,
  'presencePenalty?': NUMBER,
  'maxOutputTokens?': NUMBER,
  'seed?': NUMBER,
  'singleToolCalls?': flag(),
  'toolChoice?': wordOr(['auto', 'none', 'required'], object<{ tool: string }>({ tool: TEXT })),
});

const CHECK_OPTIONS: Keys<CheckOptions> = {
  'direction?': word('output', 'input', 'both'),
  'onViolation?': word('fail', 'warn'),
  'message?': TEXT,
};

type RuleOf<K> = Extract<CheckRule, { readonly kind: K }>;

const LENGTH: Keys<LengthBounds> = { 'characters?': integer(1), 'tokens?': integer(1) };
const RULES: { readonly [K in CheckRule['kind']]: Keys<RuleOf<K>> } = {
  bannedWords: { kind: word('bannedWords'), words: list(TEXT) },
  maxLength: { kind: word('maxLength'), ...LENGTH },
  minLength: { kind: word('minLength'), ...LENGTH },
  maxSentences: { kind: word('maxSentences'), sentences: integer(1) },
  requiredFields: { kind: word('requiredFields'), fields: list(TEXT) },
  pattern: { kind: word('pattern'), pattern: TEXT, 'ignoreCase?': flag<true>(), 'matches?': flag<false>() },
  json: { kind: word('json') },
  code: { kind: word('code'), name: TEXT },
};
const CHECK: Form<AnswerCheck> = variants('kind', Object.keys(RULES) as CheckRule['kind'][], (kind) =>
  object<object>({ ...RULES[kind], ...CHECK_OPTIONS }),
);

/** The fields of an agent: all except `cache` influence its answers. */
const ROWS: Rows<AgentSpec> = {
  name: result('name', TEXT),
  'description?': result('description', TEXT),
  instructions: result('system prompt', TEMPLATE),
  models: result('model', list(TEXT)),
  'tools?': result('tools', list(TEXT)),
  'functions?': result('functions', list(FUNCTION)),
  'approve?': result('approvals', list(TEXT)),
  'permissions?': result('permissions', PERMISSIONS),
  'policy?': policy('policy', POLICY),
  'sandbox?': result('sandbox', SANDBOX),
  'mcpServers?': result('tool servers', MCP_SERVERS),
  'skills?': result('skills', list(object<SkillText>({ name: TEXT, text: TEXT }))),
  'extraDirs?': result('folders', list(TEXT)),
  'searchesAll?': result('searches', flag()),
  'maxTurns?': result('limits', integer(1, 10_000)),
  'maxToolCalls?': result('limits', integer(0, MOST_ROUNDS)),
  'until?': result('end', options<Until>({ 'rounds?': integer(1, 10_000), 'tool?': TEXT })),
  'output?': result(
    'schema',
    object<StructuredOutput>({ 'name?': TEXT, schema: any(), 'onInvalid?': word('fail', 'warn') }),
  ),
  'checks?': result('checks', list(CHECK)),
  'interactive?': result('interactive', flag()),
  'memory?': result('memory', object<MemoryUse>({ inject: flag() })),
  'settings?': result('settings', SETTINGS),
  'forModels?': result(
    'changes for models',
    names(object<ModelChanges>({ 'instructions?': TEMPLATE, 'settings?': SETTINGS })),
  ),
  'cache?': policy('cache', word('off', '1h')),
  'allowEmpty?': result('empty answers', flag()),
  'about?': result('about', list(word('date', 'environment'))),
  'provider?': result('provider', object<ProviderSpec>({ type: TEXT, 'baseUrl?': TEXT, 'apiKeyEnv?': TEXT })),
};

export const AGENT = formOf(ROWS);

export const agentFields = lazily(() => byName(ROWS));
