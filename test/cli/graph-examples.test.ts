import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, documentOf } from './support/skein.js';
import { served } from './support/served.js';

const EXAMPLES = join(ROOT, 'examples');
const GRAPHS = readdirSync(EXAMPLES).filter((name) => name.startsWith('graph-'));
const TEAM = [
  'examples/graph-team/workflow.ts',
  '--input',
  'task=Compare looms and mills.',
  '--no-store',
  '--no-audit',
];

test('there are examples in TypeScript', () => expect(GRAPHS).toEqual(['graph-loop', 'graph-research', 'graph-team']));

test.each(GRAPHS)('%s is validated, planned and drawn', async (name) => {
  const file = `examples/${name}/workflow.ts`;
  const validated = await served(['validate', file], { cwd: ROOT });
  expect([validated.code, validated.stderr]).toEqual([0, '']);
  const planned = await served(['plan', file], { cwd: ROOT });
  expect([planned.code, planned.stderr]).toEqual([0, '']);
  expect(planned.stdout).toContain('level 1');
  const drawn = await served(['graph', file, '--format', 'mermaid'], { cwd: ROOT });
  expect([drawn.code, drawn.stderr]).toEqual([0, '']);
  expect(drawn.stdout).toMatch(/^flowchart TD\n/);
});

test.each([
  ['looms', 'summary', 'looms, 3 facts:'],
  ['clouds', 'nothing', 'nothing is known of clouds'],
])('graph-research finds %s', async (query, step, text) => {
  const words = ['run', 'examples/graph-research/workflow.ts', '--input', `query=${query}`];
  const ended = await served([...words, '--no-store', '--no-audit', '--json'], { cwd: ROOT });
  expect(ended.code).toBe(0);
  expect(String(documentOf(ended).steps[step]?.output)).toContain(text);
});

test.each([
  ['script.yaml', 'Looms weave, mills grind.'],
  ['script-other.yaml', 'Nothing was published.'],
])('graph-team with %s', async (script, text) => {
  const ended = await served(['run', ...TEAM, `--mock=examples/graph-team/${script}`], { cwd: ROOT });
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain(text);
});

test.each([
  ['script.yaml', 'Looms weave cloth out of yarn. (1 sent back)', 2],
  ['script-other.yaml', 'Looms weave cloth out of yarn. (0 sent back)', 1],
])('[XU1] graph-loop with %s goes back until nothing is wrong', async (script, page, drafts) => {
  const words = ['run', 'examples/graph-loop/workflow.ts', '--input', 'topic=looms', '--no-store', '--no-audit'];
  const ended = await served([...words, `--mock=examples/graph-loop/${script}`], { cwd: ROOT });
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stdout).toBe(`# Workflow Results\n\n## Step: page\n\n${page}\n`);
  expect(ended.stderr.match(/^step write(?:#2)? succeeded/gm)).toHaveLength(drafts);
});

const COMMANDS = readFileSync(join(EXAMPLES, 'README.md'), 'utf8').matchAll(/^skein (.+?) +#/gm);

test.each([...COMMANDS].map(([, words = '']) => words))(
  '[XU1] skein %s, which the list of examples shows, succeeds',
  async (words) => {
    const argv = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const ended = await served([...argv, '--no-store', '--no-audit'], { cwd: ROOT });
    expect(ended.code, ended.stderr).toBe(0);
  },
);
