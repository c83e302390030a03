import { spawnSync } from 'node:child_process';
import type { Running, StartOptions } from './skein.js';
import { Screen } from './screen.js';
import { MAIN, start, trusting } from './skein.js';

/**
 * Runs a program on a pseudo-terminal of a given size: argv is columns, rows, sizes, program, arguments. The terminal takes the sizes one after
 * the other, and its output says so (see {@link Screen}): each one right after all of a frame has come.
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
due = time.monotonic() + 0.07
while terminal in sources:
    for ready in select.select(sources, [], [])[0]:
        try:
            data = os.read(ready, 65536)
        except OSError:
            data = b''
        if not data:
            sources.remove(ready)
            continue
        os.write(1 if ready == terminal else terminal, data)
        if not sizes or time.monotonic() < due or not data.endswith(b'\\x1b[?7h') or select.select([terminal], [], [], 0)[0]:
            continue
        columns, rows = sizes.pop(0)
        due = time.monotonic() + 0.07
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        os.write(1, b'\\x1b[8;%d;%dt' % (rows, columns))
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
  /** Sizes, such as `60x20`, that it takes one after the other while something is drawn. */
  readonly sizes?: readonly string[];
}

/** A terminal with the program on it. What is typed goes to `child.stdin`; stdout is what the terminal got. */
export function startOnTerminal(args: readonly string[], options: TerminalOptions): Running {
  return startAnyOnTerminal([process.execPath, MAIN, ...trusting(args, options)], options);
}

/** A terminal with any program on it. */
export function startAnyOnTerminal(argv: readonly string[], options: TerminalOptions): Running {
  const size = [String(options.columns ?? 100), String(options.rows ?? 30), (options.sizes ?? []).join()];
  const env = { TERM: 'xterm-256color', ...options.env };
  return start(['python3', '-c', HARNESS, ...size, ...argv], { ...options, env });
}

/**
 * What a terminal that is resized gets. A program can't know of a size that comes between making a frame and drawing it: such a frame, which draws
 * over what is there without erasing it, counts as drawn before. The next one must be made for the new size.
 */
export function inOrder(text: string): string {
  const ordered = visible(text).replaceAll(/(␛\[8;\d+;\d+t)(␛\[\?7l[^]*?␛\[\?7h)/g, '$2$1');
  return ordered.replaceAll('␛', '\u001b');
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
