import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { definePlan, run } from 'skein';
import { agent, agentNode, graph, workflowNode } from 'skein/graph';
import { loadDag, loadWorkflow } from 'skein/yaml';

/** A project whose files a library program loads: two workflows, one of them called by the other, and an agent in a file. */
const FILES: Readonly<Record<string, string>> = {
  'flows/write.yaml': `name: write
inputs: { task: { default: x } }
agents: { writer: { file: ../agents/writer.agent.md } }
steps:
  - { id: write, agent: writer, prompt: "Do as the page says: {{inputs.task}}" }
`,
  'agents/writer.agent.md': '---\nname: writer\ndescription: Writes.\ntools: [write_file]\n---\nYou write.\n',
  'flows/calls.yaml': `agents:
  root: { model: mock/echo, description: calls, instruction: Call. }
workflow:
  - { type: call, id: c, file: write.yaml, inputs: { task: go } }
`,
};
const MINE = ['flows/write.yaml', 'agents/writer.agent.md', 'flows/calls.yaml'];

async function project(): Promise<string> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'skein-own-')));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
  const calls = [...MINE, 'notes.txt'].map(
    (path) => `      - tools: [{ name: write_file, input: { path: ${path}, content: broken } }]\n`,
  );
  await writeFile(join(cwd, 'script.yaml'), `rules:\n  - prompt: ''\n    answers:\n${calls.join('')}      - Done.\n`);
  return cwd;
}

/** How a program makes a workflow of its own that has a loaded one in it, at whatever depth. */
const WAYS: Readonly<Record<string, (cwd: string) => Promise<Parameters<typeof run>[0]>>> = {
  'by workflowNode': async (cwd) =>
    graph<{ task: string }>()
      .node('w', workflowNode(await loadDag('flows/write.yaml', { cwd }), 'w'))
      .setEntry('w')
      .compile(),
  'by workflowNode, a file that calls the file': async (cwd) =>
    graph<{ task: string }>()
      .node('w', workflowNode(await loadWorkflow('flows/calls.yaml', { cwd }), 'w', { taskParam: 'task' }))
      .setEntry('w')
      .compile(),
  'as an agent of a graph in a graph': async (cwd) => {
    const inner = graph<{ task: string }>()
      .node('w', workflowNode(await loadDag('flows/write.yaml', { cwd }), 'w'))
      .setEntry('w');
    return graph<{ task: string }>().node('a', agentNode(inner.asAgent())).setEntry('a').compile();
  },
  'as a node of definePlan, for each item': async (cwd) => {
    const { plan } = await loadDag('flows/write.yaml', { cwd });
    if (plan === undefined) throw new Error('it has no plan');
    const item = definePlan({
      name: 'item',
      inputs: ['task'],
      nodes: [{ id: 'call', kind: 'call', plan, outputs: { said: 'steps.write.output' } }],
    });
    const over = { channel: 'list' };
    return definePlan({
      name: 'outer',
      inputs: [{ name: 'list', default: ['one'] }],
      nodes: [{ id: 'each', kind: 'map', plan: item, over, item: 'task', result: 'said', output: 'all', maxItems: 2 }],
    });
  },
  'beside an agent of the program': async (cwd) => {
    const own = agent({ name: 'own', instructions: 'You write.', tools: ['write_file'] });
    return graph<{ task: string }>()
      .node('w', workflowNode(await loadDag('flows/write.yaml', { cwd }), 'w'))
      .node('a', agentNode(own))
      .setEntry('a')
      .addEdge('a', 'w')
      .compile();
  },
};

it.each(Object.keys(WAYS))(
  '[XD1] files that a program loads and nests are not written by tools of the run: %s',
  async (way) => {
    const cwd = await project();
    const workflow = await WAYS[way]?.(cwd);
    if (workflow === undefined) throw new Error(way);
    const kept = way.includes('calls') ? MINE : MINE.slice(0, 2);
    const { result } = run(workflow, {
      inputs: way.includes('definePlan') ? {} : { task: 'go' },
      cwd,
      models: { override: `script/script.yaml`, cwd, env: {}, noProbe: true },
    });
    const ended = await result;
    expect({ outcome: ended.outcome, error: ended.error?.message }).toEqual({ outcome: 'succeeded', error: undefined });
    for (const name of kept) expect(await readFile(join(cwd, name), 'utf8')).toBe(FILES[name]);
    expect(await readFile(join(cwd, 'notes.txt'), 'utf8')).toBe('broken');
  },
);
