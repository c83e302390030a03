import type { Command } from 'commander';
import { countText } from '../../base/text.js';
import { text as readAll } from 'node:stream/consumers';
import { isGuardQuestion } from '../../base/address.js';
import { present } from '../../base/json.js';
import { suggest } from '../../base/suggest.js';
import {
  SkeinError,
  type GivenAnswer,
  type KeptAnswer,
  type OpenQuestion,
  type RunOverview,
  type Store,
} from '../../index.js';
import type { RunReader } from '../../recorded-runs.js';
import { EXIT } from '../failures.js';
import { runNeedsYes } from '../run/needs-yes.js';
import type { JsonFlag } from '../run/run-flags.js';
import { readLines } from '../run/questions.js';
import { RUN, findRun, shortId } from '../runs/find-run.js';
import { keyAndId, pauseLines, questionLines, shellWord } from '../runs/text.js';
import { withRuns } from '../runs/with-store.js';
import { CONTINUED, nextSteps, trustFlag } from '../view/next-steps.js';
import { shownJson, oneLine, printable } from '../view/printable.js';
import { isTyped, printNote, printResult } from '../view/streams.js';

interface Asked {
  readonly runs: RunReader;
  readonly store: Store;
  readonly id: string;
  /** Short form of the id. */
  readonly short: string;
  readonly key: string | undefined;
  /** Id of the question that was shown. */
  readonly shown: string | undefined;
  readonly json: boolean;
}

/** `skein answer RUN [KEY] [VALUE]`. */
export function define(command: Command, done: (code: number) => void): void {
  command
    .argument(...RUN)
    .argument('[key]', 'which question: its key, step or name; not needed if only one is open')
    .argument('[value]', 'the answer, - for stdin; without it, the question is shown and, on a terminal, asked')
    .option(
      '--free <names>',
      'with "allow": arguments of the call that may differ for the rest of the run, such as body,title',
    )
    .option('--json', 'print what was recorded as one JSON document')
    .addHelpText('after', HELP)
    .action(async (run: string, key: string | undefined, value: string | undefined, { json = false, free }: Flags) => {
      done(await answer(run, { key, value, json, free }));
    });
}

interface Flags extends JsonFlag {
  readonly free?: string;
}

const HELP = `
Without a key and a value, all open questions are shown and, on a terminal, asked. A number picks a choice. If the schema does not accept
the answer as text, it is read as JSON, and so is the value of an event.

Questions about calls that untrusted text influenced are shown together and can be answered together. In the commands shown, the key ends
with the id of the question: if something else is asked by then, the answer is refused. A yes counts once, for the calls shown. With
--free, the same tool may be called again in this run with other values of these arguments; all other arguments must be as shown.
Text from stdin is untrusted and answers no such question.

Exit codes: 0 recorded, 2 refused (no such question, already answered, too late, wrong form), 5 shown and not answered.`;

interface Words {
  readonly key: string | undefined;
  readonly value: string | undefined;
  readonly json: boolean;
  readonly free: string | undefined;
}

async function answer(run: string, words: Words): Promise<number> {
  return await withRuns(async (runs, recorded, store) => {
    const { ids } = recorded;
    const id = await findRun(recorded, run);
    const { key, id: shown } = words.key === undefined ? { key: undefined } : keyAndId(words.key);
    const split = await splitWords({ key, value: words.value }, async () => await runs.read(id));
    const { value } = split;
    const asked = { runs, store, id, short: shortId(id, ids), key: split.key, shown, json: words.json };
    if (value === undefined) {
      if (words.free !== undefined) throw new SkeinError('SKEIN_USAGE', '--free needs an answer: allow');
      return await showOrAsk(asked);
    }
    const isPiped = value === '-';
    const text = isPiped ? (await readAll(process.stdin)).replace(/\r?\n$/, '') : value;
    const by = isPiped ? 'stdin' : 'command';
    return await record(asked, { text: words.free === undefined ? text : `${text} free ${words.free}`, by });
  });
}

