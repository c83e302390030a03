import { describe, expect, it } from 'vitest';
import { agentsOf } from './agents-support.js';

const inRoot = (keys: string): readonly string[] => agentsOf(`agents: {root: {${keys}}}`).problems;
const leniently = (keys: string): readonly string[] =>
  agentsOf(`agents: {root: {${keys}}}`, { lenient: true }).problems;

/** Problems without their hints. */
const short = (problems: readonly string[]): readonly string[] =>
  problems.map((problem) => problem.replace(/ \(.*/, ''));

describe('keys that only the other system has', () => {
  it.each(['commands: {a: b}', 'code_mode_tools: true', 'num_history_items: 3', 'welcome_message: hi'])(
    '%s of an agent: one warning with its place',
    (key) => {
      const name = key.split(':')[0] ?? '';
      const [problem, ...more] = inRoot(key);
      expect(more).toEqual([]);
      expect(problem).toMatch(
        new RegExp(`^1:17: warning not-supported: ${name} of agent "root" is not supported \\(.+\\)$`),
      );
    },
  );

  it.each([
    ['sub_agents: [a]', 'means something else'],
    ['handoffs: [a]', 'means something else'],
    ['force_handoff: a', 'means something else'],
    ['rag: [a]', 'means something else'],
    ['skills: true', 'means something else'],
    ['use_toolsets: [a]', 'means something else'],
    ['add_prompt_files: [a]', 'means something else'],
    ['hooks: {pre_tool_use: [{type: command, command: ./check.sh}]}', 'is less safe'],
    ['readonly: true', 'is less safe'],
    ['redact_secrets: true', 'is less safe'],
  ])('[XP2] %s of an agent: an error with its place, leniently a warning', (key, loss) => {
    const name = key.split(':')[0] ?? '';
    const text = `not-supported: ${name} of agent "root" is not supported: without it the file ${loss} (`;
    expect(inRoot(key)).toEqual([expect.stringContaining(`1:17: error ${text}`)]);
    expect(inRoot(key)[0]).toContain('; --lenient (lenient: true) goes without)');
    expect(leniently(key)).toEqual([expect.stringContaining(`1:17: warning ${text}`)]);
  });

  it.each([
    ['fallback: {models: [], retries: 2, cooldown: 1m}', ['warning 1:40', 'warning 1:52']],
    ['toolsets: [{type: filesystem, post_edit: [x]}]', ['error 1:47']],
    ['toolsets: [{type: filesystem, allow_list: [src]}]', ['error 1:47']],
    ['toolsets: [{type: filesystem, readonly: true, defer: true}]', ['error 1:47', 'warning 1:63']],
    ['toolsets: [{type: filesystem, instruction: Look first.}]', ['error 1:47']],
    ['toolsets: [{type: shell, env: {A: b}}]', ['error 1:42']],
    ['toolsets: [{type: shell, sandbox: {image: alpine}}]', ['error 1:42']],
    ['toolsets: [{type: memory, path: a.db}]', ['error 1:43']],
    ['toolsets: [{type: memory, tools: [get_memories]}]', ['error 1:43']],
    ['toolsets: [{type: todo, shared: true}]', ['error 1:41']],
    ['toolsets: [{type: fetch, timeout: 3}]', ['warning 1:42']],
    ['toolsets: [{type: fetch, blocked_domains: [x.example]}]', ['error 1:42']],
    ['toolsets: [{type: a2a, url: x, anything: 1}]', ['error 1:35']],
    ['toolsets: [{type: lsp, command: gopls}]', ['error 1:35']],
    ['toolsets: [{type: api, api_config: {}}]', ['error 1:35']],
    ['toolsets: [{type: filesystem, tools: [create_directory]}]', ['error 1:55']],
    ['toolsets: [{type: mcp, ref: "docker:x", config: {a: 1}}]', ['error 1:45', 'warning 1:57']],
    ['toolsets: [{type: mcp, command: x, working_dir: a}]', ['error 1:52']],
    ['toolsets: [{type: mcp, remote: {url: "https://x.example", oauth: {a: b}}}]', ['error 1:75']],
  ])('[XP2] %s', (keys, places) => {
    const told = (problems: readonly string[]): readonly string[] =>
      problems.map((problem) => problem.replace(/^([\d:]+): (\w+) not-supported: .*$/s, '$2 $1'));
    expect(told(inRoot(keys))).toEqual(places);
    expect(told(leniently(keys))).toEqual(places.map((place) => place.replace('error', 'warning')));
  });

  it('[XP2] a key whose value is false or empty asks for nothing', () => {
    expect(inRoot('sub_agents: [], hooks: {}, readonly: false, toolsets: [{type: todo, shared: false}]')).toEqual([]);
  });

  it('of models, providers and the file', () => {
    const text = `models:
  m: {provider: openai, model: x, thinking_budget: high, provider_opts: {a: 1}}
providers:
  p: {api_type: openai_responses, base_url: "https://x.example", temperature: 1, auth: {type: x}}
rag: {docs: {}}
hooks: {pre_tool_use: [x]}
agents: {root: {}}
`;
    expect(short(agentsOf(text).problems)).toEqual([
      '2:35: warning not-supported: thinking_budget of model "m" is not supported',
      '2:58: warning not-supported: provider_opts of model "m" is not supported',
      '4:17: warning not-supported: api_type openai_responses of provider "p" is not supported; chat completions are used',
      '4:66: warning not-supported: temperature of provider "p" is not supported',
      '4:82: error not-supported: auth of provider "p" is not supported: without it the file means something else',
      '5:1: warning not-supported: rag is not supported',
      '6:1: error not-supported: hooks is not supported: without it the file is less safe',
    ]);
  });

  it('the old transport of a remote server', () => {
    const keys = 'toolsets: [{type: mcp, remote: {url: "https://x.example", transport_type: sse}}]';
    expect(short(inRoot(keys))).toEqual([
      '1:91: warning mcp-transport: remote of an MCP server of agent "root": the old sse transport is not supported',
    ]);
  });
});

describe('mistakes', () => {
  it.each([
    ['modle: x', '1:17: error unknown-key: unknown key "modle" in agent "root" (did you mean "model"?)'],
    ['sub_agent: [x]', '1:17: error unknown-key: unknown key "sub_agent" in agent "root"'],
    ['max_iterations: -1', '1:33: error out-of-range: max_iterations of agent "root" must be from 0 to 10000, not -1'],
    [
      'max_iterations: many',
      '1:33: error wrong-type: max_iterations of agent "root" must be a whole number, not "many"',
    ],
    ['add_date: yes', '1:27: error wrong-type: add_date of agent "root" must be true or false, not text (write true)'],
    ['toolsets: {type: shell}', '1:27: error wrong-type: toolsets of agent "root" must be a list, not a map'],
    ['toolsets: [shell]', '1:28: error wrong-type: a toolset of agent "root" must be a map'],
    ['toolsets: [{}]', '1:28: error unknown-toolset: a toolset of agent "root" needs a type'],
    ['toolsets: [{type: shel}]', '1:35: error unknown-toolset: there is no toolset "shel" (did you mean "shell"?)'],
    [
      'toolsets: [{type: filesystem, tools: [red_file]}]',
      '1:55: error unknown-tool: toolset filesystem of agent "root" has no tool "red_file" (did you mean "read_file"?)',
    ],
    [
      'toolsets: [{type: shell, tool: [shell]}]',
      '1:42: error unknown-key: unknown key "tool" in toolset shell of agent "root" (did you mean "tools"?)',
    ],
    [
      'toolsets: [{type: mcp}]',
      '1:28: error mcp-server: an MCP server of agent "root" needs a command, or a remote address',
    ],
    [
      'toolsets: [{type: mcp, remote: {url: "ftp://x"}}]',
      '1:54: error mcp-server: remote of an MCP server of agent "root" needs a url that begins with http:// or https://',
    ],
    [
      'toolsets: [{type: mcp, command: x, env: {A: "${headers.B}"}}]',
      '1:61: error bad-reference: "${headers.B}" in env.A of an MCP server of agent "root" is not a reference to an environment variable',
    ],
    ['structured_output: {name: x}', '1:36: error bad-schema: structured_output needs a schema'],
    [
      'structured_output: {schema: text}',
      '1:45: error wrong-type: schema of structured_output must be a map, not text',
    ],
    [
      'structured_output: {schema: {type: strin}}',
      '1:52: error bad-schema: type of a schema can\'t be "strin" (did you mean "string"?)',
    ],
    [
      'structured_output: {schema: {properties: {a: {type: [x]}}}}',
      '1:70: error bad-schema: type of a schema can\'t be "x"',
    ],
    [
      'structured_output: {schema: {properties: [a]}}',
      '1:58: error bad-schema: properties of a schema must be a map of schemas, not a list',
    ],
    [
      'structured_output: {schema: {required: a}}',
      '1:56: error bad-schema: required of a schema must be a list of names, not text',
    ],
    [
      'structured_output: {schema: {$ref: "#/x"}}',
      "1:45: error bad-schema: the schema can't be used: there is no schema at #/x (a reference leads to a part of the same schema, and bounds are numbers without quotes)",
    ],
    [
      'structured_output: {schema: {properties: {name: {}}, additionalProperties: false, required: [nam]}}',
      '1:110: error bad-schema: the schema requires "nam", which it does not allow (did you mean "name"?)',
    ],
  ])('%s', (keys, problem) => {
    const [found = '', ...more] = inRoot(keys);
    expect(more).toEqual([]);
    expect(problem.endsWith(')') ? found : found.replace(/ \(.*/, '')).toBe(problem);
  });

  it('an agent that is no map, or has no usable name', () => {
    expect(short(agentsOf('agents: {root: text, "a b": {}}').problems)).toEqual([
      '1:16: error wrong-type: agent "root" must be a map',
      '1:22: error bad-name: "a b" is not a valid agent name',
    ]);
  });

  it('sections that are no maps', () => {
    const text = 'models: [a]\nproviders: 3\nmcps: x\npermissions: []\nagents: [a]\n';
    const { agents, problems } = agentsOf(text);
    expect(agents.size).toBe(0);
    expect(problems.map((problem) => problem.slice(0, 24))).toEqual([
      '1:9: error wrong-type: m',
      '2:12: error wrong-type: ',
      '3:7: error wrong-type: m',
      '4:14: error wrong-type: ',
      '5:9: error wrong-type: a',
    ]);
  });

  it('numbers, addresses and keys of models', () => {
    const text = `models:
  m: {provider: openai, model: x, temperature: hot, top_p: 2, max_tokens: 0, base_url: example.com, token_key: sk-123}
agents: {root: {}}
`;
    const { problems } = agentsOf(text);
    expect(short(problems)).toEqual([
      '2:48: error wrong-type: temperature of model "m" must be a number, not "hot"',
      '2:60: error out-of-range: top_p of model "m" must be from 0 to 1, not 2',
      '2:75: error out-of-range: max_tokens of model "m" must be from 1 to 10000000, not 0',
      '2:88: error provider: base_url of model "m" must be an address that begins with http:// or https://',
      '2:112: error provider: token_key of model "m" must be the name of an environment variable',
    ]);
    // It may be the key itself.
    expect(problems.join()).not.toContain('sk-123');
  });
});

describe('rules of permissions', () => {
  it.each([
    [
      '{deny: ["shell:rm *"]}',
      '1:22: error bad-permission: "shell:rm *" in deny of permissions is not a valid rule: "shell:rm *" is not a valid tool name',
    ],
    ['{allow: [""]}', '1:23: error bad-permission: "" in allow of permissions is not a valid rule: it is empty'],
    [
      '{deny: ["read_[a-z]*"]}',
      '1:22: error bad-permission: "read_[a-z]*" in deny of permissions is not a valid rule: sets of characters in brackets are not supported, only * and ?',
    ],
    [
      '{deny: ["shell:comand=rm *"]}',
      '1:22: error unknown-argument: the tool shell has no argument "comand" (did you mean "command"?)',
    ],
    ['{deny: ["write_file:file=x"]}', '1:22: error unknown-argument: the tool write_file has no argument "file"'],
    [
      '{deny: [shel]}',
      '1:22: warning unknown-tool: no agent of this file can have the tool "shel"; the rule matches nothing (did you mean "shell"?)',
    ],
    ['{denys: [shell]}', '1:15: error unknown-key: unknown key "denys" in permissions (did you mean "deny"?)'],
    ['{deny: shell}', '1:21: error wrong-type: deny of permissions must be a list of texts, not text'],
    [
      '{deny: ["sh*:comand=rm *"]}',
      '1:22: error unknown-argument: no tool that "sh*" means has an argument "comand" (did you mean "command"?)',
    ],
    [
      '{deny: ["Shell:comand=rm *"]}',
      '1:22: error unknown-argument: the tool shell has no argument "comand" (did you mean "command"?)',
    ],
  ])('%s', (section, problem) => {
    const [found = '', ...more] = agentsOf(`permissions: ${section}\nagents: {root: {}}`).problems;
    expect(more).toEqual([]);
    expect(problem.endsWith('?)') ? found : found.replace(/ \([^()]*\)$/, '')).toBe(problem);
  });
});
