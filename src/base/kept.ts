/** The kind of a kept value, which decides what may be appended without reading it. */
export type KeptKind = 'list' | 'object' | 'text' | 'other';

/** A stored value that is read once, when first needed. */
export class Kept {
  private read: { readonly value: unknown } | undefined = undefined;

  constructor(
    readonly kind: KeptKind,
    private readonly load: () => unknown,
    /** Loads at least this many of a list's last entries. Absent: the whole value is read for them. */
    private readonly loadEnd?: (count: number) => readonly unknown[],
  ) {}

  get isRead(): boolean {
    return this.read !== undefined;
  }

  /** @throws SkeinError the reason why it cannot be read */
  get value(): unknown {
    this.read ??= { value: this.load() };
    return this.read.value;
  }

  /** Returns at least this many of a list's last entries; if fewer, all of them. Does not read the whole list if it need not. */
  end(count: number): readonly unknown[] {
    return this.isRead || this.loadEnd === undefined ? (this.value as readonly unknown[]) : this.loadEnd(count);
  }
}

export function kindOf(value: unknown): KeptKind {
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' && value !== null ? 'object' : 'other';
}
