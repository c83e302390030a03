import type { Clock } from '../../../base/clock.js';
import { fromErrorData, stepCancelled, toErrorData } from '../../../base/errors.js';
import type { Limit } from '../../../base/duration.js';
import { encodeRecord } from '../../../journal/codec.js';
import type { Journal } from '../../../journal/journal.js';
import type { OpenSession } from '../../../journal/session.js';
import { askKey, innerKey, parseKey } from '../../../base/address.js';
import type {
  AnswerSource,
  Effect,
  FindingOut,
  Outcome,
  PartEffect,
  Parts,
  Question,
  Wait,
} from '../../ports/durable.js';
import type { StepOptions } from '../../ports/recording.js';
import {
  endPart,
  inPart,
  nameOfRun,
  partOf,
  partsStandStill,
  unlessShort,
  type PartUnderWay,
} from '../part-under-way.js';
import type { Deliveries } from './deliveries.js';
import { waitOf } from './open-waits.js';
import { pastOf, type RecordedOutcomes } from './recorded-outcomes.js';
import { LostEffect } from './lost-effect.js';
import type { RecordedQuestions } from './recorded-questions.js';
import { RecordedTicket } from './recorded-ticket.js';
import { isUnanswered, writeOutcome } from './write-outcome.js';

/** The services of the back end that work inside effects needs. */
interface InsideParts {
  readonly session: OpenSession;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly outcomes: RecordedOutcomes;
  readonly deliveries: Deliveries;
  readonly questions: RecordedQuestions;
  readonly owner: ConstructorParameters<typeof RecordedTicket>[1];
  readonly random: (key: string) => number;
  readonly starts: (ticket: RecordedTicket) => void;
  readonly stops: (ticket: RecordedTicket) => void;
  /** Assigns an outcome its position and time. */
  readonly stamped: (ticket: RecordedTicket, outcome: Outcome) => Outcome;
  /** Calls back when everything written so far is committed. */
  readonly committed: (then: () => void) => void;
}

type Answered = (outcome: Outcome, by: string | undefined) => void;

/** Work inside an effect: questions to people, and effects of its own. Their outcomes are recorded, and returned directly to the effect. */
export class RecordedInside {
  /** The runs that effects have started, with the effect that each belongs to. */
  private readonly runs = new Map<() => boolean, RecordedTicket>();

  constructor(private readonly its: InsideParts) {}

  get isAtWork(): boolean {
    for (const [isAtWork, ticket] of this.runs) if (!ticket.isOver && isAtWork()) return true;
    return false;
  }

  /** @throws SkeinError the error of the answer */
  async ask(
    ticket: RecordedTicket,
    name: string,
    question: Question,
    limit?: Limit,
    from?: AnswerSource,
  ): Promise<unknown> {
    const wait = waitOf(name, question, limit);
    const outcome = await this.asked(ticket, askKey(ticket.key, name), wait, (_outcome, by) => from?.(by));
    if (outcome.ok) return outcome.value;
    throw fromErrorData(outcome.error);
  }

  /** Runs an effect inside another one, unless it is recorded under this key. A failure is recorded only with the outer effect. */
  async run(ticket: RecordedTicket, key: string, effect: Effect, options: StepOptions): Promise<unknown> {
    const inner = this.innerOf(key, options);
    const before = this.before(ticket, inner);
    if (before?.ok === true) return before.value;
    const told = await this.inProgress(ticket, key, async (part) => {
      inner.startedAt = this.its.clock.now();
      const value = unlessShort(part, await effect.perform(ticket));
      if (ticket.dropped) throw stepCancelled();
      return await this.record(ticket, inner, { ok: true, value });
    });
    if (told.ok) return told.value;
    throw fromErrorData(told.error);
  }

  /** What records the effects of runs inside this one. */
  partsOf(ticket: RecordedTicket): Parts {
    const { outcomes, owner, random } = this.its;
    const keyOf = (name: string): string => innerKey(ticket.key, name);
    return {
      nameOf: (run) => nameOfRun(ticket, run),
      begins: (isAtWork) => {
        this.runs.set(isAtWork, ticket);
        const rests = (): void => this.its.deliveries.wake();
        return { rests, over: () => (this.runs.delete(isAtWork), rests()) };
      },
      perform: (name, effect, options, waits) =>
        this.perform(ticket, this.innerOf(keyOf(name), options), effect, waits),
      run: (name, effect, options) => this.run(ticket, keyOf(name), effect, options),
      isRecorded: (name, identity) => outcomes.isRecorded(keyOf(name), identity),
      isTaken: (name, identity) => outcomes.isTaken(keyOf(name), identity),
      waits: () => this.waits(ticket),
      underWay: () => partOf(ticket)?.name,
      idempotencyKey: (name) => `${owner.runId}/${keyOf(name)}`,
      random: (name) => random(keyOf(name)),
    };
  }

  private waits(ticket: RecordedTicket): () => void {
    const goOn = partsStandStill(ticket);
    this.restsIfIdle(ticket);
    return () => {
      goOn();
      if (ticket.effects > 0 && !ticket.dropped) this.its.starts(ticket);
    };
  }

  /** With only open questions left, the surrounding effect no longer counts as running (R4). */
  private restsIfIdle(ticket: RecordedTicket): void {
    if (ticket.effects > 0 || ticket.questions === 0 || ticket.dropped) return;
    this.its.stops(ticket);
    this.its.deliveries.wake();
  }

