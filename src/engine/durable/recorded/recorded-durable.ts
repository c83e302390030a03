import { fromErrorData, plainError, toErrorData, type ErrorData } from '../../../base/errors.js';
import { isThenable } from '../../../base/at-once.js';
import type { InnerCall, SkeinEvent } from '../../../events/event.js';
import { cancelFree } from '../../../journal/cancelling.js';
import { encodeRecord } from '../../../journal/codec.js';
import { Journal, type JournalOwner } from '../../../journal/journal.js';
import type { Recorded } from '../../../journal/ledger.js';
import { giveBack, leaveFinished, type OpenSession } from '../../../journal/session.js';
import type { RunStanding } from '../../../journal/store.js';
import { waitId } from '../open-question.js';
import type { Durable, Effect, Outcome, Taker, Ticket, Wait } from '../../ports/durable.js';
import type { Identity, StepOptions } from '../../ports/recording.js';
import type { RunResult } from '../../run.js';
import { EventLog } from './logged-events.js';
import { openBudget, type RecordedBudget } from './recorded-budget.js';
import { RecordedInside } from './recorded-inside.js';
import { LostEffect } from './lost-effect.js';
import { RecordedQuestions, type RecordedOptions } from './recorded-questions.js';
import { RecordedStand } from './recorded-stand.js';
import { pastOf } from './recorded-outcomes.js';
import { RecordedTicket } from './recorded-ticket.js';
import { CancelWatch, RecordedTimers } from './recorded-timers.js';
import { StandingCount } from './standing.js';
import { failed, isUnanswered, writeOutcome } from './write-outcome.js';

/**
 * The back end with a journal (DESIGN.md section 5).
 *
 * - R1 An outcome is written, committed, and then delivered, in the order of writing (J5). So running code knows only outcomes that a crash
 * can't take away.
 * - R2 A recorded effect is not performed. It is delivered in its recorded order: of all tickets with an outcome, the one with the lowest
 * order comes first, and new outcomes come after all recorded ones (J3).
 * - R3 Nothing starts (no effect, no timer, no question to a person) before the run has caught up with its record, apart from effects whose
 * record a crash may have lost.
 * - R4 When only unanswered questions are left, each gets the outcome that nobody can answer it in this session; that is not recorded.
 */
export class RecordedDurable extends RecordedStand implements Durable, JournalOwner {
  private readonly journal: Journal;
  private readonly timers: RecordedTimers;
  private readonly questions: RecordedQuestions;
  readonly inside: RecordedInside;
  readonly budget: RecordedBudget | undefined;
  private readonly log: EventLog;
  private readonly count: StandingCount;
  /** Tickets whose outcome is written but not committed. */
  private uncommitted: RecordedTicket[] = [];
  /** Callbacks after the commit of everything written: start effects, or continue those inside others. */
  private starting: (() => void)[] = [];
  /** Effects that wait until the run has caught up with its record. */
  private afterReplay: (() => void)[] = [];
  private over = false;
  /** Why nothing more can be recorded. */
  private failure: ErrorData | undefined = undefined;
  private watch: CancelWatch | undefined = undefined;

  constructor(
    session: OpenSession,
    private readonly options: RecordedOptions = {},
  ) {
    super(session, options.clock);
    this.journal = new Journal(session.store, session.lease, session.end, this, this.clock);
    this.timers = new RecordedTimers(this.clock, session.ledger, this.journal, (ticket) =>
      this.settle(ticket, { ok: true, value: undefined }),
    );
    this.log = new EventLog(session.logs, this.journal);
    this.count = new StandingCount(session.before);
    const { journal, outcomes, deliveries, count, clock } = this;
    const stamped = (ticket: RecordedTicket, outcome: Outcome): Outcome => this.stamped(ticket, outcome);
    const shared = { journal, clock, outcomes, deliveries, owner: this, stamped };
    this.questions = new RecordedQuestions({ ...shared, session, count, options, taker: () => this.taker });
    const running = {
      starts: (ticket: RecordedTicket) => this.startRunning(ticket),
      stops: (ticket: RecordedTicket) => this.stopRunning(ticket),
      committed: (then: () => void) => this.starting.push(then),
    };
    const random = (key: string): number => this.random(key);
    this.inside = new RecordedInside({ ...shared, ...running, session, random, questions: this.questions });
    this.budget = openBudget(options.budget, { ...shared, ...running, session, inside: this.inside });
  }

  deliverTo(taker: Taker): void {
    this.taker = taker;
    this.deliveries.to(taker);
    this.watch = new CancelWatch({
      runId: this.runId,
      store: this.session.store,
      clock: this.clock,
      cancelled: () => this.options.onCancel?.(),
      broken: (error) => this.journal.fail(error),
    });
  }

