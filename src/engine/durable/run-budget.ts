import { moreName, stepOf } from '../../base/address.js';
import { fromErrorData, SkeinError, stepCancelled } from '../../base/errors.js';
import { NO_AMOUNT, type Amount } from '../../budget/amount.js';
import { BudgetLedger, type Lack, type Limit, type Reservation, type Standing } from '../../budget/ledger.js';
import { limitName, moreIn, moreQuestion } from '../../budget/lack-text.js';
import type { Budget, BudgetChange } from '../../plan/budget.js';
import { AliveTime, isBelow } from './alive-time.js';
import { budgetError, cheaperModel, shortOutcome } from './budget-errors.js';
import { Hold, type RecordedNote } from './hold.js';
import type { Held, Outcome, Question, Reserve, Reserving } from '../ports/durable.js';

/** An effect that spends. */
export interface Spender {
  readonly key: string;
  readonly dropped: boolean;
  /** True once the effect has ended. Runs that its function left behind may still spend, but wait for nothing. */
  readonly isOver: boolean;
  /** Set if a budget is short: the effect then counts as not done, however it ends. */
  short: Outcome | undefined;
  /** Its reservations; undefined if there are none. */
  holds: Set<Hold> | undefined;
  /** Callbacks to settle when its outcome is written. */
  ends?: (() => void)[] | undefined;
}

/** Something that continues only when nothing else in its run does. */
export interface Stand {
  /** Called when nothing else runs. */
  readonly alone: () => void;
  /** Called when its effect was dropped. */
  readonly dropped: (error: SkeinError) => void;
  /** Returns true if it waits for something outside its run, or only for its turn, and therefore keeps waiting. */
  readonly goesOn?: () => boolean;
  /** True if it is called before others: waits for budget come before questions. */
  readonly first?: true;
}

/** The services that the budget of a run needs from its back end. */
export interface BudgetHost<S extends Spender> {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds in which earlier sessions worked at a place. Absent if there were none. */
  workedBefore?(path: string): number;
  /** Makes an effect wait until nothing else continues (R4). */
  stand(spender: S, stand: Stand): void;
  /** Ends such a wait. */
  leave(spender: S, stand: Stand): void;
  /** Work under a reservation begins: until it ends, the effect does not only wait. */
  begins(spender: S): void;
  ends(spender: S): void;
  /** An effect waits for the budget of the run around this one. Returns a function to call when the wait ends. */
  waits?(spender: S): (() => void) | undefined;
  /** Asks a person. */
  ask(spender: S, name: string, question: Question): Promise<unknown>;
  /** Creates the record of a reservation. Absent if nothing is recorded. */
  record?(spender: S, wanted: Reserving): RecordedNote;
}

/**
 * The budget of a run (`budget/ledger.ts`) for its effects: they reserve before they spend and settle after. An effect over a limit waits
 * in line while others hold some of it; then `onLimit` of that limit decides. With `pause` it keeps waiting until the limit is raised or
 * nothing else in the run continues (R4): then its step ends, and the run with it.
 */
export class RunBudget<S extends Spender> {
  private readonly ledger: BudgetLedger;
  private readonly strict: boolean;
  /** Working time under each limit. */
  private readonly alive: readonly AliveTime[];
  private readonly waiting = new Set<Waiting<S>>();
  /** Limits about which a person is being asked. */
  private readonly asked = new Set<string>();

  /** `around`: set if the run is part of an effect of another run, whose budget it also spends. */
  constructor(
    private readonly limits: readonly Limit[],
    private readonly host: BudgetHost<S>,
    private readonly around?: Reserve,
  ) {
    const before = (path: string): number => host.workedBefore?.(path) ?? 0;
    this.alive = limits.map(
      ({ path }) =>
        new AliveTime(
          path,
          () => host.now(),
          () => before(path),
        ),
    );
    this.ledger = new BudgetLedger(limits.map((limit, at) => ({ ...limit, worked: () => this.alive[at]?.ms ?? 0 })));
    this.strict = around?.strict === true || limits.some(({ budget }) => budget.strict === true);
  }

  /** Adds earlier spending. */
  charge(path: string, spent: Amount): void {
    this.ledger.charge(path, spent);
  }

  /** An effect runs, or no longer only waits. */
  works(key: string): void {
    for (const one of this.alive) if (isBelow(key, one.path)) one.begins();
  }

