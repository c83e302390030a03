import { moreName, stepOf } from '../../base/address.js';
import { fromErrorData, SkeinError, stepCancelled } from '../../base/errors.js';
import type { Amount } from '../../budget/amount.js';
import { NO_AMOUNT } from '../../budget/amount.js';
import type { Lack, Limit, Reservation, Standing } from '../../budget/ledger.js';
import { BudgetLedger } from '../../budget/ledger.js';
import { limitName, moreIn, moreQuestion } from '../../budget/lack-text.js';
import type { Budget, BudgetChange } from '../../plan/budget.js';
import { AliveTime, isBelow } from './alive-time.js';
import { budgetError, cheaperModel, shortOutcome } from './budget-errors.js';
import type { RecordedNote } from './hold.js';
import { Hold } from './hold.js';
import type { Held, Outcome, Question, Reserve, Reserving } from '../ports/durable.js';

/** An effect that spends. */
export interface Spender {
  readonly key: string;
  readonly dropped: boolean;
  /** A budget has not enough: however the effect ends, it counts as not done. */
  short: Outcome | undefined;
  /** What it holds; undefined for nothing. */
  holds: Set<Hold> | undefined;
  /** What is settled when its outcome is written. */
  ends?: (() => void)[] | undefined;
}

/** Something that goes on only when nothing else of its run does. */
export interface Stand {
  /** Nothing else runs. */
  readonly alone: () => void;
  /** The one that waits was dropped. */
  readonly dropped: (error: SkeinError) => void;
  /** It waits for something outside of its run, or for no more than its turn, and so it goes on. */
  readonly goesOn?: () => boolean;
  /** It is told before others are: what waits for budget, before questions. */
  readonly first?: true;
}

/** What the budget of a run needs of its back end. */
export interface BudgetHost<S extends Spender> {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds in which earlier sessions worked at a place. Absent: there were none. */
  workedBefore?(path: string): number;
  /** An effect waits until nothing else goes on (R4). */
  stand(spender: S, stand: Stand): void;
  /** It does not wait any more. */
  leave(spender: S, stand: Stand): void;
  /** What it reserved is under way: while that is so, the effect does not only wait. */
  begins(spender: S): void;
  ends(spender: S): void;
  /** Asks a person. */
  ask(spender: S, name: string, question: Question): Promise<unknown>;
  /** What is recorded of it. Absent: nothing. */
  record?(spender: S, wanted: Reserving): RecordedNote;
}

/**
 * What a run may spend (`budget/ledger.ts`), as its effects meet it: they reserve before they spend and settle after. An effect for which a limit has
 * not enough waits in line while others hold some; then `onLimit` of that limit decides. With `pause` it waits on, until the limit is raised or nothing else
 * of the run goes on (R4): then its step ends, and with it the run.
 */
export class RunBudget<S extends Spender> {
  private readonly ledger: BudgetLedger;
  private readonly strict: boolean;
  /** How long each limit was worked under. */
  private readonly alive: readonly AliveTime[];
  private readonly waiting = new Set<Waiting<S>>();
  /** Limits of which a person is asked. */
  private readonly asked = new Set<string>();

  /** `around`: the run is part of an effect of another one, and spends its budget, too. */
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

  /** What was spent before. */
  charge(path: string, spent: Amount): void {
    this.ledger.charge(path, spent);
  }

  /** An effect runs, or does not only wait any more. */
  works(key: string): void {
    for (const one of this.alive) if (isBelow(key, one.path)) one.begins();
  }

  /** It has ended, or waits. */
  rests(key: string): void {
    for (const one of this.alive) if (isBelow(key, one.path)) one.ends();
  }

  /** Whether a limit stands for something of an amount. */
  counts(amount: Amount): boolean {
    return this.around !== undefined || this.limits.some(({ budget }) => isLimited(budget, amount));
  }

  standing(): readonly Standing[] {
    return this.ledger.standing();
  }

  /** Changes a limit. Those for which it had not enough ask again, in their order. */
  raise(limit: string, change: BudgetChange): void {
    this.ledger.raise(limit, change);
    this.askAgain();
  }

  /** Looks at what other runs have spent and given back since, where somebody waits. */
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
   * Resolves when the amount is held.
   *
   * @throws SkeinError `SKEIN_BUDGET` when there is not enough, `SKEIN_BUDGET_MODEL` when a cheaper model is to be asked, `SKEIN_CANCELLED`
   */
  private async reserve(spender: S, wanted: Reserving): Promise<Held> {
    if (spender.short?.ok === false) throw fromErrorData(spender.short.error);
    const path = stepOf(spender.key);
    if (wanted.unpriced === true) this.checkPrice(path, wanted);
    const note = this.host.record?.(spender, wanted);
    const reserved = { pretended: wanted.pretended, note };
    let reservation = this.ledger.reserve(path, wanted.amount, reserved);
    if (reservation.state !== 'held') reservation = await this.wait({ spender, path, wanted, reserved, reservation });
    let outer: Held | undefined;
    // What is recorded with the rows of a store is settled with the record of what it gave.
    const isTold = wanted.told === true && note?.isWritten === true;
    try {
      const { told: _told, ...inner } = wanted;
      outer = await this.around?.(inner);
      await note?.committed();
    } catch (error) {
      note?.ended(undefined);
      reservation.cancel();
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

  /** The run around has not enough: so this one has not. */
  private refused(spender: S, error: unknown): unknown {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_BUDGET') spender.short = shortOutcome(error);
    return error;
  }

  private async wait(open: Omit<Waiting<S>, keyof Decision>): Promise<Reservation> {
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

  /** Nothing else of the run goes on. What it waited for may be held by what waits for it. */
  private alone(one: Waiting<S>): void {
    if (one.reservation.state !== 'waiting' || !this.meet(one)) this.refuse(one);
  }

  /** Does what the limit says for the case that there is not enough. False: it goes on waiting. */
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

  /** One of those that wait asks; the others go on waiting. */
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

  /** The effect has ended: what it still holds counts as spent. */
  close(spender: S): void {
    for (const hold of spender.holds ?? []) hold.settle(hold.amount);
    if (spender.dropped) this.told(spender);
  }

  /** The outcome of the effect is written, or nobody takes it any more. */
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

/** An effect that waits. */
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