/** A single word is the answer to the only open question, unless it is its name, nearly so, or that of a step and no choice. */
async function splitWords(
  { key, value }: Pick<Words, 'key' | 'value'>,
  read: () => Promise<Pick<RunOverview, 'questions' | 'steps'>>,
): Promise<Pick<Words, 'key' | 'value'>> {
  if (key === undefined || value !== undefined) return { key, value };
  const { questions, steps } = await read();
  const [pause] = questions;
  const names = questions.flatMap((one) => [one.key, one.path, one.name]);
  const isName = names.includes(key) || suggest(key, names) !== undefined;
  const isOther = pause?.choices?.includes(key) !== true && steps.some(({ path }) => path === key);
  return questions.length === 1 && !isName && !isOther ? { key: undefined, value: key } : { key, value };
}

type Said = Omit<Extract<GivenAnswer, { text: string }>, 'key'>;

async function record(asked: Asked, given: Said): Promise<number> {
  const kept = await keep(asked, given);
  const { status } = await asked.runs.read(asked.id);
  const { isLeaving } = await import('../../recorded-runs.js');
  const takesIt = status === 'running' && !isLeaving(asked.store, asked.id, Date.now());
  if (asked.json) printResult(shownJson({ run: asked.id, ...kept, status }));
  else for (const line of await nextLines(asked, kept, takesIt)) printNote(line);
  return EXIT.ok;
}

async function keep({ runs, id, key, shown, json }: Asked, given: Said): Promise<KeptAnswer> {
  const kept = await runs.answer(id, { ...given, ...present({ key, id: shown }) });
  if (!json) printResult(`${printable(kept.path)} is answered: ${oneLine(JSON.stringify(kept.value), 200)}`);
  return kept;
}

async function nextLines(
  { store, id, short }: Asked,
  { left }: KeptAnswer,
  running: boolean,
): Promise<readonly string[]> {
  if (left.length > 0) return [`${countText(left.length, 'question')} still open:`, ...pauseLines(left, short)];
  if (running) return ['the process that runs it continues'];
  return nextSteps(CONTINUED, `skein resume ${shellWord(short)}${trustFlag(await runNeedsYes(store, id))}`);
}

async function showOrAsk(asked: Asked): Promise<number> {
  const { runs, id, short, key } = asked;
  const { questions } = await runs.read(id);
  const found = key === undefined ? questions : questions.filter((one) => [one.key, one.path, one.name].includes(key));
  const [pause] = found;
  // A key that matches nothing is refused in the same way as an invalid answer.
  if (pause === undefined) return await record(asked, { text: '', by: 'command' });
  const together = found.filter((one) => isGuardQuestion(one.key) && one.overdue !== true);
  const isOneSitting = found.length === 1 || together.length === found.length;
  if (isOneSitting && isTyped() && !asked.json) return await ask(asked, found);
  printResult(asked.json ? shownJson({ run: id, questions: found }) : pauseLines(found, short).join('\n'));
  return EXIT.paused;
}

/** Asks until an answer is accepted. Several questions are shown in full and answered together. */
async function ask(asked: Asked, pauses: readonly OpenQuestion[]): Promise<number> {
  pauses.forEach((pause, at) => {
    if (pauses.length > 1) printNote(`question ${at + 1} of ${pauses.length}`);
    for (const line of questionLines(pause)) printNote(line);
  });
  if (pauses.length > 1)
    printNote('one answer for all of them; to answer them one by one, name one: skein answer RUN KEY');
  const lines = await readLines(process.stdin);
  const left = [...pauses];
  for (;;) {
    process.stderr.write('> ');
    const text = await lines.next();
    if (text === undefined) return EXIT.paused;
    const taken = text.trim() === '' ? undefined : await tryRecord(asked, left, text.trim());
    if (taken !== undefined) return taken;
  }
}

/** Undefined if the user must type something else. An answer applies to the questions shown; answered ones leave the list. */
async function tryRecord(asked: Asked, left: OpenQuestion[], text: string): Promise<number | undefined> {
  const given = { text, by: 'terminal' } as const;
  for (let [pause] = left; pause !== undefined; [pause] = left) {
    const one = { ...asked, key: pause.key, shown: pause.id };
    try {
      if (left.length === 1) return await record(one, given);
      await keep(one, given);
      left.shift();
    } catch (error) {
      if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_ANSWER') throw error;
      const { questions } = await asked.runs.read(asked.id);
      if (!questions.some(({ key, id, overdue }) => key === one.key && id === one.shown && overdue !== true))
        throw error;
      printNote(printable(error.message));
      return undefined;
    }
  }
  return EXIT.ok;
}