  /** An effect has ended, or waits. */
  rests(key: string): void {
    for (const one of this.alive) if (isBelow(key, one.path)) one.ends();
  }

  /** Whether a limit applies to any part of an amount. */
  counts(amount: Amount): boolean {
    return this.around !== undefined || this.limits.some(({ budget }) => isLimited(budget, amount));
  }

  standing(): readonly Standing[] {
    return this.ledger.standing();
  }

  /** Changes a limit. Effects waiting for it try again, in their order. */
  raise(limit: string, change: BudgetChange): void {
    this.ledger.raise(limit, change);
    this.askAgain();
  }

  /** Reads what other runs have spent and released since, if an effect waits. */
  refresh(): void {
    if (this.waiting.size > 0 && this.ledger.refresh()) this.askAgain();
  }

  private askAgain(): void {
    for (const one of this.waiting) {
      if (one.reservation.state !== 'short') continue;
      one.reservation = this.ledger.reserve(one.path, one.wanted.amount, one.reserved);
      this.watch(one);
    }
  }

  reserveFor(spender: S): Reserve {
    return Object.assign((wanted: Reserving) => this.reserve(spender, wanted), { strict: this.strict });
  }

  /**
   * Resolves when the amount is reserved.
   *
   * @throws SkeinError `SKEIN_BUDGET` if not enough is left, `SKEIN_BUDGET_MODEL` if a cheaper model must be called, `SKEIN_CANCELLED`
   */
  private async reserve(spender: S, wanted: Reserving): Promise<Held> {
    if (spender.short?.ok === false) throw fromErrorData(spender.short.error);
    const path = stepOf(spender.key);
    if (wanted.unpriced === true) this.checkPrice(path, wanted);
    const note = this.host.record?.(spender, wanted);
    const reserved = { pretended: wanted.pretended, note };
    let reservation = this.ledger.reserve(path, wanted.amount, reserved);
    if (reservation.state !== 'held') reservation = await this.wait({ spender, path, wanted, reserved, reservation });
    // From here on, the effect does not only wait: the reservation only needs to be recorded.
    this.host.begins(spender);
    let outer: Held | undefined;
    // A reservation recorded in a store's rows is settled with the record of the result.
    const isTold = wanted.told === true && note?.isWritten === true;
    try {
      const { told: _told, ...inner } = wanted;
      outer = await this.around?.({ ...inner, waits: (lack) => this.waitsAround(spender, inner, lack) });
      await note?.committed();
    } catch (error) {
      note?.ended(undefined);
      reservation.cancel();
      this.host.ends(spender);
      throw outer === undefined ? this.refused(spender, error) : error;
    }
    const hold = new Hold(wanted.amount, {
      settle: (amount) => {
        note?.ended(amount);
        if (isTold && !spender.dropped) (spender.ends ??= []).push(() => reservation.settle(amount));
        else reservation.settle(amount);
        outer?.settle(amount);
        spender.holds?.delete(hold);
      },
      begins: () => this.host.begins(spender),
      ends: () => this.host.ends(spender),
    });
    this.host.ends(spender);
    (spender.holds ??= new Set()).add(hold);
    if (wanted.atOnce === true) hold.settle(wanted.amount);
    if (!spender.dropped) return hold;
    note?.ended(undefined);
    hold.settle(NO_AMOUNT);
    throw stepCancelled();
  }

  /** @throws SkeinError `SKEIN_USAGE` */
  private checkPrice(path: string, { model = 'the model' }: Reserving): void {
    const limit = this.limits.find(
      ({ path: at, budget }) => budget.usd !== undefined && budget.unpriced !== 'allow' && isBelow(path, at),
    );
    if (limit === undefined) return;
    throw new SkeinError('SKEIN_USAGE', `the price of ${model} is unknown, and ${limitName(limit)} limits dollars`, {
      hint: 'give its price with prices, limit tokens or calls instead, or say unpriced: allow',
    });
  }

  private waitsAround(spender: S, { waits }: Reserving, lack: Lack | undefined): () => void {
    const goesOn = this.host.waits?.(spender);
    const over = waits?.(lack);
    return () => {
      goesOn?.();
      over?.();
    };
  }

  /** If the surrounding run is short of budget, this one is, too. */
  private refused(spender: S, error: unknown): unknown {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_BUDGET') spender.short = shortOutcome(error);
    return error;
  }

