import { countInner } from '../events/call-fold.js';
import type { ErrorData } from '../base/errors.js';
import { isPlainObject, present, type JsonObject } from '../base/json.js';
import { answeredText } from '../events/question.js';
import { madeOnce } from '../base/collections.js';
import { endingOf, type StepEnding } from '../events/census.js';
import { Tally, spentOf } from '../events/spending.js';
import type { PlanNode } from '../plan/plan.js';
import { asModelCall, isGuardQuestion, parseKey, pathOf, triesOf } from '../base/address.js';
import { closesQuestions, questionsInside } from './fold.js';
import { DecidedCalls, modelText, noteText, sessionText, type TellMoment } from './overview-moments.js';
import {
  StepTrace,
  innerCallIn,
  isAside,
  isCutOff,
  isJudged,
  numberIn,
  numberOf,
  readTurn,
  spentOfCutOff,
  toolOf,
  type RecordedTurn,
} from './overview-trace.js';
import type { DoneRecord, EndRecord, JournalRecord, LogRecord, OpenRecord, PauseRecord, Stored } from './record.js';

export interface FoldOptions {
  /** Finds the node of a path in the plan of the last session read so far. */
  readonly nodeAt: (path: string) => PlanNode | undefined;
  /** Reads a stored value; undefined if its blob is lost. */
  readonly valueOf: (stored: Stored) => unknown;
  /** Receives what happened, in order. */
  readonly tell: TellMoment;
  /** Whether outputs of steps are kept, which may be far larger than everything that is reported of the steps. */
  readonly outputs?: boolean;
}

export interface SessionTrace {
  readonly open: OpenRecord;
  end: EndRecord | undefined;
  lastAt: number;
}

export interface RunWarning {
  readonly at: number;
  /** Empty for a warning of the run. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** Builds the account of a run from its records, in order. A step that contains others has records only if it did not succeed. */
export class OverviewFold {
  readonly steps = new Map<string, StepTrace>();
  /** Calls and tokens of all steps, also of attempts that failed. */
  readonly spent = new Tally();
  readonly sessions: SessionTrace[] = [];
  readonly pauses = new Map<string, PauseRecord>();
  readonly warnings: RunWarning[] = [];
  /** Calls that a guard did not simply allow. */
  readonly decided = new DecidedCalls();
  /** Creates the counter for one step. */
  private readonly tally = (): Tally => new Tally(this.spent);
  /** The latest attempts of retried steps, by the step without its own attempt. */
  private readonly retried = new Map<string, number>();

  constructor(private readonly options: FoldOptions) {}

  add(record: JournalRecord): void {
    const session = this.sessions.at(-1);
    if (session !== undefined && record.t !== 'open') session.lastAt = Math.max(session.lastAt, record.at);
    switch (record.t) {
      case 'begin':
      case 'spent':
        break;
      case 'open':
        this.open(record);
        break;
      case 'end':
        if (session !== undefined) session.end = record;
        this.options.tell({ at: record.at, kind: 'session', path: '', text: sessionText(record) });
        break;
      case 'start':
        this.trace(record.key, record.at).reopen();
        if (record.reserved === undefined)
          this.tell(record.key, record.at, { kind: 'step', text: `starts ${record.key}, never repeated unasked` });
        break;
      case 'timer':
        if (parseKey(record.key).name === 'timer') this.trace(record.key, record.at).reopen();
        break;
      case 'pause':
        this.pause(record);
        break;
      case 'done':
        if (!this.isAside(record)) this.done(record);
        break;
      case 'log':
        this.log(record);
    }
  }

  /** True if a step's work no longer counts: a step around it was retried and did not reach it. `isOver`: the run ended well. */
  isAbandoned({ step, onlyRetried, triedAgain }: StepTrace, isOver = false): boolean {
    // A step that only contains others has no record of its end: once the run is over, one that was tried again has succeeded.
    if (onlyRetried && !(isOver && triedAgain)) return true;
    const around = triesOf(step).slice(0, -1);
    return around.some(({ of, attempt, loop }) => {
      if ((this.retried.get(of) ?? 0) <= attempt) return false;
      // A node inside a loop belongs to one of its rounds.
      return loop === 'yes' || (loop === 'maybe') === (this.options.nodeAt(pathOf(of))?.kind === 'loop');
    });
  }

  /** True if this run did something of a step that still counts. */
  happened(path: string): boolean {
    const trace = this.steps.get(path);
    return trace !== undefined && !this.isAbandoned(trace);
  }

  private open(record: OpenRecord): void {
    const before = this.sessions.at(-1);
    const number = this.sessions.push({ open: record, end: undefined, lastAt: record.at });
    const { tell } = this.options;
    if (before !== undefined && before.end === undefined) {
      tell({ at: before.lastAt, kind: 'session', path: '', text: 'the process that ran it died' });
    }
    const edited = record.plan !== undefined || record.code !== undefined ? ', with an edited definition' : '';
    const inputs = record.inputs === undefined ? '' : ', with other inputs';
    const text = number === 1 ? 'the run began' : `session ${number} began${edited}${inputs}`;
    tell({ at: record.at, kind: 'session', path: '', text });
  }

