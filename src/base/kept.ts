/** What sort of value is kept: what may be added to it without a look at it. */
export type KeptKind = 'list' | 'object' | 'text' | 'other';

/** A value that is kept somewhere and read when somebody asks for it, once. */
export class Kept {
  private read: { readonly value: unknown } | undefined = undefined;

  constructor(
    readonly kind: KeptKind,
    private readonly load: () => unknown,
    /** Loads so many of the last entries of a list, or more. Absent: the whole is read for them. */
    private readonly loadEnd?: (count: number) => readonly unknown[],
  ) {}

  get isRead(): boolean {
    return this.read !== undefined;
  }

  /** @throws SkeinError what keeps it from being read */
  get value(): unknown {
    this.read ??= { value: this.load() };
    return this.read.value;
  }

  /** At least so many of the last entries of a list; fewer are all of them. The whole is not read for that. */
  end(count: number): readonly unknown[] {
    return this.isRead || this.loadEnd === undefined ? (this.value as readonly unknown[]) : this.loadEnd(count);
  }
}

/** The sort of a value. */
export function kindOf(value: unknown): KeptKind {
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' && value !== null ? 'object' : 'other';
}
