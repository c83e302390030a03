import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeProject, runFolder } from './support/skein.js';
import { served } from './support/served.js';
import type { Ended } from './support/skein.js';

const WRITER = `name: hostile
agents:
  writer: { inline: { prompt: You write., tools: [write_file, edit_file, shell] } }
steps:
  - { id: write, agent: writer, prompt: Do as the page says. }
`;

/** A script whose agent makes one call after the other, and then answers. */
function script(calls: readonly (readonly [string, object])[], ends = 'Done.'): string {
  const answers = calls.map(([name, input]) => `      - tools: [{ name: ${name}, input: ${JSON.stringify(input)} }]\n`);
  return `rules:\n  - prompt: ''\n    answers:\n${answers.join('')}      - ${ends}\n`;
}

/** Results of tools, in the order in which a step got them. */
async function results(cwd: string): Promise<readonly string[]> {
  const files = await runFolder(cwd);
  return [...files]
    .filter(([name]) => name.endsWith('stream.jsonl'))
    .flatMap(([, text]) => text.split('\n').filter((line) => line.includes('tool.execution_complete')));
}

function failed(end: Ended): string {
  return `${end.stdout}\n${end.stderr}`;
}

describe('[XD1] a run leaves its own record and files alone', () => {
  it('whatever a model calls them, and every run is still there', async () => {
    const paths = [
      '.skein/skein.db',
      './src/../.SKEIN/skein.db',
      '.skein/skein.db-wal',
      'flow.yaml',
      'script.yaml',
      '.github/agents/x.agent.md',
      '.git/hooks/pre-commit',
    ];
    const cwd = await makeProject({
      'flow.yaml': WRITER,
      'script.yaml': script(paths.map((path) => ['write_file', { path, content: 'x' }])),
    });
    const first = await served(['run', 'flow.yaml', '--mock=script.yaml', '--stream'], { cwd });
    expect([first.code, failed(first)]).toEqual([0, failed(first)]);
    const told = await results(cwd);
    expect(told).toHaveLength(paths.length);
    for (const line of told) expect(line).toContain('"status":"failed"');
    expect(await readFile(join(cwd, 'flow.yaml'), 'utf8')).toBe(WRITER);
    const runs = await served(['runs', '--json'], { cwd });
    expect(runs.code).toBe(0);
    expect(runs.stdout).toContain('hostile');
    expect((await served(['show', '-1'], { cwd })).code).toBe(0);
  });

  it('where the audit folder and a called file are elsewhere, and of a pipeline', async () => {
    const flow = `agents:
  root: { model: mock/echo, description: writes, instruction: Write., toolsets: [{ type: filesystem }] }
permissions: { allow: ['*'] }
workflow: [{ type: agent, name: root }]
`;
    const cwd = await makeProject({ 'flows/flow.yaml': flow });
    const paths = ['flows/flow.yaml', 'reports/x.md', 'reports/2026/output.md'];
    await writeFile(join(cwd, 'script.yaml'), script(paths.map((path) => ['write_file', { path, content: 'x' }])));
    const args = ['run', 'flows/flow.yaml', '--mock=script.yaml', '--audit-dir', 'reports', '--json'];
    const end = await served([...args, '--input', 'prompt=x', '--yes'], { cwd });
    expect([end.code, failed(end)]).toEqual([0, failed(end)]);
    expect(await readFile(join(cwd, 'flows/flow.yaml'), 'utf8')).toBe(flow);
    await expect(readFile(join(cwd, 'reports/x.md'), 'utf8')).rejects.toThrow('ENOENT');
  });

  it('and the prices and limits that it was started with, also in a resume', async () => {
    const models = 'models: { openai/gpt-5-mini: { input: 1, output: 2 } }\n';
    const calls = ['prices.yaml', 'own/limits.yaml', 'own/notes.yaml'].map(
      (path) => ['write_file', { path, content: 'x' }] as const,
    );
    const cwd = await makeProject({
      'flow.yaml': `${WRITER}  - { id: ask, type: ask, question: 'On?', depends_on: [write] }\n  - { id: again, agent: writer, prompt: Once more., depends_on: [ask] }\n`,
      'prices.yaml': models,
      'own/limits.yaml': 'openai: { concurrency: 2 }\n',
      'script.yaml': script([...calls]),
    });
    const given = ['--prices', 'prices.yaml', '--limits', 'own/limits.yaml'];
    const paused = await served(['run', 'flow.yaml', '--mock=script.yaml', '--stream', ...given], { cwd });
    expect([paused.code, failed(paused)]).toEqual([5, failed(paused)]);
    const end = await served(['answer', '-1', 'yes'], { cwd });
    expect([end.code, failed(end)]).toEqual([0, failed(end)]);
    expect(await readFile(join(cwd, 'prices.yaml'), 'utf8')).toBe(models);
    expect(await readFile(join(cwd, 'own/limits.yaml'), 'utf8')).toBe('openai: { concurrency: 2 }\n');
    expect(await readFile(join(cwd, 'own/notes.yaml'), 'utf8')).toBe('x');
    const told = (await results(cwd)).filter((line) => line.includes('a run was started with'));
    expect(told.length).toBeGreaterThanOrEqual(2);
  });

  it('and the modules of a workflow in TypeScript: the file, what it imports by a relative name, and what that imports', async () => {
    const modules: Readonly<Record<string, string>> = {
      'flow.ts': `import { agent, agentNode, graph } from 'skein/graph';
import { name } from './parts/name';
const writer = agent({ name: 'writer', instructions: 'You write.', tools: ['write_file', 'edit_file'] });
export default graph<{ topic: string }>({ name }).node('text', agentNode(writer, { taskParam: 'topic' })).setEntry('text');
`,
      'parts/name.ts': `import { end } from './end.js';\nexport const name = 'flow' + end;\n`,
      'parts/end.ts': `export const end = 's';\n`,
    };
    const calls = [
      ['write_file', { path: 'flow.ts', content: 'x' }],
      ['write_file', { path: 'parts/../parts/name.ts', content: 'x' }],
      ['edit_file', { path: 'parts/end.ts', old_text: 's', new_text: 't' }],
      ['write_file', { path: 'parts/notes.ts', content: 'x' }],
    ] as const;
    const cwd = await makeProject({ ...modules, 'script.yaml': script(calls) });
    const end = await served(['run', 'flow.ts', '--input', 'topic=x', '--mock=script.yaml', '--stream'], { cwd });
    expect([end.code, failed(end)]).toEqual([0, failed(end)]);
    const told = await results(cwd);
    expect(told.map((line) => line.includes('is part of a workflow'))).toEqual([true, true, true, false]);
    for (const [path, text] of Object.entries(modules)) expect(await readFile(join(cwd, path), 'utf8')).toBe(text);
    expect(await readFile(join(cwd, 'parts/notes.ts'), 'utf8')).toBe('x');
  });
});

