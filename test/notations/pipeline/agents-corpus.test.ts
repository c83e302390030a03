import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPipeline } from '../../../src/yaml.js';
import { CORPUS, hasCorpus } from '../corpus.js';
import { agentsOf } from './agents-support.js';

const FOLDER = join(CORPUS, 'workflows/cagent');
const found = hasCorpus();

const STEPS = 'write the order of the agents as steps of workflow';
const MEANING = 'without it the file means something else';
const SERVER = 'start the server by a command, or reach it by remote: { url: ... }';
const FILES = ['read_file', 'list_dir', 'glob', 'grep', 'write_file', 'edit_file'];
const TODO = ['create_todo', 'create_todos', 'update_todo', 'list_todos'];

const docker = (at: string, server: string, of: string): string =>
  `${at}: warning not-supported: "docker:${server}" of ${of} is not supported: ${MEANING} (${SERVER})`;
const inAgent = (agent: string): string => `an MCP server of agent "${agent}"`;
const order = (at: string, key: string, agent: string): string =>
  `${at}: warning not-supported: ${key} of agent "${agent}" is not supported: ${MEANING} (${STEPS})`;
const path = (at: string, agent: string): string =>
  `${at}: warning not-supported: path of toolset memory of agent "${agent}" is not supported: ${MEANING} (the memory is shared by all agents of a run and ends with it)`;

/** Every finding of every file, none of which is an error when it is read leniently. */
const FINDINGS: Readonly<Record<string, readonly string[]>> = {
  'dev-team.yaml': [
    order('47:5', 'sub_agents', 'root'),
    path('53:9', 'root'),
    docker('55:14', 'context7', inAgent('root')),
    path('88:9', 'designer'),
    docker('90:14', 'context7', inAgent('designer')),
    path('163:9', 'awesome_engineer'),
    docker('165:14', 'context7', inAgent('awesome_engineer')),
  ],
  'handoff.yaml': [
    order('39:5', 'handoffs', 'root'),
    docker('52:14', 'duckduckgo', inAgent('web_search')),
    order('53:5', 'handoffs', 'web_search'),
    order('70:5', 'handoffs', 'filesystem_search'),
    order('88:5', 'handoffs', 'redactor'),
    order('113:5', 'handoffs', 'tabulator'),
    order('130:5', 'handoffs', 'summarizer'),
  ],
  'mcp-definitions.yaml': [
    docker('17:10', 'context7', 'MCP server "context7"'),
    docker('20:10', 'github', 'MCP server "github"'),
    order('39:5', 'sub_agents', 'root'),
  ],
  'permissions.yaml': [],
  'structured-output.yaml': [
    '17:5: warning not-supported: commands of agent "root" is not supported (give the text as the prompt)',
  ],
};

describe.skipIf(!found)('the agent files of the corpus', () => {
  const read = (name: string) => agentsOf(readFileSync(join(FOLDER, name), 'utf8'), { lenient: true });
  const specs = (name: string) => [...read(name).agents.values()].map(({ spec }) => spec);

  it('are these', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(Object.keys(FINDINGS));
  });

  it.each(Object.entries(FINDINGS))('%s: what is not supported is named with its line', (name, findings) => {
    expect(read(name).problems).toEqual(findings);
  });

  it.each(Object.keys(FINDINGS))('%s loads as a workflow of one step', async (name) => {
    const { plan, problems } = await loadPipeline(name, { cwd: FOLDER, lenient: true });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(problems).toHaveLength(FINDINGS[name]?.length ?? -1);
    expect(plan?.nodes.map((node) => node.kind === 'agent' && node.agent.name)).toEqual(['root']);
  });

  it('[XP2] those that lose tools, servers or sub-agents are refused unless they are read leniently', async () => {
    const refused: string[] = [];
    for (const name of Object.keys(FINDINGS)) {
      const { plan } = await loadPipeline(name, { cwd: FOLDER });
      if (plan === undefined) refused.push(name);
    }
    expect(refused).toEqual(['dev-team.yaml', 'handoff.yaml', 'mcp-definitions.yaml']);
  });

  it('dev-team.yaml: models, settings, toolsets', () => {
    const all = specs('dev-team.yaml');
    expect(all.map(({ name, tools }) => [name, tools])).toEqual([
      ['root', [...FILES, 'think', ...TODO]],
      ['designer', [...FILES, 'think']],
      ['awesome_engineer', [...FILES, 'shell', 'think']],
    ]);
    for (const { models, settings, memory } of all) {
      expect(models).toEqual(['anthropic/claude-sonnet-4-0']);
      expect(settings).toEqual({ maxOutputTokens: 64_000 });
      expect(memory).toEqual({ inject: false });
    }
  });

  it('handoff.yaml: six agents in their order, most without tools', () => {
    expect(specs('handoff.yaml').map(({ name, models, tools }) => [name, models.join(), tools?.length])).toEqual([
      ['root', 'anthropic/claude-sonnet-4-5', 0],
      ['web_search', 'openai/gpt-4o', 0],
      ['filesystem_search', 'openai/gpt-4o', 6],
      ['redactor', 'openai/gpt-4o-mini', 0],
      ['tabulator', 'openai/gpt-4o-mini', 0],
      ['summarizer', 'anthropic/claude-sonnet-4-5', 0],
    ]);
  });

  it('permissions.yaml: its rules, as they stand there', () => {
    const [root] = specs('permissions.yaml');
    expect(root?.tools).toEqual(['shell']);
    expect(root?.permissions?.deny).toHaveLength(9);
    expect(root?.permissions?.deny?.[0]).toBe('shell:cmd=rm *');
    expect(root?.permissions?.allow).toHaveLength(24);
    expect(root?.permissions?.allow?.at(-1)).toBe('shell:cmd=go mod*');
  });

  it('structured-output.yaml: schema and settings', () => {
    const [root] = specs('structured-output.yaml');
    expect(root).toMatchObject({
      models: ['openai/gpt-4o-2024-08-06'],
      settings: { temperature: 0.7, maxOutputTokens: 1000 },
      output: {
        name: 'person_info',
        schema: { description: 'Information about a person', required: ['name', 'age', 'email', 'hobbies'] },
      },
    });
  });
});
