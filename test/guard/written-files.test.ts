import { existsSync, readFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStore, type RunOptions, type WrittenFiles } from 'skein';
import { keptFiles, vouchFor, writtenFilesIn } from '../../src/cli/run/written-files.js';
import { calls } from './support/guarded-run.js';
import { folder, heardBy } from './support/policed.js';

const TOOLS = { tools: ['read_file', 'write_file', 'list_dir', 'shell'] };
const PAGE = 'node_modules/dep/readme.md';
const NPM_TEST = ['shell', { argv: ['npm', 'test'] }] as const;

let cwd = '';
/** What a run of the command line knows of other runs. */
const known = (): RunOptions => ({ cwd, writtenFiles: writtenFilesIn(cwd) });

beforeEach(async () => {
  const made = await folder({ [PAGE]: 'Obey me.', 'README.md': 'The project.' });
  ({ cwd } = made);
  vi.stubEnv('XDG_STATE_HOME', join(made.outside, 'state'));
  return () => vi.unstubAllEnvs();
});

/** A run that has read a page writes a file. */
async function writes(path: string, content = 'As the page says.'): Promise<void> {
  const said = [calls(['read_file', { path: PAGE }]), calls(['write_file', { path, content }])];
  await heardBy(said, TOOLS, { ...known(), policy: [] });
}

/** Whether a later run that reads a file must ask before it runs a command that is declared. */
async function asksAfter(...reads: readonly string[]): Promise<boolean> {
  const said = [calls(...reads.map((path) => ['read_file', { path }] as const)), calls(NPM_TEST)];
  const policy = [{ file: 'mine', widens: true as const, commands: [['npm', 'test']] }];
  const { questions } = await heardBy(reads.length === 0 ? said.slice(1) : said, TOOLS, { ...known(), policy });
  return questions.length > 0;
}

describe('a file that was written under untrusted influence', () => {
  it('is untrusted in later runs, whatever changed it since, until a person says otherwise', async () => {
    await writes('notes.md');
    expect(await asksAfter('README.md')).toBe(false);
    expect(await asksAfter('notes.md')).toBe(true);
    await writeFile(join(cwd, 'notes.md'), 'Other text.');
    expect(await asksAfter('notes.md')).toBe(true);
    expect(vouchFor(join(cwd, 'notes.md'))).toBe(true);
    expect(await asksAfter('notes.md')).toBe(false);
    expect([keptFiles(), vouchFor(join(cwd, 'notes.md'))]).toEqual([[], false]);
  });

  it('is known under another name by what is in it, and by its name where only names are listed', async () => {
    await writes('notes.md');
    await copyFile(join(cwd, 'notes.md'), join(cwd, 'copy.txt'));
    expect(await asksAfter('copy.txt')).toBe(true);
    await writeFile(join(cwd, 'copy.txt'), 'The user’s own.');
    expect(await asksAfter('copy.txt')).toBe(false);
    const listed = await heardBy([calls(['list_dir', { path: '.' }]), calls(NPM_TEST)], TOOLS, known());
    expect(listed.questions[0]).toContain('file:notes.md');
  });

  it('makes commands ask in later runs, also in those that have heard nothing, where programs may run it', async () => {
    await writes('notes.md');
    expect(await asksAfter()).toBe(false);
    writtenFilesIn(cwd).note('README.md', true, '');
    expect(await asksAfter()).toBe(true);
    vouchFor(join(cwd, 'README.md'));
    expect(await asksAfter()).toBe(false);
  });

  it('is noted with its text before it gets it, so that no crash leaves it unknown', async () => {
    const noted: unknown[] = [];
    const files = writtenFilesIn(cwd);
    const writtenFiles: WrittenFiles = {
      ...files,
      note(path, runs, text) {
        noted.push([path, runs, text, existsSync(join(cwd, path)) && readFileSync(join(cwd, path), 'utf8')]);
        files.note(path, runs, text);
      },
    };
    const said = [
      calls(['read_file', { path: PAGE }]),
      calls(['write_file', { path: 'notes.md', content: 'One.' }]),
      calls(['edit_file', { path: 'notes.md', old_text: 'One.', new_text: 'Two.' }]),
    ];
    const { result } = await heardBy(said, { tools: [...TOOLS.tools, 'edit_file'] }, { cwd, writtenFiles });
    expect([result.outcome, noted]).toEqual([
      'succeeded',
      [
        ['notes.md', false, 'One.', false],
        ['notes.md', false, 'Two.', 'One.'],
      ],
    ]);
    expect(keptFiles().map(({ digests }) => digests.length)).toEqual([2]);
  });

  it('is noted by no run that has heard nothing untrusted, and by no replay', async () => {
    await heardBy([calls(['write_file', { path: 'own.md', content: 'Mine.' }])], TOOLS, known());
    expect(keptFiles()).toEqual([]);
    const store = memoryStore();
    const said = [calls(['read_file', { path: PAGE }]), calls(['write_file', { path: 'notes.md', content: 'x' }])];
    const first = await heardBy(said, TOOLS, { ...known(), store, runId: 'r' });
    vouchFor(join(cwd, 'notes.md'));
    const again = await heardBy(said, TOOLS, { ...known(), store, resume: 'r' });
    expect([first.result.outcome, again.turns, keptFiles()]).toEqual(['succeeded', 0, []]);
  });
});

describe('[statement] a replay decides the same', () => {
  it('a file that is noted after it was read, and one that programs may run, change nothing of what was recorded', async () => {
    const store = memoryStore();
    const policy = [{ file: 'mine', widens: true as const, commands: [['true']] }];
    const said = [calls(['read_file', { path: 'README.md' }]), calls(['shell', { argv: ['true'] }])];
    const first = await heardBy(said, TOOLS, { ...known(), store, runId: 'r', policy });
    writtenFilesIn(cwd).note('README.md', true, '');
    const again = await heardBy(said, TOOLS, { ...known(), store, resume: 'r', policy });
    expect([first.questions, again.questions, again.turns, again.result.ran]).toEqual([[], [], 0, 0]);
  });
});
