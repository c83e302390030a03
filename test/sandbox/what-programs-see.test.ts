import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { confined, works } from '../../src/agent/sandbox/sandbox.js';
import type { Confinement, Sandbox } from '../../src/agent/sandbox/sandbox.js';
import { folder, session, until } from '../tools/support/session.js';
import type { Session } from '../tools/support/session.js';

const KEY = 'sk-a-key-that-nobody-may-see';
const sandboxes = (['bwrap', 'unshare'] as const).map((by): Sandbox => ({ by, program: `/usr/bin/${by}` }));
const working = await Promise.all(sandboxes.map(async (one) => existsSync(one.program) && (await works(one))));
const anyWorks = working.includes(true);
if (!anyWorks) console.log('skipped: neither bwrap nor unshare makes a sandbox here');

/** A process of the same user with a key in its environment, as Skein itself has one. */
async function withKey(): Promise<void> {
  const child = spawn('sleep', ['600'], { env: { OPENAI_API_KEY: KEY }, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await until(() => readFileSync(`/proc/${child.pid ?? 0}/environ`, 'utf8').includes(KEY));
}

const READ_ALL = 'for f in /proc/[0-9]*/environ; do tr "\\0" "\\n" <"$f"; done 2>/dev/null; ls -d /proc/[0-9]* | wc -l';

describe.each(sandboxes.map((one, i) => ({ ...one, skipped: working[i] !== true })))(
  'a program in a sandbox by $by',
  ({ skipped, ...sandbox }) => {
    const run = (script: string, project: string, more: Partial<Confinement> = {}) => {
      const all = { cwd: project, project, readable: [], hidden: [], kept: [], network: false, ...more };
      const [program, ...args] = confined(sandbox, ['/bin/sh', '-c', script], all);
      const env = { PATH: process.env['PATH'] ?? '' };
      return spawnSync(program, args, { encoding: 'utf8', env, cwd: '/' });
    };
    if (skipped) console.log(`skipped: ${sandbox.by} makes no sandbox here`);

    test.skipIf(skipped)(
      'sees no environment but those of its own processes: no key of the user is among them',
      async () => {
        await withKey();
        expect(spawnSync('/bin/sh', ['-c', READ_ALL], { encoding: 'utf8' }).stdout).toContain(KEY);
        const { stdout } = run(READ_ALL, await folder());
        expect(stdout).not.toContain(KEY);
        expect(stdout).toContain('PATH=');
        expect(Number(stdout.trim().split('\n').at(-1))).toBeLessThan(10);
      },
    );

    test.skipIf(skipped)('writes the project and temporary files, and nothing else', async () => {
      const project = await folder();
      const beside = await folder();
      writeFileSync(join(project, 'kept'), 'as it was');
      const script = `echo new >new; echo temporary >/tmp/t && cat /tmp/t
        echo x >kept; echo x >/etc/skein-x; echo x >${beside}/x; mount -o remount,rw /; mount -o remount,rw ${project}/kept
        echo x >kept; echo x >/etc/skein-x; umount ${project}/kept; echo x >kept; echo x >/proc/sys/kernel/core_pattern && echo BAD`;
      const { stdout } = run(script, project, { kept: [join(project, 'kept')] });
      expect(stdout).toBe('temporary\n');
      expect(readFileSync(join(project, 'new'), 'utf8')).toBe('new\n');
      expect(readFileSync(join(project, 'kept'), 'utf8')).toBe('as it was');
      expect([existsSync('/etc/skein-x'), existsSync(join(beside, 'x')), existsSync('/tmp/t')]).toEqual([
        false,
        false,
        false,
      ]);
    });

    test.skipIf(skipped)('does not see what is hidden, and gets its exit code out', async () => {
      const project = await folder();
      mkdirSync(join(project, 'my keys'));
      writeFileSync(join(project, 'my keys', 'k'), KEY);
      writeFileSync(join(project, '.env'), KEY);
      writeFileSync(join(project, 'seen'), 'seen');
      const hidden = ['my keys', '.env', 'missing'].map((name) => join(project, name));
      const { stdout, status } = run('cat .env "my keys"/* seen; umount .env; cat .env; exit 3', project, { hidden });
      expect([stdout, status]).toEqual(['seen', 3]);
    });

    test.skipIf(skipped)('reaches the network only where it may', async () => {
      const project = await folder();
      const count = 'grep -c : /proc/net/dev';
      const outside = spawnSync('/bin/sh', ['-c', count], { encoding: 'utf8' }).stdout;
      expect(run(count, project).stdout).toBe('1\n');
      expect(run(count, project, { network: true }).stdout).toBe(outside);
    });
  },
);

describe.skipIf(!anyWorks)('the tool shell of an agent with a sandbox', () => {
  const shell = async (): Promise<Session & { readonly cwd: string }> => {
    const cwd = await folder();
    const record = [join(cwd, 'runs.db')];
    const own = { record, definition: [join(cwd, 'flow.yaml')] };
    const env = { PATH: process.env['PATH'] ?? '', OPENAI_API_KEY: KEY };
    return { ...(await session({ tools: ['shell'], sandbox: 'offline' }, { cwd, own, env })), cwd };
  };

  test('hides files of secrets and the record of runs, wherever they lie, and keeps the workflow as it is', async () => {
    const tools = await shell();
    mkdirSync(join(tools.cwd, 'apps/web'), { recursive: true });
    mkdirSync(join(tools.cwd, '.skein'));
    for (const name of ['.env', 'apps/web/.env.local', '.skein/skein.db', 'runs.db', 'flow.yaml', 'plain'])
      writeFileSync(join(tools.cwd, name), `${name}: ${KEY}\n`);
    // The tool itself refuses a command that names the workflow.
    const script = 'grep -rl sk-a-key . | sort; f=flow; echo x >$f.yaml; echo x >apps/web/new';
    const text = await tools.call('shell', { argv: ['sh', '-c', script] });
    expect(text).toContain('--- stdout ---\n./flow.yaml\n./plain\n--- stderr');
    expect(readFileSync(join(tools.cwd, 'flow.yaml'), 'utf8')).toContain(KEY);
    expect(readFileSync(join(tools.cwd, 'apps/web/new'), 'utf8')).toBe('x\n');
  });

  test('runs as outside: directory, arguments, exit code, a program that is missing', async () => {
    const tools = await shell();
    mkdirSync(join(tools.cwd, 'sub dir'));
    const nasty = ['$(touch hacked)', '; touch hacked', '*', '--', '', "'"];
    const code = 'console.log(JSON.stringify([process.cwd(), ...process.argv.slice(1)])); process.exitCode = 4';
    const text = await tools.call('shell', { argv: [process.execPath, '-e', code, '--', ...nasty], cwd: 'sub dir' });
    expect(text).toBe(`exit code 4\n--- stdout ---\n${JSON.stringify([join(tools.cwd, 'sub dir'), ...nasty])}\n`);
    expect(existsSync(join(tools.cwd, 'sub dir/hacked'))).toBe(false);
    expect((await tools.fails('shell', { argv: ['no-such-program'] })).message).toBe(
      'there is no program "no-such-program"',
    );
  });
});
