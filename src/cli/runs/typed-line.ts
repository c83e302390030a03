import { createInterface } from 'node:readline';

/** Lines that somebody types. */
export interface TypedLines {
  /** The next line; undefined at the end of the input. */
  next(prompt: string): Promise<string | undefined>;
  close(): void;
}

/**
 * Reads lines with the terminal's own line editing, so that Ctrl-C stays a signal.
 *
 * @example
 * const lines = openLine(process.stdin, process.stderr);
 * const text = await lines.next('> ');
 */
export function openLine(input: NodeJS.ReadableStream, output: { write(text: string): unknown }): TypedLines {
  const reader = createInterface({ input, terminal: false });
  const lines = reader[Symbol.asyncIterator]();
  return {
    async next(prompt) {
      output.write(prompt);
      const line = await lines.next();
      return line.done === true ? undefined : line.value;
    },
    close: () => reader.close(),
  };
}
