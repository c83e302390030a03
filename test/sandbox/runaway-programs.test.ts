import { describe, expect, test } from 'vitest';
import { describeSandbox } from '../../src/agent/index.js';
import { folder, processesWith, session, until } from '../tools/support/session.js';

const hasSandbox = 'by' in (await describeSandbox());
if (!hasSandbox) console.log('skipped in the sandbox: neither bwrap nor unshare makes one here');

/** A number of seconds to sleep that is nobody else's. */
const own = (): string => `6${String(process.pid).padStart(7, '0')}${Math.floor(Math.random() * 1e4)}`;

describe.each([
  { where: 'outside of a sandbox', spec: {}, skipped: false },
  { where: 'in a sandbox', spec: { sandbox: 'offline' }, skipped: !hasSandbox },
] as const)('T15: a program $where', ({ spec, skipped }) => {
  const shell = async () => session({ tools: ['shell'], ...spec }, { cwd: await folder() });

  test.skipIf(skipped)('that starts more and more processes is ended, with all of them', async () => {
    const seconds = own();
    const error = await (
      await shell()
    ).fails('shell', { argv: ['sh', '-c', `while :; do sleep ${seconds} & done`], timeout_seconds: 300 });
    expect(error.message).toContain('it had more than 1,000 processes at once');
    await until(() => processesWith(seconds) === 0);
  });

  test.skipIf(skipped || process.platform !== 'linux')(
    'that takes more memory than it may, in processes that are small by themselves, is ended with all of them',
    async () => {
      // Below what the machine has in use, so that it is looked at.
      const tools = await session({ tools: ['shell'], ...spec }, { cwd: await folder(), programMemory: 200 << 20 });
      const child = 'const b = Buffer.alloc(60 << 20, 1); setInterval(() => b.fill(2), 100)';
      const code = `const { spawn } = require('child_process'); for (let i = 0; i < 6; i++) spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' }); console.log('started')`;
      const error = await tools.fails('shell', { argv: [process.execPath, '-e', code], timeout_seconds: 300 });
      expect(error.message).toContain('the program was killed: it had more than 200 MiB of memory');
      await until(() => processesWith(child) === 0);
    },
  );

  // A gigabyte: test/tools/shell.test.ts.
  test.skipIf(skipped)('that writes a hundred megabytes gives its beginning and its end', async () => {
    const script = `echo first; head -c 100000000 /dev/zero | tr "\\0" x; echo; echo last`;
    const text = await (await shell()).call('shell', { argv: ['sh', '-c', script], timeout_seconds: 600 });
    expect(text.length).toBeLessThan(70_000);
    expect(text).toMatch(/^exit code 0\n--- stdout ---\nfirst\nx+[^]*\nlast\n$/);
  });

  test.skipIf(skipped)('that ignores SIGTERM is ended at its time, with what it left in the background', async () => {
    const seconds = own();
    const script = `trap "" TERM; sleep ${seconds} & trap "" TERM; while :; do sleep ${seconds}; done`;
    const error = await (await shell()).fails('shell', { argv: ['sh', '-c', script], timeout_seconds: 1 });
    expect(error.message).toContain('the program was killed after 1 seconds');
    await until(() => processesWith(seconds) === 0);
  });

  test.skipIf(skipped)('leaves nothing in the background when it ends, nor when it is cancelled', async () => {
    const tools = await shell();
    const seconds = own();
    const text = await tools.call('shell', { argv: ['sh', '-c', `sleep ${seconds} & echo done`] });
    expect(text).toBe('exit code 0\n--- stdout ---\ndone\n');
    await until(() => processesWith(seconds) === 0);
    const stop = new AbortController();
    const cancelled = tools.fails('shell', { argv: ['sleep', seconds] }, stop.signal);
    await until(() => processesWith(seconds) > 0);
    stop.abort();
    expect((await cancelled).code).toBe('SKEIN_CANCELLED');
    await until(() => processesWith(seconds) === 0);
  });

  test.skipIf(skipped)('that ends by a signal says so', async () => {
    const tools = await shell();
    const text = await tools.call('shell', { argv: ['sh', '-c', 'echo before; kill -KILL $$'] });
    // A sandbox has processes around the program, which give its end on as shells do.
    const ended = 'sandbox' in spec ? 'exit code 137' : 'ended by SIGKILL';
    expect(text.startsWith(`${ended}\n--- stdout ---\nbefore\n`)).toBe(true);
  });

  test.skipIf(skipped)(
    'that prints what is not UTF-8 gives replacement characters, and its input is at its end',
    async () => {
      const script = String.raw`printf '\377\376 a \303'; wc -c; printf '\355\240\200 b\n' >&2`;
      const text = await (await shell()).call('shell', { argv: ['sh', '-c', script] });
      expect(text).toMatch(/^exit code 0\n--- stdout ---\n\uFFFD\uFFFD a \uFFFD0\n--- stderr ---\n\uFFFD+ b\n$/);
    },
  );

  test.skipIf(skipped)('can be as large as honest work is', async () => {
    const code =
      'const all = []; for (let i = 0; i < 64; i++) all.push(Buffer.alloc(4 << 20, 1)); console.log(all.length)';
    const text = await (await shell()).call('shell', { argv: [process.execPath, '-e', code] });
    expect(text).toBe('exit code 0\n--- stdout ---\n64\n');
  });
});

test.skipIf(!hasSandbox)(
  '[T15] a program in a sandbox that makes a session of its own is ended like the others',
  async () => {
    const seconds = own();
    const tools = await session({ tools: ['shell'], sandbox: 'on' }, { cwd: await folder() });
    const script = `setsid sh -c 'sleep ${seconds} & sleep ${seconds}' >/dev/null 2>&1 & sleep 0.3; echo done`;
    expect(await tools.call('shell', { argv: ['sh', '-c', script] })).toContain('done');
    await until(() => processesWith(seconds) === 0);
  },
);

test.skipIf(!hasSandbox)('[T15] a process in a sandbox can have 8 GiB of data, and no more', async () => {
  const tools = await session({ tools: ['shell'], sandbox: 'on' }, { cwd: await folder() });
  expect(await tools.call('shell', { argv: ['sh', '-c', 'ulimit -d; ulimit -c'] })).toContain('8388608\n0\n');
});