  step(key: string, effect: Effect, options?: StepOptions): Ticket {
    const ticket = new RecordedTicket(key, this, options);
    ticket.id = options?.identity?.digest();
    const found = this.outcomes.find(ticket);
    if (found !== undefined) options?.identity?.reused?.(pastOf(found));
    if (found === undefined) this.begin(ticket, effect);
    else if (options?.cleanup === true) this.cleanUpAgain(ticket, found, effect);
    else if (found.record.inline === true) ticket.outcome = this.outcomes.outcomeOf(found.record);
    else this.reuse(ticket, found);
    return ticket;
  }

  timer(key: string, ms: number, fleeting = false, limited?: Identity): Ticket {
    const identity = limited ?? { digest: () => String(ms) };
    const ticket = new RecordedTicket(key, this, { identity });
    ticket.id = identity.digest();
    const found = this.outcomes.find(ticket);
    if (found !== undefined) identity.reused?.(found.record);
    if (found !== undefined) this.reuse(ticket, found);
    else {
      this.timers.start(ticket, ms, fleeting);
      this.deliveries.wake();
    }
    return ticket;
  }

  signal(key: string, wait: Wait): Ticket {
    const ticket = new RecordedTicket(key, this, undefined);
    ticket.id = waitId(wait);
    const found = this.questions.answered(ticket, wait);
    if (found === undefined) this.questions.open(ticket, ticket, wait, (outcome) => this.settle(ticket, outcome));
    else this.reuse(ticket, found);
    if (found !== undefined) this.questions.tellReplayed(wait, found.record);
    return ticket;
  }

  drop(ticket: Ticket): void {
    if (!(ticket instanceof RecordedTicket) || ticket.dropped) return;
    // The reason for a drop from outside, such as a cancelled run, happened at the current time.
    this.deliveries.takeTime();
    this.stopRunning(ticket);
    ticket.drop();
    this.budget?.close(ticket);
    this.deliveries.wake();
  }

  /** Logs what people may want to see of a run later; pass it to the run as a listener. */
  readonly listen = (event: SkeinEvent): void => {
    this.count.listen(event);
    this.log.listen(event);
  };

  /** Paths of steps that an earlier session ended without success; pass it to the run with the listener. */
  get failedBefore(): ReadonlySet<string> {
    return this.log.failedBefore;
  }

  innerCalls(path: string): readonly InnerCall[] {
    return this.log.innerCalls(path);
  }

  /**
   * Writes how the session ended and releases the run.
   *
   * @throws SkeinError `SKEIN_STORE`, `SKEIN_LEASE`, also if the error occurred earlier and the run had already ended
   */
  close({ outcome, census, error }: RunResult): void {
    if (this.failure !== undefined) throw fromErrorData(this.failure);
    this.stop();
    const at = this.clock.now();
    const { session, journal } = this;
    try {
      if (outcome === 'cancelled' && leaveFinished(session, journal)) return;
      const why = error && { error: plainError(error) };
      journal.write(encodeRecord({ t: 'end', at, outcome, census: { ...census }, ...why }));
      journal.close();
      session.store.release(session.lease, { outcome, endedAt: at, standing: this.standing(journal.batches, at) });
      // Requested after the last look for a request.
      const isOpen = outcome === 'paused' || outcome === 'out_of_budget';
      if (isOpen && session.store.run(this.runId)?.cancelRequested === true) cancelFree(session.store, this.runId);
    } catch (cause) {
      giveBack(session, at);
      throw cause;
    }
  }

  standing(batches: number, now = this.clock.now()): RunStanding {
    return this.count.standing(batches, this.taker?.stepsEnded ?? 0, now);
  }

  committed(): void {
    const { uncommitted, starting } = this;
    this.uncommitted = [];
    this.starting = [];
    this.deliveries.putCommitted(uncommitted);
    for (const start of starting) start();
    this.deliveries.pump();
  }

  broken(error: ErrorData): void {
    this.failure = error;
    this.stop();
    giveBack(this.session, this.clock.now());
    this.taker?.broken(error);
  }

  /** Delivers a recorded outcome in its recorded order (R2). */
  private reuse(ticket: RecordedTicket, { record, order }: Recorded): void {
    ticket.order = order;
    ticket.at = record.at;
    ticket.ran = record.ms ?? 0;
    ticket.replayed = true;
    ticket.due = this.outcomes.outcomeOf(record);
    this.deliveries.put(ticket);
  }

  /** Clean-up is performed on a replay, too. */
  private cleanUpAgain(ticket: RecordedTicket, found: Recorded, effect: Effect): void {
    this.reuse(ticket, found);
    const { due } = ticket;
    ticket.due = undefined;
    const done = (): void => {
      ticket.due = due;
      this.deliveries.wake();
    };
    new Promise((resolve) => resolve(effect.perform(ticket))).then(done, done);
  }

