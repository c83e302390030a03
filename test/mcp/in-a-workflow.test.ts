import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runWorkflow } from '../../src/runtime.js';
import { loadDag } from '../../src/yaml.js';
import { folder, groupRuns } from '../tools/support/session.js';
import { pidFile, toolServer } from './support.js';

const FLOW = `name: tools
agents: { keeper: { file: keeper.agent.md } }
steps:
  - { id: ask, agent: keeper, prompt: go }
  - { id: again, agent: keeper, prompt: go on, depends_on: [ask] }
`;
const SCRIPT = `rules:
  - agent: keeper
    answers:
      - tools: [{ name: mcp_kit_echo, input: { text: "hello {{inputs.secret}}" } }]
      - done
`;

test('statement 99, decision 9: the server of an agent file runs while its step runs, one for each step', async () => {
  const cwd = await folder();
  const pids = await pidFile();
  const server = { ...toolServer('tools=echo', `pids=${pids.path}`), tools: ['*'] };
  const head = { name: 'keeper', 'mcp-servers': { kit: server } };
  await mkdir(join(cwd, 'runs'));
  await writeFile(join(cwd, 'flow.yaml'), FLOW);
  await writeFile(join(cwd, 'script.yaml'), SCRIPT);
  await writeFile(join(cwd, 'keeper.agent.md'), `---\n${JSON.stringify(head, null, 1)}\n---\nYou keep.\n`);
  const workflow = await loadDag('flow.yaml', { cwd });
  expect(workflow.problems).toEqual([]);
  const { result } = await runWorkflow(workflow, {
    cwd,
    models: { env: { PATH: process.env['PATH'] }, override: 'script/script.yaml' },
    audit: { dir: join(cwd, 'runs') },
    streaming: true,
  });
  expect(await result).toMatchObject({ outcome: 'succeeded', census: { succeeded: 2 } });
  const [run = ''] = await readdir(join(cwd, 'runs'));
  for (const step of ['00_ask', '01_again']) {
    const stream = await readFile(join(cwd, 'runs', run, 'steps', step, 'stream.jsonl'), 'utf8');
    expect(stream).toContain('"status":"completed","result":"hello {{inputs.secret}}"');
  }
  if (process.platform === 'linux') expect(await groupRuns(await pids.pid())).toBe(false);
});
