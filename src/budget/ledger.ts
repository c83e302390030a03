import { nodePathOf } from '../base/address.js';
import { madeOnce } from '../base/collections.js';
import { SkeinError } from '../base/errors.js';
import { changedBudget, type BudgetChange } from '../plan/budget.js';
import { Account, type Lack, type Limit, type Note, type Standing } from './account.js';
import { holdsAt } from './limits.js';
import { NO_AMOUNT, type Amount } from './amount.js';

export type { Lack, Limit, Standing } from './account.js';

/** A reservation for a cost. It is settled or cancelled once; later calls do nothing. */
export interface Reservation {
  /** `short`: the amount would not fit even if all other reservations were released. */
  readonly state: 'held' | 'waiting' | 'short';
  /** Resolves when a waiting reservation is held or turns out short. */
  readonly decided: Promise<void> | undefined;
  /** True if it waits for amounts that other runs hold under a shared limit. */
  readonly waitsForOthers: boolean;
  /** Why the reservation is short, or why it waits if it would not fit on its own. */
  readonly lack: Lack | undefined;
  /** Charges what a held reservation has spent, and releases the rest. */
  settle(spent: Amount): void;
  /** Releases the reservation. A waiting one leaves the line, and its `decided` never settles. */
  cancel(): void;
}

/**
 * The spending of a run under all limits that apply at a place. It reserves before and settles after a call, so that the sum of spent and
 * reserved amounts never exceeds a limit as long as no more is billed than was reserved. Three rules:
 *
 * - **B1** Reservations with the same limits form one line. The first of each line is served, in order of arrival: it is held if it fits.
 *   One that does not fit blocks later ones only from the limits that lack room for it.
 * - **B2** A reservation that would not fit if everything reserved were released is short, on arrival or once first. It blocks nobody.
 * - **B3** A waiting reservation waits only for what others hold, so every one is decided when those have ended.
 *
 * A tool that may reserve again below itself settles its own call before it begins; otherwise it would wait for itself.
 *
 * @example
 * const ledger = new BudgetLedger([{ name: 'run', path: '', budget: { calls: 1 } }]);
 * const first = ledger.reserve('review/critic', { usd: 0, tokens: 900, calls: 1, toolCalls: 0 });
 * first.state; // 'held'
 */
export class BudgetLedger {
  private readonly accounts: readonly Account[];
  private readonly lines = new Map<string, Line>();
  private readonly byNode = new Map<string, Line>();
  /** The lines of calls that nobody bills. */
  private readonly byPretender = new Map<string, Line>();
  /** Number of reservations requested so far. */
  private came = 0;

  /** `limits`: an outer limit precedes the limits inside it. */
  constructor(limits: readonly Limit[]) {
    this.accounts = limits.map((limit) => new Account(limit));
  }

  /** Charges spending that was not reserved, or that an earlier process made. `path`: address of the step. */
  charge(path: string, spent: Amount): void {
    for (const account of this.lineOf(path).accounts) if (!account.isShared) account.spend(spent);
    this.serve();
  }

  /**
   * Reserves an amount under every limit that applies to a step. `path`: its address, `review/loop#3/critic`. `pretended`: nobody bills it,
   * so shared limits do not apply. `note`: recorded with what is held under shared limits.
   */
  reserve(path: string, wanted: Amount, { pretended, note }: Reserved = {}): Reservation {
    const line = this.lineOf(path, pretended);
    for (const account of line.accounts) account.refresh();
    const entry = new Entry(line.accounts, { wanted, note }, (this.came += 1), () => this.serve());
    if (entry.mayFit()) {
      line.push(entry);
      this.serve();
      entry.waits();
    } else entry.decide('short');
    return entry;
  }

  /**
   * Changes a limit by its name, and serves the waiting reservations.
   *
   * @throws SkeinError `SKEIN_USAGE` if the limit does not exist or there is nothing to add to
   */
  raise(name: string, change: BudgetChange): void {
    const account = this.accounts.find((one) => one.name === name);
    if (account === undefined) {
      const known = this.accounts.map((one) => one.name).join(', ');
      throw new SkeinError('SKEIN_USAGE', `there is no budget ${JSON.stringify(name)}`, { hint: `known: ${known}` });
    }
    account.budget = changedBudget(account.budget, change);
    this.serve();
  }

  /** Reads the current counts of shared limits and serves the waiting reservations. Returns true if a count has changed. */
  refresh(): boolean {
    const changed = this.accounts.filter((account) => account.refresh());
    if (changed.length > 0) this.serve();
    return changed.length > 0;
  }

  /** The standing of all limits. An outer limit precedes the limits inside it. */
  standing(): readonly Standing[] {
    return this.accounts.flatMap((account) => account.standing());
  }

