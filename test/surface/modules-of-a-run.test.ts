import { describe, expect, it, test } from 'vitest';
import { counted, evaluated } from '../cli/support/evaluated.js';
import { makeProject } from '../cli/support/skein.js';

const WORKFLOW = `name: two
agents:
  reader: { inline: { prompt: You read } }
  fixer: { inline: { prompt: You repair, tools: ['*'] } }
steps:
  - { id: one, agent: reader, prompt: read }
  - { id: two, agent: fixer, prompt: repair, depends_on: [one] }
`;
/** What knows of tools without being one. */
const ABOUT_TOOLS = ['catalogue', 'compare-paths', 'named-files', 'provider', 'stand-ins', 'tool-input', 'words'];

const toolModules = (modules: readonly string[]): readonly string[] =>
  modules.flatMap((name) => /^src\/agent\/tools\/(.+)\.ts$/.exec(name)?.[1] ?? []);

describe('what a mock run evaluates', () => {
  it('is no code of tools, whatever tools its agents have', async () => {
    const modules = await evaluated(['run', 'w.yaml', '--mock'], await makeProject({ 'w.yaml': WORKFLOW }));
    expect(modules).toContain('src/agent/tools/catalogue.ts');
    expect(toolModules(modules).filter((name) => !ABOUT_TOOLS.includes(name))).toEqual([]);
  });

  it('and of a tool that its script calls, that code alone', async () => {
    const script = `rules:
  - { step: one, answers: [{ tools: [{ name: read_file, input: { path: w.yaml } }] }, read] }
  - { step: two, answer: repaired }
`;
    const args = ['run', 'w.yaml', '--mock=script.yaml'];
    const modules = toolModules(
      await evaluated(args, await makeProject({ 'w.yaml': WORKFLOW, 'script.yaml': script })),
    );
    expect(modules).toContain('read-file');
    expect(modules).toContain('paths');
    for (const other of ['glob', 'grep', 'write-file', 'edit-file', 'shell', 'fetch']) {
      expect(modules).not.toContain(other);
    }
  });
});

test('a plan is analysed, checked and compiled once in a process', async () => {
  const scripts = await counted(['run', 'w.yaml', '--mock'], await makeProject({ 'w.yaml': WORKFLOW }));
  // Functions of other modules that have these names are not called here.
  const calls = (name: string): number =>
    scripts
      .flatMap(({ functions }) => functions.filter(({ functionName }) => functionName === name))
      .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
  expect([calls('shapeOf'), calls('problemsOf'), calls('compilePlan')]).toEqual([1, 1, 1]);
});
