import type { OpenQuestion, Question, RunOverview, RunStatus, StepOverview } from '../../index.js';
import { questionName } from '../../events/question.js';
import { formatDuration } from '../../base/duration.js';
import { isGuardQuestion } from '../../base/address.js';
import { isPlainObject, ownValue } from '../../base/json.js';
import { evidenceLines } from '../view/evidence.js';
import { oneLine, printable, quoted } from '../view/printable.js';
import { judgedText, outcomeMark, outcomeWords, spendingText, spentText } from '../view/step-text.js';
import type { Style } from '../view/style.js';
import { wantedAnswer } from './wanted-answer.js';

/** Formats rows as lines with aligned columns. The last column is not padded. */
export function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** Formats a time in the local time zone: `2026-11-22 01:37:02`. */
export function localTime(ms: number): string {
  const shift = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - shift).toISOString().slice(0, 19).replace('T', ' ');
}

export function paintStatus(status: RunStatus, style: Style): string {
  const words = outcomeWords(status);
  if (status === 'succeeded') return style.good(words);
  if (status === 'failed' || status === 'out_of_budget') return style.bad(words);
  return status === 'running' ? style.accent(words) : style.warn(words);
}

export function stepLine(step: StepOverview, width: number, style: Style): string {
  const { outcome } = step;
  const mark = outcome === 'interrupted' ? style.warn('!') : outcomeMark(outcome, style);
  const parts = [
    outcomeWords(outcome),
    outcome === 'skipped' ? '' : formatDuration(step.ms),
    step.attempts > 1 ? `${step.attempts} attempts` : '',
    judgedText(step),
    spentText(step, step.models),
    step.from === undefined ? '' : `taken from ${printable(step.from)}`,
    step.set === undefined ? '' : 'set by the fork',
    oneLine(step.error?.message ?? step.reason ?? '', 200),
  ];
  return `  ${mark} ${oneLine(step.path, 60).padEnd(width)}  ${parts.filter((part) => part !== '').join(', ')}`;
}

/** Calls, tokens and cost of a whole run. */
export function usageLine(run: RunOverview): string | undefined {
  return run.modelCalls === 0 ? undefined : spendingText(run, run.models);
}

/** The open questions of a run, with the commands that answer them. */
export function pauseLines(questions: readonly OpenQuestion[], run: string): readonly string[] {
  return questions.flatMap((pause) => [
    ...questionLines(pause),
    ...answerCommands(pause, questions, run).map(commandLine),
  ]);
}

export function questionLines(pause: OpenQuestion): readonly string[] {
  const { question, choices = [], evidence, expires, overdue } = pause;
  const what = question === undefined ? `waits for the event ${printable(pause.name)}` : `asks: ${printable(question)}`;
  return [
    `${printable(pause.path)} ${what}`,
    ...evidenceLines(evidence),
    ...choiceLines(choices),
    ...moreWays(pause),
    ...(expires === undefined ? [] : [`  ${overdue === true ? 'was due' : 'due'} ${localTime(expires)}`]),
  ];
}

/** Numbered choices, each on one line: a model may have written them, and a further line could look like another choice. */
export function choiceLines(choices: readonly string[]): readonly string[] {
  return choices.map((choice, at) => `  ${at + 1}. ${printable(choice).replaceAll('\n', String.raw`\n`)}`);
}

/** The possible answers besides the choices; without choices, the form of the answer. */
export function moreWays({ choices = [], schema }: Pick<Question, 'choices' | 'schema'>): readonly string[] {
  if (choices.length === 0 && schema !== undefined) return [`  answer: ${oneLine(wantedAnswer(schema), 500)}`];
  const words = choices.length > 0 && isPlainObject(schema) ? ownValue(schema, 'description') : undefined;
  return typeof words === 'string' ? [`  ${printable(words)}`] : [];
}

/** The key of a question, with its id if an answer must be bound to exactly what was shown. */
function boundKey({ key, id }: Pick<OpenQuestion, 'key' | 'id'>): string {
  return isGuardQuestion(key) ? `${key}=${id}` : key;
}

/** Parses such a key. */
export function keyAndId(word: string): Pick<OpenQuestion, 'key'> & Partial<Pick<OpenQuestion, 'id'>> {
  const [, key, id] = /^(.+)=([\w-]{22})$/s.exec(word) ?? [];
  return key !== undefined && id !== undefined && isGuardQuestion(key) ? { key, id } : { key: word };
}

/** The shortest commands that name this question unambiguously, one for each example answer in its schema. */
export function answerCommands(
  pause: OpenQuestion,
  questions: readonly OpenQuestion[],
  run: string,
): readonly string[] {
  const name = isGuardQuestion(pause.key) ? boundKey(pause) : questionName(pause, questions);
  return valuesOf(pause.question, pause.schema).map(
    (value) => `skein answer ${shellWord(run)} ${shellWord(name)} ${value}`,
  );
}

/** Placeholders or examples for an answer in a command. */
export function valuesOf(question: string | undefined, schema: unknown): readonly string[] {
  if (question === undefined) return ['[VALUE]'];
  const examples = isPlainObject(schema) ? ownValue(schema, 'examples') : undefined;
  if (!Array.isArray(examples) || examples.length === 0) return ['VALUE'];
  const shown = examples.slice(0, MOST_EXAMPLES);
  return shown.map((one: unknown) => shellWord(printable(typeof one === 'string' ? one : JSON.stringify(one))));
}

/** Maximum number of example answers shown. */
const MOST_EXAMPLES = 5;

/** Formats a word of a command line, quoted if a shell would change it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-][\w@%+=:,./#-]*$/.test(text) ? text : quoted(text);
}

/** A command that a person can copy. */
export function commandLine(command: string): string {
  return `  ${command}`;
}