  private async wait(open: Omit<Waiting<S>, keyof Decision>): Promise<Reservation> {
    if (open.spender.isOver) {
      open.reservation.cancel();
      throw stepCancelled();
    }
    const over = open.wanted.waits?.(open.reservation.lack);
    try {
      return await new Promise((held, refused) => {
        const one: Waiting<S> = {
          ...open,
          held,
          refused,
          stand: {
            first: true,
            alone: () => this.alone(one),
            dropped: (error) => this.end(one, () => refused(error)),
            goesOn: () => one.reservation.state === 'held' || one.reservation.waitsForOthers,
          },
        };
        this.waiting.add(one);
        this.host.stand(one.spender, one.stand);
        this.watch(one);
      });
    } finally {
      over?.();
    }
  }

  private watch(one: Waiting<S>): void {
    const { reservation } = one;
    if (!this.waiting.has(one)) reservation.cancel();
    else if (reservation.state === 'held') this.end(one, () => one.held(reservation), false);
    else if (reservation.state === 'short') this.meet(one);
    else void reservation.decided?.then(() => one.reservation === reservation && this.watch(one));
  }

  /** Nothing else in the run continues. What the effect waited for may be held by effects that wait for it. */
  private alone(one: Waiting<S>): void {
    if (one.reservation.state !== 'waiting' || !this.meet(one)) this.refuse(one);
  }

  /** Applies the limit's rule for a shortage. Returns false if the effect keeps waiting. */
  private meet(one: Waiting<S>): boolean {
    const { lack } = one.reservation;
    if (lack === undefined) return false;
    const { onLimit } = lack;
    if (onLimit === 'stop') this.refuse(one);
    else if (onLimit === 'ask') return this.askMore(one, lack);
    else if (onLimit !== 'pause' && one.wanted.model !== undefined && one.wanted.model !== onLimit.model)
      this.end(one, () => one.refused(cheaperModel(lack, onLimit.model)));
    else return false;
    return true;
  }

  private refuse(one: Waiting<S>): void {
    const { lack } = one.reservation;
    const error = budgetError(lack);
    one.spender.short = shortOutcome(error);
    this.end(one, () => one.refused(error));
  }

  /** One of the waiting effects asks; the others keep waiting. */
  private askMore(one: Waiting<S>, lack: Lack): boolean {
    const { name, measure } = lack;
    if (this.asked.has(name)) return false;
    this.asked.add(name);
    const { host } = this;
    host.leave(one.spender, one.stand);
    const answered = host.ask(one.spender, moreName(name, measure), moreQuestion(lack));
    void answered
      .finally(() => this.asked.delete(name))
      .then(
        (answer) => {
          if (!this.waiting.has(one)) return;
          const more = moreIn(measure, answer);
          host.stand(one.spender, one.stand);
          if (more === undefined) this.refuse(one);
          else this.raise(name, more);
        },
        (error: unknown) => {
          if (SkeinError.isInstance(error) && error.code !== 'SKEIN_QUESTION') this.end(one, () => one.refused(error));
          else this.refuse(one);
        },
      );
    return true;
  }

  private end(one: Waiting<S>, tell: () => void, gives = true): void {
    if (!this.waiting.delete(one)) return;
    if (gives) one.reservation.cancel();
    this.host.leave(one.spender, one.stand);
    tell();
  }

  /** The effect has ended: its remaining reservations count as spent, and nothing of it waits. */
  close(spender: S): void {
    for (const one of this.waiting) if (one.spender === spender) this.end(one, () => one.refused(stepCancelled()));
    for (const hold of spender.holds ?? []) hold.settle(hold.amount);
    if (spender.dropped) this.told(spender);
  }

  /** The outcome of the effect is written, or no longer needed. */
  told(spender: S): void {
    const { ends } = spender;
    if (ends === undefined) return;
    spender.ends = undefined;
    for (const end of ends) end();
  }
}

function isLimited(budget: Budget, amount: Amount): boolean {
  return (['usd', 'tokens', 'calls', 'toolCalls'] as const).some((one) => budget[one] !== undefined && amount[one] > 0);
}

/** A waiting effect. */
interface Waiting<S> extends Decision {
  readonly spender: S;
  readonly path: string;
  readonly wanted: Reserving;
  readonly reserved: { readonly pretended: true | undefined; readonly note: RecordedNote | undefined };
  reservation: Reservation;
}

interface Decision {
  readonly stand: Stand;
  readonly held: (reservation: Reservation) => void;
  readonly refused: (error: Error) => void;
}
