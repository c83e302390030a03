import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, session } from './support/session.js';

async function project(): Promise<string> {
  const dir = await folder();
  await mkdir(join(dir, 'src/deep'), { recursive: true });
  await mkdir(join(dir, 'node_modules/left'), { recursive: true });
  await writeFile(join(dir, 'README.md'), '# Title\n\nfind me\n');
  await writeFile(join(dir, 'src/a.ts'), 'const one = 1;\nconst two = 2;\n');
  await writeFile(join(dir, 'src/deep/b.tsx'), 'export const two = "TWO";\r\n// last\r\n');
  await writeFile(join(dir, 'src/image.bin'), Buffer.from([1, 0, 2, 3]));
  await writeFile(join(dir, 'node_modules/left/index.js'), 'find me\n');
  return dir;
}

describe('read_file', () => {
  test('gives a small file as it is', async () => {
    const tools = await session({ tools: ['read_file'] }, { cwd: await project() });
    expect(await tools.call('read_file', { path: 'src/a.ts' })).toBe('const one = 1;\nconst two = 2;');
  });

  test('gives a part by offset and limit and says what is left', async () => {
    const dir = await folder();
    await writeFile(join(dir, 'n.txt'), Array.from({ length: 5000 }, (_, i) => `line ${i + 1}\n`).join(''));
    const tools = await session({ tools: ['read_file'] }, { cwd: dir });
    expect(await tools.call('read_file', { path: 'n.txt', offset: 3, limit: 2 })).toBe(
      'line 3\nline 4\n[lines 3 to 4 of 5000; continue with offset 5]',
    );
    const whole = await tools.call('read_file', { path: 'n.txt' });
    expect(whole.endsWith('\n[lines 1 to 2000 of 5000; continue with offset 2001]')).toBe(true);
    expect(await tools.call('read_file', { path: 'n.txt', offset: 4999 })).toBe(
      'line 4999\nline 5000\n[lines 4999 to 5000 of 5000]',
    );
    expect(await tools.call('read_file', { path: 'n.txt', offset: 9000 })).toContain('past its end');
  });

  test('cuts a line without end', async () => {
    const dir = await folder();
    await writeFile(join(dir, 'long.txt'), 'x'.repeat(3_000_000));
    const tools = await session({ tools: ['read_file'] }, { cwd: dir });
    const text = await tools.call('read_file', { path: 'long.txt' });
    expect(text.length).toBeLessThan(140_000);
    expect(text).toContain('the rest of the line is left out');
  });

  test.each([
    ['a binary file', 'src/image.bin', 'SKEIN_TOOL_REFUSED', 'binary'],
    ['a directory', 'src', 'SKEIN_TOOL_FAILED', 'directory'],
    ['a missing file', 'src/none.ts', 'SKEIN_TOOL_FAILED', 'no such file'],
    ['an empty path', '', 'SKEIN_TOOL_FAILED', 'empty'],
  ])('refuses %s', async (_what, path, code, words) => {
    const tools = await session({ tools: ['read_file'] }, { cwd: await project() });
    const error = await tools.fails('read_file', { path });
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
  });

  test('refuses a file over the size limit without reading it', async () => {
    const dir = await folder();
    await writeFile(join(dir, 'big.txt'), Buffer.alloc(17 * 1024 * 1024, 'x'));
    const tools = await session({ tools: ['read_file'] }, { cwd: dir });
    expect((await tools.fails('read_file', { path: 'big.txt' })).message).toContain('larger than 16 MiB');
  });

  test('reads the extra directories of an agent, by their absolute path', async () => {
    const [cwd, extra] = [await folder(), await folder()];
    await writeFile(join(extra, 'e.txt'), 'extra');
    const tools = await session({ tools: ['read', 'write_file'], extraDirs: [extra] }, { cwd });
    expect(await tools.call('read_file', { path: join(extra, 'e.txt') })).toBe('extra');
    const error = await tools.fails('write_file', { path: join(extra, 'e.txt'), content: 'x' });
    expect(error.code).toBe('SKEIN_TOOL_REFUSED');
  });

  test('a missing extra directory is one warning', async () => {
    const tools = await session({ tools: ['read'], extraDirs: ['nowhere', 'neither'] }, { cwd: await folder() });
    expect(tools.warnings).toEqual([
      { code: 'extra-dir-missing', message: 'agent tester: no such directory: nowhere, neither' },
    ]);
  });
});

