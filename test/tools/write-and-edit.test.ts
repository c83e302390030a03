import { chmod, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, session } from './support/session.js';

const names = ['write_file', 'edit_file'];

describe('write_file', () => {
  test('makes a file with the directories above it, and replaces one', async () => {
    const cwd = await folder();
    const tools = await session({ tools: names }, { cwd });
    expect(await tools.call('write_file', { path: 'a/b/c.txt', content: 'one' })).toBe('created a/b/c.txt (3 bytes)');
    expect(await tools.call('write_file', { path: join(cwd, 'a/b/c.txt'), content: 'zwei \u00fc' })).toBe(
      'replaced a/b/c.txt (7 bytes)',
    );
    expect(await readFile(join(cwd, 'a/b/c.txt'), 'utf8')).toBe('zwei \u00fc');
    expect(await readdir(join(cwd, 'a/b'))).toEqual(['c.txt']);
  });

  test('keeps the permissions of a file', async () => {
    const cwd = await folder();
    await writeFile(join(cwd, 'run.sh'), 'old');
    await chmod(join(cwd, 'run.sh'), 0o750);
    const tools = await session({ tools: names }, { cwd });
    await tools.call('write_file', { path: 'run.sh', content: 'new' });
    expect((await stat(join(cwd, 'run.sh'))).mode & 0o777).toBe(0o750);
  });

  test('a replacement that fails leaves the old file and nothing else', async () => {
    const cwd = await folder();
    await mkdir(join(cwd, 'dir'));
    await writeFile(join(cwd, 'dir/keep'), 'x');
    const tools = await session({ tools: names }, { cwd });
    const error = await tools.fails('write_file', { path: 'dir', content: 'x' });
    expect(error.message).toContain('dir is a directory');
    expect((await tools.fails('write_file', { path: 'dir/keep/below', content: 'x' })).code).toBe('SKEIN_TOOL_FAILED');
    expect(await readdir(cwd)).toEqual(['dir']);
    expect(await readFile(join(cwd, 'dir/keep'), 'utf8')).toBe('x');
  });

  test('writes through a link that stays inside, and keeps the link', async () => {
    const cwd = await folder();
    await writeFile(join(cwd, 'target'), 'old');
    await symlink('target', join(cwd, 'link'));
    const tools = await session({ tools: names }, { cwd });
    await tools.call('write_file', { path: 'link', content: 'new' });
    expect(await readFile(join(cwd, 'target'), 'utf8')).toBe('new');
  });

  test.each(['.git/config', 'sub/.git/hooks/pre-commit', '.GIT/config'])('does not write %s', async (path) => {
    const cwd = await folder();
    const tools = await session({ tools: names }, { cwd });
    expect((await tools.fails('write_file', { path, content: 'x' })).code).toBe('SKEIN_TOOL_REFUSED');
    expect(await readdir(cwd)).toEqual([]);
  });
});

describe('edit_file', () => {
  async function withFile(
    text: string,
  ): Promise<{ cwd: string; tools: Awaited<ReturnType<typeof session>>; read: () => Promise<string> }> {
    const cwd = await folder();
    await writeFile(join(cwd, 'f.txt'), text);
    const tools = await session({ tools: names }, { cwd });
    return { cwd, tools, read: () => readFile(join(cwd, 'f.txt'), 'utf8') };
  }

  test('replaces a text that occurs once', async () => {
    const { tools, read } = await withFile('a b c');
    expect(await tools.call('edit_file', { path: 'f.txt', old_text: 'b', new_text: '$& $1 B' })).toBe(
      'edited f.txt: 1 replacement',
    );
    expect(await read()).toBe('a $& $1 B c');
  });

  test.each([
    ['a text that is not there', 'x', 'was not found'],
    ['a text that occurs twice', 'a', 'more than once'],
    ['an ambiguous overlap', 'aa', 'more than once'],
    ['an empty text', '', 'empty'],
  ])('refuses %s and changes nothing', async (_what, old_text, words) => {
    const { tools, read } = await withFile('aaa b');
    expect((await tools.fails('edit_file', { path: 'f.txt', old_text, new_text: 'q' })).message).toContain(words);
    expect(await read()).toBe('aaa b');
  });

  test('replace_all replaces every occurrence', async () => {
    const { tools, read } = await withFile('one two one');
    await tools.call('edit_file', { path: 'f.txt', old_text: 'one', new_text: '1', replace_all: true });
    expect(await read()).toBe('1 two 1');
  });

  test('several edits are applied in order, all or none', async () => {
    const { tools, read } = await withFile('one two');
    const first = { old_text: 'one', new_text: 'three' };
    const error = await tools.fails('edit_file', { path: 'f.txt', edits: [first, { old_text: 'one', new_text: 'x' }] });
    expect(error.message).toContain('edit 2');
    expect(await read()).toBe('one two');
    await tools.call('edit_file', { path: 'f.txt', edits: [first, { old_text: 'three two', new_text: 'done' }] });
    expect(await read()).toBe('done');
  });

  test('plain line ends fit a file with CRLF line ends, which it keeps', async () => {
    const { tools, read } = await withFile('a\r\nb\r\nc\r\n');
    await tools.call('edit_file', { path: 'f.txt', old_text: 'a\nb', new_text: 'x\ny' });
    expect(await read()).toBe('x\r\ny\r\nc\r\n');
  });

  test('a byte order mark survives', async () => {
    const { tools, read } = await withFile('\ufeffone');
    await tools.call('edit_file', { path: 'f.txt', old_text: 'one', new_text: 'two' });
    expect(await read()).toBe('\ufefftwo');
  });

  test('parallel edits of one file lose nothing', async () => {
    const marks = Array.from({ length: 20 }, (_, i) => `<${i}>`);
    const { tools, read } = await withFile(marks.join('\n'));
    await Promise.all(
      marks.map((mark, i) =>
        tools.call('edit_file', { path: i % 2 ? 'f.txt' : './f.txt', old_text: mark, new_text: `done ${i}` }),
      ),
    );
    expect(await read()).toBe(marks.map((_, i) => `done ${i}`).join('\n'));
  });

  test('a file that does not exist, a directory and a binary file are refused', async () => {
    const { cwd, tools } = await withFile('x');
    await writeFile(join(cwd, 'bin'), Buffer.from([0, 255]));
    const edit = { old_text: 'a', new_text: 'b' };
    expect((await tools.fails('edit_file', { path: 'none', ...edit })).message).toContain('no such file');
    expect((await tools.fails('edit_file', { path: '.', ...edit })).message).toContain('directory');
    expect((await tools.fails('edit_file', { path: 'bin', ...edit })).message).toContain('binary');
  });
});
