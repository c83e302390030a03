import { execFileSync, spawn } from 'node:child_process';
import { link, mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { isInside } from '../../src/text/files.js';
import { createFolders } from '../../src/agent/tools/paths.js';
import { tell } from '../guard/support/figures.js';
import { session } from './support/session.js';
import type { Session } from './support/session.js';
import { seedOf } from '../thorough.js';

/** Puts a link to the outside in place of the directory `swap` and back, as fast as it can. */
const SWAPPER = `
const fs = require('node:fs');
const [root, outside] = process.argv.slice(1);
const [here, aside] = [root + '/swap', root + '/aside'];
const attempt = (work) => { try { work(); } catch {} };
process.stdout.write('ready');
for (;;) {
  attempt(() => fs.renameSync(here, aside));
  attempt(() => fs.symlinkSync(outside, here));
  attempt(() => fs.rmSync(here, { recursive: true, force: true }));
  attempt(() => fs.renameSync(aside, here));
}`;

const SECRET = 'the canary is yellow';

interface World {
  readonly root: string;
  readonly outside: string;
  readonly tools: Session;
  /** Everything outside of the root, as it must still be after a test. */
  readonly untouched: () => Promise<void>;
}

/** A root, a twin whose name begins like the root's, and a place outside with a secret. */
async function world(): Promise<World> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'skein-escape-')));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const [root, twin, outside] = [join(base, 'root'), join(base, 'root-evil'), join(base, 'outside')];
  for (const dir of [root, twin, outside, join(root, 'sub')]) await mkdir(dir);
  await writeFile(join(twin, 'secret.txt'), SECRET);
  await writeFile(join(outside, 'secret.txt'), SECRET);
  await writeFile(join(root, 'ok.txt'), 'fine');
  await symlink(outside, join(root, 'link-dir'));
  await symlink(join(outside, 'secret.txt'), join(root, 'link-file'));
  await symlink('../../outside/secret.txt', join(root, 'sub/relative-link'));
  await symlink('link-dir', join(root, 'link-to-link'));
  await symlink(join(outside, 'new.txt'), join(root, 'dangling'));
  await symlink(join(outside, 'new-dir'), join(root, 'dangling-dir'));
  await symlink('loop', join(root, 'loop'));
  const tools = await session({ tools: ['*'] }, { cwd: root });
  return {
    root,
    outside,
    tools,
    async untouched() {
      for (const dir of [twin, outside]) {
        expect(await readdir(dir)).toEqual(['secret.txt']);
        expect(await readFile(join(dir, 'secret.txt'), 'utf8')).toBe(SECRET);
      }
      expect((await readdir(base)).toSorted()).toEqual(['outside', 'root', 'root-evil']);
    },
  };
}

const MAKE_FIFO = 'mkfifo';

const ESCAPES = [
  '../outside/secret.txt',
  '../root-evil/secret.txt',
  'sub/../../outside/secret.txt',
  './././../outside/secret.txt',
  '..//outside//secret.txt',
  'sub/../../root-evil/secret.txt',
  'link-dir/secret.txt',
  'link-file',
  'link-file/.',
  'link-to-link/secret.txt',
  'sub/relative-link',
  'sub/../link-file',
  '{root}/../outside/secret.txt',
  '{root}-evil/secret.txt',
  '{outside}/secret.txt',
  '/etc/passwd',
  '/proc/self/environ',
  '/proc/self/root{outside}/secret.txt',
  '/dev/null',
  '..',
  '/',
  'ok.txt\0/../../outside/secret.txt',
  '\0',
  '..\u2215outside/secret.txt/../../../outside/secret.txt',
];

