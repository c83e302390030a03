import { isoTime, type Clock } from '../../../base/clock.js';
import { digestText } from '../../../base/hash.js';
import { EXPIRED } from '../../../base/decided.js';
import { SkeinError, toErrorData, type ErrorData } from '../../../base/errors.js';
import { asRecorded, recordText } from '../../../base/json.js';
import { Semaphore } from '../../../base/collections.js';
import { DeliveredEvents } from '../../../journal/delivered.js';
import type { PauseRecord } from '../../../journal/record.js';
import type { Answer, Store } from '../../../journal/store.js';
import { schemaFindings } from '../../../lang/schema-check.js';
import type { AnswerQuestion, WaitingQuestion } from '../memory-questions.js';
import { answerIn, findingsOf, recordedQuestion } from '../open-question.js';
import type { AskLimit, Outcome, Question, Wait } from '../../ports/durable.js';

/** Milliseconds between two reads of answers from the store, while other work continues. */
const POLL_MS = 250;

export interface OpenWait {
  readonly key: string;
  /** Digest of the question. */
  readonly id: string;
  readonly wait: Wait;
  /** When it expires, milliseconds since 1970. */
  readonly due: number | undefined;
  /** Called when it is first attended to, if it was opened before the run caught up with its record. */
  readonly asked?: (() => void) | undefined;
  /** Called once; not for a closed wait. `by`: the source of the answer. */
  readonly settle: (outcome: Outcome, by?: string) => void;
  /** Called when it is asked again with a new `id`: the answer did not match, and only the first answer to each question counts. */
  readonly askedAnew: (id: string) => void;
}

export interface WaitsOptions {
  readonly runId: string;
  readonly store: Store;
  readonly clock: Clock;
  /** Answers questions in this process. Absent if they wait for answers from elsewhere. */
  readonly answer: AnswerQuestion | undefined;
  /** Called after an answer, or after a person refused: the run may be able to continue. */
  readonly changed: () => void;
  readonly broken: (error: ErrorData) => void;
}

interface Attended {
  wait: OpenWait;
  readonly abort: AbortController;
  stopExpiry: (() => void) | undefined;
  /** True while it is being asked in this process. */
  asked: boolean;
}

export function waitOf(name: string, question: Question, limit: AskLimit | undefined): Wait {
  if (limit === undefined) return { name, question };
  const until = 'at' in limit ? { dueAt: limit.at } : { expiresMs: limit.ms };
  return { name, question, ...until, ...(limit.hasDefault === true && { hasDefault: true }) };
}

/** The open questions and events of a run. Every answer, also an expiry, goes through the store, where the first counts (J10). */
export class OpenWaits {
  private readonly waits = new Map<string, Attended>();
  /** Waits that are not attended to yet: nothing is asked before the run has caught up with its record. */
  private fresh: Attended[] = [];
  private readonly terminal = new Semaphore(1);
  private stopPolling: (() => void) | undefined = undefined;

  constructor(private readonly options: WaitsOptions) {}

  get size(): number {
    return this.waits.size;
  }

  /** True while a question is being asked in this process. */
  get asking(): boolean {
    for (const one of this.waits.values()) if (one.asked) return true;
    return false;
  }

  open(wait: OpenWait): void {
    const one: Attended = { wait, abort: new AbortController(), stopExpiry: undefined, asked: false };
    this.waits.set(wait.key, one);
    this.fresh.push(one);
  }

  close(key: string): void {
    const one = this.waits.get(key);
    if (one === undefined) return;
    this.waits.delete(key);
    one.stopExpiry?.();
    one.abort.abort(new SkeinError('SKEIN_CANCELLED', 'the question is no longer asked'));
    if (this.waits.size === 0) this.stopPoll();
  }

  /** Takes available answers, sets expiry timers, and asks what can be asked in this process. */
  attend(): void {
    const { fresh } = this;
    this.fresh = [];
    for (const one of fresh) if (this.waits.get(one.wait.key) === one) one.wait.asked?.();
    if (fresh.length > 0) this.takeAnswers();
    for (const one of fresh) {
      if (this.waits.get(one.wait.key) !== one) continue;
      const { due } = one.wait;
      const left = due === undefined ? Infinity : due - this.options.clock.now();
      // It expired while nothing ran the run. Settle it at once: otherwise the run would pause for an answer that is no longer allowed.
      if (left <= 0) {
        this.expire(one);
        continue;
      }
      if (due !== undefined) one.stopExpiry = this.options.clock.setTimer(left, () => this.expire(one));
      this.askHere(one);
    }
    if (this.waits.size > 0) this.stopPolling ??= this.pollLater();
  }

  takeAnswers(): void {
    this.guarded(() => {
      const answers = this.options.store.answers(this.options.runId);
      for (const answer of answers) {
        const one = this.waits.get(answer.key);
        if (one === undefined || one.wait.id !== answer.id) continue;
        if (isUnfit(one.wait, answer)) this.askAnew(one);
        else this.settle(one, outcomeOf(one.wait, answer), answer.by);
      }
      this.takeDelivered(answers);
    });
  }

  /** Takes events that came before their waits: each wait takes the first event of its name that no other has taken. */
  private takeDelivered(answers: readonly Answer[]): void {
    const delivered = new DeliveredEvents(answers);
    if (delivered.empty) return;
    for (const one of this.waits.values()) {
      const { key, id, wait, due } = one.wait;
      const event = wait.question === undefined ? delivered.take(wait.name, due) : undefined;
      if (event?.value === undefined) continue;
      const answer: Answer = { key, id, value: event.value, at: this.options.clock.now(), by: event.key };
      if (this.options.store.answer(this.options.runId, answer)) this.settle(one, outcomeOf(one.wait, answer));
    }
  }

