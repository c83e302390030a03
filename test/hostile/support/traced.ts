import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Ended } from '../../cli/support/skein.js';
import type { Serving } from '../../cli/support/served.js';
import { served, serving } from '../../cli/support/served.js';
import { MAIN, ROOT, start } from '../../cli/support/skein.js';
import { EACH_WAY } from '../../thorough.js';

/** What a process did beyond looking: `starts PROGRAM`, `reaches ADDRESS`, `writes PATH`, `reads PATH`. Undefined: it was not traced. */
export interface Traced extends Ended {
  readonly seen: readonly string[] | undefined;
}

/** Where a process is, and what it may open without that it counts. */
export interface Places {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folders in which it may read. */
  readonly mayRead: readonly string[];
  /** Folders in which it may write. */
  readonly mayWrite?: readonly string[];
}

const CHANGES =
  'mkdir mkdirat rename renameat renameat2 unlink unlinkat rmdir symlink symlinkat link linkat chmod fchmodat truncate mknod mknodat'.split(
    ' ',
  );
const CALLS = ['execve', 'execveat', 'connect', 'bind', 'sendto', 'sendmsg', 'open', 'openat', 'openat2', 'creat'];

/** What Node and the C library open by themselves. */
const SYSTEM =
  /^\/(?:usr|lib|lib64)\/|^\/sys\/(?:fs\/cgroup|devices\/system\/cpu)\/|^\/proc\/(?:(?:self|\d+)\/(?:maps|cgroup|stat|status|mountinfo)|meminfo|cpuinfo|sys\/vm\/overcommit_memory)$|^\/etc\/(?:ld\.so\.|ssl\/openssl\.cnf$|localtime$)|^\/dev\/(?:null|urandom|tty|pts\/\d+)$|^(?:pipe|socket|anon_inode):/;

/** Why no process can be traced here; undefined: it can. */
export function whyUntraced(): string | undefined {
  const tried = spawnSync('strace', [
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-y',
    '-o',
    '/dev/null',
    '-e',
    'trace=execve',
    'true',
  ]);
  if (tried.error !== undefined) return 'strace is not installed';
  return tried.status === 0 ? undefined : `strace can't trace here: ${String(tried.stderr).trim()}`;
}

const untraced = whyUntraced();

/** Strace, and what it looks at; it writes to a file. */
function straceTo(log: string): readonly [string, ...string[]] {
  const trace = `trace=${[...CALLS, ...CHANGES].join(',')}`;
  return ['strace', '-f', '--seccomp-bpf', '-qq', '-y', '-s', '4096', '-o', log, '-e', trace];
}

/** Runs the built program to its end in a process of its own, under strace where there is one. */
export async function traced(words: readonly string[], places: Places): Promise<Traced> {
  const program = [process.execPath, MAIN, ...words] as const;
  const options = { cwd: places.cwd, env: places.env, input: '' };
  if (untraced !== undefined) return { ...(await start(program, options).ended), seen: undefined };
  const folder = await mkdtemp(join(tmpdir(), 'skein-trace-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const log = join(folder, 'trace');
  const ended = await start([...straceTo(log), ...program], options).ended;
  const [, ...sights] = sightsIn(callsIn(await readFile(log, 'utf8')), places.cwd);
  return { ...ended, seen: seenOf(sights, places) };
}

interface Observed {
  readonly serve: Serving;
  readonly log: string;
}

let observed: Promise<Observed> | undefined;

/**
 * Runs a command line of the built program in a process that the tests of a file share, under strace where there is one. Under
 * `npm run test:security`, each has a process of its own.
 */
export async function tracedServed(words: readonly string[], places: Places): Promise<Traced> {
  if (EACH_WAY) return await traced(words, places);
  const options = { cwd: places.cwd, env: places.env, asks: true };
  if (untraced !== undefined) return { ...(await served(words, options)), seen: undefined };
  const { serve, log } = await (observed ??= observe(places.cwd));
  const before = (await readFile(log)).length;
  const ended = await serve(words, options);
  const text = (await readFile(log)).subarray(before).toString();
  return { ...ended, seen: seenOf(sightsIn(callsIn(text), places.cwd), places) };
}

async function observe(cwd: string): Promise<Observed> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-trace-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'trace');
  const serve = serving(straceTo(log));
  // What its start does is none of what a command does.
  const { code } = await serve(['--version'], { cwd });
  if (code !== 0) throw new Error('a process under strace serves no command');
  return { serve, log };
}

/** What counts of what a process did. */
function seenOf(sights: readonly Sight[], { mayRead, mayWrite = [] }: Places): readonly string[] {
  const readable = [...mayRead, ROOT, dirname(process.execPath)];
  const isFree = ({ kind, what }: Sight): boolean =>
    (kind === 'writes' || kind === 'reads') &&
    (/^\/dev\/(?:null|tty|pts\/\d+)$|^(?:pipe|socket|anon_inode):/.test(what) ||
      (kind === 'reads' && SYSTEM.test(what)) ||
      (kind === 'reads' ? readable : mayWrite).some((one) => what === one || what.startsWith(`${one}/`)));
  const seen = sights.filter((sight) => !isFree(sight)).map(({ kind, what }) => `${kind} ${what}`);
  return [...new Set(seen)];
}

interface Sight {
  readonly kind: 'starts' | 'reaches' | 'writes' | 'reads';
  readonly what: string;
}

/** Calls, one a line, also those that another thread interrupted. */
function callsIn(log: string): readonly string[] {
  const open = new Map<string, string>();
  const calls: string[] = [];
  for (const line of log.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    if (rest.endsWith('<unfinished ...>')) open.set(thread, rest.slice(0, -'<unfinished ...>'.length));
    else if (resumed !== null) calls.push((open.get(thread) ?? '') + (resumed[1] ?? ''));
    else if (rest !== '') calls.push(rest);
  }
  return calls;
}

function sightsIn(calls: readonly string[], cwd: string): readonly Sight[] {
  return calls.flatMap((call): readonly Sight[] => {
    const [, name = '', args = ''] = /^(\w+)\((.*)$/.exec(call) ?? [];
    const [path = ''] = textsIn(args);
    if (name.startsWith('execve')) return [{ kind: 'starts', what: path }];
    if (name === 'connect' || name === 'bind' || name.startsWith('send')) return addressOf(args);
    if (CHANGES.includes(name)) return textsIn(args).map((one) => ({ kind: 'writes', what: resolve(cwd, one) }));
    if (!name.startsWith('open') && name !== 'creat') return [];
    // The name that the kernel gives for what was opened: links are followed.
    const [, real] = / = \d+<(.*)>$/.exec(call) ?? [];
    const what = real ?? resolve(cwd, path);
    return [{ kind: /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/.test(args) || name === 'creat' ? 'writes' : 'reads', what }];
  });
}

function addressOf(args: string): readonly Sight[] {
  const [, family] = /sa_family=(AF_\w+)/.exec(args) ?? [];
  if (family === undefined || family === 'AF_NETLINK' || /nscd/.test(args)) return [];
  const [, port = ''] = /port=htons\((\d+)\)/.exec(args) ?? [];
  return [{ kind: 'reaches', what: `${textsIn(args)[0] ?? family}:${port}` }];
}

function textsIn(args: string): readonly string[] {
  return [...args.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text);
}