describe('T13: no path leads out of the root', () => {
  test.each(ESCAPES)('%j', async (form) => {
    const { root, outside, tools, untouched } = await world();
    const path = form.replace('{root}', root).replace('{outside}', outside);
    const calls: [string, Record<string, string>][] = [
      ['read_file', { path }],
      ['list_dir', { path }],
      ['list_dir', { path: dirname(path) === '.' ? path : dirname(path) }],
      ['glob', { pattern: '**', path }],
      ['grep', { pattern: 'canary', path }],
      ['write_file', { path, content: 'broken out' }],
      ['edit_file', { path, old_text: 'canary', new_text: 'cat' }],
      ['shell', { command: 'cat secret.txt', cwd: path }],
    ];
    for (const [name, input] of calls) {
      const text = await tools.call(name, input).catch((error: unknown) => {
        if (!SkeinError.isInstance(error)) throw error;
        return error.message;
      });
      expect(`${name}: ${text}`).not.toContain('yellow');
      expect(`${name}: ${text}`).not.toContain('secret.txt:1');
    }
    expect((await tools.fails('read_file', { path })).code).toBe('SKEIN_TOOL_REFUSED');
    await untouched();
  });

  test.each(['link-dir/../outside/secret.txt', '~/../outside/secret.txt', 'none/../sub/../outside/secret.txt'])(
    'dots are taken away before links are followed: %s stays inside',
    async (path) => {
      const { root, tools, untouched } = await world();
      expect((await tools.fails('read_file', { path })).message).toBe('outside/secret.txt: no such file or directory');
      await tools.call('write_file', { path, content: 'inside' });
      expect(await readFile(join(root, 'outside/secret.txt'), 'utf8')).toBe('inside');
      await untouched();
    },
  );

  test('an error does not tell whether something exists outside', async () => {
    const { tools } = await world();
    const there = await tools.fails('read_file', { path: '../outside/secret.txt' });
    const absent = await tools.fails('read_file', { path: '../outside/absent.txt' });
    expect(absent.message.replace('absent', 'secret')).toBe(there.message);
    const linked = await tools.fails('read_file', { path: 'link-dir/absent.txt' });
    expect(linked.code).toBe('SKEIN_TOOL_REFUSED');
  });

  test('writing to a dangling link makes no file outside', async () => {
    const { tools, untouched, root } = await world();
    await tools.call('write_file', { path: 'dangling', content: 'inside' });
    expect(await readFile(join(root, 'dangling'), 'utf8')).toBe('inside');
    expect((await tools.fails('write_file', { path: 'dangling-dir/x', content: 'x' })).code).toBe('SKEIN_TOOL_FAILED');
    await untouched();
  });

  test('a loop of links is an error', async () => {
    const { tools } = await world();
    expect((await tools.fails('read_file', { path: 'loop' })).code).toBe('SKEIN_TOOL_FAILED');
    expect((await tools.fails('write_file', { path: 'loop/x', content: '' })).code).toBe('SKEIN_TOOL_FAILED');
  });

  test('what is fine: dots and absolute paths inside the root', async () => {
    const { root, tools } = await world();
    for (const path of [
      'ok.txt',
      './ok.txt',
      'sub/../ok.txt',
      join(root, 'ok.txt'),
      'sub/..//./ok.txt',
      '...txt/../ok.txt',
    ]) {
      expect(await tools.call('read_file', { path })).toBe('fine');
    }
    await tools.call('write_file', { path: '..dots', content: 'a name that begins with dots' });
    expect(await tools.call('read_file', { path: '..dots' })).toBe('a name that begins with dots');
  });

  test('a FIFO does not block, a device is refused, a hard link is written as a new file', async () => {
    const { root, outside, tools, untouched } = await world();
    execFileSync(MAKE_FIFO, [join(root, 'pipe')]);
    await link(join(outside, 'secret.txt'), join(root, 'hard'));
    expect((await tools.fails('read_file', { path: 'pipe' })).message).toContain('not a regular file');
    expect((await tools.fails('write_file', { path: 'pipe', content: 'x' })).code).toBe('SKEIN_TOOL_REFUSED');
    expect(await tools.call('grep', { pattern: 'x', path: '.' })).not.toContain('pipe');
    const devices = await session({ tools: ['read_file'], extraDirs: ['/dev'] }, { cwd: root });
    for (const device of ['/dev/zero', '/dev/tty', '/dev/null']) {
      expect((await devices.fails('read_file', { path: device })).code).toBe('SKEIN_TOOL_REFUSED');
    }
    await tools.call('write_file', { path: 'hard', content: 'replaced' });
    await untouched();
  });

  test('a directory that is swapped for a link again and again never lets anything through', async () => {
    const { root, outside, tools, untouched } = await world();
    await mkdir(join(root, 'swap'));
    await writeFile(join(root, 'swap/secret.txt'), 'harmless');
    const swapper = spawn(process.execPath, ['-e', SWAPPER, root, outside], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void swapper.kill('SIGKILL'));
    await once(swapper.stdout, 'data');
    const seen = new Set<string>();
    let refusals = 0;
    // Both sides must take part: the directory is found at times, and at times it is a link or gone.
    for (let i = 0; i < 300 || !seen.has('harmless') || refusals === 0; i++) {
      const outcomes = await Promise.allSettled([
        tools.call('read_file', { path: 'swap/secret.txt' }),
        tools.call('grep', { pattern: 'canary', path: 'swap' }),
        tools.call('write_file', { path: 'swap/made.txt', content: 'x' }),
      ]);
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') seen.add(outcome.value);
        else refusals += 1;
      }
    }
    swapper.kill('SIGKILL');
    await once(swapper, 'exit');
    expect([...seen].filter((text) => text.includes('yellow'))).toEqual([]);
    await untouched();
  });
});

