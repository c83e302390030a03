import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunResult } from '../../../src/engine/run.js';
import type { ErrorData } from '../../../src/base/errors.js';
import { programOf } from '../../programs.js';
import { V8_FLAGS } from '../../v8-flags.js';

/** What a runner does. */
export interface Order {
  /** Its folder: the store, the ledger of what it did, what was received. */
  readonly dir: string;
  readonly shape: string;
  readonly edition: 1 | 2;
  readonly runId: string;
  /** Effects take up to so many milliseconds. */
  readonly pace: number;
  readonly durability: 'fast' | 'full';
}

/** How a runner ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The result of the run; absent when it was killed or could not begin. */
  readonly result: RunResult | undefined;
  /** What kept it from beginning. */
  readonly error: ErrorData | undefined;
  readonly stderr: string;
}

/** A runner at work. */
export interface Runner {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

const RUNNER = await programOf(join(import.meta.dirname, 'runner.ts'));

/** A folder for one run. */
export function makeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'skein-fault-'));
  mkdirSync(dir, { recursive: true });
  for (const name of ['ledger.txt', 'received.txt']) writeFileSync(join(dir, name), '');
  return dir;
}

/** Starts a runner; `before` are words of a program that it is started by. `onLine` gets each line that it tells. */
export function startRunner(order: Order, onLine: (line: string) => void, before: readonly string[] = []): Runner {
  const [program, ...words]: readonly string[] = [...before, process.execPath];
  if (program === undefined) throw new Error('no program');
  rmSync(join(order.dir, 'result.json'), { force: true });
  const child = spawn(program, [...words, RUNNER, JSON.stringify(order)], {
    cwd: order.dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: order.dir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  let rest = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach((line) => onLine(line));
  });
  const ended = new Promise<Ended>((tell, refuse) => {
    child.on('error', refuse);
    child.on('close', (code, signal) => {
      const result = readResult(join(order.dir, 'result.json'));
      tell({ code, signal, result, error: errorIn(stderr), stderr });
    });
  });
  return { child, ended };
}

/** What a runner that takes orders sends for each. */
export interface Served {
  readonly result?: RunResult;
  readonly error?: ErrorData;
}

let shared: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Carries out an order that nobody disturbs, in a process that tests share, one after the other. Its functions are those of a runner, to the letter. */
export function carriedOut(order: Order): Promise<RunResult> {
  const mine = last.then(async () => {
    const child = (shared ??= fork(RUNNER, { execArgv: V8_FLAGS, env: { PATH: process.env['PATH'] ?? '' } }));
    const over = new AbortController();
    child.send(order);
    const ended = once(child, 'exit', over).then(() => [{}]);
    const [{ result, error }] = (await Promise.race([once(child, 'message', over), ended])) as [Served];
    over.abort();
    ended.catch(() => undefined);
    if (result === undefined) throw new Error(error?.message ?? 'the process that carries out orders ended');
    return result;
  });
  last = mine.catch(() => undefined);
  return mine;
}

function readResult(file: string): RunResult | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunResult;
  } catch {
    // It was not written, or not to its end.
    return undefined;
  }
}

function errorIn(stderr: string): ErrorData | undefined {
  const line = stderr.split('\n').find((one) => one.startsWith('{"code"'));
  return line === undefined ? undefined : (JSON.parse(line) as ErrorData);
}

/** The lines of a file in a run's folder. */
export function linesIn(dir: string, name: string): string[] {
  return readFileSync(join(dir, name), 'utf8').split('\n').filter(Boolean);
}
