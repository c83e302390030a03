import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** What is done to the n-th call of a system call on the files of a store. */
export interface Injection {
  readonly call: 'pwrite64' | 'fsync' | 'fdatasync';
  readonly n: number;
  readonly does: 'signal=SIGKILL' | 'error=ENOSPC' | 'error=EIO';
}

/** The words that start a program under strace. */
export function injecting(dir: string, { call, n, does }: Injection): readonly string[] {
  const files = ['skein.db', 'skein.db-wal', 'skein.db-shm'].flatMap((name) => ['-P', join(dir, name)]);
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:${does}:when=${n}`];
  // Where other calls are not stopped at, a program is twice as fast, but signals don't come.
  const stops = does.startsWith('signal') ? [] : ['--seccomp-bpf'];
  return ['strace', '-f', ...stops, '-qq', '-o', '/dev/null', ...inject, ...files];
}

/** Why nothing can be injected here; undefined when it can. */
export function whyNoStrace(): string | undefined {
  const tried = spawnSync('strace', [
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    'inject=write:signal=SIGKILL:when=1',
    'echo',
    'x',
  ]);
  if (tried.error !== undefined) return 'strace is not installed';
  return tried.signal === 'SIGKILL' ? undefined : 'strace may not trace here';
}
