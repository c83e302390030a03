import { describe, expect, it } from 'vitest';
import { loadWorkflow } from 'skein/yaml';
import { agent, agentNode, graph } from 'skein/graph';
import { agent as treeAgent, goal, sequence, workflow as treeFlow } from '../../src/tree.js';
import { ran } from '../tree/support.js';
import type { Workflow } from '../../src/plan/workflow.js';
import { makeProject } from './project.js';

async function loaded(file: string, files: Readonly<Record<string, string>>): Promise<Workflow> {
  return await loadWorkflow(file, { cwd: await makeProject(files) });
}

const DAG = (inline: string): string =>
  `name: t\nagents: { w: { ${inline} } }\nsteps: [{ id: s, agent: w, prompt: Go. }]\n`;

/** One agent with a further key, in each notation of files. */
const KINDS = {
  'a DAG workflow': (key: string) => loaded('f.yaml', { 'f.yaml': DAG(`inline: { prompt: You write., ${key} }`) }),
  'an agent file': (key: string) =>
    loaded('f.yaml', {
      'f.yaml': DAG('file: w.agent.md'),
      'w.agent.md': `---\nname: w\n${key}\n---\nYou write.\n`,
    }),
  'a pipeline': (key: string) =>
    loaded('f.yaml', {
      'f.yaml': `agents: { w: { instruction: You write., ${key} } }\nworkflow: [{ type: agent, id: s, name: w, prompt: Go. }]\n`,
    }),
  'an Agentfile': (key: string) =>
    loaded('Agentfile', {
      Agentfile: 'NAME t\nAGENT w "You write."\nGOAL g "Go." USING w\nRUN r USING g\n',
      'agent.toml': `${key.replace(/: (.*)$/, ' = "$1"')}\n`,
    }),
} as const;

/** All agents of a plan, as data. */
const agentsIn = (plan: unknown): string =>
  [...JSON.stringify(plan).matchAll(/"agent":\{.*?"instructions"/g)].join() + JSON.stringify(plan);

describe.each([
  ['a DAG workflow', KINDS['a DAG workflow']],
  ['an agent file', KINDS['an agent file']],
] as const)('[15] %s', (_kind, load) => {
  it('has the longest answer that max_tokens says', async () => {
    const { plan, problems } = await load('max_tokens: 300');
    expect(problems).toEqual([]);
    expect(plan?.nodes[0]).toMatchObject({ agent: { settings: { maxOutputTokens: 300 } } });
  });

  it.each(['max_tokens: 0', 'max_tokens: 1.5', 'max_tokens: many'])('is refused with %s', async (key) => {
    const { problems } = await load(key);
    expect(problems.map(({ code }) => code)).toEqual([expect.stringMatching(/out-of-range|wrong-type/)]);
  });
});

describe.each(Object.entries(KINDS))('[15] an agent of %s', (_kind, load) => {
  it('does without caches of providers with cache: off', async () => {
    const { plan, problems } = await load('cache: off');
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(agentsIn(plan)).toContain('"cache":"off"');
    expect(agentsIn((await load('cache: 1h')).plan)).toContain('"cache":"1h"');
    expect(agentsIn((await load('cache: on')).plan)).not.toContain('"cache"');
  });

  it('is refused with another word', async () => {
    const { problems } = await load('cache: sometimes');
    expect(problems).toMatchObject([{ code: 'unknown-value', severity: 'error' }]);
  });
});

it('[15] agents in code do without caches of providers', () => {
  const writer = agent({ name: 'w', instructions: 'You write.', cache: 'off' });
  const { plan } = graph().node('w', agentNode(writer)).compile();
  expect(agentsIn(plan)).toContain('"cache":"off"');
});

it('[15] what is customized in a tree does without caches of providers', async () => {
  const step = goal('g', 'Go.').using(treeAgent('w', 'You write.'));
  const flow = treeFlow('t').add(
    sequence('s').customize({ cache: 'off' }).steps(step),
    sequence('o').steps(goal('h', 'Go on.')),
  );
  const { requests } = await ran(flow);
  const without = requests.filter(({ cache }) => cache === undefined);
  expect(without.map(({ caller }) => caller.path)).toContain('g/w');
  expect(requests.map(({ caller }) => caller.path)).toContain('h');
  expect(without.map(({ caller }) => caller.path)).not.toContain('h');
});
