import { chmod, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { suggest } from '../../src/base/suggest.js';
import { absolutePath, listMarkdown, readText, shownPath } from '../../src/text/files.js';
import { createFindings, sortProblems } from '../../src/text/findings.js';
import { parseFrontMatter } from '../../src/text/front-matter.js';
import { toJson } from '../../src/text/nodes.js';
import { placesOf } from '../../src/text/places.js';
import { makeProject } from './project.js';

const isRoot = process.getuid?.() === 0;
if (isRoot) console.info('note: root may read every file, so a test of forbidden ones is skipped');

describe('front matter', () => {
  const read = (text: string): unknown => {
    const { data, body, found, problems } = parseFrontMatter(text, 'a.md');
    return [data === undefined ? undefined : toJson(data), body, found, problems.map((p) => `${p.at?.line} ${p.code}`)];
  };

  it.each([
    ['a head and a body', '---\na: 1\n---\nBody\n', { a: 1 }, 'Body\n'],
    ['CRLF and a byte order mark', '\uFEFF---\r\na: 1\r\n---\r\n\r\nBody\r\n', { a: 1 }, 'Body\n'],
    ['blanks behind the lines', '---  \na: 1\n--- \nBody', { a: 1 }, 'Body'],
    ['lines --- in the body', '---\na: 1\n---\nx\n---\ny', { a: 1 }, 'x\n---\ny'],
    ['a head that ends the file', '---\na: 1\n---', { a: 1 }, ''],
    ['an empty head', '---\n---\nBody', undefined, 'Body'],
  ])('%s', (_, text, data, body) => {
    expect(read(text)).toEqual([data, body, true, []]);
  });

  it.each([
    '',
    'Body',
    ' ---\na: 1\n---\n',
    '\n---\na: 1\n---\n',
    '----\na: 1\n----\n',
    '---js\nthrow 1\n---\n',
    '---yaml\na: 1\n---\n',
  ])('is nothing but a first line --- (%j)', (text) => {
    expect(read(text)).toEqual([undefined, text, false, []]);
  });

  it('that is not closed is a problem', () => {
    expect(read('---\na: 1\n')).toEqual([undefined, '', true, ['1 front-matter']]);
  });

  it('has positions of the whole file', () => {
    expect(read('---\na: 1\n\nb: !x 2\n---\n')).toMatchObject([{ a: 1 }, '', true, ['4 yaml-tag']]);
    expect(read('---\r\na: 1\r\na: 2\r\n---\r\n')).toMatchObject([{ a: 1 }, '', true, ['3 duplicate-key']]);
  });
});

describe('reading files', () => {
  it('gives the text byte for byte, with its byte order mark', async () => {
    const cwd = await makeProject({ 'a.txt': '\uFEFFé\r\n' });
    expect(await readText(join(cwd, 'a.txt'))).toEqual({ ok: true, text: '\uFEFFé\r\n' });
  });

  it('takes a file of exactly the limit, and no byte more', async () => {
    const cwd = await makeProject({ 'a.txt': '12345' });
    expect(await readText(join(cwd, 'a.txt'), 5)).toMatchObject({ ok: true });
    expect(await readText(join(cwd, 'a.txt'), 4)).toMatchObject({ ok: false, failure: 'too-large' });
  });

  it('says that a directory in the path is none', async () => {
    const cwd = await makeProject({ 'a.txt': 'x' });
    expect(await readText(join(cwd, 'a.txt', 'b.txt'))).toMatchObject({ ok: false, failure: 'not-a-directory' });
  });

  it.skipIf(isRoot)('says that a file may not be read', async () => {
    const cwd = await makeProject({ 'a.txt': 'x' });
    await chmod(join(cwd, 'a.txt'), 0);
    expect(await readText(join(cwd, 'a.txt'))).toMatchObject({ ok: false, failure: 'unreadable' });
  });

  it('follows links, but not in circles', async () => {
    const cwd = await makeProject({ 'a.txt': 'x' });
    await symlink('a.txt', join(cwd, 'link'));
    await symlink('circle', join(cwd, 'circle'));
    expect(await readText(join(cwd, 'link'))).toEqual({ ok: true, text: 'x' });
    expect(await readText(join(cwd, 'circle'))).toMatchObject({ ok: false, failure: 'unreadable' });
  });

  it('lists Markdown files in byte order', async () => {
    const cwd = await makeProject({ 'b.md': '', 'a.agent.md': '', 'B.md': '', 'c.txt': '', 'd.md/x.md': '' });
    expect(await listMarkdown(cwd)).toEqual({ ok: true, names: ['B.md', 'a.agent.md', 'b.md'] });
    await writeFile(join(cwd, 'plain'), '');
    expect(await listMarkdown(join(cwd, 'nope'))).toMatchObject({ ok: false, failure: 'missing' });
    expect(await listMarkdown(join(cwd, 'plain'))).toMatchObject({ ok: false, failure: 'not-a-directory' });
  });

  it('resolves and shows paths', () => {
    expect(absolutePath('~/x', '/base', '/home/me')).toBe('/home/me/x');
    expect(absolutePath('~/x', '/base')).toBe('/base/~/x');
    expect(absolutePath('../x', '/base/deep')).toBe('/base/x');
    expect(shownPath('/base/a/b', '/base')).toBe('a/b');
    expect(shownPath('/based/a', '/base')).toBe('/based/a');
    expect(shownPath('/base/..x', '/base')).toBe('..x');
  });
});

describe('places and findings', () => {
  it('places count lines and columns from 1', () => {
    const places = placesOf('ab\n\ncd', 'f', 5);
    expect([0, 2, 3, 4, 5, 99].map((offset) => [places.at(offset).line, places.at(offset).column])).toEqual([
      [5, 1],
      [5, 3],
      [6, 1],
      [7, 1],
      [7, 2],
      [7, 96],
    ]);
  });

  it('the same finding at the same place is kept once; files keep their order', () => {
    const findings = createFindings();
    const at = (file: string, line: number): { file: string; line: number; column: number } => ({
      file,
      line,
      column: 1,
    });
    findings.error('a', 'x', at('f', 2));
    findings.error('a', 'x', at('f', 2));
    findings.warning('b', 'y', at('g', 1));
    findings.error('c', 'z', at('f', 1));
    expect(sortProblems(findings.list).map((problem) => problem.code)).toEqual(['c', 'a', 'b']);
  });
});

describe('suggestions', () => {
  it.each([
    ['depend_on', 'depends_on'],
    ['promt', 'prompt'],
    ['pormpt', 'prompt'],
    ['DependsOn', 'depends_on'],
    ['depends-on', 'depends_on'],
    ['xyz', undefined],
    ['', undefined],
    ['p'.repeat(1_000), undefined],
  ])('%j means %j', (word, meant) => {
    expect(suggest(word, ['id', 'agent', 'prompt', 'depends_on'])).toBe(meant);
  });
});
