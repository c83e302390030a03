/** Keeps a closed reader (`skein ... | head -1`) from crashing the program. Other errors of stdout make the exit code 1. */
export function watchStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || lost) return;
    lost = true;
    process.stderr.write(`error: the results could not be written to stdout: ${error.message}\n`);
  });
  // Nobody is left to read the error.
  process.stderr.on('error', () => undefined);
}

let lost = false;

/** Ends the process once all output has been flushed. */
export async function endProcess(code: number): Promise<never> {
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // Write errors are reported in a later turn.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  return endNow(lost && code === 0 ? 1 : code);
}

/** Ends the process at once. */
export function endNow(code: number): never {
  process.exit(code);
}

/** Prints results: what the user asked for. */
export function printResult(text: string): void {
  if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** Prints everything else. */
export function printNote(line: string): void {
  process.stderr.write(`${line}\n`);
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

/** True if a person can be shown something and type. */
export function isTyped(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
