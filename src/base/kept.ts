/** What sort of value is kept: what may be added to it without a look at it. */
export type KeptKind = 'list' | 'object' | 'text' | 'other';

/** A value that is kept somewhere and read when somebody asks for it, once. */
export class Kept {
  private read: { readonly value: unknown } | undefined = undefined;

  constructor(
    readonly kind: KeptKind,
    private readonly load: () => unknown,
  ) {}

  get isRead(): boolean {
    return this.read !== undefined;
  }

  /** @throws SkeinError what keeps it from being read */
  get value(): unknown {
    this.read ??= { value: this.load() };
    return this.read.value;
  }
}

/** The sort of a value. */
export function kindOf(value: unknown): KeptKind {
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' && value !== null ? 'object' : 'other';
}