  /** Like an effect of the run itself: a part that may be done only once is recorded before it starts, and its failure counts. */
  private async perform(
    ticket: RecordedTicket,
    inner: RecordedTicket,
    effect: PartEffect,
    waits: FindingOut,
  ): Promise<Outcome> {
    if (ticket.isOver) return isLeft(ticket) ? ((await effect()) ?? CUT_OFF) : CUT_OFF;
    const before = this.before(ticket, inner);
    // What stood at a question has not been done.
    if (before !== undefined && !isUnanswered(before)) return before;
    return await this.inProgress(ticket, inner.key, async () => {
      const lost = await this.starts(ticket, inner, waits);
      if (lost !== undefined) return isUnanswered(lost) ? lost : await this.record(ticket, inner, lost);
      inner.startedAt = this.its.clock.now();
      const outcome = await effect();
      if (outcome === undefined || ticket.isOver) return outcome ?? CUT_OFF;
      inner.unmade = outcome.unmade === true;
      const isOpen = isUnanswered(outcome) && inner.options?.effect !== 'once';
      return isOpen ? outcome : await this.record(ticket, inner, outcome);
    });
  }

  private innerOf(key: string, options: StepOptions): RecordedTicket {
    const inner = new RecordedTicket(key, this.its.owner, options);
    inner.id = options.identity?.digest();
    return inner;
  }

  private before(ticket: RecordedTicket, inner: RecordedTicket): Outcome | undefined {
    const { outcomes } = this.its;
    const found = outcomes.find(inner);
    if (found === undefined) return undefined;
    const before = outcomes.outcomeOf(found.record);
    ticket.fromRecord ??= true;
    if (before.ok) inner.options?.identity?.reused?.(pastOf(found));
    return before;
  }

  /** J6: commits the start of a part that is not only read. Returns its outcome if it is lost, and a person says that it is not done again. */
  private async starts(ticket: RecordedTicket, inner: RecordedTicket, waits: FindingOut): Promise<Outcome | undefined> {
    const { session, journal, clock } = this.its;
    const { key, id } = inner;
    const kind = inner.options?.effect;
    if (kind !== 'once' && kind !== 'idempotent') return undefined;
    const before = kind === 'once' ? session.ledger.started(key) : undefined;
    if (before !== undefined) {
      const fate = await this.findOut(ticket, new LostEffect(inner, before), waits);
      if (fate !== 'perform') return fate;
    }
    journal.write(encodeRecord({ t: 'start', at: clock.now(), key, ...(id === undefined ? {} : { id }) }));
    await this.committed();
    return undefined;
  }

  /** What became of a lost effect, which is `ticket` or a part of it. */
  async findOut(
    ticket: RecordedTicket,
    lost: LostEffect,
    waits: (...by: Parameters<FindingOut>) => (() => void) | undefined,
  ): Promise<Outcome | 'perform'> {
    if (lost.isProbed(this.its.questions)) {
      const goesOn = waits('probe');
      const found = await lost.probed(ticket.signal);
      this.its.deliveries.takeTime();
      goesOn?.();
      if (found !== undefined) return found;
    }
    const goesOn = waits('person');
    return lost.answered(await this.asked(ticket, lost.asked, lost.question, goesOn));
  }

  /** Writes an outcome. One that may be lost in a crash needs no commit of its own. */
  private async record(ticket: RecordedTicket, inner: RecordedTicket, outcome: Outcome): Promise<Outcome> {
    const isLosable = inner.options?.losable === true && outcome.ok;
    const told = writeOutcome(this.its.journal, inner, this.its.stamped(inner, outcome), isLosable);
    if (!isLosable) await this.committed();
    return ticket.dropped ? CUT_OFF : told;
  }

  private async committed(): Promise<void> {
    await new Promise<void>(this.its.committed);
  }

  private async asked(ticket: RecordedTicket, key: string, wait: Wait, answered?: Answered): Promise<Outcome> {
    const { questions, deliveries, starts, stops } = this.its;
    // A part that waits for an answer is not in progress.
    const partsGoOn = partsStandStill(ticket);
    const isPart = partOf(ticket) !== undefined;
    if (ticket.effects === 0) stops(ticket);
    ticket.questions += 1;
    // Continue together with the answer, not some turns later: in between, the run would seem idle, and waiters for that would be notified.
    const goesOn = (): void => {
      ticket.questions -= 1;
      partsGoOn();
      if ((ticket.questions === 0 || isPart) && !ticket.dropped) starts(ticket);
      // The clock of the attempt continues from the current time, not from the last delivery.
      deliveries.takeTime();
    };
    return await new Promise<Outcome>((resolve) => {
      try {
        questions.askAside(ticket, key, wait, (outcome, by) => {
          goesOn();
          answered?.(outcome, by);
          resolve(outcome);
        });
      } catch (error) {
        goesOn();
        throw error;
      }
    });
  }

  private async inProgress(
    ticket: RecordedTicket,
    key: string,
    work: (part: PartUnderWay) => Promise<Outcome>,
  ): Promise<Outcome> {
    ticket.effects += 1;
    ticket.fromRecord = false;
    if (!ticket.dropped) this.its.starts(ticket);
    return await inPart(ticket, parseKey(key).name ?? '', async (part) => {
      try {
        return await work(part);
      } finally {
        endPart(ticket, part);
        this.restsIfIdle(ticket);
      }
    });
  }
}

/** Whether the function has returned without waiting for a run that it started. One that waits for an answer starts such runs again. */
function isLeft({ due, outcome, dropped }: RecordedTicket): boolean {
  return !dropped && (due ?? outcome)?.ok === true;
}

const CUT_OFF: Outcome = { ok: false, error: toErrorData(stepCancelled()) };
