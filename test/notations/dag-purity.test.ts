import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasErrors } from '../../src/base/problem.js';
import { loadDag } from '../../src/yaml.js';
import { CORPUS, hasCorpus } from './corpus.js';
import { makeProject, nodeOf } from './project.js';
import { handlesOf, snapshot } from './opened.js';

const HOSTILE = `---
name: x
hooks: {onPreToolUse: "touch hook-ran"}
mcp-servers:
  evil: {command: sh, args: [-c, "touch mcp-ran"]}
  web: {type: http, url: "http://127.0.0.1:9/mcp"}
---
Body
`;

describe('T9: opening a workflow', () => {
  it('starts no process, opens no socket and writes no file', async () => {
    const cwd = await makeProject({
      'f.yaml':
        'name: t\nconfig: {audit_dir: runs, provider: {type: openai, base_url: "http://127.0.0.1:9/"}}\nsteps: [{id: s, agent: x, prompt: p}]\n',
      '.github/agents/x.md': HOSTILE,
    });
    const before = snapshot(cwd);
    const opened = await handlesOf(async () => {
      const workflow = await loadDag('f.yaml', { cwd, home: cwd, lenient: true });
      expect(nodeOf(workflow, 's').agent.mcpServers).toHaveProperty('evil');
    });
    expect(opened).toEqual([]);
    expect(snapshot(cwd)).toEqual(before);
  });

  it('and this test would notice', async () => {
    const { spawnSync, spawn } = await import('node:child_process');
    expect(spawnSync(process.execPath, ['-v']).status).toBe(0);
    const opened = await handlesOf(
      async () => await new Promise((done) => spawn(process.execPath, ['-v']).on('close', done)),
    );
    expect(opened).toContain('PROCESSWRAP');
  });
});

describe.skipIf(!hasCorpus())('real agent files', () => {
  const folder = join(CORPUS, 'agents');
  const names = hasCorpus() ? readdirSync(folder).filter((name) => name.endsWith('.agent.md')) : [];

  it.each(names)('%s loads as the agent of a step', async (name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const cwd = await makeProject({
      'f.yaml': `name: t\nagents: {x: {file: ${basename(name)}}}\nsteps: [{id: s, agent: x, prompt: p}]\n`,
      [name]: text,
    });
    const workflow = await loadDag('f.yaml', { cwd });
    expect(hasErrors(workflow.problems)).toBe(false);
    const { instructions, tools, mcpServers } = nodeOf(workflow, 's').agent;
    const body = text.replaceAll('\r\n', '\n').split('\n---\n').slice(1).join('\n---\n').replace(/^\n+/, '');
    expect(body.length).toBeGreaterThan(100);
    expect(instructions).toEqual([body]);
    expect(tools !== undefined).toBe(/^tools:/m.test(text));
    expect(mcpServers !== undefined).toBe(/^mcp-servers:/m.test(text));
  });

  it('all load from one folder, and what is no agent is named', async () => {
    expect(names).toHaveLength(20);
    const agents = names.map((name) => /^name:\s*(.+?)\s*$/m.exec(readFileSync(join(folder, name), 'utf8'))?.[1] ?? '');
    const steps = agents.map((agent, at) => `  - {id: s${at}, agent: ${agent}, prompt: p}\n`);
    const cwd = await makeProject({
      'f.yaml': `name: t\nconfig: {agent_search_paths: [${JSON.stringify(folder)}]}\nsteps:\n${steps.join('')}`,
    });
    const workflow = await loadDag('f.yaml', { cwd });
    expect(hasErrors(workflow.problems)).toBe(false);
    expect(workflow.plan?.nodes).toHaveLength(20);
    const others = workflow.problems.filter(({ code }) => code !== 'unknown-tools');
    expect(others.map(({ code, at }) => [code, basename(at?.file ?? '')])).toEqual([
      ['agent-skipped', 'SOURCES.md'],
      ['mcp-transport', 'scientific-paper-research.agent.md'],
    ]);
  });
});
