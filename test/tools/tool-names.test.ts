import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createToolProvider } from '../../src/agent/tools/provider.js';
import { BUILT_IN_TOOLS } from '../../src/plan/built-in-tools.js';
import { checkPlan, definePlan } from '../../src/index.js';
import { loadWorkflowText } from '../../src/yaml.js';
import { selectTools } from '../../src/plan/tool-names.js';
import { agent, folder, session } from './support/session.js';

const builtIn = (tools: readonly string[] | undefined, servers: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(selectTools(tools, servers).builtIn);

describe('decision 14: what an agent may use', () => {
  test('without a list: the read-only tools and its servers', () => {
    const selection = selectTools(undefined, ['one', 'two']);
    expect([...selection.builtIn.keys()]).toEqual(['read_file', 'list_dir', 'glob', 'grep']);
    expect([...selection.servers]).toEqual([
      ['one', 'all'],
      ['two', 'all'],
    ]);
  });

  test('an empty list: none', () => {
    const selection = selectTools([], ['one']);
    expect([selection.builtIn.size, selection.servers.size, selection.unknown]).toEqual([0, 0, []]);
  });

  test('a star: all', () => {
    const selection = selectTools(['*'], ['one']);
    expect([...selection.builtIn.keys()]).toEqual([...BUILT_IN_TOOLS]);
    expect([...selection.servers.keys()]).toEqual(['one']);
  });

  test('statement 58: a list is an allow-list, and servers that it does not name are not started', () => {
    const selection = selectTools(['read'], ['one']);
    expect([...selection.builtIn.keys()]).toEqual(['read_file', 'list_dir']);
    expect(selection.servers.size).toBe(0);
  });

  test.each([
    [['search'], { glob: 'glob', grep: 'grep' }],
    [['codebase'], { read_file: 'read_file', list_dir: 'list_dir', glob: 'glob', grep: 'grep' }],
    [['edit'], { write_file: 'write_file', edit_file: 'edit_file' }],
    [['edit/editFiles'], { write_file: 'write_file', edit_file: 'edit_file' }],
    [['shell'], { shell: 'shell' }],
    [['execute/runInTerminal'], { shell: 'shell' }],
    [['runCommands'], { shell: 'shell' }],
    [['terminalCommand'], { shell: 'shell' }],
    [['web/fetch'], { fetch: 'fetch' }],
    [['web'], { fetch: 'fetch' }],
    [['ask_user', 'shared_memory_write'], {}],
  ])('%j stands for several tools or is a heading: the built-in names are shown', (tools, expected) => {
    expect(builtIn(tools)).toEqual(expected);
  });

  test('statement 56: names of single tools are shown as the file gives them', () => {
    const tools = [
      'view',
      'grep',
      'glob',
      'bash',
      'create_file',
      'replace_string_in_file',
      'multi_replace_string_in_file',
    ];
    expect(builtIn(tools)).toEqual({
      view: 'read_file',
      glob: 'glob',
      grep: 'grep',
      create_file: 'write_file',
      replace_string_in_file: 'edit_file',
      multi_replace_string_in_file: 'edit_file',
      bash: 'shell',
    });
    expect(builtIn(['Read', 'Write', 'Edit', 'MultiEdit', 'Bash', 'Glob', 'Grep', 'LS', 'WebFetch'])).toMatchObject({
      Read: 'read_file',
      Bash: 'shell',
      WebFetch: 'fetch',
    });
  });

  test('a name of its own wins over a heading that means the same tool', () => {
    expect(builtIn(['read', 'view'])).toEqual({ view: 'read_file', list_dir: 'list_dir' });
  });

  test('a restricted form is no wider tool: it is unknown', () => {
    const selection = selectTools(['Bash(git diff:*)', 'constructor', '__proto__', 'toString', ''], []);
    expect(selection.builtIn.size).toBe(0);
    expect(selection.unknown).toEqual(['Bash(git diff:*)', 'constructor', '__proto__', 'toString']);
  });

  test('tools of servers, in every way of naming them', () => {
    const servers = ['git-hub', 'opik', 'a.b'];
    const named = selectTools(
      ['opik/*', 'git-hub/list', 'mcp_git-hub_get', 'mcp__git-hub__put', 'mcp_a_b_x'],
      servers,
    ).servers;
    expect(named.get('opik')).toBe('all');
    expect(named.get('git-hub')).toEqual({ raw: new Set(['list', 'put']), full: new Set(['mcp_git-hub_get']) });
    expect(named.get('a.b')).toEqual({ raw: new Set(), full: new Set(['mcp_a_b_x']) });
    expect(selectTools(['opik', 'opik/one'], servers).servers.get('opik')).toBe('all');
    expect(selectTools(['opik/one', 'opik'], servers).servers.get('opik')).toBe('all');
    expect(selectTools(['nothere/*'], servers).unknown).toEqual(['nothere/*']);
  });

  test('a server wins over a heading of the same name', () => {
    const selection = selectTools(['search/*', 'web'], ['search', 'web']);
    expect(selection.builtIn.size).toBe(0);
    expect([...selection.servers.keys()]).toEqual(['search', 'web']);
  });
});

describe('unknown names', () => {
  test('give one warning for an agent, and the agent still gets the rest', async () => {
    const tools = await session(
      { name: 'dba', tools: ['pgsql_query', 'read', 'vscode/memory'] },
      { cwd: await folder() },
    );
    expect(tools.source.tools.map((tool) => tool.name)).toEqual(['read_file', 'list_dir']);
    expect(tools.warnings).toEqual([
      {
        code: 'unknown-tools',
        message: 'agent dba: Skein has no tool for "pgsql_query", "vscode/memory"; the agent runs without it',
      },
    ]);
  });
});

test('are told where a workflow is defined, in files with their line and in code', async () => {
  const yaml = 'name: f\nsteps:\n  - { id: s, agent: w, prompt: p }\n  - { id: t, agent: w, prompt: p }\n';
  const agents = 'agents:\n  w: { inline: { prompt: Look., tools: [read, raed_file] } }\n';
  const told = {
    code: 'unknown-tools',
    severity: 'warning',
    message: 'agent w: Skein has no tool for "raed_file"; the agent runs without it',
    hint: 'did you mean "read_file"?',
  };
  const loaded = await loadWorkflowText(yaml + agents, { cwd: await folder() });
  expect(loaded.problems).toMatchObject([{ ...told, at: { line: 6, column: 47 } }]);
  const spec = {
    name: 'w',
    instructions: [],
    models: [],
    tools: ['raed_file', 'own/one'],
    mcpServers: { own: { command: 'own' } },
  };
  const { plan } = definePlan({ name: 'p', nodes: [{ id: 's', kind: 'agent', agent: spec, prompt: [] }] });
  expect(checkPlan(plan)).toEqual([told]);
});

test('an agent that is opened again in the same run does not warn again', async () => {
  const provider = createToolProvider({ cwd: await folder(), env: {} });
  const warnings: string[] = [];
  for (const runId of ['one', 'one', 'two']) {
    const signal = new AbortController().signal;
    const warn = (code: string): unknown => warnings.push(`${runId} ${code}`);
    const source = await provider.open(agent({ tools: ['nothing'] }), { runId, path: 's', agent: 'a', signal, warn });
    await source.close();
  }
  expect(warnings).toEqual(['one unknown-tools', 'two unknown-tools']);
});

const CORPUS = resolve(import.meta.dirname, '../../../shared/corpus/agents');
const files = existsSync(CORPUS) ? readdirSync(CORPUS).filter((name) => name.endsWith('.agent.md')) : [];
if (files.length === 0) console.info(`note: no corpus of agents at ${CORPUS}; its tests are skipped`);

describe.skipIf(files.length === 0)('the agents of the corpus', () => {
  test('there are twenty', () => expect(files.length).toBe(20));

  test.each(files)('%s: its tools resolve', async (file) => {
    const front = /^---\r?\n(.*?)\r?\n---/s.exec(readFileSync(join(CORPUS, file), 'utf8'))?.[1] ?? '';
    const meta = parse(front) as { tools?: string[]; 'mcp-servers'?: Record<string, object> };
    const servers = Object.keys(meta['mcp-servers'] ?? {});
    const selection = selectTools(meta.tools, servers);
    for (const name of selection.builtIn.keys()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    if (meta.tools === undefined) expect(selection.builtIn.size).toBe(4);
    // Whatever is named for a declared server is found there.
    expect(selection.unknown.filter((name) => servers.some((server) => name.startsWith(`${server}/`)))).toEqual([]);
    const opened = await session(
      { name: file, ...(meta.tools === undefined ? {} : { tools: meta.tools }) },
      { cwd: await folder() },
    );
    expect(opened.warnings.length).toBeLessThanOrEqual(1);
  });
});