describe('confinement as a property', () => {
  const SEGMENTS = ['..', '.', '', 'a', 'b', 'root', 'root-evil', 'outside', 'in', 'out', 'secret.txt', 'loop', 'file'];

  test('what is located lies inside the root, whatever the path', async () => {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'skein-property-')));
    onTestFinished(() => rm(base, { recursive: true, force: true }));
    const root = join(base, 'root');
    for (const dir of ['root/a/b', 'root-evil', 'outside/a']) await mkdir(join(base, dir), { recursive: true });
    await writeFile(join(base, 'outside/secret.txt'), SECRET);
    await writeFile(join(root, 'a/file'), 'x');
    await symlink('../../outside', join(root, 'a/out'));
    await symlink('a', join(root, 'in'));
    await symlink('loop', join(root, 'loop'));
    const folders = await createFolders(root);
    const path = fc
      .tuple(fc.constantFrom('', '/', root, `${root}/`, base), fc.array(fc.constantFrom(...SEGMENTS), { maxLength: 8 }))
      .map(([start, parts]) => start + parts.join(sep));
    await fc.assert(
      fc.asyncProperty(path, async (text) => {
        const place = await folders.locate(text).catch((error: unknown) => {
          if (!SkeinError.isInstance(error)) throw error;
          return undefined;
        });
        if (place === undefined) return;
        expect(place.real === root || place.real.startsWith(root + sep)).toBe(true);
        // Where the system itself ends up is inside as well.
        const real = await realpath(place.missing.length === 0 ? place.real : dirname(place.real)).catch(() => root);
        expect(relative(root, real).split(sep)[0]).not.toBe('..');
      }),
      { numRuns: 500, seed: seedOf(16) },
    );
    tell({ what: 'hostile paths of tools', n: 500, forbidden: 0, goal: 'none outside of the folder' });
  });

  test('isInside compares segments, not characters', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.stringMatching(/^[a-c.]{1,3}$/).filter((s) => s !== '.' && s !== '..'),
          { minLength: 1 },
        ),
        (parts) => {
          const root = `/${parts.join('/')}`;
          expect(isInside(root, root)).toBe(true);
          expect(isInside(root, `${root}/x`)).toBe(true);
          expect(isInside(root, `${root}/..x`)).toBe(true);
          expect(isInside(root, `${root}x`)).toBe(false);
          expect(isInside(root, dirname(root))).toBe(false);
          expect(isInside(root, join(dirname(root), `_${basename(root)}`))).toBe(false);
        },
      ),
    );
  });
});
