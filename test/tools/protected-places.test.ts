import { link, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { JsonObject } from '../../src/base/json.js';
import { SkeinError } from '../../src/base/errors.js';
import type { BuiltInTool } from '../../src/plan/built-in-tools.js';
import { BUILT_IN_TOOLS } from '../../src/plan/built-in-tools.js';
import { CANARY, DETOURS, HIDDEN, KEPT, SPELLINGS, ownProject, snapshot } from './support/own-project.js';
import type { Thing } from './support/own-project.js';
import { THOROUGH } from '../thorough.js';
import { folder, session } from './support/session.js';

/** How each tool is called upon a path. A new tool without a row does not compile: files that it touches are tried here too. */
const CALLS: Readonly<Record<BuiltInTool, ((path: string) => readonly JsonObject[]) | 'touches no file'>> = {
  read_file: (path) => [{ path }],
  list_dir: (path) => [{ path }, { path: dirname(path) }],
  glob: (path) => [{ pattern: '**', path: dirname(path) }, { pattern: path }, { pattern: '**/*' }],
  grep: (path) => [{ pattern: 'canary', path }, { pattern: 'canary', path: dirname(path) }, { pattern: 'canary' }],
  write_file: (path) => [{ path, content: 'broken' }],
  edit_file: (path) => [{ path, old_text: 'canary', new_text: 'cat' }],
  shell: (path) => [
    { argv: ['rm', '-rf', path] },
    { argv: ['sh', '-c', `echo broken > '${path}'`] },
    { argv: ['cp', 'src/main.ts', `--target-directory=${dirname(path)}`] },
    { argv: ['touch', 'x'], cwd: dirname(path) },
  ],
  fetch: 'touches no file',
};

const WRITERS: readonly BuiltInTool[] = ['write_file', 'edit_file'];
const READERS: readonly BuiltInTool[] = ['read_file', 'list_dir', 'glob', 'grep'];

/** Ways that lead to a file of its own, or to none, where names are compared byte by byte. */
const OTHER_FILE = /capitals|behind|not seen|wide|stream/;

/** Known by what their folder holds, and not by name. */
const KNOWN_BY_CONTENTS: ReadonlySet<Thing> = new Set(['a run folder of another audit folder', 'a bare repository']);

const things = Object.keys(KEPT) as Thing[];

/**
 * What is only spelt in another way is called so in one project, one after the other; what changes the project has one of its own. Each thing is reached by
 * two of these, each of them reaches things of every kind; `npm run test:fault` takes all.
 */
function waysTo(thing: Thing) {
  const at = things.indexOf(thing);
  const detours = Object.entries(DETOURS).filter(([name], detour) => {
    const isMeant = detour === at % 5 || detour === (at + 2) % 5;
    return THOROUGH || isMeant || name === 'by another name of the file';
  });
  return [Object.entries(SPELLINGS), ...detours.map((way) => [way])].map(
    (some) => [some.map(([name]) => name).join(', '), some] as const,
  );
}

describe('[XD1] what belongs to Skein itself is not written', () => {
  describe.each(things)('%s', (thing) => {
    it.each(waysTo(thing))('called %s', async (_, some) => {
      const path = KEPT[thing];
      const { root, tools } = await ownProject();
      for (const [way, call] of some) {
        const called = await call(root, path);
        const before = snapshot(root);
        for (const tool of WRITERS) {
          for (const input of calls(tool, called)) {
            const error = await tools.fails(tool, input).catch((other: unknown) => other);
            if (!isOther(thing, way)) expect(code(error), way).toBe('SKEIN_TOOL_REFUSED');
          }
        }
        const after = snapshot(root);
        // The second name of a file that nothing tells is written by itself; the file stays as it is.
        const own = isOther(thing, way) ? 'twin' : '';
        const changed = [...before].filter(([file, content]) => file !== own && after.get(file) !== content);
        expect(changed, way).toEqual([]);
      }
    });
  });

  describe('a second name of a file in a closed folder (a hard link)', () => {
    const closed = things.filter((thing) => !isOther(thing, 'by another name of the file'));

    it.each(closed)('%s: no command gets it', async (thing) => {
      const { root, tools } = await ownProject();
      await link(join(root, KEPT[thing]), join(root, 'twin'));
      const before = snapshot(root);
      for (const argv of [
        ['sh', '-c', 'echo broken > "$0"', 'twin'],
        ['cp', 'src/main.ts', 'twin'],
      ]) {
        expect((await tools.fails('shell', { argv })).code).toBe('SKEIN_TOOL_REFUSED');
      }
      expect(snapshot(root)).toEqual(before);
    });

    it('is known also when it is given while the tools are open, and when its folder was renamed since', async () => {
      const { root, tools } = await ownProject();
      await link(join(root, 'src/main.ts'), join(root, 'plain'));
      expect(await tools.call('read_file', { path: 'plain' })).toContain('yellow');
      await writeFile(join(root, '.skein/later.db'), CANARY);
      for (const file of ['.skein/later.db', '.workflow-runs/2026-01-01_x/steps/00_a/output.md']) {
        await link(join(root, file), join(root, 'twin'));
        expect((await tools.fails('read_file', { path: 'twin' })).code).toBe('SKEIN_TOOL_REFUSED');
        await rename(join(root, 'twin'), join(root, `twin of ${file.slice(0, 2)}`));
      }
      await rename(join(root, '.skein'), join(root, 'renamed'));
      expect((await tools.fails('read_file', { path: 'twin of .s' })).code).toBe('SKEIN_TOOL_REFUSED');
    });

    it('of other files it is a name as any other, however many there are', async () => {
      const { root, tools } = await ownProject();
      for (let n = 0; n < 20; n++) await link(join(root, 'src/main.ts'), join(root, `src/twin${n}`));
      expect(await tools.call('grep', { pattern: CANARY, path: 'src' })).toContain('src/twin19:1');
      await tools.call('write_file', { path: 'src/twin3', content: 'fine' });
      expect(await readFile(join(root, 'src/twin3'), 'utf8')).toBe('fine');
      expect(await readFile(join(root, 'src/main.ts'), 'utf8')).toContain('yellow');
    });
  });

  it.each(things)('%s: a command that names it is not run', async (thing) => {
    const { root, tools } = await ownProject();
    const before = snapshot(root);
    for (const called of [KEPT[thing], `./src/../${KEPT[thing]}`, join(root, KEPT[thing])]) {
      for (const input of calls('shell', called).slice(0, 2)) {
        expect((await tools.fails('shell', input)).code).toBe('SKEIN_TOOL_REFUSED');
      }
    }
    expect(snapshot(root)).toEqual(before);
  });

  it.each(['.skein', '.git/hooks', '.github/agents', 'audit'])('no command is run in %s', async (cwd) => {
    const { root, tools } = await ownProject();
    const before = snapshot(root);
    expect((await tools.fails('shell', { argv: ['touch', 'x'], cwd })).code).toMatch(/REFUSED|FAILED/);
    expect(snapshot(root)).toEqual(before);
  });

  it.each([
    ['HEAD', ['objects/x', 'refs/x', 'config']],
    ['objects/a/b', ['HEAD', 'refs/x']],
    ['refs/x', ['HEAD', 'objects/x']],
    ['commondir', ['HEAD']],
  ])('a folder does not become a repository by its last piece, %s', async (last, pieces) => {
    const { tools } = await ownProject();
    for (const piece of pieces) await tools.call('write_file', { path: `src/${piece}`, content: 'x' });
    expect((await tools.fails('write_file', { path: `src/${last}`, content: 'x' })).message).toContain('Git');
  });

  it('not by pieces that are written at the same time', async () => {
    const { root, tools } = await ownProject();
    const pieces = ['HEAD', 'objects/x', 'refs/x', 'config'];
    await Promise.allSettled(pieces.map((piece) => tools.call('write_file', { path: `new/${piece}`, content: 'x' })));
    const made = new Set(await readdir(join(root, 'new')));
    expect(['HEAD', 'objects', 'refs'].every((name) => made.has(name))).toBe(false);
  });

  it('everything else can be written as before', async () => {
    const { root, tools } = await ownProject();
    for (const path of [
      'src/main.ts',
      'HEAD',
      '.github/workflows/ci.yml',
      '.gitignore',
      'skein.db',
      'flows/other.yaml',
      'a/.env',
    ]) {
      await tools.call('write_file', { path, content: 'fine' });
      expect(await readFile(join(root, path), 'utf8')).toBe('fine');
    }
  });

  it('what the user allows is not written either, where its folders are in the working directory', async () => {
    const root = await folder();
    vi.stubEnv('XDG_CONFIG_HOME', join(root, '.config'));
    vi.stubEnv('XDG_STATE_HOME', join(root, '.local/state'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const tools = await session({ tools: ['*'] }, { cwd: root });
    for (const path of ['.config/skein/policy.yaml', '.local/state/skein/trusted/x', '.local/state/skein/written/x'])
      for (const input of calls('shell', path).slice(0, 2).concat(calls('write_file', path)))
        expect(code(await tools.fails('argv' in input ? 'shell' : 'write_file', input)), path).toBe(
          'SKEIN_TOOL_REFUSED',
        );
    await tools.call('write_file', { path: '.config/other/policy.yaml', content: 'fine' });
  });

  it('a folder of run folders around the working directory does not close it', async () => {
    const root = await folder();
    const tools = await session({ tools: ['*'] }, { cwd: root, own: { record: [root], definition: [dirname(root)] } });
    await tools.call('write_file', { path: 'a.txt', content: 'fine' });
    expect(await tools.call('read_file', { path: 'a.txt' })).toBe('fine');
  });
});

describe('[XD2] the record of runs is not seen', () => {
  describe.each(things.filter((thing) => HIDDEN.has(thing)))('%s', (thing) => {
    it.each(waysTo(thing))('called %s', async (_, some) => {
      const path = KEPT[thing];
      const { root, tools } = await ownProject();
      for (const [way, call] of some) {
        const called = await call(root, path);
        for (const tool of READERS) {
          for (const input of calls(tool, called)) {
            const text = await tools.call(tool, input).catch((error: unknown) => messageOf(error));
            const isSecret = way !== 'by another name of the file' || !isOther(thing, way);
            if (isSecret) expect(`${way}: ${tool} ${JSON.stringify(input)}: ${text}`).not.toContain(`${called}:1`);
            if (isSecret && tool === 'read_file') expect(text, way).not.toContain('yellow');
            if (!OTHER_FILE.test(way) && tool !== 'list_dir') expect(linesOf(text), way).not.toContain(path);
          }
        }
        if (isOther(thing, way)) continue;
        expect(code(await tools.fails('read_file', { path: called })), way).toBe('SKEIN_TOOL_REFUSED');
      }
    });
  });

  it('searches of the whole project come by nothing of it', async () => {
    const { tools } = await ownProject();
    const found = await tools.call('grep', { pattern: CANARY, max_results: 500 });
    const listed = await tools.call('glob', { pattern: '**' });
    const named = await tools.call('glob', { pattern: '{.skein,.workflow-runs,audit,old,data,.git}/**' });
    for (const thing of HIDDEN) {
      for (const text of [found, listed, named]) expect(text).not.toContain(KEPT[thing]);
    }
    expect(found).toContain('src/main.ts:1');
    const top = (await tools.call('list_dir', {})).split('\n');
    expect(top).toContain('src/');
    expect(top).not.toContain('.skein/');
    expect(top).not.toContain('.workflow-runs/');
    expect(top).not.toContain('audit/');
    expect(top).not.toContain('calls.json');
  });

  it('a command that only reads may look at the workflow, and not at the record', async () => {
    const { tools } = await ownProject();
    expect(await tools.call('shell', { argv: ['cat', 'flows/review.yaml'] })).toContain('yellow');
    for (const path of ['.skein/skein.db', 'audit', 'calls.json', '../project/.skein']) {
      expect((await tools.fails('shell', { argv: ['cat', path] })).code).toBe('SKEIN_TOOL_REFUSED');
    }
  });

  it('whether something is in it is not told', async () => {
    const { tools } = await ownProject();
    const there = await tools.fails('read_file', { path: '.skein/skein.db' });
    const absent = await tools.fails('read_file', { path: '.skein/absent' });
    expect(absent.message.replace('absent', 'skein.db')).toBe(there.message);
  });

  it('an extra directory does not open it', async () => {
    const { root } = await ownProject();
    const tools = await session(
      { tools: ['*'], extraDirs: [join(root, '.skein'), join(root, 'old/2026-01-01_x')] },
      { cwd: join(root, 'src') },
    );
    for (const path of ['.skein/skein.db', 'old/2026-01-01_x/output.md']) {
      expect((await tools.fails('read_file', { path: join(root, path) })).code).toBe('SKEIN_TOOL_REFUSED');
    }
  });
});

it('every tool that is there has a row in this table', () => {
  expect(Object.keys(CALLS).toSorted()).toEqual([...BUILT_IN_TOOLS].toSorted());
});

function calls(tool: BuiltInTool, path: string): readonly JsonObject[] {
  const made = CALLS[tool];
  return made === 'touches no file' ? [] : made(path);
}

function isOther(thing: Thing, way: string): boolean {
  if (way === 'by another name of the file') return KNOWN_BY_CONTENTS.has(thing) || thing === 'a module of git';
  return KNOWN_BY_CONTENTS.has(thing) && OTHER_FILE.test(way);
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').map((line) => line.replace(/:1: .*$/, ''));
}

function code(error: unknown): unknown {
  return SkeinError.isInstance(error) ? error.code : error;
}

function messageOf(error: unknown): string {
  if (SkeinError.isInstance(error)) return error.message;
  throw error;
}