  private begin(ticket: RecordedTicket, effect: Effect): void {
    // An effect without a record may have been cut off by a timeout, a failure or an end that the replay reaches again.
    if (this.replaying && !isLosable(ticket)) {
      ticket.late = true;
      this.afterReplay.push(() => this.beginLate(ticket, effect));
      this.deliveries.wake();
      return;
    }
    if (ticket.dropped) return;
    const kind = ticket.options?.effect;
    const before = kind === 'once' ? this.session.ledger.started(ticket.key) : undefined;
    if (kind !== 'once' && kind !== 'idempotent') this.perform(ticket, effect);
    else if (before === undefined || before.asks !== undefined) this.performLater(ticket, effect);
    else void this.findOut(ticket, effect, new LostEffect(ticket, before));
  }

  private async findOut(ticket: RecordedTicket, effect: Effect, lost: LostEffect): Promise<void> {
    this.startRunning(ticket);
    try {
      const fate = await this.inside.findOut(ticket, lost, () => ticket.options?.stopsClock?.());
      if (fate !== 'perform') this.settle(ticket, fate);
      else if (!ticket.dropped && !this.over) this.performLater(ticket, effect);
    } catch (error) {
      this.settle(ticket, { ok: false, error: toErrorData(error) });
    }
  }

  /** What asked for the effect has returned, so an error is its outcome. */
  private beginLate(ticket: RecordedTicket, effect: Effect): void {
    try {
      this.begin(ticket, effect);
    } catch (error) {
      this.settle(ticket, { ok: false, error: toErrorData(error) });
    }
  }

  /** J6: commits the start before performing the effect. */
  private performLater(ticket: RecordedTicket, effect: Effect): void {
    const { key, id } = ticket;
    this.startRunning(ticket);
    this.journal.write(encodeRecord({ t: 'start', at: this.clock.now(), key, ...(id === undefined ? {} : { id }) }));
    this.starting.push(() => {
      if (!ticket.dropped && !this.over) this.perform(ticket, effect);
    });
  }

  private perform(ticket: RecordedTicket, effect: Effect): void {
    this.startRunning(ticket);
    ticket.startedAt = this.clock.now();
    try {
      const value: unknown = effect.perform(ticket);
      if (!isThenable(value)) this.settleAtOnce(ticket, { ok: true, value });
      else {
        value.then(
          (result) => this.settle(ticket, { ok: true, value: result }),
          (error: unknown) => this.settle(ticket, failed(ticket, error)),
        );
      }
    } catch (error) {
      this.settleAtOnce(ticket, failed(ticket, error));
    }
  }

  private settleAtOnce(ticket: RecordedTicket, outcome: Outcome): void {
    const { pure, losable } = ticket.options ?? {};
    if (ticket.late || (pure !== true && !(losable === true && outcome.ok))) {
      this.settle(ticket, outcome);
      return;
    }
    this.stopRunning(ticket);
    ticket.outcome = writeOutcome(this.journal, ticket, this.stamped(ticket, outcome), true);
  }

  private settle(ticket: RecordedTicket, given: Outcome): void {
    const outcome = this.budget?.ended(ticket) ?? given;
    this.stopRunning(ticket);
    if (ticket.dropped || this.over || ticket.due !== undefined) return;
    const stamped = this.stamped(ticket, outcome);
    const waits = isUnanswered(outcome);
    if (!waits) this.count.answered(ticket.key);
    ticket.due = waits ? outcome : writeOutcome(this.journal, ticket, stamped);
    this.budget?.told(ticket);
    if (!waits) this.uncommitted.push(ticket);
    else this.deliveries.put(ticket);
  }

  /** Nothing is left to deliver: the run has caught up with its record (R3), and may have only questions left (R4). */
  protected idle(): void {
    const waiting = this.afterReplay.splice(0);
    for (const begin of waiting) begin();
    this.timers.attend();
    const { waits } = this.questions;
    const { budget } = this;
    if (waits.size === 0 && budget?.waits !== true) return;
    waits.attend();
    if (this.isQuiet() && this.questions.foundNothing(() => this.look()) && budget?.giveUp() !== true) waits.giveUp();
  }

  /** Looks for changes of the budget and a request to cancel. Returns false if the run continues with them. */
  private look(): boolean {
    this.budget?.takeChanges();
    if (this.isQuiet()) this.watch?.look();
    return !this.over && this.isQuiet() && this.budget?.goesOn !== true;
  }

  private isQuiet(): boolean {
    if (this.running > 0 || this.timers.lasting || this.questions.waits.asking || this.inside.isAtWork) return false;
    // What waits for a commit starts right after it.
    return this.uncommitted.length === 0 && this.starting.length === 0 && this.deliveries.empty;
  }

  private stop(): void {
    this.over = true;
    this.deliveries.stop();
    this.watch?.stop();
    this.questions.waits.stop();
    this.budget?.stop();
  }
}

/** True if the outcome of a finished effect may be missing in the record. */
function isLosable({ options }: RecordedTicket): boolean {
  return options?.pure === true || options?.losable === true || options?.cleanup === true;
}
