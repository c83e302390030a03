import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { DefineCommand } from '../../src/cli/program.js';
import { projectWith } from './support/recorded.js';
import { MAIN, ROOT, makeProject, start } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, startAnyOnTerminal } from './support/terminal.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
const SLOW = { timeout: 240_000 };

/** What completes the last word of a command line, as the scripts are told. */
async function completed(words: readonly string[], cwd: string): Promise<readonly string[]> {
  const { code, stdout, stderr } = await served(
    ['completion', 'words', String(words.length), '--', 'skein', ...words],
    {
      cwd,
    },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [line.startsWith('\t') ? line : line.replace(/\t.*/, '')]));
}

/** Names that would do something if a shell evaluated them, or would be several words. */
const HOSTILE = [
  'o$(touch pwned)',
  'o`touch pwned`',
  'o;touch pwned',
  'o&&touch pwned>pwned',
  'o\'brien\'s "quotes" \\ and !history',
  'o*?[a] {a,b} ~ # %n $HOME',
];
/** Names that are offered nowhere. */
const UNSPEAKABLE = ['-rf', 'o\nl', 'o\tl', 'o\u001b[2J', 'o\u202el'];
const RUNS = ['01a20000-0000-7000-8000-00000000aaaa', '01a20000-0000-7000-8000-00000000bbbb', 'night shift'];

/** A project with runs and conversations of these names, and a `skein` in `bin` that notes what else it is called with. */
async function recordedProject(threads: readonly string[]): Promise<string> {
  const { cwd } = await projectWith(async (store) => {
    const holder = { id: 'h', host: 'h', pid: 1 };
    [...RUNS, ...threads.map((name) => `thread:${name}`)].forEach((id, at) => {
      const lease = store.create({ id, name: 'chain', createdAt: at }, holder, at);
      store.release(lease, { outcome: 'succeeded', endedAt: at });
    });
    return Promise.resolve();
  });
  const note = 'if [ "$1" != completion ]; then printf "<%s>" "$@" >> calls; echo >> calls; exit; fi';
  const program = join(cwd, 'bin/skein');
  await mkdir(join(cwd, 'bin'));
  await writeFile(program, `#!/bin/sh\n${note}\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(program, 0o755);
  return cwd;
}

function withProgram(cwd: string): Record<string, string> {
  return { PATH: `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}`, LC_ALL: 'C.UTF-8' };
}

/** What bash offers: the words are cut as bash cuts them. */
async function offeredByBash(cwd: string, line: string, words: readonly string[]): Promise<readonly string[]> {
  const script = `eval "$(skein completion bash)"
COMP_LINE=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _skein
for word in "\${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done`;
  const { stdout, stderr } = await start(['bash', '--norc', '-c', script, 'bash', line, ...words], {
    cwd,
    env: withProgram(cwd),
    input: '',
  }).ended;
  expect(stderr).toBe('');
  return stdout.split('\n').slice(0, -1);
}

/** The definitions of the commands, as commander has them. */
async function definitions(): Promise<readonly (readonly [path: readonly string[], command: Command])[]> {
  const files = (await readdir(join(ROOT, 'src/cli/commands'))).map((file) => file.replace(/\.ts$/, ''));
  const all = await Promise.all(
    files.map(async (name) => {
      const { define } = (await import(`../../src/cli/commands/${name}.ts`)) as { readonly define: DefineCommand };
      const command = new Command(name);
      define(
        command,
        () => undefined,
        () => Promise.resolve(),
      );
      const inner = command.createHelp().visibleCommands(command);
      return [[[name], command] as const, ...inner.map((one) => [[name, one.name()], one] as const)];
    }),
  );
  return all.flat();
}

