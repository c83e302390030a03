import { once } from 'node:events';
import { parseKey } from '../../base/address.js';
import { SkeinError } from '../../base/errors.js';
import type { Question } from '../../index.js';
import { evidenceLines } from '../view/evidence.js';
import type { isApproval, typedAnswer } from '../../running.js';
import { printable } from '../view/printable.js';
import type { View } from '../view/view.js';

/** Puts questions to the person at the terminal. */
export interface Asker {
  answer(question: Question, address: string, signal: AbortSignal): Promise<unknown>;
}

/** Where questions are asked. */
export interface AskerOptions {
  readonly view: View;
  /** A person sits there: input and the stream of questions are terminals. */
  readonly terminal: boolean;
  readonly input: NodeJS.ReadableStream;
  readonly output: { write(text: string): unknown };
  /** What a person means by a line. */
  readonly readLine: typeof typedAnswer;
  /** Whether a question is about a tool call that an agent wants to make. */
  readonly isApproval: typeof isApproval;
  /** The run can be resumed later, when there is an answer. */
  readonly recorded: boolean;
  /** Tool calls that a person is asked about are allowed: `--yes`. */
  readonly yes: boolean;
}

/**
 * Asks on a terminal: the question and its numbered choices, then one line is read; a number picks the choice. Without a terminal,
 * or when the input ends, the question stays open and its step pauses. The engine asks one question at a time. One that is answered from
 * elsewhere meanwhile goes away.
 */
export function createAsker(options: AskerOptions): Asker {
  let lines: LineSource | undefined;
  return {
    async answer(question, address, signal) {
      if (options.yes && options.isApproval(question, address)) return ALLOW;
      const { path } = parseKey(address);
      const unanswered = (why: string): SkeinError => {
        const hint = options.recorded ? 'answer it with skein answer' : 'run it on a terminal to answer';
        return new SkeinError('SKEIN_QUESTION', `${why}: ${question.text}`, { hint });
      };
      if (!options.terminal) throw unanswered('no terminal to ask on');
      lines ??= await readLines(options.input);
      options.view.suspend();
      try {
        const typed = await askOne({ ...options, lines, path, question, signal });
        if (typed === undefined) throw unanswered('the input ended before an answer');
        return typed.value;
      } finally {
        options.view.resume();
      }
    },
  };
}

/** The answer to a question about a tool call that lets it happen. */
const ALLOW = 'allow';

interface Asking extends AskerOptions {
  readonly lines: LineSource;
  readonly path: string;
  readonly question: Question;
  readonly signal: AbortSignal;
}

async function askOne({ lines, output, path, question, signal, readLine }: Asking): Promise<Typed | undefined> {
  const { choices = [], schema } = question;
  output.write(`\n${printable(path)} asks: ${printable(question.text)}\n`);
  for (const line of evidenceLines(question.evidence)) output.write(`${line}\n`);
  choices.forEach((choice, at) => output.write(`  ${at + 1}. ${printable(choice)}\n`));
  const range = `1-${choices.length}${schema === undefined ? ', or your own words' : ''}`;
  for (;;) {
    output.write(choices.length === 0 ? '> ' : `(${range}) > `);
    const line = await nextLine(lines, output, signal);
    if (line === undefined) return undefined;
    const typed = readLine(question, line);
    if (typed.ok) return typed;
    output.write(`${printable(typed.why)}\n`);
  }
}

interface Typed {
  readonly value: unknown;
}

async function nextLine(
  lines: LineSource,
  output: AskerOptions['output'],
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await lines.next(signal);
  } catch (error) {
    output.write('\nthe question has gone: it was answered from elsewhere, or the run no longer needs it\n');
    throw error;
  }
}

/** Lines that somebody types. */
export interface LineSource {
  /** The next line; undefined at the end of the input. Rejects when the signal is aborted. */
  next(signal?: AbortSignal): Promise<string | undefined>;
}

/** The terminal's own line editing is used, so Ctrl-C stays a signal. The input is paused between questions. */
export async function readLines(input: NodeJS.ReadableStream): Promise<LineSource> {
  const { createInterface } = await import('node:readline');
  const reader = createInterface({ input, terminal: false });
  let ended = false;
  reader.on('close', () => {
    ended = true;
  });
  return {
    async next(signal) {
      if (ended) return undefined;
      const taken = new AbortController();
      const until = { signal: signal === undefined ? taken.signal : AbortSignal.any([signal, taken.signal]) };
      reader.resume();
      try {
        // What was typed before the question is not an answer to it, so only lines from now on count.
        const [line] = (await Promise.race([once(reader, 'line', until), once(reader, 'close', until)])) as [string?];
        return line;
      } catch (cause) {
        throw new SkeinError('SKEIN_CANCELLED', 'the question is no longer asked', { cause });
      } finally {
        taken.abort();
        if (!ended) reader.pause();
      }
    },
  };
}
