import type { Command } from 'commander';
import { text as readAll } from 'node:stream/consumers';
import { suggest } from '../../base/suggest.js';
import type { GivenAnswer, KeptAnswer, OpenQuestion } from '../../index.js';
import { SkeinError } from '../../index.js';
import type { RunReader } from '../../recorded-runs.js';
import { EXIT } from '../failures.js';
import type { JsonFlag } from '../run/run-flags.js';
import { readLines } from '../run/questions.js';
import { RUN, findRun, shortId } from '../runs/find-run.js';
import { pauseLines, questionLines, shellWord } from '../runs/text.js';
import { withRuns } from '../runs/with-store.js';
import { shownJson, oneLine, printable } from '../view/printable.js';
import { countText } from '../view/step-text.js';
import { printNote, printResult } from '../view/streams.js';

/** What is answered, and how. */
interface Asked {
  readonly runs: RunReader;
  readonly id: string;
  /** Short form of the id. */
  readonly short: string;
  readonly key: string | undefined;
  readonly json: boolean;
}

/** `skein answer RUN [KEY] [VALUE]`. */
export function define(command: Command, done: (code: number) => void): void {
  command
    .argument(...RUN)
    .argument('[key]', 'which question: key, step or name; may be left out when one is open')
    .argument('[value]', 'the answer; - for stdin; without it the question is shown and, on a terminal, asked')
    .option('--json', 'print what was recorded as one JSON document')
    .addHelpText('after', HELP)
    .action(async (run: string, key: string | undefined, value: string | undefined, { json = false }: JsonFlag) => {
      done(await answer(run, { key, value, json }));
    });
}

const HELP = `
A number picks a choice. An answer that the schema does not accept as text is read as JSON, and so is the value of an event.
Exit codes: 0 recorded, 2 refused (no such question, answered before, too late, not what was asked for), 5 shown and not answered.`;

interface Words {
  readonly key: string | undefined;
  readonly value: string | undefined;
  readonly json: boolean;
}

async function answer(run: string, words: Words): Promise<number> {
  return await withRuns(async (runs) => {
    const ids = await runs.ids();
    const id = findRun(ids, run);
    const { key, value } = await splitWords(words, async () => (await runs.read(id)).questions);
    const asked = { runs, id, short: shortId(id, ids), key, json: words.json };
    if (value === undefined) return await showOrAsk(asked);
    const text = value === '-' ? (await readAll(process.stdin)).replace(/\r?\n$/, '') : value;
    return await record(asked, { text, by: 'command' });
  });
}

/** A single word that names nothing, nor nearly, is the answer to the only question. */
async function splitWords(
  { key, value }: Words,
  read: () => Promise<readonly OpenQuestion[]>,
): Promise<Pick<Words, 'key' | 'value'>> {
  if (key === undefined || value !== undefined) return { key, value };
  const questions = await read();
  const names = questions.flatMap((pause) => [pause.key, pause.path, pause.name]);
  const isValue = questions.length === 1 && !names.includes(key) && suggest(key, names) === undefined;
  return isValue ? { key: undefined, value: key } : { key, value };
}

async function record(asked: Asked, given: Omit<Extract<GivenAnswer, { text: string }>, 'key'>): Promise<number> {
  const { runs, id, key } = asked;
  const kept = await runs.answer(id, { ...given, ...(key === undefined ? {} : { key }) });
  const { status } = await runs.read(id);
  if (asked.json) {
    printResult(shownJson({ run: id, ...kept, status }));
  } else {
    printResult(`${printable(kept.path)} is answered: ${oneLine(JSON.stringify(kept.value), 200)}`);
    for (const line of nextLines(kept, status === 'running', asked.short)) printNote(line);
  }
  return EXIT.ok;
}

function nextLines({ left }: KeptAnswer, running: boolean, short: string): readonly string[] {
  if (left.length > 0) return [`${countText(left.length, 'question')} still open:`, ...pauseLines(left, short)];
  return [running ? 'the process that runs it continues' : `next: skein resume ${shellWord(short)}`];
}

async function showOrAsk(asked: Asked): Promise<number> {
  const { runs, id, short, key } = asked;
  const { questions } = await runs.read(id);
  const found = key === undefined ? questions : questions.filter((one) => [one.key, one.path, one.name].includes(key));
  const [pause] = found;
  // What is refused for its key is refused as an answer would be.
  if (pause === undefined) return await record(asked, { text: '', by: 'command' });
  if (found.length === 1 && process.stdin.isTTY && process.stderr.isTTY && !asked.json) return await ask(asked, pause);
  printResult(asked.json ? shownJson({ run: id, questions: found }) : pauseLines(found, short).join('\n'));
  return EXIT.paused;
}

/** Asks until the answer is one that is taken. */
async function ask(asked: Asked, pause: OpenQuestion): Promise<number> {
  for (const line of questionLines(pause)) printNote(line);
  const lines = await readLines(process.stdin);
  for (;;) {
    process.stderr.write('> ');
    const text = await lines.next();
    if (text === undefined) return EXIT.paused;
    const taken = text.trim() === '' ? undefined : await tryRecord({ ...asked, key: pause.key }, text.trim());
    if (taken !== undefined) return taken;
  }
}

/** Undefined when something else must be typed. */
async function tryRecord(asked: Asked, text: string): Promise<number | undefined> {
  try {
    return await record(asked, { text, by: 'terminal' });
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_ANSWER') throw error;
    const { questions } = await asked.runs.read(asked.id);
    if (!questions.some((one) => one.key === asked.key && one.overdue !== true)) throw error;
    printNote(printable(error.message));
    return undefined;
  }
}
