import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agent } from '../../src/graph.js';
import { describeSandbox } from '../../src/agent/index.js';
import { served } from '../cli/support/served.js';
import { MAIN } from '../cli/support/skein.js';
import { servers, toolServer } from '../mcp/support.js';
import { folder } from '../tools/support/session.js';

const found = await describeSandbox();
const hasSandbox = 'by' in found;
if (!hasSandbox) console.log('skipped in part: neither bwrap nor unshare makes a sandbox here');

const DAG = `name: ask
agents:
  tester: { inline: { prompt: You test, tools: [shell], sandbox: offline } }
steps:
  - { id: a, agent: tester, prompt: Test it }
`;

/** `skein` in a folder with these files; `alone`: where nobody can make user namespaces, so that there is no sandbox. */
async function skein(files: Readonly<Record<string, string>>, words: readonly string[], alone = false) {
  const cwd = await folder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(cwd, name, '..'), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const env = { HOME: cwd, NO_COLOR: '1', OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' };
  if (!alone) {
    const { stdout, stderr, code } = await served(words, { cwd, env, asks: true });
    return { stdout, stderr, status: code, cwd };
  }
  const none = 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"';
  const line = [process.execPath, MAIN, ...words];
  const [program, ...args] = ['unshare', '--user', '--map-root-user', '/bin/sh', '-c', none, 'sh', ...line] as const;
  const options = { cwd, env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' } as const;
  const { stdout, stderr, status } = spawnSync(program, args, options);
  return { stdout, stderr, status, cwd };
}

const OUTSIDE = 'programs outside of a sandbox can read the keys that skein is started with, and all that you can read';

describe('the key sandbox', () => {
  test.each([
    ['a DAG', { 'f.yaml': DAG }, 'f.yaml', 'tester'],
    [
      'an agent file',
      {
        'f.yaml':
          'name: ask\nagents: { tester: { file: t.agent.md } }\nsteps: [{ id: a, agent: tester, prompt: Test it }]\n',
        't.agent.md': '---\nname: tester\ntools: [shell]\nsandbox: offline\n---\nYou test.\n',
      },
      'f.yaml',
      'tester',
    ],
    [
      'a pipeline',
      {
        'f.yaml':
          'agents:\n  root: { model: mock/echo, instruction: Test, toolsets: [{ type: shell }], sandbox: offline }\nworkflow:\n  steps: [{ id: a, type: agent, name: root }]\n',
      },
      'f.yaml',
      'root',
    ],
    [
      'an Agentfile',
      {
        Agentfile: 'NAME ask\nAGENT tester "You test."\nGOAL check "Test it."\nRUN all USING check\n',
        'agent.toml': 'sandbox = "offline"\ntools = ["bash"]\n',
      },
      'Agentfile',
      'check',
    ],
  ])('of %s says where commands run', async (_, files, file, name) => {
    const { stdout, stderr } = await skein(files, ['validate', file]);
    expect(stderr + stdout).toContain(
      `starts commands that the agent chooses, in a sandbox without network (tool shell of agent ${name})`,
    );
  });

  test('takes two words, and no others', async () => {
    const { stderr, status } = await skein({ 'f.yaml': DAG.replace('offline', 'maybe') }, ['validate', 'f.yaml']);
    expect(status).not.toBe(0);
    expect(stderr).toContain('sandbox');
    expect(stderr).toContain('offline');
    expect(() => agent({ name: 'a', sandbox: 'never' as 'on' })).toThrow();
  });
});

const REMOTE = 'is reached at an address: a sandbox here cannot confine it';

describe('a sandbox for a tool server at an address', () => {
  const server = 'url: "https://example.org/mcp", sandbox: on';
  test.each([
    [
      'a DAG',
      {
        'f.yaml': DAG.replace('sandbox: offline', `mcp-servers: { web: { ${server} } }`),
      },
      'f.yaml',
    ],
    [
      'a pipeline',
      {
        'f.yaml':
          'agents:\n  root: { model: mock/echo, instruction: Test, toolsets: [{ type: mcp, remote: { url: "https://example.org/mcp" }, sandbox: on }] }\nworkflow:\n  steps: [{ id: a, type: agent, name: root }]\n',
      },
      'f.yaml',
    ],
    [
      'an Agentfile',
      {
        Agentfile: 'NAME ask\nAGENT tester "You test."\nGOAL check "Test it."\nRUN all USING check\n',
        'agent.toml': '[mcp.web]\nendpoint = "https://example.org/mcp"\nsandbox = "on"\n',
      },
      'Agentfile',
    ],
  ])('is a problem of %s', async (_, files, file) => {
    const { stderr, status } = await skein(files, ['validate', file]);
    expect(stderr).toMatch(/:\d+:\d+: error mcp-server: /);
    expect(stderr).toContain(REMOTE);
    expect(status).not.toBe(0);
  });

  test('is a problem of code', () => {
    const mcpServers = { web: { url: 'https://example.org/mcp', sandbox: 'on' as const } };
    expect(() => agent({ name: 'a', model: 'mock/echo', mcpServers, tools: ['web/*'] })).toThrow(
      `the MCP server "web" of the agent "a" ${REMOTE}`,
    );
  });
});

describe('where no sandbox works', () => {
  test.skipIf(!hasSandbox)('a run that needs one fails before it starts, and says what to install', async () => {
    const words = ['run', 'f.yaml', '--trust', '--model', 'openai/gpt-5-mini', '--audit-dir', 'runs'];
    const { stderr, status, cwd } = await skein({ 'f.yaml': DAG }, words, true);
    expect(status).toBe(2);
    expect([existsSync(join(cwd, 'runs')), existsSync(join(cwd, '.skein'))]).toEqual([false, false]);
    expect(stderr).toContain('agent tester needs a sandbox, and this machine has none that works');
    expect(stderr).toContain('install bubblewrap');
  });

  test.skipIf(!hasSandbox)('a mock run needs none, and skein doctor says so', async () => {
    expect((await skein({ 'f.yaml': DAG }, ['run', 'f.yaml', '--mock'], true)).status).toBe(0);
    const { stdout } = await skein({}, ['doctor'], true);
    expect(stdout).toContain('sandbox for programs: none; install bubblewrap');
    expect(stdout).toContain(`not promised: ${OUTSIDE}`);
  });

  test.skipIf(!hasSandbox)('validate --powers says so, and what programs outside of a sandbox can read', async () => {
    const words = ['validate', 'f.yaml', '--powers'];
    const missing = 'this machine has no sandbox that works, so runs of it fail: install bubblewrap';
    expect((await skein({ 'f.yaml': DAG }, words, true)).stderr).toContain(missing);
    expect((await skein({ 'f.yaml': DAG }, words)).stderr).toBe('');
    const { stderr } = await skein({ 'f.yaml': DAG.replace(', sandbox: offline', '') }, words);
    expect(stderr).toContain(OUTSIDE);
    const { stdout } = await skein({ 'f.yaml': DAG }, [...words, '--json'], true);
    expect(JSON.parse(stdout)).toMatchObject({
      files: [{ notPromised: [expect.stringContaining(missing) as string] }],
    });
  });

  test.skipIf(!hasSandbox)('is where it is not: skein doctor says which one works', async () => {
    const { stdout } = await skein({}, ['doctor', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ sandbox: found });
  });
});

test.skipIf(!hasSandbox)('a tool server with a sandbox works as one without', async () => {
  const [file = ''] = toolServer().args ?? [];
  const cwd = await folder();
  // In a sandbox `/tmp` is empty but for the working directory, and the project may be a checkout there.
  cpSync(dirname(file), cwd, { recursive: true });
  const kit = { ...toolServer(), args: [join(cwd, basename(file))], sandbox: 'offline' } as const;
  const tools = await servers({ kit }, { cwd });
  expect(tools.source.tools.map(({ name }) => name)).toEqual(
    (await servers({ kit: toolServer() })).source.tools.map(({ name }) => name),
  );
});
