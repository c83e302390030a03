import { once } from 'node:events';
import { parseKey } from '../../base/address.js';
import { SkeinError } from '../../base/errors.js';
import type { Question } from '../../index.js';
import { moreWays } from '../runs/text.js';
import { evidenceLines } from '../view/evidence.js';
import type { Given, isApproval, typedAnswer } from '../../running.js';
import { printable } from '../view/printable.js';
import { printNote } from '../view/streams.js';
import type { View } from '../view/view.js';

/** Gives the answer of a person to a question. */
type Asker = (question: Question, address: string, signal: AbortSignal) => Promise<unknown>;

/** What asking takes. */
interface AskerOptions {
  readonly view: View;
  /** What a person means by a line. */
  readonly readLine: typeof typedAnswer;
  /** Whether a question is about a tool call that an agent wants to make. */
  readonly isApproval: typeof isApproval;
  /** Makes an answer that says where it comes from. */
  readonly given: typeof Given;
  /** The run can be resumed later, when there is an answer. */
  readonly isRecorded: () => boolean;
  /** Tool calls that a person is asked about are allowed: `--yes`. */
  readonly yes: boolean;
}

/**
 * Asks on a terminal: the question and its numbered choices, then one line is read; a number picks the choice. Without a terminal,
 * or when the input ends, the question stays open and its step pauses. The engine asks one question at a time. One that is answered from
 * elsewhere meanwhile goes away.
 */
export function createAsker({
  view,
  readLine,
  given: From,
  isRecorded,
  yes,
  isApproval: isAllowed,
}: AskerOptions): Asker {
  let lines: LineSource | undefined;
  return async (question, address, signal) => {
    if (yes && isAllowed(question, address)) return new From(ALLOW, 'flag');
    const unanswered = (why: string): SkeinError => {
      const hint = isRecorded() ? 'answer it with skein answer' : 'run it on a terminal to answer';
      return new SkeinError('SKEIN_QUESTION', `${why}: ${question.text}`, { hint });
    };
    if (!process.stdin.isTTY || !process.stderr.isTTY) throw unanswered('no terminal to ask on');
    lines ??= await readLines(process.stdin);
    view.suspend();
    try {
      const typed = await askOne({ lines, readLine, path: parseKey(address).path, question, signal });
      if (typed === undefined) throw unanswered('the input ended before an answer');
      return new From(typed.value, 'terminal');
    } finally {
      view.resume();
    }
  };
}

/** The answer to a question about a tool call that lets it happen. */
const ALLOW = 'allow';

interface Asking extends Pick<AskerOptions, 'readLine'> {
  readonly lines: LineSource;
  readonly path: string;
  readonly question: Question;
  readonly signal: AbortSignal;
}

async function askOne(asking: Asking): Promise<{ readonly value: unknown } | undefined> {
  const { lines, path, question, signal, readLine } = asking;
  const { choices = [], schema } = question;
  printNote(`\n${printable(path)} asks: ${printable(question.text)}`);
  evidenceLines(question.evidence).forEach(printNote);
  choices.forEach((choice, at) => printNote(`  ${at + 1}. ${printable(choice)}`));
  moreWays(question).forEach(printNote);
  const range = `1-${choices.length}${schema === undefined ? ', or your own words' : ''}`;
  for (;;) {
    process.stderr.write(choices.length === 0 ? '> ' : `(${range}) > `);
    const line = await nextLine(lines, signal);
    if (line === undefined) return undefined;
    const typed = readLine(question, line);
    if (typed.ok) return typed;
    printNote(printable(typed.why));
  }
}

async function nextLine(lines: LineSource, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await lines.next(signal);
  } catch (error) {
    printNote('\nthe question has gone: it was answered from elsewhere, or the run no longer needs it');
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
