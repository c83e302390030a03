import { createInterface } from 'node:readline';
import { SkeinError } from '../../base/errors.js';
import { printable } from '../view/printable.js';
import type { OpenQuestion } from '../view/summary.js';
import type { View } from '../view/view.js';

/** A question of a step. */
export interface Asked {
  readonly text: string;
  readonly choices?: readonly string[];
}

/** Puts questions to the person at the terminal, or keeps those that nobody can answer. */
export interface Asker {
  answer(question: Asked, address: string, signal: AbortSignal): Promise<string>;
  /** Questions without an answer. */
  readonly open: readonly OpenQuestion[];
}

/** Where questions are asked. */
export interface AskerOptions {
  readonly view: View;
  /** A person sits there: input and the stream of questions are terminals. */
  readonly terminal: boolean;
  readonly input: NodeJS.ReadableStream;
  readonly output: { write(text: string): unknown };
}

/**
 * Asks on a terminal: the question and its numbered choices, then one line is read; a number picks the choice. Without a terminal,
 * or when the input ends, the question stays open and its step pauses. The engine asks one question at a time.
 *
 * @example
 * const asker = createAsker({ view, terminal: true, input: process.stdin, output: process.stderr });
 */
export function createAsker(options: AskerOptions): Asker {
  const open: OpenQuestion[] = [];
  let lines: LineSource | undefined;
  return {
    open,
    async answer(question, address, signal) {
      const path = stepOf(address);
      const choices = question.choices ?? [];
      const unanswered = (why: string): SkeinError => {
        open.push({ path, text: question.text, choices });
        const hint = 'run it on a terminal to answer';
        return new SkeinError('SKEIN_QUESTION', `${why}: ${question.text}`, { hint });
      };
      if (!options.terminal) throw unanswered('no terminal to ask on');
      lines ??= readLines(options.input);
      options.view.suspend();
      try {
        const typed = await askOne({ ...options, lines, path, question, signal });
        if (typed === undefined) throw unanswered('the input ended before an answer');
        return typed;
      } finally {
        options.view.resume();
      }
    },
  };
}

const STEP = /^(?:\[[^\]]*\]|[^@[])*/;
const ITEM_OR_ATTEMPT = /\[[^\]]*\]|~\d+/g;

/** The address of a question is the path of its step, with attempts from the second on, then `@` and a name. Keys of items may hold anything. */
function stepOf(address: string): string {
  const step = STEP.exec(address)?.[0] ?? address;
  return step.replaceAll(ITEM_OR_ATTEMPT, (part) => (part.startsWith('[') ? part : ''));
}

interface Asking extends AskerOptions {
  readonly lines: LineSource;
  readonly path: string;
  readonly question: Asked;
  readonly signal: AbortSignal;
}

async function askOne({ lines, output, path, question, signal }: Asking): Promise<string | undefined> {
  const choices = question.choices ?? [];
  output.write(`\n${printable(path)} asks: ${printable(question.text)}\n`);
  choices.forEach((choice, at) => output.write(`  ${at + 1}. ${printable(choice)}\n`));
  for (;;) {
    output.write(choices.length === 0 ? '> ' : `(1-${choices.length}, or your own words) > `);
    const line = await lines.next(signal);
    if (line === undefined) return undefined;
    const typed = line.trim();
    const picked = pick(typed, choices);
    if (picked !== undefined) return picked;
    output.write(typed === '' ? 'please type an answer\n' : `there is no choice ${printable(typed)}\n`);
  }
}

/** The answer that was typed; undefined when it is none. A choice that is itself a number wins over its place. */
function pick(typed: string, choices: readonly string[]): string | undefined {
  if (typed === '') return undefined;
  if (choices.length === 0 || choices.includes(typed) || !/^\d{1,4}$/.test(typed)) return typed;
  return choices[Number(typed) - 1];
}

interface LineSource {
  /** The next line; undefined at the end of the input. Rejects when the signal is aborted. */
  next(signal: AbortSignal): Promise<string | undefined>;
}

/** The terminal's own line editing is used, so Ctrl-C stays a signal. The input is paused between questions. */
function readLines(input: NodeJS.ReadableStream): LineSource {
  const reader = createInterface({ input, terminal: false });
  let ended = false;
  reader.on('close', () => {
    ended = true;
  });
  return {
    next(signal) {
      if (ended) return Promise.resolve(undefined);
      return new Promise((resolve, reject) => {
        // What was typed before the question is no answer to it, so only lines from now on count.
        const onLine = (line: string): void => settle(() => resolve(line));
        const onClose = (): void => settle(() => resolve(undefined));
        const onAbort = (): void => settle(() => reject(new SkeinError('SKEIN_CANCELLED', 'the run was cancelled')));
        const settle = (end: () => void): void => {
          reader.off('line', onLine).off('close', onClose);
          signal.removeEventListener('abort', onAbort);
          if (!ended) reader.pause();
          end();
        };
        if (signal.aborted) {
          onAbort();
          return;
        }
        reader.on('line', onLine).on('close', onClose);
        signal.addEventListener('abort', onAbort, { once: true });
        reader.resume();
      });
    },
  };
}
