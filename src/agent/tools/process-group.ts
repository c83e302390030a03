import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { watchProgram } from '../sandbox/program-limits.js';
import { systemCode } from './tool-input.js';
import { Socket } from 'node:net';
import type { OutputWindow } from './output-window.js';

/** A program with everything that it starts, as one group that can be ended as a whole. */
export interface ProcessGroup {
  readonly child: ChildProcess;
  /** How the program itself ended; processes that it started may still run. */
  readonly exited: Promise<Exit>;
  /** The limit for which it was killed, such as `more than 1,000 processes at once`. */
  readonly excess: () => string | undefined;
  /** Ends the group: SIGTERM, then SIGKILL after `graceMs`. Resolves when none of it runs and its last output has arrived. */
  end(graceMs: number): Promise<void>;
}

/** Exit code, or the signal that ended the program. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Options of a group. The environment is passed as given: nothing of this process's own is added. */
export interface GroupOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'ignore' | 'pipe';
  /** Memory limit in bytes, for it and all that it started. Defaults to three quarters of the machine. */
  readonly memory?: number | undefined;
}

/** Milliseconds after SIGKILL until the wait for the group's end stops: the kernel is done by then. */
const KILL_WAIT_MS = 500;
/** Milliseconds that the last output may take once the group is gone. Only a process that left the group can keep a pipe open. */
const DRAIN_MS = 1_000;
const POLL_MS = 10;

/**
 * Starts a program without a shell, in a process group (and session) of its own. When this process dies, a watchdog kills it.
 *
 * @param attach called before anything can happen, to listen to the outputs: output without a listener is lost
 * @throws the error of the operating system, with `code` (`ENOENT` if the program does not exist)
 */
export async function startGroup(
  argv: readonly [string, ...string[]],
  options: GroupOptions,
  attach: (child: ChildProcess) => void,
): Promise<ProcessGroup> {
  const [program, ...args] = argv;
  const settings: SpawnOptions = {
    cwd: options.cwd,
    env: { ...options.env },
    detached: process.platform !== 'win32',
    shell: false,
    stdio: [options.stdin, 'pipe', 'pipe'],
    windowsHide: true,
  };
  const child = spawn(program, args, settings);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  attach(child);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.on('error', () => undefined);
  const id = child.pid;
  if (id === undefined) throw new Error(`${program} has no process id`);
  watchGroup(id);
  let excess: string | undefined;
  const stopCounting = watchProgram(
    id,
    (what) => {
      excess = what;
      kill(id, 'SIGKILL', child);
    },
    options.memory,
  );
  let ending: Promise<void> | undefined;
  return {
    child,
    exited,
    excess: () => excess,
    end(graceMs) {
      ending ??= endGroup({ child, id, closed }, graceMs).finally(() => {
        stopCounting();
        forgetGroup(id);
      });
      return ending;
    },
  };
}

async function endGroup(
  { child, id, closed }: { child: ChildProcess; id: number; closed: Promise<void> },
  graceMs: number,
): Promise<void> {
  if (isAlive(id, child)) {
    kill(id, 'SIGTERM', child);
    if (!(await goneWithin(id, child, graceMs))) {
      kill(id, 'SIGKILL', child);
      await goneWithin(id, child, KILL_WAIT_MS);
    }
  }
  child.stdin?.destroy();
  await within(DRAIN_MS, closed);
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Waits for a promise, but at most `ms` milliseconds. */
export async function within(ms: number, end: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([end, late]);
  clearTimeout(timer);
}

async function goneWithin(id: number, child: ChildProcess, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (isAlive(id, child)) {
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

function isAlive(id: number, child: ChildProcess): boolean {
  return kill(id, 0, child);
}

/** Signals the whole group; returns false if no process is left. */
function kill(id: number, signal: NodeJS.Signals | 0, child: ChildProcess): boolean {
  if (process.platform === 'win32') return child.exitCode === null && child.kill(signal === 0 ? 0 : 'SIGKILL');
  try {
    process.kill(-id, signal);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/**
 * Kills process groups if this process dies without a chance to act (`kill -9`, a crash). A small shell, in a session of its own, reads the
 * ids of the groups from a pipe whose other end only this process holds; when the pipe ends, the shell kills the groups still on its list.
 * It runs only while there is a group to watch, and a little longer.
 */
const SCRIPT = `trap '' INT TERM HUP
list=' '
while read -r what id; do
  case "$what" in
    watch) list="$list$id " ;;
    forget)
      kept=' '
      for one in $list; do [ "$one" = "$id" ] || kept="$kept$one "; done
      list="$kept" ;;
  esac
done
for one in $list; do kill -s KILL -- "-$one" 2>/dev/null; done
`;

/** Commands often run in sequence: the shell waits this long for the next one, because starting one takes as long as a command. */
const LINGER_MS = 2_000;

const watched = new Set<number>();
let shell: ChildProcess | undefined;
let ending: NodeJS.Timeout | undefined;

export function watchGroup(id: number): void {
  if (process.platform === 'win32') return;
  watched.add(id);
  clearTimeout(ending);
  if (shell === undefined) {
    shell = startShell();
    for (const one of watched) tell(`watch ${one}`);
  } else {
    tell(`watch ${id}`);
  }
}

/** Removes a process group that is gone from the list. */
export function forgetGroup(id: number): void {
  if (!watched.delete(id)) return;
  tell(`forget ${id}`);
  if (watched.size > 0) return;
  clearTimeout(ending);
  ending = setTimeout(() => {
    shell?.stdin?.end();
    shell = undefined;
  }, LINGER_MS).unref();
}

function startShell(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', SCRIPT], {
    cwd: '/',
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Neither the watchdog nor its pipe keeps this process alive.
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  const lost = (): void => {
    if (shell === child) shell = undefined;
  };
  child.on('error', lost);
  child.on('exit', lost);
  child.stdin.on('error', lost);
  return child;
}

function tell(line: string): void {
  shell?.stdin?.write(`${line}\n`);
}

/** Settings of a command in addition to its words. */
export interface CommandSettings {
  /** Timeout in seconds; absent: none. */
  readonly seconds?: number | undefined;
  /** Bytes to keep of each output, from its beginning and its end. */
  readonly keep: number;
  /** Absent: the command has no input. */
  readonly stdin?: string | undefined;
  /** Variables in addition to those of all commands. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** How a command ended, and its output. */
export interface CommandEnd extends Exit {
  readonly stdout: OutputWindow;
  readonly stderr: OutputWindow;
}
