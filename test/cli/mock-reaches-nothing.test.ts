import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { filesIn, makeProject, runFolder } from './support/skein.js';
import { served } from './support/served.js';

/** Leaves a file behind when it is started. */
const PLANT = ['node', '-e', "require('fs').writeFileSync('started', 'yes')"];

async function listener(): Promise<{ readonly url: string; readonly hits: string[] }> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? '');
    response.end('hello');
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, hits };
}

const dag = (url: string): string => `name: t
agents: { a: { file: a.agent.md } }
config: { provider: { type: ollama, base_url: "${url}" } }
steps: [{ id: s, agent: a, prompt: hello }]
`;
const agentFile = (url: string, tools: string): string => `---
name: a
tools: ${tools}
mcp-servers:
  kit: { command: node, args: ${JSON.stringify(PLANT.slice(1))}, env: { KIT: "\${KIT_TOKEN}" } }
  web: { type: http, url: "${url}", headers: { Authorization: "Bearer $WEB_TOKEN" } }
---
You work.
`;
const pipeline = (url: string): string => `models: { m: { provider: ollama, model: m, base_url: "${url}" } }
agents:
  root:
    model: m
    instruction: You work.
    toolsets:
      - { type: mcp, name: kit, command: node, args: ${JSON.stringify(PLANT.slice(1))}, env: { KIT: "\${env.KIT_TOKEN}" } }
      - { type: mcp, name: web, remote: { url: "${url}", headers: { Authorization: "Bearer \${env.WEB_TOKEN}" } } }
      - { type: shell }
workflow: [{ type: agent, name: root, prompt: hello }]
`;
const SCRIPT = (url: string): string => `strict: false
rules:
  - answers:
      - tools:
          - { name: shell, input: { argv: ${JSON.stringify(PLANT)} } }
          - { name: fetch, input: { url: "${url}" } }
          - { name: mcp_kit_echo, input: { text: hi } }
      - done
`;
const ENV = { KIT_TOKEN: 'kit-secret', WEB_TOKEN: 'web-secret' };

describe('--mock', () => {
  test.each([
    ['echo', ['--mock']],
    ['a script that calls tools', ['--mock=mine.yaml', '--allow-private-addresses', '--yes']],
  ])('[XS1] starts and reaches nothing: %s', async (_, words) => {
    const { url, hits } = await listener();
    const cwd = await makeProject({
      'dag.yaml': dag(url),
      'a.agent.md': agentFile(url, '[shell, fetch, kit/echo, web/*]'),
      'pipeline.yaml': pipeline(url),
      'mine.yaml': SCRIPT(url),
    });
    for (const file of ['dag.yaml', 'pipeline.yaml']) {
      const end = await served(['run', file, ...words, '--verbose'], { cwd, env: ENV });
      expect(end).toMatchObject({ code: 0 });
      expect(end.stderr).toContain('a run without models does not start or reach MCP servers');
    }
    expect(hits).toEqual([]);
    expect(await filesIn(cwd)).not.toContain('started');
  });

  test('[XS1] a script may call tools of a server of which all are taken: it is told that they were not run', async () => {
    const { url, hits } = await listener();
    const calls = (...names: string[]): string =>
      `rules:\n  - answers:\n      - tools: [${names.map((name) => `{ name: ${name}, input: { q: 1 } }`).join(', ')}]\n      - done\n`;
    const cwd = await makeProject({
      'dag.yaml': dag(url),
      'a.agent.md': agentFile(url, '[kit/*, web/look]').replace('  web:', '  kit_two: { command: none }\n  web:'),
      'pipeline.yaml': pipeline(url),
      'mine.yaml': calls('mcp_kit_echo', 'mcp_web_look', 'mcp_web_other'),
      'all.yaml': calls('mcp_kit_echo', 'mcp_web_other'),
    });
    const answers = async (...words: string[]): Promise<readonly string[]> => {
      const end = await served(['run', ...words, '--stream', '--yes', '--audit-dir', '.workflow-runs'], {
        cwd,
        env: ENV,
      });
      expect(end).toMatchObject({ code: 0 });
      const files = await runFolder(cwd);
      const lines = [...files]
        .filter(([name]) => name.endsWith('stream.jsonl'))
        .flatMap(([, text]) => text.split('\n'));
      return lines
        .filter((line) => line.includes('tool.execution_complete'))
        .map((line) => line.slice(line.indexOf('"id"')))
        .toSorted();
    };
    const notRun = expect.stringContaining('not run: a run with --mock starts no process') as string;
    const unknown = expect.stringMatching(/no tool.*mcp_web_other/) as string;
    expect(await answers('dag.yaml', '--mock=mine.yaml')).toEqual([notRun, notRun, unknown]);
    await rm(join(cwd, '.workflow-runs'), { recursive: true });
    expect(await answers('pipeline.yaml', '--mock=all.yaml')).toEqual([notRun, notRun]);
    expect(hits).toEqual([]);
    expect(await filesIn(cwd)).not.toContain('started');
  });

  test('[XS1] a script that is named as a model leaves the tools as they are', async () => {
    const { url, hits } = await listener();
    const cwd = await makeProject({
      'flow.yaml': `name: t\nagents: { a: { inline: { prompt: p, tools: [shell, fetch] } } }\nsteps: [{ id: s, agent: a, prompt: hello }]\n`,
      'mine.yaml': SCRIPT(url),
    });
    const words = ['--model', 'script/mine.yaml', '--allow-private-addresses'];
    expect(await served(['run', 'flow.yaml', ...words], { cwd })).toMatchObject({ code: 0 });
    expect(hits).toEqual(['/']);
    expect(await filesIn(cwd)).toContain('started');
  });
});

describe.each(['plan', 'validate'])('%s', (command) => {
  test('[XS1] prints what a file would start and reach, and starts nothing', async () => {
    const { url, hits } = await listener();
    const cwd = await makeProject({
      'dag.yaml': dag(url),
      'a.agent.md': agentFile(url, '[shell, fetch, kit/*]'),
      'pipeline.yaml': pipeline(url),
    });
    for (const [file, agent] of [
      ['dag.yaml', 'a'],
      ['pipeline.yaml', 'root'],
    ] as const) {
      const end = await served([command, file], { cwd, env: ENV });
      expect(end.code).toBe(0);
      expect(end.stdout).toMatch(
        new RegExp(`starts node -e .*started.*\\(MCP server kit of agent ${agent}\\), with the value of KIT_TOKEN`),
      );
      expect(end.stdout).toContain(`reaches ${url} (MCP server web of agent ${agent}), with the value of WEB_TOKEN`);
      expect(end.stdout).toContain(`reaches ${url} (models of agent ${agent})`);
      expect(end.stdout).toContain(`starts commands that the agent chooses (tool shell of agent ${agent})`);
      const json = await served([command, file, '--json'], { cwd });
      expect(json.stdout).toContain('"powers"');
    }
    expect(hits).toEqual([]);
    expect(await filesIn(cwd)).not.toContain('started');
  });
});

test('[XS1] plan does not call the tools of servers tools that only read', async () => {
  const { url } = await listener();
  const cwd = await makeProject({ 'dag.yaml': dag(url), 'a.agent.md': agentFile(url, '').replace('tools: \n', '') });
  const end = await served(['plan', 'dag.yaml'], { cwd });
  expect(end.stdout).toContain('tools that only read, and all tools of the MCP servers kit, web');
});
