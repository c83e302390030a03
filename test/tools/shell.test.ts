import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { splitWords } from '../../src/agent/tools/words.js';
import { cleanEnvironment } from '../../src/agent/tools/clean-env.js';
import { folder, groupRuns, session, textOnceWritten } from './support/session.js';
import type { Session } from './support/session.js';

const node = process.execPath;

async function shell(env: Record<string, string> = {}): Promise<Session & { readonly cwd: string }> {
  const cwd = await folder();
  const tools = await session({ tools: ['shell'] }, { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } });
  return { ...tools, cwd };
}

describe('a program', () => {
  test('gives exit code and both outputs', async () => {
    const tools = await shell();
    expect(
      await tools.call('shell', { argv: [node, '-e', 'console.log("out"); console.error("err"); process.exit(3)'] }),
    ).toBe('exit code 3\n--- stdout ---\nout\n--- stderr ---\nerr\n');
    expect(await tools.call('shell', { argv: ['true'] })).toBe('exit code 0\n');
  });

  test('gets its arguments as they are: no shell ever sees them', async () => {
    const tools = await shell();
    const nasty = [
      '$(touch hacked)',
      '`touch hacked`',
      '; touch hacked',
      '| touch hacked',
      '&& touch hacked',
      '> hacked',
      '*',
      '~',
      '$HOME',
      "'",
      '"',
      '\n',
      '-n',
      '',
    ];
    const text = await tools.call('shell', {
      argv: [node, '-p', 'JSON.stringify(process.argv.slice(1))', '--', ...nasty],
    });
    expect(text).toContain(JSON.stringify(nasty));
    expect(existsSync(join(tools.cwd, 'hacked'))).toBe(false);
  });

  test('runs in the working directory, or one below it', async () => {
    const tools = await shell();
    await mkdir(join(tools.cwd, 'sub'));
    expect(await tools.call('shell', { argv: ['pwd'] })).toContain(`${tools.cwd}\n`);
    expect(await tools.call('shell', { argv: ['pwd'], cwd: 'sub' })).toContain(`${join(tools.cwd, 'sub')}\n`);
    expect((await tools.fails('shell', { argv: ['pwd'], cwd: '..' })).code).toBe('SKEIN_TOOL_REFUSED');
  });

  test('has no input to wait for', async () => {
    const tools = await shell();
    expect(await tools.call('shell', { argv: ['cat'] })).toBe('exit code 0\n');
  });

  test('that does not exist is an error with a hint', async () => {
    const tools = await shell();
    const error = await tools.fails('shell', { argv: ['cd', '/'] });
    expect(error.message).toBe('there is no program "cd"');
    expect(error.hint).toContain('builtins');
    await writeFile(join(tools.cwd, 'plain.txt'), 'x');
    expect((await tools.fails('shell', { argv: ['./plain.txt'] })).message).toContain('permission denied');
  });

  test.each([
    [{}, 'either argv or command'],
    [{ argv: ['a'], command: 'a' }, 'either argv or command'],
    [{ argv: [] }, 'needs a program'],
    [{ argv: [''] }, 'needs a program'],
    [{ argv: ['a', 'b\0c'] }, 'NUL'],
    [{ argv: ['a', 1] }, 'must be text'],
    [{ argv: 'ls -l' }, 'must be a list'],
    [{ argv: ['echo', 'x'.repeat(200_000)] }, 'longer than'],
    [{ argv: ['true'], timeout_seconds: 0 }, 'whole number'],
  ])('a call such as %j is refused', async (input, words) => {
    const tools = await shell();
    expect((await tools.fails('shell', input)).message).toContain(words);
  });

  test('a gigabyte of output is read to its end and cut to its ends', async () => {
    const tools = await shell();
    const text = await tools.call('shell', {
      argv: [
        node,
        '-e',
        'const b = Buffer.alloc(1<<20, "x"); process.stdout.write("first"); let n = 1024; const go = () => { while (n-- > 0) if (!process.stdout.write(b)) return process.stdout.once("drain", go); process.stdout.write("last"); }; go();',
      ],
    });
    expect(text.length).toBeLessThan(70_000);
    expect(text.startsWith('exit code 0\n--- stdout ---\nfirstxxx')).toBe(true);
    expect(text).toContain(`[... ${1024 * 1024 * 1024 + 9 - 64 * 1024} bytes left out ...]`);
    expect(text.endsWith('xlast\n')).toBe(true);
  });
});

