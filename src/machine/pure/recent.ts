/** The newest of what was added, up to so many and so many bytes; and how many there ever were. */
export class Recent<T> {
  private kept: { readonly item: T; readonly bytes: number }[] = [];
  /** The first so many of `kept` are dropped: the list is cut when they are half of it. */
  private dropped = 0;
  private bytes = 0;
  private added = 0;

  constructor(
    private readonly most: number,
    private readonly mostBytes = Number.POSITIVE_INFINITY,
  ) {}

  /** How many were added. */
  get total(): number {
    return this.added;
  }

  get length(): number {
    return this.kept.length - this.dropped;
  }

  get last(): T | undefined {
    return this.length === 0 ? undefined : this.kept.at(-1)?.item;
  }

  /** @param bytes what it counts against the bound of bytes */
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

  /** There were at least so many, of which some are not known. */
  countAtLeast(total: number): void {
    this.added = Math.max(this.added, total);
  }

  /** What is kept, oldest first. */
  items(): T[] {
    return this.kept.slice(this.dropped).map(({ item }) => item);
  }
}
