import { describe, expect, it } from 'vitest';
import { agentOf, agentsOf } from './agents-support.js';

const withToolsets = (...toolsets: readonly string[]) =>
  agentOf(`agents:\n  root:\n    toolsets:\n${toolsets.map((one) => `      - ${one}\n`).join('')}`);

describe('an agent', () => {
  it('of which nothing is said has no tools, no model of its own, and asks before it does anything', () => {
    expect(agentOf('agents: {root: {}}')).toEqual({
      name: 'root',
      models: [],
      tools: [],
      permissions: {},
      allowEmpty: true,
    });
  });

  it('with all keys that mean something', () => {
    const { agents, problems } = agentsOf(`version: "4"
metadata: {author: me, readme: x}
agents:
  second: {description: B}
  first:
    model: openai/gpt-5-mini
    description: A
    instruction: |
      You help.
    max_iterations: 7
    add_date: true
    add_environment_info: true
    toolsets: [{type: user_prompt}, {type: memory}]
`);
    expect(problems).toEqual([]);
    expect([...agents.keys()]).toEqual(['second', 'first']);
    expect(agents.get('first')?.spec).toEqual({
      name: 'first',
      description: 'A',
      models: ['openai/gpt-5-mini'],
      tools: [],
      permissions: {},
      maxTurns: 7,
      interactive: true,
      memory: { inject: false },
      about: ['date', 'environment'],
      allowEmpty: true,
    });
    expect(agents.get('first')?.instruction).toMatchObject({ text: 'You help.\n', at: { line: 8 } });
    expect(agents.get('second')?.at).toEqual({ file: 'team.yaml', line: 4, column: 3 });
  });

  it('max_iterations 0 is the default, and false switches nothing on', () => {
    const spec = agentOf(
      'agents: {root: {max_iterations: 0, add_date: false, sub_agents: [], code_mode_tools: false}}',
    );
    expect(Object.keys(spec)).toEqual(['name', 'models', 'tools', 'permissions', 'allowEmpty']);
  });
});

describe('toolsets', () => {
  it.each([
    ['type: filesystem', ['read_file', 'list_dir', 'glob', 'grep', 'write_file', 'edit_file']],
    ['type: shell', ['shell']],
    ['type: think', ['think']],
    ['type: todo', ['create_todo', 'create_todos', 'update_todo', 'list_todos']],
    ['type: fetch', ['fetch']],
    ['{type: filesystem, tools: [read_file, list_directory, search_files_content]}', ['read_file', 'list_dir', 'grep']],
    ['{type: filesystem, tools: [directory_tree, search_files]}', ['list_dir', 'glob']],
    ['{type: filesystem, tools: [list_dir, grep]}', ['list_dir', 'grep']],
    ['{type: todo, tools: [list_todos, update_todos]}', ['list_todos', 'update_todo']],
  ])('%s', (toolset, tools) => {
    expect(withToolsets(toolset).tools).toEqual(tools);
  });

  it('several give all of theirs, each once', () => {
    expect(withToolsets('type: shell', '{type: filesystem, tools: [read_file]}', 'type: shell').tools).toEqual([
      'shell',
      'read_file',
    ]);
  });
});