describe('T15: the environment', () => {
  test('holds what programs need and nothing secret', async () => {
    const tools = await shell({
      HOME: '/home/someone',
      LANG: 'C.UTF-8',
      OPENAI_API_KEY: 'sk-canary',
      GITHUB_TOKEN: 'canary',
      AWS_SECRET_ACCESS_KEY: 'canary',
      DATABASE_URL: 'postgres://canary',
      LC_AUTH: 'canary',
      LD_PRELOAD: '/canary.so',
      NODE_OPTIONS: '--canary',
      MY_CUSTOM: 'canary',
      LC_ALL: '() { canary; }',
    });
    const text = await tools.call('shell', { argv: [node, '-p', 'JSON.stringify(process.env)'] });
    expect(text).not.toContain('canary');
    const env = JSON.parse(text.split('\n')[2] ?? '') as Record<string, string>;
    expect(Object.keys(env).toSorted()).toEqual([
      'GIT_PAGER',
      'GIT_TERMINAL_PROMPT',
      'HOME',
      'LANG',
      'PAGER',
      'PATH',
      'SKEIN_IDEMPOTENCY_KEY',
      'TERM',
    ]);
  });

  test('of a tool server is smaller still', () => {
    const env = {
      PATH: '/bin',
      CI: '1',
      NODE_ENV: 'x',
      LC_ALL: 'C',
      XDG_RUNTIME_DIR: '/run',
      OPENAI_API_KEY: 'k',
      GOPATH: '/go',
    };
    expect(cleanEnvironment(env, 'tool-server')).toEqual({ PATH: '/bin', LC_ALL: 'C', XDG_RUNTIME_DIR: '/run' });
    expect(cleanEnvironment(env, 'shell')).toMatchObject({ CI: '1', GOPATH: '/go' });
  });
});

describe('T15: a command as one line', () => {
  test.each([
    ['git diff --stat', ['git', 'diff', '--stat']],
    [`git log --format='%h %s' -- "a b"`, ['git', 'log', '--format=%h %s', '--', 'a b']],
    [`grep -rn 'a|b' src`, ['grep', '-rn', 'a|b', 'src']],
    [`echo 'single $HOME' "double \\$HOME \\" \\\\ \\n"`, ['echo', 'single $HOME', 'double $HOME " \\ \\n']],
    [`a\\ b  c\\|d  '' ""`, ['a b', 'c|d', '', '']],
    [`git show HEAD~1 HEAD@{1} a=b x#y`, ['git', 'show', 'HEAD~1', 'HEAD@{1}', 'a=b', 'x#y']],
    [`x'y'"z"`, ['xyz']],
  ])('%s', (command, words) => expect(splitWords(command)).toEqual(words));

  test.each([
    'ls | wc',
    'a && b',
    'a || b',
    'a; b',
    'a & ',
    'cat < f',
    'cat > f',
    'cat >> f',
    'cat << EOF',
    '(ls)',
    '$(ls)',
    '`ls`',
    'echo $HOME',
    'echo ${HOME}',
    'echo "$HOME"',
    'echo "`ls`"',
    'ls *.ts',
    'ls a?b',
    'ls [ab]',
    'ls ~/x',
    'ls ~',
    '# comment',
    'ls # comment',
    'ls\nrm x',
    'ls\r\nrm x',
    'FOO=bar ls',
    "'unclosed",
    '"unclosed',
    'end\\',
    'a\\\nb',
    '',
    '   ',
    'a |& b',
    'diff <(a) <(b)',
    '2>&1',
  ])('refuses %j', async (command) => {
    const tools = await shell();
    const error = await tools.fails('shell', { command });
    expect(error.code).toBe('SKEIN_TOOL_REFUSED');
    expect(error.hint).toContain('argv');
  });

  test('runs what it may', async () => {
    const tools = await shell();
    expect(await tools.call('shell', { command: `echo "one  two" 'three|four'` })).toContain('one  two three|four\n');
  });
});

