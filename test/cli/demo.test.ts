import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lastCommit } from '../../src/cli/run/last-commit.js';
import { MAIN, ROOT, filesIn, makeProject, start } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, screenOf, startOnTerminal } from './support/terminal.js';

const missing = noTerminal();
if (missing !== undefined) console.log(`the demo is not looked at on a terminal: ${missing}`);

const IDENTITY = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };

async function git(cwd: string, ...words: readonly string[]): Promise<void> {
  const options = { cwd, env: { ...IDENTITY, GIT_CONFIG_NOSYSTEM: '1' }, input: '' };
  expect(await start(['git', ...words], options).ended).toMatchObject({ code: 0 });
}

async function repository(commits: number): Promise<string> {
  const cwd = await makeProject();
  await git(cwd, 'init', '--quiet');
  for (let number = 1; number <= commits; number += 1) {
    await writeFile(join(cwd, 'notes.txt'), `line of commit ${number}\n`);
    await git(cwd, 'add', 'notes.txt');
    await git(cwd, 'commit', '--quiet', '-m', `commit number ${number}`);
  }
  return cwd;
}

describe('demo', () => {
  test('reviews the last commit: picture and answer on stdout; census and cost on stderr; nothing is written', async () => {
    const cwd = await repository(2);
    const before = await filesIn(cwd);
    const end = await served(['demo'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('│ agent correctness-reviewer  │');
    expect(end.stdout).toContain('## Step: report');
    expect(end.stderr).toMatch(/A code review of [0-9a-f]+ commit number 2\n/);
    expect(end.stderr).toMatch(/\ncode-review succeeded: 7 succeeded, 1 skipped\nnext: .*\n {2}skein new mine\n$/);
    expect(end.stderr).toMatch(/With a model this run would have made \d+ calls to .* tokens/);
    expect(end.stderr).toMatch(
      /\(about .* tokens, in \+ out\) for \$0\.\d+;\nat most \d+ model calls .* for about \$\d/,
    );
    expect(end.stderr).toMatch(/step summary succeeded in .*would have cost \$0\.\d+/);
    expect(end.stderr).toMatch(
      /\nOnce more with --budget \d+-calls: out of budget, and nothing is lost;\nresumed with .* reused \(would have cost \$0\.\d+\), \d+ run, succeeded\n/,
    );
    expect(end.stderr).toMatch(/\nkilled after (\d+) steps; resumed here: \1 reused, \d+ run, succeeded\n/);
    expect(end.stderr).toContain('\nThe result is the same as that of the undisturbed run.\n');
    expect(await filesIn(cwd)).toEqual(before);
  });

  test.skipIf(missing !== undefined)(
    '[XU1] at the bottom of a screen of 80x24 stand the end of the picture, the answer, the census and the next command',
    async () => {
      const cwd = await makeProject();
      const size = { cwd, columns: 80, rows: 24 };
      const end = await startOnTerminal(['demo', '--no-color'], size).ended;
      expect(end.code).toBe(0);
      const lines = screenOf(end.stdout);
      const picture = lines.slice(lines.findIndex((line) => line.includes('┌')));
      expect(Math.max(...picture.slice(0, picture.indexOf('')).map((line) => line.length))).toBeLessThanOrEqual(80);
      // A line that is longer than the screen takes two rows of it, and the cursor the last one.
      const screen = lines.flatMap((line) => line.match(/.{1,80}/gu) ?? ['']).slice(-24);
      const order = [
        '│ report  │',
        '## Step: report',
        'would be welcome too.',
        'succeeded: 7 succeeded, 1 skipped',
        '  skein new mine',
      ];
      const places = order.map((text) => screen.findIndex((line) => line.includes(text)));
      expect(places, screen.join('\n')).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect([places.at(-1), screen.at(-1)]).toEqual([22, '']);
    },
  );

  test('leaves nothing in the folder for temporary files either', async () => {
    const cwd = await makeProject({ 'tmp/here.txt': '' });
    const TMPDIR = join(cwd, 'tmp');
    const end = await served(['demo'], { cwd, env: { TMPDIR } });
    expect(end.stderr).toContain('The result is the same as that of the undisturbed run.');
    expect(await filesIn(TMPDIR)).toEqual(['here.txt']);
  });

  test('outside of a repository it falls back on the diff that comes with the example', async () => {
    const end = await served(['demo'], { cwd: await makeProject() });
    expect(end.code).toBe(0);
    expect(end.stderr).toContain('A code review of a change that comes with the example\n');
    expect(end.stderr).toContain('code-review succeeded: 7 succeeded, 1 skipped');
  });

  test.each([
    ['in a repository without a commit', () => repository(0)],
    ['on a first commit', () => repository(1)],
    [
      'in a shallow clone',
      async () => {
        const origin = await repository(2);
        const cwd = await makeProject();
        await git(cwd, 'clone', '--quiet', '--depth', '1', `file://${origin}`, 'clone');
        return join(cwd, 'clone');
      },
    ],
  ])('%s there is no change to review, as there is none outside of one', async (_, make) => {
    expect(await lastCommit(await make())).toBeUndefined();
  });

  test('without git it works as well', async () => {
    const cwd = await repository(2);
    const end = await start([process.execPath, MAIN, 'demo'], { cwd, env: { PATH: join(cwd, 'nothing') }, input: '' })
      .ended;
    expect(end.code).toBe(0);
    expect(end.stderr).toContain('a change that comes with the example');
  });

  test('a diff driver that the repository names is not run', async () => {
    const cwd = await repository(1);
    await writeFile(join(cwd, '.gitattributes'), '*.txt diff=mine\n');
    await git(cwd, 'config', 'diff.mine.textconv', `touch ${join(cwd, 'ran')} ;`);
    await git(cwd, 'config', 'diff.external', `touch ${join(cwd, 'ran')} ;`);
    await writeFile(join(cwd, 'notes.txt'), 'changed\n');
    await git(cwd, 'add', '.');
    await git(cwd, 'commit', '--quiet', '-m', 'with a driver');
    const commit = await lastCommit(cwd);
    expect(commit?.title).toMatch(/^[0-9a-f]+ with a driver$/);
    expect(commit?.diff).toContain('+changed');
    expect(await filesIn(cwd)).not.toContain('ran');
  });

  test('it works where it is installed, whatever the folder is called', async () => {
    const cwd = await makeProject();
    const home = join(cwd, 'a folder with späces');
    await mkdir(home);
    for (const name of ['dist', 'examples', 'package.json'])
      await cp(join(ROOT, name), join(home, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(home, 'node_modules'));
    const end = await start([process.execPath, join(home, 'dist/cli/main.js'), 'demo'], { cwd, input: '' }).ended;
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('## Step: report');
    await rm(home, { recursive: true });
  });
});
