import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { matchesRule, readIgnoreRules } from '../../src/agent/tools/ignore-rules.js';
import { createToolProvider } from '../../src/agent/tools/provider.js';
import type { AgentSpec } from '../../src/plan/agent-spec.js';
import { folder } from './support/session.js';

const FILES = {
  '.gitignore': '# made\ndist/\n*.log\n!keep.log\n/local.txt\n**/cache/**\n',
  'src/a.ts': 'needle',
  'src/.gitignore': 'made.ts\n',
  'src/made.ts': 'needle',
  'dist/out.js': 'needle',
  'run.log': 'needle',
  'keep.log': 'needle',
  'local.txt': 'needle',
  'sub/local.txt': 'needle',
  'x/cache/y.txt': 'needle',
  'node_modules/p/index.js': 'needle',
  'deep/vendor/q.go': 'needle',
};

async function project() {
  const cwd = await folder();
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), text);
  }
  const outside = await folder();
  await writeFile(join(outside, 'other.txt'), 'needle');
  const spec: AgentSpec = { name: 'a', instructions: [], models: [], tools: ['*'], extraDirs: [outside] };
  const signal = new AbortController().signal;
  const source = await createToolProvider({ cwd, env: {} }).open(spec, {
    runId: 'r',
    path: 's',
    agent: 'a',
    signal,
    warn: () => undefined,
  });
  const seen = async (name: string, input: Record<string, string>) => {
    const foreign: string[] = [];
    const own: string[] = [];
    const wrote: string[] = [];
    const files = {
      shows: (path: string, isForeign: boolean) => void (isForeign ? foreign : own).push(path),
      writes: () => undefined,
      wrote: (path: string) => void wrote.push(path),
    };
    await source.tools.find((tool) => tool.name === name)?.execute(input, { signal, idempotencyKey: 'k', files });
    return { foreign: foreign.toSorted(), own: own.toSorted(), wrote };
  };
  const look = (path: string) => source.tools.find((tool) => tool.name === 'write_file')?.look?.({ path });
  return { seen, look, outside };
}

describe('where a file is from', () => {
  it('is told for what is read: dependencies, what Git ignores, and what lies outside are not of the project', async () => {
    const { seen, outside } = await project();
    const isForeign = async (path: string) => (await seen('read_file', { path })).foreign.length > 0;
    const found = Object.keys(FILES).map(async (path) => [path, await isForeign(path)] as const);
    expect(Object.fromEntries(await Promise.all(found))).toEqual({
      '.gitignore': false,
      'src/a.ts': false,
      'src/.gitignore': false,
      'src/made.ts': true,
      'dist/out.js': true,
      'run.log': true,
      'keep.log': false,
      'local.txt': true,
      'sub/local.txt': false,
      'x/cache/y.txt': true,
      'node_modules/p/index.js': true,
      'deep/vendor/q.go': true,
    });
    expect(await isForeign(join(outside, 'other.txt'))).toBe(true);
  });

  it('is told for each file that a search shows, and for names that others chose', async () => {
    const { seen } = await project();
    const grep = await seen('grep', { pattern: 'needle' });
    expect(grep.own).toEqual(['keep.log', 'src/a.ts', 'sub/local.txt']);
    expect(grep.foreign).toContain('deep/vendor/q.go');
    // A folder that the project names itself is no news of somebody else.
    const list = await seen('list_dir', {});
    expect(list.foreign).toEqual(['run.log']);
    expect(list.own).toContain('node_modules');
    expect((await seen('list_dir', { path: 'node_modules' })).foreign).toEqual(['node_modules/p']);
    expect((await seen('glob', { pattern: 'src/*.ts' })).own).toEqual(['src/a.ts', 'src/made.ts']);
  });

  it('is told for what is written, and what a write would find', async () => {
    const { seen, look } = await project();
    expect(await look('src/a.ts')).toEqual({ path: 'src/a.ts', isNew: false });
    expect(await look('./new/../notes.md')).toEqual({ path: 'notes.md', isNew: true });
    expect((await seen('write_file', { path: 'notes.md', content: 'x' })).wrote).toEqual(['notes.md']);
    expect((await seen('edit_file', { path: 'notes.md', old_text: 'x', new_text: 'y' })).wrote).toEqual(['notes.md']);
    await expect(look('../outside.md')).rejects.toMatchObject({ code: 'SKEIN_TOOL_REFUSED' });
  });
});

describe('a rule of a .gitignore', () => {
  it.each([
    ['a', 'x/a', true],
    ['/a', 'x/a', false],
    ['x/a', 'x/a', true],
    ['a/', 'x/a', false],
    ['*.js', 'x/y.js', true],
    ['x/**/a', 'x/a', true],
    ['x/**/a', 'x/1/2/a', true],
    ['x/**', 'x', false],
    ['x/**', 'x/1/2', true],
    ['[ab].js', 'a.js', true],
    ['\\#a', '#a', true],
    ['# a', ' a', false],
    ['a\\ ', 'a ', true],
  ])('%j speaks of the file %j: %s', (rule, path, expected) => {
    expect(readIgnoreRules(rule).some((one) => matchesRule(one, path.split('/'), false))).toBe(expected);
  });

  it('takes no time that grows faster than rule and path', () => {
    const [rule] = readIgnoreRules(`${'**/a/'.repeat(2_000)}b`);
    expect(rule !== undefined && matchesRule(rule, Array<string>(2_000).fill('a'), false)).toBe(false);
  });
});
