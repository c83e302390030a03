import { SkeinError } from '../../base/errors.js';
import { readLines } from '../run/questions.js';
import { isTyped } from '../view/streams.js';

export interface Messages {
  /** True if a person types them. */
  readonly typed: boolean;
  /** Resolves to the next message, or to undefined if there are no more or the person has left. `prompt` precedes it on a terminal. */
  next(prompt: string): Promise<string | undefined>;
  /** How many are not said yet, of those that were given. */
  left(): number;
}

/**
 * Reads messages from the flag `--message`, or as lines: typed by a person, or from a file or another program.
 *
 * @throws SkeinError `SKEIN_USAGE` without any message, `SKEIN_INPUT` for an empty message
 */
export async function messagesOf(flags: readonly string[] | undefined): Promise<Messages> {
  if (flags !== undefined) return listed(await Promise.all(flags.map(readMessage)));
  if (isTyped()) return await typedLines();
  const lines = (await readStdin()).split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length > 0) return listed(lines);
  throw new SkeinError('SKEIN_USAGE', 'no message: give --message, or run on a terminal', {
    hint: 'give --message TEXT, or lines on stdin',
  });
}

function listed(texts: readonly string[]): Messages {
  const left = [...texts];
  return { typed: false, next: () => Promise.resolve(left.shift()), left: () => left.length };
}

/**
 * Returns the message that a flag gives; `-` is stdin as a whole.
 *
 * @throws SkeinError `SKEIN_INPUT` for an empty message
 */
export async function readMessage(text: string): Promise<string> {
  const message = text === '-' ? (await readStdin()).replace(/\r?\n$/, '') : text;
  if (message.trim() !== '') return message;
  throw new SkeinError('SKEIN_INPUT', 'a message is empty', { hint: 'write what is to be said: --message "Hello"' });
}

/** Returns stdin as a whole. */
export async function readStdin(): Promise<string> {
  const { text } = await import('node:stream/consumers');
  return await text(process.stdin);
}

/** Reads typed lines and skips empty ones. Ctrl-C or the end of the input leaves; during a turn, Ctrl-C belongs to the turn. */
async function typedLines(): Promise<Messages> {
  const lines = await readLines(process.stdin);
  let leaving = new AbortController();
  // Between a turn and the next prompt, the signal would end the process.
  process.on('SIGINT', () => leaving.abort());
  return {
    typed: true,
    left: () => 0,
    async next(prompt) {
      leaving = new AbortController();
      for (;;) {
        process.stderr.write(prompt);
        try {
          const line = await lines.next(leaving.signal);
          if (line === undefined || line.trim() !== '') return line;
        } catch (error) {
          if (!leaving.signal.aborted) throw error;
          return undefined;
        }
      }
    },
  };
}
