import { spawnSync } from 'node:child_process';
import type { Running, StartOptions } from './skein.js';
import { Screen } from './screen.js';
import { MAIN, start } from './skein.js';

/**
 * Runs a program on a pseudo-terminal of a given size: argv is columns, rows, sizes, program, arguments. The terminal takes one of the sizes after
 * the other, again and again, whenever something was drawn, and its output says so (see {@link Screen}).
 */
const HARNESS = `
import fcntl, os, pty, select, struct, sys, termios, time
columns, rows = int(sys.argv[1]), int(sys.argv[2])
sizes = [[int(part) for part in size.split('x')] for size in sys.argv[3].split(',') if size]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    os.execvp(sys.argv[4], sys.argv[4:])
sources = [terminal, 0]
at = 0
drawn = 0
due = time.monotonic() + 0.07
while terminal in sources:
    found = select.select(sources, [], [], max(0, due - time.monotonic()) if sizes else None)[0]
    if not found:
        due = time.monotonic() + 0.07
        if not drawn:
            continue
        drawn = 0
        columns, rows = sizes[at % len(sizes)]
        at += 1
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        os.write(1, b'\\x1b[8;%d;%dt' % (rows, columns))
    for ready in found:
        try:
            data = os.read(ready, 65536)
        except OSError:
            data = b''
        if not data:
            sources.remove(ready)
        elif ready == terminal:
            drawn += 1
            os.write(1, data)
        else:
            os.write(terminal, data)
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
`;

/** Why no pseudo-terminal can be had here; undefined when one can. */
export function noTerminal(): string | undefined {
  const probe = spawnSync('python3', ['-c', 'import fcntl, pty, termios, os; os.waitstatus_to_exitcode'], {
    encoding: 'utf8',
  });
  if (probe.error !== undefined) return `python3 can't be started (${probe.error.message})`;
  return probe.status === 0 ? undefined : `python3 has no pty module that can be used: ${probe.stderr.trim()}`;
}

interface TerminalOptions extends StartOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** Sizes, such as `60x20`, that it takes one after the other. */
  readonly sizes?: readonly string[];
}

/** A terminal with the program on it. What is typed goes to `child.stdin`; stdout is what the terminal got. */
export function startOnTerminal(args: readonly string[], options: TerminalOptions): Running {
  return startAnyOnTerminal([process.execPath, MAIN, ...args], options);
}

/** A terminal with any program on it. */
export function startAnyOnTerminal(argv: readonly string[], options: TerminalOptions): Running {
  const size = [String(options.columns ?? 100), String(options.rows ?? 30), (options.sizes ?? []).join()];
  const env = { TERM: 'xterm-256color', ...options.env };
  return start(['python3', '-c', HARNESS, ...size, ...argv], { ...options, env });
}

/** Text with a visible sign in place of the escape character. */
export function visible(text: string): string {
  return text.replaceAll('\u001b', '␛');
}

/** What is on a terminal after it got the text, wide enough for every line. Colours are dropped. */
export function screenOf(text: string): readonly string[] {
  const screen = new Screen({ columns: 100_000, rows: 100_000 });
  screen.write(text);
  return screen.all();
}
