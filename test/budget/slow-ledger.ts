/** What one measure of a reservation or of a limit is here: billionths of a dollar, or whole numbers. */
export type Some = Readonly<Record<'usd' | 'tokens' | 'calls' | 'toolCalls', bigint | undefined>>;

export interface SlowEntry {
  readonly path: string;
  readonly wanted: Some;
  state: 'waiting' | 'held' | 'short' | 'over';
  spent: Some;
}

export interface SlowLimit {
  readonly path: string;
  limits: Some;
}

export const NOTHING: Some = { usd: 0n, tokens: 0n, calls: 0n, toolCalls: 0n };
const MEASURES = ['usd', 'tokens', 'calls', 'toolCalls'] as const;

/** The rules of the ledger, word by word, in the plainest way: everything is counted anew each time. */
export class SlowLedger {
  readonly entries: SlowEntry[] = [];

  constructor(readonly limits: readonly SlowLimit[]) {}

  reserve(path: string, wanted: Some): SlowEntry {
    const entry: SlowEntry = { path, wanted, state: 'waiting', spent: NOTHING };
    this.entries.push(entry);
    if (!this.mayFit(entry)) entry.state = 'short';
    this.serve();
    return entry;
  }

  end(entry: SlowEntry, spent: Some): void {
    entry.state = 'over';
    entry.spent = spent;
    this.serve();
  }

  /** B1 and B2: one decision after the other, each time from the beginning. */
  serve(): void {
    while (this.decideOne());
  }

  private decideOne(): boolean {
    const barred = new Set<SlowLimit>();
    for (const entry of this.firsts()) {
      if (!this.mayFit(entry)) {
        entry.state = 'short';
        return true;
      }
      const full = this.over(entry).filter((limit) => !this.hasRoom(limit, entry, true));
      if (full.length === 0 && !this.over(entry).some((limit) => barred.has(limit))) {
        entry.state = 'held';
        return true;
      }
      for (const limit of full) barred.add(limit);
    }
    return false;
  }

  /** The first of each line, in the order in which they came. */
  private firsts(): readonly SlowEntry[] {
    const seen = new Set<string>();
    return this.entries.filter((entry) => {
      const line = this.over(entry)
        .map((limit) => this.limits.indexOf(limit))
        .join();
      if (entry.state !== 'waiting' || seen.has(line)) return false;
      seen.add(line);
      return true;
    });
  }

  over({ path }: SlowEntry): readonly SlowLimit[] {
    const ids = path.replaceAll(/\[[^\]]*\]|[#~]\d+/g, '').split('/');
    return this.limits.filter(
      (limit) => limit.path === '' || limit.path.split('/').every((id, depth) => ids[depth] === id),
    );
  }

  private mayFit(entry: SlowEntry): boolean {
    return this.over(entry).every((limit) => this.hasRoom(limit, entry, false));
  }

  fits(entry: SlowEntry): boolean {
    return this.over(entry).every((limit) => this.hasRoom(limit, entry, true));
  }

  private hasRoom(limit: SlowLimit, { wanted }: SlowEntry, beside: boolean): boolean {
    return MEASURES.every((measure) => {
      const [most, some] = [limit.limits[measure], wanted[measure] ?? 0n];
      const used = this.spent(limit, measure) + (beside ? this.reserved(limit, measure) : 0n);
      return most === undefined || some === 0n || used + some <= most;
    });
  }

  spent(limit: SlowLimit, measure: keyof Some): bigint {
    return this.sum(limit, (entry) => entry.spent[measure]);
  }

  reserved(limit: SlowLimit, measure: keyof Some): bigint {
    return this.sum(limit, (entry) => (entry.state === 'held' ? entry.wanted[measure] : 0n));
  }

  private sum(limit: SlowLimit, of: (entry: SlowEntry) => bigint | undefined): bigint {
    const below = this.entries.filter((entry) => this.over(entry).includes(limit));
    return below.reduce((sum, entry) => sum + (of(entry) ?? 0n), 0n);
  }
}
