import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A writer that runs, and what it has said. */
export interface Writer {
  readonly child: ChildProcess;
  readonly said: readonly string[];
  /** Settles when it has said a line; rejects when it ends without. */
  heard(line: string): Promise<void>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Starts a program whose lines are read as they come. Those that are to be stopped are stopped by their test. */
export function startWriter(argv: readonly string[]): Writer {
  const [program = '', ...rest] = argv;
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  const said: string[] = [];
  const waiting = new Set<() => void>();
  let open = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (open + text).split('\n');
    open = lines.pop() ?? '';
    said.push(...lines);
    for (const look of waiting) look();
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  return {
    child,
    said,
    ended,
    heard: (line) =>
      new Promise((resolveHeard, reject) => {
        const look = (): void => {
          if (said.includes(line)) resolveHeard();
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`it ended without saying ${line}, but ${said.join(', ')}`)));
      }),
  };
}

/** Why system calls can't be made to fail here; undefined when they can. */
export function whyNoStrace(): string | undefined {
  if (process.platform !== 'linux') return 'strace is for Linux';
  const probe = spawnSync('strace', [
    '-f',
    '--seccomp-bpf',
    '-e',
    'inject=fsync:error=EIO:when=1',
    '-o',
    '/dev/null',
    'true',
  ]);
  return probe.status === 0 ? undefined : 'strace is not installed, or may not trace';
}

/** A command under which certain system calls on a store's files go wrong. */
export function injecting(fault: string, file: string, argv: readonly string[]): readonly string[] {
  const paths = ['', '-wal', '-journal'].flatMap((end) => ['-P', `${file}${end}`]);
  const trace = ['-e', `trace=${fault.slice(0, fault.indexOf(':'))}`, '-e', `inject=${fault}`];
  // Where other calls are not stopped at, a program is twice as fast, but signals don't come.
  const stops = fault.includes('signal') ? [] : ['--seccomp-bpf'];
  return ['strace', '-f', ...stops, '-qq', '-o', '/dev/null', ...trace, ...paths, ...argv];
}