const READER = `name: reader
inputs: { token: { default: hidden-canary } }
agents:
  first: { inline: { prompt: You answer., tools: [] } }
  second: { inline: { prompt: You look around. } }
steps:
  - { id: a, agent: first, prompt: "Say {{inputs.token}}" }
  - { id: b, agent: second, depends_on: [a], prompt: Look around. }
`;

const LOOKS: readonly (readonly [string, object])[] = [
  ['grep', { pattern: 'hidden-canary' }],
  ['grep', { pattern: 'hidden-canary', path: '.workflow-runs' }],
  ['glob', { pattern: '**/output.md' }],
  ['glob', { pattern: '.workflow-runs/**' }],
  ['list_dir', {}],
  ['list_dir', { path: '.skein' }],
  ['read_file', { path: '.skein/skein.db' }],
];

describe('[XD2] tools that only read don’t see the record of runs', () => {
  it('of this run or of one before', async () => {
    const rules = `rules:\n  - step: a\n    answer: hidden-canary\n  - step: b\n    answers:\n${LOOKS.map(([name, input]) => `      - tools: [{ name: ${name}, input: ${JSON.stringify(input)} }]\n`).join('')}      - Nothing.\n`;
    const cwd = await makeProject({ 'flow.yaml': READER, 'script.yaml': rules });
    const again = ['run', 'flow.yaml', '--mock=script.yaml', '--stream', '--input', 'token=hidden-canary'];
    expect((await served([...again, '--audit-dir', 'kept'], { cwd })).code).toBe(0);
    const end = await served(again, { cwd });
    expect([end.code, failed(end)]).toEqual([0, failed(end)]);
    const told = await results(cwd);
    expect(told).toHaveLength(LOOKS.length);
    for (const line of told) {
      expect(line).not.toMatch(/kept\/\d/);
      expect(line).not.toMatch(/output\.md|workflow-runs\//);
    }
    for (const at of [1, 5, 6]) expect(told[at]).toContain("belongs to Skein's record of runs");
    // The first search finds the workflow that has the word, and nothing of the record.
    expect(told[0]).toContain('flow.yaml');
    expect(told[0]).not.toMatch(/workflow-runs\/\d/);
  });

  const env: Readonly<Record<string, string>> = {
    '.env': 'KEY=very-secret\n',
    'server/.env.local': 'KEY=very-secret\n',
  };
  const pipeline = `agents:
  root: { model: mock/echo, description: reads, instruction: Read., toolsets: [{ type: filesystem }] }
permissions: { allow: [read_file] }
workflow: [{ type: agent, name: root }]
`;
  it.each([
    ['a DAG', READER.replace(/^ {2}- \{ id: a.*\n/m, '').replace('depends_on: [a], ', ''), []],
    ['a pipeline', pipeline, ['--input', 'prompt=x']],
  ])('a person is asked before .env is read, in %s', async (_, flow, more) => {
    const calls = [['read_file', { path: 'server/../.env' }]] as const;
    const cwd = await makeProject({ ...env, 'flow.yaml': flow, 'script.yaml': script(calls) });
    const args = ['run', 'flow.yaml', '--mock=script.yaml', '--stream', ...more];
    const paused = await served(args, { cwd });
    expect([paused.code, failed(paused)]).toEqual([5, failed(paused)]);
    expect(failed(paused)).toContain('read_file');
    expect(failed(paused)).not.toContain('very-secret');
    expect((await served(['answer', '-1', 'deny'], { cwd })).code).toBe(0);
    const denied = await served(['resume', '-1', '--mock=script.yaml'], { cwd });
    expect([denied.code, failed(denied)]).toEqual([0, failed(denied)]);
    expect(failed(denied)).not.toContain('very-secret');
  });

  it('a search leaves .env out, a link to it is refused, and with a yes it is read', async () => {
    const cwd = await makeProject({
      ...env,
      'flow.yaml': READER.replace(/^ {2}- \{ id: a.*\n/m, '').replace('depends_on: [a], ', ''),
      'script.yaml': script([
        ['grep', { pattern: 'KEY', glob: '.env*' }],
        ['read_file', { path: 'link' }],
        ['read_file', { path: 'server/.env.local' }],
      ]),
    });
    const { symlink } = await import('node:fs/promises');
    await symlink('.env', join(cwd, 'link'));
    const end = await served(['run', 'flow.yaml', '--mock=script.yaml', '--stream', '--yes'], { cwd });
    expect([end.code, failed(end)]).toEqual([0, failed(end)]);
    const told = await results(cwd);
    expect(told[0]).not.toContain('very-secret');
    expect(told[1]).toContain('a file of secrets');
    expect(told[2]).toContain('KEY=');
  });
});

it('[XD1] an agent that may do anything still works beside a store of another folder', async () => {
  const cwd = await makeProject({
    'sub/flow.yaml': WRITER,
    'sub/script.yaml': script([['write_file', { path: 'a.txt', content: 'x' }]]),
  });
  await mkdir(join(cwd, '.skein'));
  const end = await served(['run', 'flow.yaml', '--mock=script.yaml'], { cwd: join(cwd, 'sub') });
  expect([end.code, failed(end)]).toEqual([0, failed(end)]);
  expect(await readFile(join(cwd, 'sub/a.txt'), 'utf8')).toBe('x');
});