  /**
   * Rule B1. A reservation passed over in this pass stays so: each hold only takes room away. A hold may take it from one passed over, so
   * what those lack is looked up again for each later reservation.
   */
  private serve(): void {
    const open = new Set<Line>();
    for (const line of this.lines.values()) if (line.first() !== undefined) open.add(line);
    const passed: Entry[] = [];
    const barred = new Set<Account>();
    for (let line = earliest(open); line !== undefined; line = earliest(open)) {
      const first = line.first();
      if (first === undefined) {
        open.delete(line);
      } else if (!first.mayFit()) {
        first.decide('short');
      } else {
        for (const other of passed) for (const account of other.lacking()) barred.add(account);
        if (first.lacking().length === 0 && !line.accounts.some((account) => barred.has(account))) {
          const full = first.hold();
          if (full.length === 0) continue;
          for (const account of full) barred.add(account);
        }
        if (!first.mayFit()) continue;
        passed.push(first);
        open.delete(line);
      }
    }
  }

  private lineOf(path: string, pretended = false): Line {
    const node = nodePathOf(path);
    const nodes = pretended ? this.byPretender : this.byNode;
    return madeOnce(nodes, node, () => {
      const holding = this.accounts.filter((account) => holdsAt(account.path, node));
      const accounts = pretended ? holding.filter((account) => !account.isShared) : holding;
      const key = accounts.map((account) => this.accounts.indexOf(account)).join();
      return madeOnce(this.lines, key, () => new Line(accounts));
    });
  }
}

/** Further facts about a reservation. */
interface Reserved {
  readonly pretended?: boolean | undefined;
  readonly note?: Note | undefined;
}

function earliest(lines: Iterable<Line>): Line | undefined {
  let found: Line | undefined;
  let came = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const at = line.first()?.came ?? -1;
    if (at >= came) continue;
    found = line;
    came = at;
  }
  return found;
}

/** Reservations that wait for the same limits, in order of arrival. */
class Line {
  private entries: Entry[] = [];
  private at = 0;

  constructor(readonly accounts: readonly Account[]) {}

  push(entry: Entry): void {
    this.entries.push(entry);
  }

  /** Skips entries that no longer wait, and drops them once they are half of the line. */
  first(): Entry | undefined {
    let first = this.entries[this.at];
    while (first !== undefined && !first.isWaiting) first = this.entries[(this.at += 1)];
    if (this.at * 2 > this.entries.length) {
      this.entries = this.entries.slice(this.at);
      this.at = 0;
    }
    return first;
  }
}

class Entry implements Reservation {
  state: Reservation['state'] = 'waiting';
  decided: Promise<void> | undefined;
  private short: Lack | undefined;
  private isOver = false;
  private wake: (() => void) | undefined;
  /** Ends the hold under shared limits. */
  private settleShared: ((spent: Amount) => void) | undefined;
  readonly wanted: Amount;
  private readonly note: Note | undefined;

  constructor(
    private readonly accounts: readonly Account[],
    { wanted, note }: { readonly wanted: Amount; readonly note: Note | undefined },
    readonly came: number,
    private readonly changed: () => void,
  ) {
    this.wanted = wanted;
    this.note = note;
  }

  get lack(): Lack | undefined {
    return this.isWaiting ? this.tightest() : this.short;
  }

  get isWaiting(): boolean {
    return this.state === 'waiting' && !this.isOver;
  }

  mayFit(): boolean {
    return this.accounts.every((account) => account.mayFit(this.wanted));
  }

  /** The limits that lack room for it now. */
  lacking(): readonly Account[] {
    return this.accounts.filter((account) => !account.fits(this.wanted));
  }

  get waitsForOthers(): boolean {
    return this.isWaiting && this.accounts.some((account) => account.isHeldByOthers(this.wanted));
  }

  decide(state: 'held' | 'short'): void {
    this.state = state;
    if (state === 'short') this.short = this.tightest();
    this.wake?.();
  }

  /** Holds the amount unless another run was faster. Returns the limits that may be out of room. */
  hold(): readonly Account[] {
    const { wanted, accounts } = this;
    const shared = accounts.flatMap((account) => account.shared ?? []);
    const [first] = shared;
    this.settleShared = first?.count.book.hold(wanted, shared, this.note);
    if (first !== undefined && this.settleShared === undefined) return accounts.filter((account) => account.isShared);
    for (const account of accounts) account.hold(wanted);
    this.decide('held');
    return [];
  }

  /** Called if the reservation was not decided at once. */
  waits(): void {
    if (this.state !== 'waiting') return;
    this.decided = new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  settle(spent: Amount): void {
    this.end(spent);
  }

  cancel(): void {
    this.end(NO_AMOUNT);
  }

  private end(spent: Amount): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.state === 'held') {
      for (const account of this.accounts) account.settle(this.wanted, spent);
      this.settleShared?.(spent);
    }
    this.changed();
  }

  /** Of equally tight limits, the outer one. */
  private tightest(): Lack | undefined {
    let found: (Lack & { readonly share: number }) | undefined;
    for (const account of this.accounts)
      for (const lack of account.lacks(this.wanted)) if (found === undefined || lack.share < found.share) found = lack;
    if (found === undefined) return undefined;
    const { share: _share, ...lack } = found;
    return lack;
  }
}