describe('list_dir', () => {
  test('lists names, sorted, with marks', async () => {
    const dir = await project();
    await symlink('README.md', join(dir, 'link'));
    const tools = await session({ tools: ['list_dir'] }, { cwd: dir });
    expect(await tools.call('list_dir', {})).toBe('README.md\nlink@\nnode_modules/\nsrc/');
    expect(await tools.call('list_dir', { path: 'src/deep' })).toBe('b.tsx');
    expect((await tools.fails('list_dir', { path: 'README.md' })).code).toBe('SKEIN_TOOL_FAILED');
  });

  test('a file name can not look like several', async () => {
    const dir = await folder();
    await writeFile(join(dir, 'a\nb'), '');
    const tools = await session({ tools: ['list_dir'] }, { cwd: dir });
    expect(await tools.call('list_dir', {})).toBe('"a\\nb"');
  });
});

describe('glob', () => {
  test.each([
    ['**/*.{ts,tsx}', 'src/a.ts\nsrc/deep/b.tsx'],
    ['*.ts', 'src/a.ts'],
    ['src/*', 'src/a.ts\nsrc/image.bin'],
    ['src/**', 'src/a.ts\nsrc/deep/b.tsx\nsrc/image.bin'],
    ['node_modules/**/*.js', 'node_modules/left/index.js'],
    ['**/[a-b].ts?', 'src/deep/b.tsx'],
    ['**/[!a-b]*.md', 'README.md'],
    ['nothing/**', '[no file matches]'],
  ])('%s', async (pattern, expected) => {
    const tools = await session({ tools: ['glob'] }, { cwd: await project() });
    expect(await tools.call('glob', { pattern })).toBe(expected);
  });

  test('searches below a directory and follows no link', async () => {
    const dir = await project();
    await symlink(join(dir, 'src'), join(dir, 'src/deep/loop'));
    const tools = await session({ tools: ['glob'] }, { cwd: dir });
    expect(await tools.call('glob', { pattern: '*', path: 'src/deep' })).toBe('src/deep/b.tsx');
    expect((await tools.fails('glob', { pattern: '../*' })).message).toContain('..');
  });

  test('a pattern made to be slow is not', async () => {
    const dir = await folder();
    await writeFile(join(dir, 'a'.repeat(200)), '');
    const tools = await session({ tools: ['glob'] }, { cwd: dir });
    expect(await tools.call('glob', { pattern: `${'*a'.repeat(300)}b` })).toBe('[no file matches]');
    expect((await tools.fails('glob', { pattern: '{a,b}'.repeat(20) })).message).toContain('alternatives');
  });
});

describe('grep', () => {
  test('finds text with path and line', async () => {
    const tools = await session({ tools: ['grep'] }, { cwd: await project() });
    expect(await tools.call('grep', { pattern: 'find me' })).toBe('README.md:3: find me');
    expect(await tools.call('grep', { pattern: 'two' })).toBe(
      'src/a.ts:2: const two = 2;\nsrc/deep/b.tsx:1: export const two = "TWO";',
    );
    expect(await tools.call('grep', { pattern: 'TWO', ignore_case: true, glob: '*.ts' })).toBe(
      'src/a.ts:2: const two = 2;',
    );
    expect(await tools.call('grep', { pattern: 'two', path: 'src/a.ts' })).toBe('src/a.ts:2: const two = 2;');
    expect(await tools.call('grep', { pattern: 'a.c' })).toBe('[no match]');
  });

  test('regular expressions: supported ones work, the others are refused with a hint', async () => {
    const tools = await session({ tools: ['grep'] }, { cwd: await project() });
    expect(await tools.call('grep', { pattern: '^const \\w+ = [0-9]+;$', regex: true, max_results: 1 })).toBe(
      'src/a.ts:1: const one = 1;\n[more than 1 matches; narrow the search]',
    );
    const error = await tools.fails('grep', { pattern: '(?<=a)b', regex: true });
    expect(error.message).toContain('looking behind');
    expect(error.hint).toContain('regex');
  });

  test('a pattern and a text made to hang a backtracking matcher do neither', async () => {
    const dir = await folder();
    await writeFile(join(dir, 'x.txt'), `${'a'.repeat(50_000)}!\n`);
    const tools = await session({ tools: ['grep'] }, { cwd: dir });
    for (const pattern of ['(a+)+$', '(a|aa)+$', '(.*)*x', '(a*)*b', '([a-z]+)*\\d']) {
      expect(await tools.call('grep', { pattern, regex: true })).toContain('[no match]');
    }
  });

  test('stops when it is cancelled', async () => {
    const tools = await session({ tools: ['grep'] }, { cwd: await project() });
    expect((await tools.fails('grep', { pattern: 'x' }, AbortSignal.abort())).code).toBe('SKEIN_CANCELLED');
  });
});