  /** Only these waits are left: nobody can answer them in this session. */
  giveUp(): void {
    for (const one of this.waits.values()) {
      this.settle(one, { ok: false, error: unanswered(one.wait) });
    }
  }

  stop(): void {
    for (const key of this.waits.keys()) this.close(key);
    this.stopPoll();
  }

  private askAnew(one: Attended): void {
    const id = digestText(one.wait.id);
    one.wait = { ...one.wait, id };
    one.wait.askedAnew(id);
  }

  private settle(one: Attended, outcome: Outcome, by?: string): void {
    if (this.waits.get(one.wait.key) !== one) return;
    this.close(one.wait.key);
    one.wait.settle(outcome, by);
    this.options.changed();
  }

  private askHere(one: Attended): void {
    const { answer, store, runId, clock } = this.options;
    const { key, wait } = one.wait;
    const { question } = wait;
    if (answer === undefined || question === undefined) return;
    one.asked = true;
    const turn = new Promise<void>((mine) => this.terminal.acquire(mine));
    const asked = turn.then(async () =>
      this.waits.get(key) === one ? await answer(question, key, one.abort.signal, () => this.nextTo(one)) : undefined,
    );
    asked
      .finally(() => this.terminal.release())
      .then(
        (value) => {
          if (this.waits.get(key) !== one) return;
          this.guarded(() => {
            const { value: answered, by } = answerIn(question, value);
            const given = { key, id: one.wait.id, value: recordText(answered), at: clock.now(), by };
            const first = store.answer(runId, given);
            if (first) this.settle(one, outcomeOf(one.wait, given), by);
            else this.takeAnswers();
          }, one);
        },
        (error: unknown) => this.refused(one, toErrorData(error)),
      );
  }

  /** The other questions that wait to be asked in this process. */
  private nextTo(asked: Attended): readonly WaitingQuestion[] {
    return [...this.waits.values()].flatMap((one) => {
      const { key, wait } = one.wait;
      return one === asked || !one.asked || wait.question === undefined
        ? []
        : [{ question: wait.question, address: key }];
    });
  }

  /** Nobody here can answer: the question stays open for others. Any other error ends the step. */
  private refused(one: Attended, error: ErrorData): void {
    if (this.waits.get(one.wait.key) !== one) return;
    one.asked = false;
    if (error.code === 'SKEIN_QUESTION') this.options.changed();
    else this.settle(one, { ok: false, error });
  }

  private expire(one: Attended): void {
    const { store, runId, clock } = this.options;
    const { key, id } = one.wait;
    this.guarded(() => {
      const answer: Answer = { key, id, at: clock.now(), by: 'expiry' };
      if (store.answer(runId, answer)) this.settle(one, outcomeOf(one.wait, answer));
      else this.takeAnswers();
    });
  }

  private pollLater(): () => void {
    return this.options.clock.setTimer(POLL_MS, () => {
      this.stopPolling = this.pollLater();
      this.takeAnswers();
    });
  }

  private stopPoll(): void {
    this.stopPolling?.();
    this.stopPolling = undefined;
  }

  /** An error of the store ends the run; an invalid answer ends its step. */
  private guarded(body: () => void, one?: Attended): void {
    try {
      body();
    } catch (error) {
      const data = toErrorData(error);
      if (one !== undefined && data.code !== 'SKEIN_STORE') this.settle(one, { ok: false, error: data });
      else this.options.broken(data);
    }
  }
}

/** Whether a stored answer does not match its question. Skein itself never stores such an answer. */
function isUnfit({ wait }: OpenWait, { value }: Answer): boolean {
  return value !== undefined && findingsOf(wait.question, JSON.parse(value)).length > 0;
}

function outcomeOf({ wait }: OpenWait, answer: Answer): Outcome {
  if (answer.value !== undefined) {
    const value = JSON.parse(answer.value) as unknown;
    const findings = wait.schema === undefined ? [] : schemaFindings(wait.schema, value);
    if (findings.length === 0) return { ok: true, value };
    const why = `what came with the event '${wait.name}' does not match its schema: ${findings.join('; ')}`;
    return { ok: false, error: { code: 'SKEIN_ANSWER', message: why } };
  }
  const what = wait.question === undefined ? `the event '${wait.name}'` : `an answer to: ${wait.question.text}`;
  const limit = wait.dueAt === undefined ? `within ${wait.expiresMs ?? 0} ms` : `by ${isoTime(wait.dueAt)}`;
  const message = `${what} did not come ${limit}`;
  const more = wait.hasDefault === true ? { details: EXPIRED } : {};
  return { ok: false, error: { code: 'SKEIN_TIMEOUT', message, retryable: true, ...more } };
}

function unanswered({ key, wait }: OpenWait): ErrorData {
  const { question, name } = wait;
  const what = question === undefined ? `waits for the event '${name}'` : `waits for an answer to: ${question.text}`;
  const details = question === undefined ? { key, name } : { key, name, question: { ...recordedQuestion(question) } };
  return { code: 'SKEIN_QUESTION', message: what, hint: 'answer it, then resume the run', details };
}

export function pauseRecord(at: number, { key, id, wait, due }: Omit<OpenWait, 'settle' | 'askedAnew'>): PauseRecord {
  const question = wait.question === undefined ? {} : { question: recordedQuestion(wait.question) };
  const schema = wait.schema === undefined ? {} : { schema: asRecorded(wait.schema) };
  return { t: 'pause', at, key, id, name: wait.name, ...question, ...schema, ...(due === undefined ? {} : { due }) };
}