/** A program that starts another in the background, writes both numbers to a file, and goes on or not. */
function family(goesOn: boolean, childOptions = ''): string[] {
  const child = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)`;
  return [
    node,
    '-e',
    `process.on("SIGTERM", () => {});
     const child = require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(child)}], { stdio: "inherit" ${childOptions} });
     child.once("spawn", () => {
       require("fs").writeFileSync("pids.tmp", process.pid + " " + child.pid);
       require("fs").renameSync("pids.tmp", "pids");
       ${goesOn ? 'setInterval(() => {}, 1000)' : 'process.exit(0)'};
     });`,
  ];
}

const onLinux = process.platform === 'linux';
if (!onLinux) console.info('note: processes are looked up in /proc, so tests of what is left of them are skipped');

describe.skipIf(!onLinux)('T15: nothing outlives a call', () => {
  test('a cancelled program is gone with its background child, though both ignore SIGTERM', async () => {
    const tools = await shell();
    const controller = new AbortController();
    const failing = tools.fails('shell', { argv: family(true) }, controller.signal);
    const group = Number((await textOnceWritten(join(tools.cwd, 'pids'))).split(' ')[0]);
    expect(await groupRuns(group)).toBe(true);
    controller.abort();
    expect((await failing).code).toBe('SKEIN_CANCELLED');
    expect(await groupRuns(group)).toBe(false);
  });

  test('a child that a program leaves behind is ended with the call, and does not hold it up', async () => {
    const tools = await shell();
    expect(await tools.call('shell', { argv: family(false) })).toBe('exit code 0\n');
    const group = Number((await readFile(join(tools.cwd, 'pids'), 'utf8')).split(' ')[0]);
    expect(await groupRuns(group)).toBe(false);
  });

  test('a program that takes too long is killed, and what it printed is shown', async () => {
    const tools = await shell();
    const error = await tools.fails('shell', {
      argv: [node, '-e', 'console.log(process.pid); setInterval(() => {}, 1000)'],
      timeout_seconds: 1,
    });
    expect(error.code).toBe('SKEIN_TOOL_FAILED');
    expect(error.message).toMatch(/^the program was killed after 1 seconds\n--- stdout ---\n\d+\n$/);
    expect(await groupRuns(Number(/\d+\n$/.exec(error.message)?.[0]))).toBe(false);
  });

  test('closing the session ends what still runs', async () => {
    const tools = await shell();
    const failing = tools.fails('shell', { argv: family(true) });
    const group = Number((await textOnceWritten(join(tools.cwd, 'pids'))).split(' ')[0]);
    await tools.source.close();
    expect(await groupRuns(group)).toBe(false);
    expect((await failing).code).toBe('SKEIN_CANCELLED');
  });

  test('a call that is cancelled before it begins starts nothing', async () => {
    const tools = await shell();
    const error = await tools.fails('shell', { argv: family(false) }, AbortSignal.abort());
    expect(error.code).toBe('SKEIN_CANCELLED');
    expect(existsSync(join(tools.cwd, 'pids'))).toBe(false);
  });

  test('documented: a program may start others by its own options, inside the same group and limits', async () => {
    const tools = await shell();
    expect(await tools.call('shell', { argv: ['sh', '-c', 'echo $((1 + 1)) | cat'] })).toContain('\n2\n');
  });
});
