import { nodePathOf } from '../base/address.js';
import { SkeinError } from '../base/errors.js';
import type { BudgetChange } from '../plan/budget.js';
import { changedBudget } from '../plan/budget.js';
import { Account } from './account.js';
import type { Lack, Limit, Note, Standing } from './account.js';
import { holdsAt } from './limits.js';
import type { Amount } from './amount.js';
import { NO_AMOUNT } from './amount.js';

export type { Lack, Limit, Standing } from './account.js';

/** What is held for something that costs. It is settled or cancelled once; after that, neither does anything. */
export interface Reservation {
  /** `short`: it does not fit, even if all that others hold came back. */
  readonly state: 'held' | 'waiting' | 'short';
  /** Resolves when one that waits is held, or turns out short. */
  readonly decided: Promise<void> | undefined;
  /** It waits for what other runs hold under a limit that they share. */
  readonly waitsForOthers: boolean;
  /** Why it is short, or why it waits where it would not fit by itself. */
  readonly lack: Lack | undefined;
  /** What was spent in truth, whether it was held or not; the rest is given back. */
  settle(spent: Amount): void;
  /** Gives back; one that waits leaves the line, and its `decided` stays open. */
  cancel(): void;
}

/**
 * What a run spends, under all limits that hold at a place. It reserves before and settles after, so that what is spent and reserved
 * together never passes a limit as long as no more is billed than was reserved. Three rules:
 *
 * - **B1** Those with the same limits stand in one line. The first of each line is looked at, in the order in which they came: one that fits is held.
 *   One that does not keeps those behind it from the limits that lack room for it, and from no others.
 * - **B2** One that would not fit even if all that is reserved came back is short: when it comes, or as soon as it is the first. It holds nobody up.
 * - **B3** Whoever waits, waits for what others hold; so every one is decided when those have ended.
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
  /** Those of calls that nobody bills. */
  private readonly byPretender = new Map<string, Line>();
  /** How many reservations were asked for. */
  private came = 0;

  /** `limits`: the outer one before those inside of it. */
  constructor(limits: readonly Limit[]) {
    this.accounts = limits.map((limit) => new Account(limit));
  }

  /** Counts what was spent unreserved, or by an earlier process. `path`: address of the step. */
  charge(path: string, spent: Amount): void {
    for (const account of this.lineOf(path).accounts) if (!account.isShared) account.spend(spent);
    this.serve();
  }

  /**
   * Asks for room under every limit that holds at a step. `path`: its address, `review/loop#3/critic`. `pretended`: nobody bills it, so that limits which
   * other runs share do not hold. `note`: what is recorded with what is held under such limits.
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
   * Changes a limit by its name, and serves those that wait.
   *
   * @throws SkeinError `SKEIN_USAGE` when there is no such limit, or nothing to add to
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

  /** Asks how limits stand that other runs share, and serves those that wait; says whether anything has changed. */
  refresh(): boolean {
    const changed = this.accounts.filter((account) => account.refresh());
    if (changed.length > 0) this.serve();
    return changed.length > 0;
  }

  /** How all limits stand, the outer one before those inside of it. */
  standing(): readonly Standing[] {
    return this.accounts.flatMap((account) => account.standing());
  }

  /** Rule B1. Who was passed over stays passed over: what is held only takes room away. */
  private serve(): void {
    const open = new Set<Line>();
    for (const line of this.lines.values()) if (line.first() !== undefined) open.add(line);
    const barred = new Set<Account>();
    for (let line = earliest(open); line !== undefined; line = earliest(open)) {
      const { accounts } = line;
      const first = line.first();
      if (first === undefined) {
        open.delete(line);
      } else if (!first.mayFit()) {
        first.decide('short');
      } else {
        let full: readonly Account[] = accounts.filter((account) => !account.fits(first.wanted));
        if (full.length === 0 && !accounts.some((account) => barred.has(account))) {
          full = first.hold();
          if (full.length === 0) continue;
        }
        for (const account of full) barred.add(account);
        if (first.mayFit()) open.delete(line);
      }
    }
  }

  private lineOf(path: string, pretended = false): Line {
    const node = nodePathOf(path);
    const nodes = pretended ? this.byPretender : this.byNode;
    let line = nodes.get(node);
    if (line === undefined) {
      const holding = this.accounts.filter((account) => holdsAt(account.path, node));
      const accounts = pretended ? holding.filter((account) => !account.isShared) : holding;
      const key = accounts.map((account) => this.accounts.indexOf(account)).join();
      line = this.lines.get(key) ?? new Line(accounts);
      this.lines.set(key, line);
      nodes.set(node, line);
    }
    return line;
  }
}

/** What else is known of something that is reserved. */
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

/** Those that wait for the same limits, in the order in which they came. */
class Line {
  private entries: Entry[] = [];
  private at = 0;

  constructor(readonly accounts: readonly Account[]) {}

  push(entry: Entry): void {
    this.entries.push(entry);
  }

  /** Those that do not wait any more are passed over, and dropped when they are half of the line. */
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
  /** What ends that it is held under limits that runs share. */
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

  get waitsForOthers(): boolean {
    return this.isWaiting && this.accounts.some((account) => account.isHeldByOthers(this.wanted));
  }

  decide(state: 'held' | 'short'): void {
    this.state = state;
    if (state === 'short') this.short = this.tightest();
    this.wake?.();
  }

  /** It is held, unless another run was quicker: gives the limits that may have no room. */
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

  /** It was not decided at once. */
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
    } else if (spent !== NO_AMOUNT) for (const account of this.accounts) account.spend(spent);
    this.changed();
  }

  /** The first of equals is the outer one. */
  private tightest(): Lack | undefined {
    let found: (Lack & { readonly share: number }) | undefined;
    for (const account of this.accounts)
      for (const lack of account.lacks(this.wanted)) if (found === undefined || lack.share < found.share) found = lack;
    if (found === undefined) return undefined;
    const { share: _share, ...lack } = found;
    return lack;
  }
}
