import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { ROOT, makeProject, skein } from '../cli/support/skein.js';

interface Script {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly count: number }[];
  }[];
}

/** What V8 counts of a command: its scripts, and how often their functions were called. */
async function counted(args: readonly string[], files: Readonly<Record<string, string>>): Promise<readonly Script[]> {
  const cwd = await makeProject(files);
  const counts = join(cwd, 'counts');
  await mkdir(counts);
  const end = await skein(args, { cwd, env: { NODE_V8_COVERAGE: counts } });
  expect(end).toMatchObject({ code: 0 });
  const texts = await Promise.all((await readdir(counts)).map((name) => readFile(join(counts, name), 'utf8')));
  const dist = new URL(`file://${ROOT}/dist/`).href;
  return texts
    .flatMap((text) => (JSON.parse(text) as { result: Script[] }).result)
    .flatMap((script) => (script.url.startsWith(dist) ? [{ ...script, url: script.url.slice(dist.length) }] : []));
}

/** Modules of the built program that a command evaluates, as paths in `dist`. */
async function evaluated(...command: Parameters<typeof counted>): Promise<readonly string[]> {
  return [...new Set((await counted(...command)).map(({ url }) => url))].toSorted();
}

const WORKFLOW = `name: two
agents:
  reader: { inline: { prompt: You read } }
  fixer: { inline: { prompt: You repair, tools: ['*'] } }
steps:
  - { id: one, agent: reader, prompt: read }
  - { id: two, agent: fixer, prompt: repair, depends_on: [one] }
`;
/** What knows of tools without being one. */
const ABOUT_TOOLS = [
  'catalogue',
  'folded-path',
  'named-files',
  'parameter-names',
  'provider',
  'stand-ins',
  'tool-input',
  'words',
];

const toolModules = (modules: readonly string[]): readonly string[] =>
  modules.flatMap((name) => /^agent\/tools\/(.+)\.js$/.exec(name)?.[1] ?? []);

describe('what a mock run evaluates', () => {
  it('is no code of tools, whatever tools its agents have', async () => {
    const modules = await evaluated(['run', 'w.yaml', '--mock'], { 'w.yaml': WORKFLOW });
    expect(modules).toContain('agent/tools/catalogue.js');
    expect(toolModules(modules).filter((name) => !ABOUT_TOOLS.includes(name))).toEqual([]);
  });

  it('and of a tool that its script calls, that code alone', async () => {
    const script = `rules:
  - { step: one, answers: [{ tools: [{ name: read_file, input: { path: w.yaml } }] }, read] }
  - { step: two, answer: repaired }
`;
    const args = ['run', 'w.yaml', '--mock=script.yaml'];
    const modules = toolModules(await evaluated(args, { 'w.yaml': WORKFLOW, 'script.yaml': script }));
    expect(modules).toContain('read-file');
    expect(modules).toContain('paths');
    for (const other of ['list-dir', 'glob', 'grep', 'write-file', 'edit-file', 'shell', 'fetch']) {
      expect(modules).not.toContain(other);
    }
  });
});

test('a plan is analysed, checked and compiled once in a process', async () => {
  const scripts = await counted(['run', 'w.yaml', '--mock'], { 'w.yaml': WORKFLOW });
  const callsOf = (url: string, name: string): number | undefined =>
    scripts.find((script) => script.url === url)?.functions.find((one) => one.functionName === name)?.ranges[0]?.count;
  expect(callsOf('plan/graph-shape.js', 'shapeOf')).toBe(1);
  expect(callsOf('plan/checks.js', 'problemsOf')).toBe(1);
  expect(callsOf('engine/compile.js', 'compilePlan')).toBe(1);
});