describe('MCP servers', () => {
  it('by a command', () => {
    const toolset =
      '{type: mcp, command: /opt/bin/orders-server, args: [--ro, "$HOME"], env: {TOKEN: "${env.TOKEN}", A: "${B:-c}"}}';
    expect(withToolsets(toolset)).toMatchObject({
      tools: ['orders-server/*'],
      mcpServers: {
        'orders-server': {
          command: '/opt/bin/orders-server',
          args: ['--ro', '$HOME'],
          env: { TOKEN: '${TOKEN}', A: '${B:-c}' },
        },
      },
    });
  });

  it('by an address', () => {
    const toolset = `{type: mcp, name: docs, tools: [search], remote: {url: "https://docs.example/mcp", transport_type: streamable, headers: {Authorization: "Bearer \${env.T}"}}}`;
    expect(withToolsets(toolset)).toMatchObject({
      tools: ['docs/search'],
      mcpServers: { docs: { url: 'https://docs.example/mcp', headers: { Authorization: 'Bearer ${T}' } } },
    });
  });

  it('of the section mcps, with tools of its own choice, or of the agent', () => {
    const { agents, problems } = agentsOf(`mcps:
  hub: {command: hub-server, tools: [get, put]}
agents:
  a: {toolsets: [{type: mcp, ref: hub}]}
  b: {toolsets: [{type: mcp, ref: hub, tools: [get]}, {type: mcp, ref: hub, name: other}]}
`);
    expect(problems).toEqual([]);
    const server = { command: 'hub-server' };
    expect(agents.get('a')?.spec).toMatchObject({ tools: ['hub/get', 'hub/put'], mcpServers: { hub: server } });
    expect(agents.get('b')?.spec).toMatchObject({
      tools: ['hub/get', 'other/get', 'other/put'],
      mcpServers: { hub: server, other: server },
    });
  });

  it('that would have the same name get different ones', () => {
    const { mcpServers, tools } = withToolsets(
      '{type: mcp, command: npx, args: [a]}',
      '{type: mcp, command: npx, args: [b]}',
    );
    expect(mcpServers).toEqual({ npx: { command: 'npx', args: ['a'] }, npx_2: { command: 'npx', args: ['b'] } });
    expect(tools).toEqual(['npx/*', 'npx_2/*']);
  });
});

describe('structured_output', () => {
  it('is a schema with a name; its description goes into the schema', () => {
    const text =
      'agents: {root: {structured_output: {name: out, description: What, strict: true, schema: {type: object, properties: {a: {type: [string, "null"]}}, required: [a]}}}}';
    expect(agentOf(text).output).toEqual({
      name: 'out',
      schema: {
        type: 'object',
        properties: { a: { type: ['string', 'null'] } },
        required: ['a'],
        description: 'What',
      },
    });
  });

  it('a description of the schema stays', () => {
    const text = 'agents: {root: {structured_output: {description: A, schema: {description: B}}}}';
    expect(agentOf(text).output).toEqual({ schema: { description: 'B' } });
  });
});

describe('permissions', () => {
  const rules = (section: string) => agentOf(`permissions: ${section}\nagents: {root: {}}`).permissions;

  it('belong to every agent of the file', () => {
    const { agents } = agentsOf('permissions: {deny: [shell]}\nagents: {a: {}, b: {}}');
    expect([...agents.values()].map(({ spec }) => spec.permissions)).toEqual([
      { deny: ['shell'] },
      { deny: ['shell'] },
    ]);
  });

  it.each([
    ['{allow: ["shell:cmd=ls *"], deny: [], ask: [fetch]}', { allow: ['shell:cmd=ls *'], ask: ['fetch'] }],
    ['{deny: [list_directory, search_files_content]}', { deny: ['list_dir', 'grep'] }],
    ['{deny: ["directory_tree:path=a*"]}', { deny: ['list_dir:path=a*', 'glob:path=a*'] }],
    ['{deny: ["search_files_content:query=*key*"]}', { deny: ['grep:pattern=*key*'] }],
    ['{deny: ["fetch:urls=http:*"]}', { deny: ['fetch:url=http:*'] }],
    ['{deny: ["search_*"]}', { deny: ['search_*', 'glob', 'grep', 'shared_memory_read', 'read_memory'] }],
    ['{deny: [List_Directory], ask: [SHELL]}', { deny: ['list_dir'], ask: ['shell'] }],
    ['{allow: ["read_*"]}', { allow: ['read_*'] }],
    ['{deny: [add_memory]}', { deny: ['shared_memory_write', 'write_memory'] }],
    ['{allow: ["*"]}', { allow: ['*'] }],
  ])('%s: names of the other system are those of Skein', (section, expected) => {
    expect(rules(section)).toEqual(expected);
  });

  it('an MCP server is named as it is written', () => {
    const text = `permissions: {allow: ["mcp:hub:get_*"], deny: [drop_table]}
agents: {root: {toolsets: [{type: mcp, name: hub, command: x}]}}`;
    expect(agentOf(text).permissions).toEqual({ allow: ['mcp:hub:get_*'], deny: ['drop_table'] });
  });
});
