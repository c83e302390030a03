import { spawnSync } from 'node:child_process';
import type { Running, StartOptions } from './skein.js';
import { MAIN, start } from './skein.js';

/** Runs a program on a pseudo-terminal of a given size: argv is columns, rows, program, arguments. */
const HARNESS = `
import fcntl, os, pty, select, struct, sys, termios
columns, rows = int(sys.argv[1]), int(sys.argv[2])
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
sources = [terminal, 0]
while terminal in sources:
    for ready in select.select(sources, [], [])[0]:
        try:
            data = os.read(ready, 65536)
        except OSError:
            data = b''
        if not data:
            sources.remove(ready)
        elif ready == terminal:
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

type TerminalOptions = StartOptions & { readonly columns?: number; readonly rows?: number };

/** A terminal with the program on it. What is typed goes to `child.stdin`; stdout is what the terminal got. */
export function startOnTerminal(args: readonly string[], options: TerminalOptions): Running {
  return startAnyOnTerminal([process.execPath, MAIN, ...args], options);
}

/** A terminal with any program on it. */
export function startAnyOnTerminal(argv: readonly string[], options: TerminalOptions): Running {
  const size = [String(options.columns ?? 100), String(options.rows ?? 30)];
  const env = { TERM: 'xterm-256color', ...options.env };
  return start(['python3', '-c', HARNESS, ...size, ...argv], { ...options, env });
}

/** Text with a visible sign in place of the escape character. */
export function visible(text: string): string {
  return text.replaceAll('\u001b', '␛');
}

/**
 * What is on a terminal after it got the text: moves up, back to the start of the line and erasing are carried out, colours are
 * dropped. Nothing else may come.
 */
export function screenOf(text: string): readonly string[] {
  const lines: string[] = [''];
  let row = 0;
  const plain = visible(text).replaceAll(/␛\[[\d;]*m/g, '');
  const tokens = plain.matchAll(/␛\[(\d*)([A-Za-z])|\r|\n|[^␛\r\n]+/g);
  let column = 0;
  for (const [token, count, command] of tokens) {
    if (command === 'A') row = Math.max(0, row - Number(count || '1'));
    else if (command === 'J') {
      lines[row] = (lines[row] ?? '').slice(0, column);
      lines.length = row + 1;
    } else if (command !== undefined) throw new Error(`unexpected control sequence ${JSON.stringify(token)}`);
    else if (token === '\r') column = 0;
    else if (token === '\n') {
      row += 1;
      lines[row] ??= '';
    } else {
      const line = (lines[row] ?? '').padEnd(column);
      lines[row] = line.slice(0, column) + token + line.slice(column + token.length);
      column += token.length;
    }
  }
  return lines;
}
