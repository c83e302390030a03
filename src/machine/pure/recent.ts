/** Keeps the newest entries up to a maximum number and size in bytes, and counts all that were added. */
export class Recent<T> {
  private kept: { readonly item: T; readonly bytes: number }[] = [];
  /** Number of entries at the start of `kept` that are dropped. The list is cut when they make up half of it. */
  private dropped = 0;
  private bytes = 0;
  private added = 0;

  constructor(
    private readonly most: number,
    private readonly mostBytes = Number.POSITIVE_INFINITY,
  ) {}

  /** Number of entries ever added. */
  get total(): number {
    return this.added;
  }

  get length(): number {
    return this.kept.length - this.dropped;
  }

  get last(): T | undefined {
    return this.length === 0 ? undefined : this.kept.at(-1)?.item;
  }

  /** @param bytes the size of the entry, which counts toward the limit */
  add(item: T, bytes = 0): void {
    this.kept.push({ item, bytes });
    this.bytes += bytes;
    this.added += 1;
    while (this.length > this.most || this.bytes > this.mostBytes) {
      this.bytes -= this.kept[this.dropped]?.bytes ?? 0;
      this.dropped += 1;
    }
    if (this.dropped * 2 <= this.kept.length) return;
    this.kept = this.kept.slice(this.dropped);
    this.dropped = 0;
  }

  /** Raises the total to at least this number, for entries that are not known. */
  countAtLeast(total: number): void {
    this.added = Math.max(this.added, total);
  }

  /** Returns the kept entries, oldest first. */
  items(): T[] {
    return this.kept.slice(this.dropped).map(({ item }) => item);
  }
}
