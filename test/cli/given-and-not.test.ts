import { describe, expect, it } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const STEPS = 'steps:\n  - { id: a, agent: w, prompt: Hi }\n';
const AGENTS = 'agents: { w: { inline: { prompt: You answer., tools: [] } } }\n';

describe('[XD5] an empty text is as if the key were not there', () => {
  const keys = [
    ...[
      'audit_dir',
      'audit_retention',
      'streaming',
      'log_level',
      'agent_search_paths',
      'max_concurrency',
      'interactive',
      'model',
      'provider',
      'shared_memory',
      'truncate',
      'telemetry',
    ].map((key) => [key, `name: n\nconfig: { ${key}: "" }\n${AGENTS}${STEPS}`]),
    ...['initial_file', 'initial_content', 'inject_into_prompt'].map((key) => [
      key,
      `name: n\nconfig: { shared_memory: { enabled: true, ${key}: "" } }\n${AGENTS}${STEPS}`,
    ]),
    ...['api_key_env', 'base_url'].map((key) => [
      key,
      `name: n\nconfig: { provider: { type: openai, ${key}: "" } }\n${AGENTS}${STEPS}`,
    ]),
    ...['strategy', 'limit', 'keep'].map((key) => [
      `truncate.${key}`,
      `name: n\nconfig: { truncate: { ${key}: "" } }\n${AGENTS}${STEPS}`,
    ]),
    ...[
      'depends_on',
      'condition',
      'skills',
      'on_error',
      'retry_count',
      'timeout',
      'model',
      'extra_dirs',
      'interactive',
    ].map((key) => [`step.${key}`, `name: n\n${AGENTS}steps:\n  - { id: a, agent: w, prompt: Hi, ${key}: "" }\n`]),
    ...['steps', 'format', 'truncate'].map((key) => [
      `output.${key}`,
      `name: n\n${AGENTS}${STEPS}output: { ${key}: "" }\n`,
    ]),
    ...['inputs', 'skills', 'output', 'description', 'config'].map((key) => [
      key,
      `name: n\n${key}: ""\n${AGENTS}${STEPS}`,
    ]),
    ...['description', 'model', 'approve', 'mcp-servers'].map((key) => [
      `inline.${key}`,
      `name: n\nagents: { w: { inline: { prompt: You answer., tools: [], ${key}: "" } } }\n${STEPS}`,
    ]),
    ['file', `name: n\nagents: { w: { file: "", inline: { prompt: You answer., tools: [] } } }\n${STEPS}`],
    ...['type', 'args', 'env', 'url', 'tools'].map((key) => [
      `server.${key}`,
      `name: n\nagents: { w: { inline: { prompt: x, mcp-servers: { s: { command: node, ${key}: "" } } } } }\n${STEPS}`,
    ]),
  ] as const;

  it('for every key of a workflow that may be left out', async () => {
    const files = Object.fromEntries(keys.map(([, text = ''], i) => [`f${i}.yaml`, text]));
    const cwd = await makeProject(files);
    const end = await served(['validate', '--json', ...Object.keys(files)], { cwd });
    const report = JSON.parse(end.stdout) as {
      readonly files: readonly { readonly problems: readonly { readonly code: string }[] }[];
    };
    // What a server of tools may do is said of it, whatever its keys are.
    const said = report.files.map(({ problems }) => problems.filter(({ code }) => code !== 'rule-of-two'));
    expect(said.map((problems, i) => [keys[i]?.[0], problems])).toEqual(keys.map(([key]) => [key, []]));
    expect(end.code).toBe(0);
  });

  it('and not for an input, whose default it may be', async () => {
    const text = `name: n\ninputs: { x: { default: "" } }\n${AGENTS}steps:\n  - { id: a, agent: w, prompt: "[{{inputs.x}}]" }\n`;
    const cwd = await makeProject({ 'f.yaml': text });
    expect((await served(['run', 'f.yaml', '--mock'], { cwd })).stdout).toContain('[]');
  });
});

function withServer(server: string): string {
  return `name: n\nagents: { w: { inline: { prompt: x, mcp-servers: { s: ${server} } } } }\n${STEPS}`;
}

describe('[XD4] variables in the address of a tool server are filled in before it is checked', () => {
  it.each([
    '${MCP_URL}',
    '$MCP_URL',
    '${MCP_URL:-http://localhost:1/mcp}',
    'http://h:${PORT}/mcp',
    'https://${HOST}/mcp',
    'http://${HOST}:$PORT',
    '${{ secrets.URL }}',
  ])('%s', async (url) => {
    const pipeline = `agents:\n  root: { model: mock/echo, description: d, instruction: i, toolsets: [{ type: mcp, remote: { url: "${url.replace('${{ secrets.URL }}', '${URL}')}" } }] }\nworkflow: [{ type: agent, name: root }]\n`;
    const cwd = await makeProject({ 'f.yaml': withServer(`{ type: http, url: "${url}" }`), 'p.yaml': pipeline });
    const end = await served(['validate', 'f.yaml', 'p.yaml'], { cwd });
    expect([end.code, end.stderr]).toEqual([0, expect.not.stringContaining('error')]);
  });

  it.each(['ftp://h/mcp', 'h/mcp', 'http://', 'file://${HOME}/x', 'http://h:port/mcp'])(
    '%s is refused',
    async (url) => {
      const cwd = await makeProject({ 'f.yaml': withServer(`{ type: http, url: "${url}" }`) });
      const end = await served(['validate', 'f.yaml'], { cwd });
      expect([end.code, end.stderr]).toEqual([2, expect.stringContaining('http:// or https://')]);
    },
  );

  it('what becomes of it is checked when it is filled in', async () => {
    const cwd = await makeProject({
      'f.yaml': `${withServer('{ url: "${MCP_URL}" }')}config: { model: script/s.yaml }\n`,
      's.yaml': 'rules: [{ prompt: Hi, answer: x }]\n',
    });
    const args = ['run', 'f.yaml'];
    const wrong = await served(args, { cwd, env: { MCP_URL: 'ftp://h' } });
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('not an http or https address')]);
    const unset = await served(args, { cwd });
    expect([unset.code, unset.stderr]).toEqual([3, expect.stringContaining('MCP_URL is not set')]);
  });
});

describe('[XD7] the type of a tool server', () => {
  it.each([
    ['remote', '{ type: remote, url: http://localhost:1/mcp }', undefined],
    [
      'remote with a command',
      '{ type: remote, command: node }',
      'the type remote, which goes with a url, and a command',
    ],
    ['http with a command', '{ type: http, command: node }', 'write type: local'],
    ['local with a url', '{ type: local, url: http://localhost:1/mcp }', 'write type: http'],
  ])('%s', async (_, server, told) => {
    const cwd = await makeProject({ 'f.yaml': withServer(server) });
    const end = await served(['validate', 'f.yaml'], { cwd });
    expect([end.code, end.stderr]).toEqual([told === undefined ? 0 : 2, expect.stringContaining(told ?? '')]);
  });
});
