import { once } from 'node:events';
import { isGuardQuestion, parseKey } from '../../base/address.js';
import { SkeinError } from '../../base/errors.js';
import type { AnswerQuestion, Question } from '../../index.js';
import { choiceLines, moreWays } from '../runs/text.js';
import { evidenceLines } from '../view/evidence.js';
import type { Given, isApproval, typedAnswer } from '../../running.js';
import { printable } from '../view/printable.js';
import { printNote } from '../view/streams.js';
import type { View } from '../view/view.js';

interface AskerOptions {
  readonly view: View;
  readonly readLine: typeof typedAnswer;
  /** Whether a question is about a tool call that an agent wants to make. */
  readonly isApproval: typeof isApproval;
  /** Creates an answer that names its origin. */
  readonly given: typeof Given;
  /** Whether the run can be resumed later, when there is an answer. */
  readonly isRecorded: () => boolean;
  /** Allows tool calls without asking: `--yes`. */
  readonly yes: boolean;
}

/**
 * Asks on a terminal: shows the question with numbered choices and reads one line; a number picks the choice. Without a terminal, or at the
 * end of the input, the question stays open and its step pauses. The engine asks one question at a time. Guard questions that wait together
 * are shown together and get one answer. A question that is answered elsewhere meanwhile disappears.
 */
export function createAsker({
  view,
  readLine,
  given: From,
  isRecorded,
  yes,
  isApproval: isAllowed,
}: AskerOptions): AnswerQuestion {
  let lines: LineSource | undefined;
  /** Answers given to questions before their turn came, by address. */
  const said = new Map<string, { readonly question: Question; readonly value: unknown }>();
  return async (question, address, signal, waiting) => {
    if (yes && isAllowed(question, address)) return new From(ALLOW, 'flag');
    const unanswered = (why: string): SkeinError => {
      const hint = isRecorded() ? 'answer it with skein answer' : 'run it on a terminal to answer';
      return new SkeinError('SKEIN_QUESTION', `${why}: ${question.text}`, { hint });
    };
    if (!process.stdin.isTTY || !process.stderr.isTTY) throw unanswered('no terminal to ask on');
    const known = said.get(address);
    said.delete(address);
    // The same question, not a later one at the same address.
    if (known?.question === question) return new From(known.value, 'terminal');
    lines ??= await readLines(process.stdin);
    const others = isGuardQuestion(address) ? await together(waiting) : [];
    view.suspend();
    try {
      const typed = await askOne({ lines, readLine, path: parseKey(address).path, question, signal, others });
      if (typed === undefined) throw unanswered('the input ended before an answer');
      for (const { address: other, question: one } of others) {
        const taken = readLine(one, typed.line);
        if (taken.ok) said.set(other, { question: one, value: taken.value });
      }
      return new From(typed.value, 'terminal');
    } finally {
      view.resume();
    }
  };
}

/** Milliseconds in which parallel steps reach their questions. */
const GATHER_MS = 50;

/** The guard questions that wait together with one. */
async function together(waiting: Parameters<AnswerQuestion>[3]): Promise<ReturnType<typeof waiting>> {
  await new Promise((done) => setTimeout(done, GATHER_MS));
  return waiting().filter(({ address }) => isGuardQuestion(address));
}

/** The answer that allows a tool call. */
const ALLOW = 'allow';

interface Asking extends Pick<AskerOptions, 'readLine'> {
  readonly lines: LineSource;
  readonly path: string;
  readonly question: Question;
  readonly signal: AbortSignal;
  readonly others: ReturnType<Parameters<AnswerQuestion>[3]>;
}

async function askOne(asking: Asking): Promise<{ readonly value: unknown; readonly line: string } | undefined> {
  const { lines, path, question, signal, readLine, others } = asking;
  const { choices = [], schema } = question;
  show(path, question);
  for (const { address, question: one } of others) show(parseKey(address).path, one);
  if (others.length > 0) printNote(`one answer for all ${others.length + 1} questions`);
  choiceLines(choices).forEach(printNote);
  moreWays(question).forEach(printNote);
  const range = `1-${choices.length}${schema === undefined ? ', or your own words' : ''}`;
  for (;;) {
    process.stderr.write(choices.length === 0 ? '> ' : `(${range}) > `);
    const line = await nextLine(lines, signal);
    if (line === undefined) return undefined;
    const typed = readLine(question, line);
    if (typed.ok) return { value: typed.value, line };
    printNote(printable(typed.why));
  }
}

function show(path: string, { text, evidence }: Question): void {
  printNote(`\n${printable(path)} asks: ${printable(text)}`);
  evidenceLines(evidence).forEach(printNote);
}

async function nextLine(lines: LineSource, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await lines.next(signal);
  } catch (error) {
    printNote('\nthe question has gone: it was answered from elsewhere, or the run no longer needs it');
    throw error;
  }
}

export interface LineSource {
  /** Resolves to the next line, or to undefined at the end of the input. Rejects when the signal is aborted. */
  next(signal?: AbortSignal): Promise<string | undefined>;
}

/** Uses the terminal's own line editing, so Ctrl-C stays a signal. The input is paused between questions. */
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
        // Lines typed before the question are not an answer to it, so only later lines count.
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