describe('[XU11] what completes', () => {
  it('every command, every flag and every choice of the definitions', SLOW, async () => {
    const cwd = await makeProject();
    const all = await definitions();
    const commands = all.flatMap(([path]) => (path.length === 1 ? path : []));
    expect((await completed([''], cwd)).toSorted()).toEqual([...commands, 'help'].toSorted());
    expect(commands.length).toBeGreaterThan(20);
    for (const [path, command] of all) {
      const options = command.options.filter((option) => !option.hidden);
      const flags = options.flatMap(({ short, long }) => [short, long]).filter((flag) => flag !== undefined);
      expect((await completed([...path, '-'], cwd)).toSorted(), path.join(' ')).toEqual(
        [...flags, '-h', '--help'].toSorted(),
      );
      for (const { long, argChoices } of options) {
        if (argChoices === undefined || long === undefined) continue;
        expect(await completed([...path, long, ''], cwd)).toEqual(argChoices);
        expect(await completed([...path, `${long}=`], cwd)).toEqual(argChoices.map((choice) => `${long}=${choice}`));
      }
    }
  });

  it('what the words before the cursor ask for', SLOW, async () => {
    const cwd = await recordedProject(['ada', 'ada lovelace']);
    const table: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
      [['ru'], ['run', 'runs']],
      [['help', 'runs', 'p'], ['prune']],
      [
        ['runs', ''],
        ['prune', 'backup', 'trust'],
      ],
      [
        ['schema', ''],
        ['dag', 'machine', 'pipeline', 'agent', 'agent-toml', 'script'],
      ],
      [
        ['completion', ''],
        ['bash', 'zsh', 'fish'],
      ],
      [['run', ''], ['\tfiles\t']],
      [['run', '--mock', ''], ['\tfiles\t']],
      [['run', '--mock=an'], ['\tfiles\t--mock=']],
      [['run', '-workflow', ''], ['\tfiles\t']],
      [['run', '--input-file', 'diff=a'], ['\tfiles\tdiff=']],
      [['run', '--input-file=diff='], ['\tfiles\t--input-file=diff=']],
      [['run', '--audit-dir', ''], ['\tfolders\t']],
      [['validate', 'a.yaml', 'b.yaml', ''], ['\tfiles\t']],
      [['run', '--input', ''], []],
      [['run', '--json='], []],
      [['run', '--', '-'], ['\tfiles\t']],
      [
        ['show', ''],
        ['night shift', '0000bbbb', '0000aaaa'],
      ],
      [['show', '0000a'], ['0000aaaa']],
      [
        ['show', '01a2'],
        [RUNS[1] ?? '', RUNS[0] ?? ''],
      ],
      [['compare', '0000aaaa', '0000b'], ['0000bbbb']],
      [
        ['thread', ''],
        ['ada lovelace', 'ada'],
      ],
      [['threads', 'fork', 'ada\\ l'], ['ada lovelace']],
      [['run', 'a.yaml', '--thread', '"ada '], ['ada lovelace']],
      [['exec', 'a.yaml', '--thread=ada l'], ['--thread=ada lovelace']],
      [['nothing', ''], []],
    ];
    for (const [words, offered] of table) expect(await completed(words, cwd), words.join(' ')).toEqual(offered);
  });

  it('nothing, with exit code 0, where something is wrong', SLOW, async () => {
    const bare = await makeProject();
    const broken = await makeProject({ '.skein/skein.db': 'this is no database, but long enough to look like one' });
    const torn = await recordedProject(['ada']);
    const file = join(torn, '.skein/skein.db');
    const bytes = await readFile(file);
    await writeFile(file, bytes.fill(0x55, 1_000, 60_000));
    const piped = await makeProject({ '.skein/.gitignore': '*' });
    expect(spawnSync('sh', ['-c', 'mkfifo .skein/skein.db'], { cwd: piped }).status).toBe(0);
    for (const cwd of [bare, broken, torn, piped]) {
      expect(await completed(['show', ''], cwd)).toEqual([]);
      expect(await completed(['thread', ''], cwd)).toEqual([]);
    }
    for (const words of [[], ['x'], ['1'], ['99', '--'], ['1', '--', 'skein']]) {
      const { code, stderr } = await served(['completion', 'words', ...words], { cwd: bare });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
    const gone = `mkdir gone && cd gone && rmdir ../gone && '${process.execPath}' '${MAIN}' completion words 2 -- skein show ''`;
    expect(await start(['sh', '-c', gone], { cwd: bare, input: '' }).ended).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('without a trace in the store', SLOW, async () => {
    const cwd = await recordedProject(['ada']);
    const seen = async (): Promise<unknown> => {
      const names = (await readdir(join(cwd, '.skein'))).toSorted();
      return await Promise.all(
        names.map(async (name) => {
          const path = join(cwd, '.skein', name);
          return [name, (await stat(path)).mtimeMs, (await readFile(path)).toString('hex')];
        }),
      );
    };
    const before = await seen();
    expect(await completed(['thread', ''], cwd)).toEqual(['ada']);
    expect(await completed(['show', '0000a'], cwd)).toEqual(['0000aaaa']);
    expect(await seen()).toEqual(before);
  });
});

describe('[XU11] the script of bash', () => {
  it('gives what stands behind the place where bash cuts a word', SLOW, async () => {
    const cwd = await recordedProject(['team:one', 'ada@home']);
    expect(await offeredByBash(cwd, 'skein grap', ['skein', 'grap'])).toEqual(['graph']);
    const graph = ['skein', 'graph', 'a.yaml', '--format'];
    expect(await offeredByBash(cwd, 'skein graph a.yaml --format=', [...graph, '='])).toContain('svg');
    expect(await offeredByBash(cwd, 'skein graph a.yaml --format=s', [...graph, '=', 's'])).toEqual(['svg']);
    expect(await offeredByBash(cwd, 'skein thread team:o', ['skein', 'thread', 'team', ':', 'o'])).toEqual(['one']);
    expect(await offeredByBash(cwd, 'skein thread ada@', ['skein', 'thread', 'ada', '@'])).toEqual(['home']);
  });

  it('quotes names, and offers none that it can not quote', SLOW, async () => {
    const cwd = await recordedProject([...HOSTILE, ...UNSPEAKABLE, 'oslo']);
    const offered = await offeredByBash(cwd, 'skein thread o', ['skein', 'thread', 'o']);
    expect(offered).toHaveLength(HOSTILE.length + 1);
    const read = await start(['bash', '-c', `printf '%s\\n' ${offered.join(' ')}`], { cwd, input: '' }).ended;
    expect(read.stdout.split('\n').slice(0, -1).toSorted()).toEqual([...HOSTILE, 'oslo'].toSorted());
    expect(await offeredByBash(cwd, 'skein thread "o', ['skein', 'thread', '"o'])).toEqual(['oslo']);
    expect(await readdir(cwd)).not.toContain('pwned');
  });
});

const START: Readonly<Record<(typeof SHELLS)[number], readonly [argv: readonly [string, ...string[]], setUp: string]>> =
  {
    bash: [['bash', '--norc', '--noprofile', '-i'], `PS1='rea''dy> '; eval "$(skein completion bash)"`],
    zsh: [['zsh', '-f', '-i'], `PS1='rea''dy> '; unsetopt beep; eval "$(skein completion zsh)"`],
    fish: [
      ['fish', '--no-config', '-i'],
      `function fish_prompt; echo 'rea''dy> '; end; skein completion fish | source`,
    ],
  };

/** Why a shell can't be tried; undefined when it can. */
function missing(shell: (typeof SHELLS)[number]): string | undefined {
  const there = spawnSync(shell, ['--version'], { encoding: 'utf8' }).status === 0;
  return there ? noTerminal() : `${shell} is not installed`;
}

for (const shell of SHELLS) {
  const why = missing(shell);
  if (why !== undefined) process.stderr.write(`skipped: completion in a real ${shell}: ${why}\n`);
  describe(`[XU11] ${shell} on a terminal`, () => {
    it.skipIf(why !== undefined)('completes commands, flags, files and names as they are', SLOW, async () => {
      const cwd = await recordedProject(HOSTILE.map((name, at) => `${at}${name}`));
      await writeFile(join(cwd, 'my flow.yaml'), '');
      const [argv, setUp] = START[shell];
      const run = startAnyOnTerminal(argv, { cwd, env: withProgram(cwd), columns: 200 });
      const lines = ['skein dem\t', 'skein graph my\t--form\ts\t', 'skein show 0000a\t', 'skein run --mock=my\t'];
      const names = HOSTILE.map((_, at) => `skein thread ${at}\t`);
      run.child.stdin?.write(`${setUp}\r`);
      await run.seen('ready> ');
      for (const line of [...lines, ...names, 'exit']) run.child.stdin?.write(`${line}\r`);
      await run.ended;
      const calls = (await readFile(join(cwd, 'calls'), 'utf8')).split('\n').slice(0, -1);
      expect(calls).toEqual([
        '<demo>',
        '<graph><my flow.yaml><--format><svg>',
        '<show><0000aaaa>',
        '<run><--mock=my flow.yaml>',
        ...HOSTILE.map((name, at) => `<thread><${at}${name}>`),
      ]);
      expect(await readdir(cwd)).not.toContain('pwned');
    });

    it('has a script that asks skein, and is told how to take it', async () => {
      const cwd = await makeProject();
      const { code, stdout } = await served(['completion', shell], { cwd });
      expect(code).toBe(0);
      expect(stdout).toContain('command skein completion words');
      expect(stdout).not.toMatch(/\beval\b/);
      const told = await served(['completion'], { cwd });
      expect(told.stdout).toMatch(new RegExp(`${shell} .*skein completion ${shell}.* in ~/`));
      expect((await served(['help', 'completion'], { cwd })).stdout).toContain(told.stdout.trimEnd());
    });
  });
}

describe('[XU11] skein completion', () => {
  it('refuses another shell with the one that was meant', async () => {
    const { code, stderr, stdout } = await served(['completion', 'bahs'], { cwd: await makeProject() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('did you mean "bash"?');
  });

  it('is listed by help', async () => {
    expect((await served(['help'], { cwd: await makeProject() })).stdout).toMatch(/^ {2}completion\b/m);
  });
});