  private pause(record: PauseRecord): void {
    const isKnown = this.pauses.get(record.key)?.id === record.id;
    this.pauses.set(record.key, record);
    this.trace(record.key, record.at).reopen();
    if (isKnown) return;
    const { question, name } = record;
    const text = question === undefined ? `waits for the event '${name}'` : `asks: ${question.text}`;
    this.tell(record.key, record.at, { kind: 'pause', text });
  }

  /** A record that shows no step. */
  private isAside({ key, at }: DoneRecord): boolean {
    const { path, name, attempt } = parseKey(key);
    if (name === 'timeout') this.tell(key, at, { kind: 'step', text: 'the attempt took too long' });
    const isShown = !isAside(name) || this.steps.get(path)?.onlyRetried === false;
    if (!isShown && name === 'backoff') this.steps.get(path)?.triesAgain(key, attempt);
    return !isShown;
  }

  private done(record: DoneRecord): void {
    const { key, at, error, ms = 0 } = record;
    const { path, name } = parseKey(key);
    const trace = this.trace(key, at, at - ms);
    const asked = this.pauses.get(key);
    if (asked !== undefined) this.answer(path, asked, record);
    if (name === 'human' && error === undefined) trace.judge('human', record.by);
    if (name === 'answer' || name === 'event' || name === 'timer') {
      if (error === undefined || this.goesOnAfterExpiry(path, error))
        this.bodyEnded(trace, { ...record, error: undefined });
    } else if (asked !== undefined) trace.reopen();
    else if (name === undefined) this.bodyEnded(trace, record);
    else if (name.startsWith('model#')) this.turn(trace, name, record);
    else if (asModelCall(name) !== undefined) this.phase(trace, name, record);
    else if (name.startsWith('tool#')) this.tool(trace, name, record);
    else if (name.startsWith('run:')) this.part(trace, name, record);
    else if (name === 'close') this.closed(trace, at);
  }

  /** An event reports whether an end without success is final, and why. */
  private bodyEnded(
    trace: StepTrace,
    record: Omit<DoneRecord, 'error'> & { readonly error?: ErrorData | undefined },
  ): void {
    const { at, error, value, blob } = record;
    if (error !== undefined) {
      trace.end({ outcome: 'failed', error }, at);
      return;
    }
    if (this.options.outputs === true)
      trace.output = blob === undefined ? (value === undefined ? {} : { value }) : { blob };
    this.succeeded(trace, at);
  }

  private succeeded(trace: StepTrace, at: number): void {
    const { path, ms, status } = trace;
    const text = isJudged(this.options.nodeAt(path)) ? 'did its work' : 'succeeded';
    trace.end({ outcome: 'succeeded' }, at);
    if (status !== 'succeeded') this.options.tell({ at, kind: 'step', path, text, ms });
  }

  private turn(trace: StepTrace, name: string, record: DoneRecord): void {
    const turn = this.answered(trace, '', record);
    if (turn === undefined) return;
    trace.turn(numberOf(name), turn);
    // An agent that was closed before because it paused is not closed again.
    if (trace.closed && trace.answered) this.succeeded(trace, record.at);
  }

  /** A call of a step's supervision, which does not count before it is accepted. */
  private phase(trace: StepTrace, name: string, record: DoneRecord): void {
    const turn = this.answered(trace, `${name.split('.')[0] ?? ''}: `, record);
    if (turn !== undefined) trace.spent.answered(turn.model, turn.usage, turn.cost);
  }

  /** Reports a model call, and counts it if it failed. */
  private answered(trace: StepTrace, head: string, record: DoneRecord): RecordedTurn | undefined {
    trace.reopen();
    const { at, ms, error } = record;
    const turn = error === undefined ? readTurn(this.options.valueOf(record)) : undefined;
    const { usage, cost } = turn ?? (error && spentOf(error)) ?? {};
    const text = head + modelText(turn, error);
    this.options.tell({ at, kind: 'model', path: trace.path, text, ...present({ ms, usage, cost }) });
    if (error !== undefined) trace.spent.failed(error);
    return turn;
  }

  private tool(trace: StepTrace, name: string, record: DoneRecord): void {
    trace.reopen();
    const [turn = '', index = ''] = name.slice('tool#'.length).split('.');
    const own = toolOf(this.options.nodeAt(trace.path));
    const tool = trace.toolsOfTurn?.get(turn)?.[Number(index) - 1] ?? own ?? name;
    trace.called = record.error === undefined ? record : undefined;
    if (own !== undefined) trace.spent.called(1);
    const value = this.options.valueOf(record);
    const refused = record.error !== undefined || (isPlainObject(value) && value['isError'] === true);
    const text = `tool ${tool} ${refused ? 'failed' : 'done'}`;
    this.options.tell({ at: record.at, kind: 'tool', path: trace.path, text, ...present({ ms: record.ms }) });
  }

