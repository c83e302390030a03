import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * Kills process groups when this process dies in a way that lets it do nothing any more (`kill -9`, a crash). A small shell, in
 * a session of its own, reads the ids of the groups from a pipe whose other end only this process holds; when the pipe
 * ends, it kills what is still on its list. It runs only while there is a group to watch.
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

const watched = new Set<number>();
let shell: ChildProcess | undefined;

/** Puts a process group on the list. */
export function watchGroup(id: number): void {
  if (process.platform === 'win32') return;
  watched.add(id);
  if (shell === undefined) {
    shell = startShell();
    for (const one of watched) tell(`watch ${one}`);
  } else {
    tell(`watch ${id}`);
  }
}

/** Takes a process group off the list; it is gone. */
export function forgetGroup(id: number): void {
  if (!watched.delete(id)) return;
  tell(`forget ${id}`);
  if (watched.size > 0) return;
  shell?.stdin?.end();
  shell = undefined;
}

function startShell(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', SCRIPT], {
    cwd: '/',
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Neither the watcher nor its pipe keeps this process alive.
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
