import { askerOf, isInside, parseKey } from '../base/address.js';
import { addTo } from '../base/collections.js';
import { SkeinError } from '../base/errors.js';
import { Entry, type RunHistory, type Session, type Skip, type SpendEntry, type StartedEffect } from './history.js';
import { LostCalls } from './lost-calls.js';
import type {
  BeginRecord,
  DoneRecord,
  JournalRecord,
  LogRecord,
  PauseRecord,
  SpentRecord,
  StartRecord,
  Stored,
  TimerRecord,
} from './record.js';

/**
 * Folds the records of a journal, one by one and in order, each with its line. The result depends only on the records, not on the portions
 * in which they are read. Of outcomes only the line is kept, so that a long history needs little more memory than its text.
 *
 * @throws SkeinError `SKEIN_JOURNAL` for a record that can't follow the records before it
 */
export class HistoryFold {
  private begin: BeginRecord | undefined = undefined;
  private current: RunHistory['current'] | undefined = undefined;
  private readonly sessions: Session[] = [];
  private readonly entries = new Map<string, Entry[]>();
  private readonly started = new Map<string, StartedEffect>();
  private readonly timers = new Map<string, { readonly id?: string; readonly due: number }>();
  private readonly pauses = new Map<string, PauseRecord>();
  private readonly closed = new Set<string>();
  private readonly spends: SpendEntry[] = [];
  private readonly calls = new LostCalls();
  private readonly logs: LogRecord[] = [];
  private readonly skips: Skip[] = [];
  private readonly wrote = new Set<string>();
  private outcomes = 0;
  /** Milliseconds of the sessions before the last. */
  private msBefore = 0;
  /** Milliseconds of the last session, so far. */
  private lasted = 0;

  /** `keeps`: whether outcomes and logs are kept; a reader that handles each record as it comes needs neither. */
  constructor(
    private readonly runId: string,
    private readonly keeps = true,
  ) {}

  add(record: JournalRecord, line: string): void {
    if (record.t === 'begin') {
      this.addBegin(record);
      return;
    }
    if (this.begin === undefined || this.current === undefined)
      throw refused(`the first record is '${record.t}', not 'begin'`);
    this.calls.add(record);
    if (record.t === 'open') {
      this.sessions.push({ open: record });
      this.msBefore += this.lasted;
      this.lasted = 0;
      const { t: _t, at: _at, fence: _fence, ...changes } = record;
      this.current = { ...this.current, ...changes };
    } else if (record.t === 'log') {
      if (this.keeps) this.addLog(record);
      this.last(record.at);
    } else if (this.sessions.length === 0) {
      throw refused(`'${record.t}' stands before the first session`);
    } else {
      this.last(record.at);
      this.addInSession(record, line);
    }
  }

  /** The plan of the last session; undefined before the first record. */
  get plan(): Stored | undefined {
    return this.current?.plan;
  }

  /** The history so far; undefined before the first record. Later records are added to the same collections. */
  history(batches: number, sum: string): RunHistory | undefined {
    const { begin, current } = this;
    if (begin === undefined || current === undefined) return undefined;
    const { sessions, entries, started, timers, pauses, closed, spends, calls, logs, skips, wrote, outcomes } = this;
    const effects = { entries, outcomes, started, timers, pauses, closed, spends, calls };
    return { begin, current, sessions, ...effects, logs, skips, wrote, ms: this.msBefore + this.lasted, batches, sum };
  }

  private addLog(record: LogRecord): void {
    this.logs.push(record);
    const { path, body } = record;
    if (body['type'] !== 'step.ended') return;
    const { outcome } = body;
    if (outcome === 'skipped') this.skips.push({ path, order: this.outcomes - 0.5 });
    if (closesQuestions(outcome)) for (const key of questionsInside(this.pauses, path)) this.closed.add(key);
  }

