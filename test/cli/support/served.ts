import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from '@swc/wasm-typescript';
import { onTestFinished } from 'vitest';
import { V8_FLAGS } from '../../v8-flags.js';
import type { Asked } from './server.js';
import type { Ended, StartOptions } from './skein.js';
import { MAIN, cleanEnv, trusting } from './skein.js';

/** Who waits for an answer of the process, in the order in which they asked. */
interface Waiting {
  readonly done: (end: Ended) => void;
  readonly fail: (error: Error) => void;
}

/** Runs a command line and gives how it ended. */
export type Serving = (words: readonly string[], options: StartOptions) => Promise<Ended>;

/**
 * Runs a command line of the built program in a process that tests share, one after the other: for tests of what the program
 * says and writes. Where signals, terminals, streams, the start or the end of a process count, and where modules are edited between two
 * runs, `skein` starts a process.
 */
export const served = serving([]);

/** Such a process of its own, started by the words of another program. */
export function serving(before: readonly string[]): Serving {
  let server: ChildProcess | undefined;
  const waiting: Waiting[] = [];
  return (words, { cwd, env, input = '', asks = false }) => {
    if (!existsSync(MAIN)) throw new Error('there is no dist/cli/main.js: npm run build first');
    if (env?.['NODE_OPTIONS'] !== undefined)
      throw new Error('NODE_OPTIONS are read when a process starts: use skein()');
    const to = (server ??= startServer(before, waiting, () => (server = undefined)));
    const args = trusting(words, { asks });
    const stdin = Buffer.from(input).toString('base64');
    const asked: Asked = { main: MAIN, args, cwd, env: cleanEnv(cwd, env), input: stdin };
    return new Promise((done, fail) => {
      const mine = { done, fail };
      waiting.push(mine);
      to.send(asked);
      // What does not end within the time of its test does not keep others waiting.
      onTestFinished(() => {
        if (waiting.includes(mine)) to.kill('SIGKILL');
      });
    });
  };
}

/** Its file is stripped of types here: with a loader of TypeScript in it, the process would load modules of workflows by that one. */
function startServer(before: readonly string[], waiting: Waiting[], onExit: () => void): ChildProcess {
  const folder = mkdtempSync(join(tmpdir(), 'skein-server-'));
  const text = readFileSync(join(import.meta.dirname, 'server.ts'), 'utf8');
  writeFileSync(join(folder, 'server.mjs'), transformSync(text, { mode: 'strip-only' }).code);
  const [execPath = process.execPath, ...words] = before;
  const child = fork(join(folder, 'server.mjs'), {
    env: { PATH: process.env['PATH'] },
    execPath,
    execArgv: before.length === 0 ? V8_FLAGS : [...words, process.execPath],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (more: string) => (said += more));
  child.on('message', (end) => {
    rmSync(folder, { recursive: true, force: true });
    waiting.shift()?.done(end as Ended);
  });
  child.on('exit', (code, signal) => {
    onExit();
    const error = new Error(`the process that serves command lines ended (${code ?? signal}): ${said}`);
    for (const { fail } of waiting.splice(0)) fail(error);
  });
  return child;
}
