import { systemClock } from '../base/clock.js';
import { SkeinError, textToRecord } from '../base/errors.js';
import { atOnce } from '../base/slices.js';
import { checkOptions } from '../base/options.js';
import { didYouMean } from '../base/suggest.js';
import { questionName, type OpenQuestion } from '../events/question.js';
import { schemaFindings } from '../lang/schema-check.js';
import { typedAnswer, wordsOf } from '../lang/answers.js';
import { isGuardQuestion, pathOf, stepOf } from '../base/address.js';
import { FROM_STDIN } from '../guard/label.js';
import { cancelFree } from './cancelling.js';
import { readRun } from './overview.js';
import { readJournal } from './reader.js';
import type { JournalRecord } from './record.js';
import { Replay } from './replay.js';
import type { RunOverview, RunStatus } from './run-overview.js';
import { ENDED, type Store } from './store.js';
import { jsonIn } from '../base/json.js';

/** An answer to a question or an event of a run. */
export type GivenAnswer = {
  /** Key of the question, path of its step, or its name. Default: the only open question. */
  readonly key?: string;
  /** `id` of the question that was shown. Refuses the answer if the question has changed. Default: answers the current question. */
  readonly id?: string;
  /**
   * Source of the answer. Default: `code`. What comes from `stdin` is not the words of the person who passes it on: it is untrusted, and
   * answers no question of the guard.
   */
  readonly by?: 'terminal' | 'command' | 'code' | 'stdin';
} & (
  | { readonly value: unknown }
  /** As typed by a person: a number picks a choice; JSON for events, and where the schema does not accept the text itself. */
  | { readonly text: string }
);

/** A stored answer. */
export interface KeptAnswer {
  readonly key: string;
  readonly path: string;
  readonly value: unknown;
  /** Questions and events that are still open. */
  readonly left: readonly OpenQuestion[];
}

/**
 * Answers a question of a run, or reports an event to it, whether or not a process runs it at the moment. The first answer counts.
 *
 * @throws SkeinError `SKEIN_ANSWER` if nothing of that name is open, it was answered before, it is too late, or the answer does not match
 * the question's schema; `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`, `SKEIN_NOT_JSON`; `SKEIN_USAGE` for
 * options that do not exist
 * @example
 * const { left } = answerRun(store, runId, { key: 'publish', value: 'yes' });
 * if (left.length === 0) await run(workflow, { store, resume: runId }).result;
 */
export function answerRun(store: Store, runId: string, answer: GivenAnswer): KeptAnswer {
  checkOptions<GivenAnswer>('answerRun', answer, { key: 'text', id: 'text', by: 'text', value: 'any', text: 'text' });
  const now = systemClock.now();
  const overview = readRun(store, runId, { now });
  const pause = findPause(store, overview, answer.key);
  if (answer.id !== undefined && answer.id !== pause.id) throw changed(pause, runId);
  if (answer.by === FROM_STDIN && isGuardQuestion(pause.key)) throw forPersons(pause, runId);
  const value = checkedValue(pause, answer);
  const text = textToRecord(value, `the answer to '${pause.key}'`);
  const given = { key: pause.key, id: pause.id, value: text, at: now, by: answer.by ?? 'code' };
  if (!store.answer(runId, given)) throw answeredBefore(pause.key);
  return { key: pause.key, path: pause.path, value, left: overview.questions.filter((one) => one !== pause) };
}

/**
 * Finds the open pause with this key, of the step with this path, or with this name.
 *
 * @throws SkeinError `SKEIN_ANSWER`
 */
function findPause(store: Store, { id, status, questions }: RunOverview, key: string | undefined): OpenQuestion {
  if (status === 'cancelled') throw refused('the run is cancelled', `skein resume ${id} continues it and asks again`);
  const found = questionsNamed(questions, key);
  const [pause] = found;
  if (pause !== undefined && found.length === 1) {
    if (pause.overdue !== true) return pause;
    const since = new Date(pause.expires ?? 0).toISOString();
    throw refused(`the answer to '${pause.key}' was due at ${since}`, 'resume the run: it continues without an answer');
  }
  if (found.length > 1) {
    const which = key === undefined ? 'the run waits for several answers' : `'${key}' may be one of several questions`;
    throw refused(which, `say which: ${namesOf(found)}`);
  }
  if (key !== undefined && wasAnswered(store, id, key)) throw answeredBefore(key, questions);
  if (questions.length === 0 && status === 'paused') {
    throw refused('every question of the run has been answered', `skein resume ${id} continues it`);
  }
  if (questions.length === 0) throw refused(nothingOpen(status), `skein show ${id} shows its state`);
  const names = questions.flatMap((one) => [one.key, one.path, one.name]);
  const near = key === undefined ? undefined : didYouMean(key, names);
  throw refused(
    `the run has no question '${key ?? ''}'`,
    `${near === undefined ? '' : `${near} `}open: ${namesOf(questions)}`,
  );
}