  private last(at: number): void {
    const open = this.sessions.at(-1)?.open;
    if (open !== undefined) this.lasted = Math.max(this.lasted, at - open.at);
  }

  private addBegin(record: BeginRecord): void {
    if (this.begin !== undefined) throw refused("there is a second 'begin'");
    if (record.run !== this.runId) throw refused(`it is the journal of the run ${JSON.stringify(record.run)}`);
    this.begin = record;
    const { plan, code, inputs, settings } = record;
    this.current = { plan, code, inputs, ...(settings === undefined ? {} : { settings }) };
  }

  private addInSession(record: Exclude<JournalRecord, { t: 'begin' | 'open' | 'log' }>, line: string): void {
    switch (record.t) {
      case 'spent':
        this.spends.push(this.spendOf(record));
        break;
      case 'start':
        if (record.reserved !== undefined) this.spends.push(this.spendOf(record));
        else this.started.set(record.key, { at: record.at, ...idOf(record), failed: false });
        break;
      case 'done':
        this.addDone(record, line);
        break;
      case 'timer':
        this.timers.set(record.key, { ...idOf(record), due: record.due });
        break;
      case 'pause':
        this.pauses.set(record.key, record);
        this.closed.delete(record.key);
        this.addAsk(record.key);
        break;
      case 'end': {
        const last = this.sessions.at(-1);
        if (last === undefined || last.end !== undefined) throw refused('the session has already ended');
        this.sessions[this.sessions.length - 1] = { ...last, end: record };
      }
    }
  }

  private spendOf(record: StartRecord | SpentRecord): SpendEntry {
    return { record, session: this.sessions.length - 1, outcomes: this.outcomes };
  }

  private addDone(record: DoneRecord, line: string): void {
    const { key, wrote = [] } = record;
    for (const path of wrote) this.wrote.add(path);
    if (this.keeps) addTo(this.entries, key, new Entry(line, this.outcomes, this.sessions.length - 1, kindOf(record)));
    this.outcomes += 1;
    this.timers.delete(key);
    this.pauses.delete(key);
    this.endAsk(key);
    const started = this.started.get(key);
    if (started === undefined) return;
    if (record.error === undefined || record.unmade === true) this.started.delete(key);
    else this.started.set(key, { at: started.at, ...idOf(started), failed: true });
  }

  private addAsk(key: string): void {
    const asker = askerOf(key);
    const started = asker === undefined ? undefined : this.started.get(asker);
    if (asker !== undefined && started !== undefined)
      this.started.set(asker, { ...started, asks: [...(started.asks ?? []), key] });
  }

  private endAsk(key: string): void {
    if (this.started.size === 0) return;
    const asker = askerOf(key);
    const started = asker === undefined ? undefined : this.started.get(asker);
    if (asker === undefined || started?.asks === undefined) return;
    const { asks, ...rest } = started;
    const left = asks.filter((one) => one !== key);
    this.started.set(asker, left.length === 0 ? rest : { ...rest, asks: left });
  }
}

/** Outcomes of a step that leave its questions open. A question of a cancelled step is asked again when the run continues. */
const KEEPS_QUESTIONS: ReadonlySet<unknown> = new Set(['paused', 'cancelled', 'out_of_budget']);

export function closesQuestions(outcome: unknown): boolean {
  return !KEEPS_QUESTIONS.has(outcome);
}

export function questionsInside(open: ReadonlyMap<string, unknown>, path: string): readonly string[] {
  return [...open.keys()].filter((key) => isInside(parseKey(key).path, path));
}

function kindOf({ error, cleanup }: DoneRecord): Entry['kind'] {
  if (error !== undefined) return 'failure';
  return cleanup === true ? 'cleanup' : 'success';
}

function idOf({ id }: Pick<TimerRecord, 'id'>): { readonly id?: string } {
  return id === undefined ? {} : { id };
}

function refused(why: string): SkeinError {
  return new SkeinError('SKEIN_JOURNAL', why);
}