  /** A part that the step's function did by `step.run`. */
  private part(trace: StepTrace, name: string, { at, ms, error }: DoneRecord): void {
    trace.reopen();
    const text = `${name.slice('run:'.length)} ${error === undefined ? 'done' : 'failed'}`;
    this.options.tell({ at, kind: 'step', path: trace.path, text, ...(ms === undefined ? {} : { ms }) });
  }

  private closed(trace: StepTrace, at: number): void {
    trace.closed = true;
    if (trace.ending === undefined && trace.answered) this.succeeded(trace, at);
  }

  private answer(path: string, asked: PauseRecord, record: DoneRecord): void {
    this.pauses.delete(record.key);
    if (isGuardQuestion(record.key)) this.decided.answered(path, this.options.valueOf(record), record.by);
    const what =
      asked.question === undefined
        ? 'the event came'
        : `answered${record.by === undefined ? '' : ` ${answeredText(record.by)}`}`;
    const given = JSON.stringify(this.options.valueOf(record)) ?? 'nothing';
    const text = record.error === undefined ? `${what}: ${given}` : `no answer: ${record.error.message}`;
    this.options.tell({ at: record.at, kind: 'answer', path, text });
  }

  private goesOnAfterExpiry(path: string, error: ErrorData): boolean {
    const node = this.options.nodeAt(path);
    const after = node !== undefined && 'onExpire' in node ? node.onExpire : undefined;
    return error.code === 'SKEIN_TIMEOUT' && typeof after === 'object';
  }

  private log({ at, path, body }: LogRecord): void {
    if (body['type'] === 'step.ended') {
      // The record of the output already reports it: the line exists because the step did not succeed at first.
      if (body['outcome'] === 'succeeded' && this.steps.get(path)?.status === 'succeeded') return;
      this.stepEnded(at, path, body);
    } else if (body['type'] === 'step.retrying') this.again(path, at, numberIn(body['attempt']));
    else if (body['type'] === 'run.warning') this.warn(at, '', body);
    else if (innerCallIn(body['note']) !== undefined) this.inner(path, at, body['note']);
    else if (isCutOff({ body })) this.trace(path, at).spent.cutOff(spentOfCutOff(body['note']));
    else if (isPlainObject(body['note']) && body['note']['kind'] === 'warning') this.warn(at, path, body['note']);
    else if (isPlainObject(body['note'])) this.decided.note(at, path, body['note']);
    this.supervised(at, path, body);
    const text = noteText(body);
    if (text !== undefined) this.options.tell({ at, path, ...text });
  }

  /** A run started by the step's function has called a model. */
  private inner(path: string, at: number, note: unknown): void {
    const call = innerCallIn(note);
    const trace = this.steps.get(pathOf(path)) ?? this.trace(path, at);
    if (call !== undefined) countInner(trace.spent, call);
  }

  /** An accepted step has ended; the work of a corrected step before the correction does not count. */
  private supervised(at: number, path: string, { note }: JsonObject): void {
    if (!isPlainObject(note)) return;
    if (note['kind'] === 'supervision.accepted') {
      const trace = this.trace(path, at);
      trace.judge('accepted');
      trace.end({ outcome: 'succeeded' }, at);
    } else if (note['kind'] === 'supervision.corrected') {
      this.trace(path, at).judge('corrected');
      this.again(path, at, numberIn(note['attempt']));
    }
  }

  private again(path: string, at: number, attempt: number): void {
    const isFirst = this.steps.get(path)?.onlyRetried !== false;
    const trace = this.trace(path, at);
    trace.onlyRetried = isFirst;
    trace.reopen();
    trace.called = undefined;
    trace.retry(attempt);
    this.retried.set(path, attempt);
    this.forgetPauses(path);
  }

  private stepEnded(at: number, path: string, body: JsonObject): void {
    const trace = this.trace(path, at);
    const { reason, error, ...more } = body;
    const why = { ...(typeof reason === 'string' ? { reason } : {}), ...(isPlainObject(error) ? { error } : {}) };
    const ending = endingOf({ ...more, ...why } as unknown as StepEnding);
    trace.end(ending, at, numberIn(body['attempts']));
    if (closesQuestions(ending.outcome)) this.forgetPauses(path);
  }

  private forgetPauses(path: string): void {
    for (const key of questionsInside(this.pauses, path)) this.pauses.delete(key);
  }

  private warn(at: number, path: string, { code, message }: Readonly<Record<string, unknown>>): void {
    this.warnings.push({ at, path, code: String(code), message: String(message) });
  }

  private trace(key: string, at: number, from = at): StepTrace {
    const { path, name, attempt } = parseKey(key);
    const session = Math.max(0, this.sessions.length - 1);
    const trace = madeOnce(this.steps, path, () => new StepTrace(path, session, from, this.tally));
    // Cleaning up is the last effect of an attempt, and may end while the next attempt is in progress.
    trace.touch(session, from, at);
    trace.onlyRetried = false;
    if (name !== 'close') trace.tried(key, attempt);
    return trace;
  }

  private tell(key: string, at: number, what: { readonly kind: 'step' | 'pause'; readonly text: string }): void {
    this.options.tell({ at, path: parseKey(key).path, ...what });
  }
}