/** Whether a question with this key, of the step with this path, or with this name has an answer. */
function wasAnswered(store: Store, id: string, meant: string): boolean {
  // Notes about the whole run stand among the answers; keys of questions never begin like theirs.
  const answered = new Set(store.answers(id).flatMap(({ key }) => (key.startsWith('@') ? [] : [key])));
  if ([...answered].some((key) => key === meant || pathOf(stepOf(key)) === meant)) return true;
  if (answered.size === 0) return false;
  let isNamed = false;
  const look = (record: JournalRecord): void => {
    isNamed ||= record.t === 'pause' && record.name === meant && answered.has(record.key);
  };
  atOnce(readJournal(store, new Replay(id, look, { keeps: false }), id));
  return isNamed;
}

/** A key takes precedence over a path, a path over a name. */
function questionsNamed(questions: readonly OpenQuestion[], key: string | undefined): readonly OpenQuestion[] {
  if (key === undefined) return questions;
  for (const field of ['key', 'path', 'name'] as const) {
    const found = questions.filter((pause) => pause[field] === key);
    if (found.length > 0) return found;
  }
  return [];
}

function nothingOpen(status: RunStatus): string {
  return status === 'succeeded' || status === 'degraded'
    ? `the run ${status === 'degraded' ? 'finished degraded' : 'succeeded'}: it has no open question`
    : 'the run is not waiting for an answer';
}

function checkedValue(pause: OpenQuestion, answer: GivenAnswer): unknown {
  const { schema, question } = pause;
  if (!('text' in answer)) {
    const findings = schema === undefined ? [] : schemaFindings(schema, answer.value);
    if (findings.length === 0) return answer.value;
    throw unfit(pause, findings.join('; '));
  }
  if (question === undefined) {
    const json = jsonIn(answer.text);
    return checkedValue(pause, { value: json === undefined ? answer.text : json });
  }
  const typed = typedAnswer(pause, answer.text);
  if (typed.ok) return typed.value;
  throw unfit(pause, typed.lacks ?? typed.why);
}

function unfit({ key, schema, choices = [] }: OpenQuestion, why: string): SkeinError {
  const words = [wordsOf(schema) ?? [], `the schema is ${JSON.stringify(schema)}`].flat().join('; ');
  const listed = choices.length === 0 ? words : `choices: ${choices.join(', ')}`;
  const isChoice = JSON.stringify(schema) === JSON.stringify({ enum: choices });
  const what = isChoice ? 'it must be one of the choices' : why;
  return refused(`the answer to '${key}' does not match what was asked for: ${what}`, listed);
}

function namesOf(questions: readonly OpenQuestion[]): string {
  const shown = questions.slice(0, 20).map((pause) => questionName(pause, questions));
  return questions.length > shown.length
    ? `${shown.join(', ')} and ${questions.length - shown.length} more`
    : shown.join(', ');
}

function changed({ key }: OpenQuestion, runId: string): SkeinError {
  return refused(
    `what '${key}' asks has changed since it was shown`,
    `skein answer ${runId} '${key}' shows what it asks now`,
  );
}

function forPersons({ key }: OpenQuestion, runId: string): SkeinError {
  return refused(
    `'${key}' asks a person, and others may have written what comes from standard input`,
    `skein answer ${runId} on a terminal, or with the answer instead of -`,
  );
}

function answeredBefore(key: string, open: readonly OpenQuestion[] = []): SkeinError {
  const next = open.length === 0 ? 'resume the run to continue' : `open: ${namesOf(open)}`;
  return refused(`'${key}' was answered before`, `the first answer counts; ${next}`);
}

function refused(message: string, hint: string): SkeinError {
  return new SkeinError('SKEIN_ANSWER', message, { hint });
}

/** The result of cancelling a run: its process was asked to cancel it (`requested`), it is `cancelled`, or it had already `ended`. */
export type CancelOutcome = 'requested' | 'cancelled' | 'ended';

/**
 * Cancels a run. A process that runs it closes it within a second; without one, this call cancels the run. A run that has ended does not
 * change.
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 * @example
 * if (cancelRun(store, runId) === 'ended') console.log('too late');
 */
export function cancelRun(store: Store, runId: string): CancelOutcome {
  for (;;) {
    const { status } = readRun(store, runId);
    if (ENDED.has(status)) return 'ended';
    const outcome = cancelFree(store, runId);
    if (outcome !== undefined) return outcome;
    store.requestCancel(runId);
    // A process that has just let go of the run does not look for requests any more, and one that takes it forgets earlier ones.
    const row = store.run(runId);
    if (row?.holder !== undefined && row.cancelRequested) return 'requested';
  }
}
