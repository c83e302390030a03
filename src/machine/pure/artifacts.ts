import { SkeinError } from '../../base/errors.js';
import { quoted } from './errors.js';

/** Limits of artifacts, in bytes of UTF-8. */
export interface ArtifactLimits {
  /** Limit of one value; default 1 MiB. */
  readonly maxArtifactBytes?: number;
  /** Limit of all current values with their names; default 8 MiB. */
  readonly maxAllArtifactBytes?: number;
}

const MIB = 1024 * 1024;

/** The current values by name. A change that exceeds a limit is refused; a value that starts beyond a limit may shrink. */
export class Artifacts {
  private readonly values = new Map<string, { readonly value: string; readonly bytes: number }>();
  private total = 0;
  private readonly most: number;
  private readonly mostOfAll: number;
  /** The values as data, shared by snapshots until one changes. */
  private data: Readonly<Record<string, string>> | undefined = undefined;

  constructor({ maxArtifactBytes = MIB, maxAllArtifactBytes = 8 * MIB }: ArtifactLimits) {
    this.most = bound(maxArtifactBytes, 'maxArtifactBytes');
    this.mostOfAll = bound(maxAllArtifactBytes, 'maxAllArtifactBytes');
  }

  get size(): number {
    return this.values.size;
  }

  /** Bytes of all values with their names. */
  get bytes(): number {
    return this.total;
  }

  get(name: string): string {
    return this.values.get(name)?.value ?? '';
  }

  /** @throws SkeinError `SKEIN_ARTIFACT` */
  set(name: string, value: string, mode: 'replace' | 'append' = 'replace'): void {
    checkText(name, value);
    const before = this.values.get(name);
    const after =
      mode === 'append' && before !== undefined
        ? { value: before.value + value, bytes: before.bytes + bytesAfter(before.value, value) }
        : { value, bytes: Buffer.byteLength(value) };
    if (after.bytes > this.most && after.bytes > (before?.bytes ?? 0)) {
      throw tooLarge(`artifact ${quoted(name)} would have ${after.bytes} bytes`, this.most, 'maxArtifactBytes');
    }
    const added = after.bytes - (before?.bytes ?? -Buffer.byteLength(name));
    if (this.total + added > this.mostOfAll && added > 0) {
      const what = `all artifacts together would have ${this.total + added} bytes with ${quoted(name)}`;
      throw tooLarge(what, this.mostOfAll, 'maxAllArtifactBytes');
    }
    this.load(name, after);
  }

  /** Loads a value from a record, whatever its size. */
  take(name: string, value: string): void {
    this.load(name, { value, bytes: Buffer.byteLength(value) });
  }

  /** Returns the values by name; the same object until one changes. */
  asData(): Readonly<Record<string, string>> {
    this.data ??= Object.fromEntries([...this.values].map(([name, { value }]) => [name, value]));
    return this.data;
  }

  private load(name: string, after: { readonly value: string; readonly bytes: number }): void {
    const before = this.values.get(name);
    this.total += after.bytes - (before?.bytes ?? -Buffer.byteLength(name));
    this.values.set(name, after);
    this.data = undefined;
  }
}

function bound(value: number, option: string): number {
  if (typeof value === 'number' && value >= 0) return value;
  throw new SkeinError('SKEIN_USAGE', `${option} must be a number of bytes, not ${String(value)}`);
}

/** Untyped callers and models may pass any value. */
function checkText(name: unknown, value: unknown): void {
  if (typeof name !== 'string' || name === '') throw new SkeinError('SKEIN_ARTIFACT', 'artifact name is required');
  if (typeof value === 'string') return;
  throw new SkeinError('SKEIN_ARTIFACT', `the value of artifact ${quoted(name)} must be a text, not ${typeof value}`, {
    hint: 'write JSON as a text',
  });
}

function tooLarge(what: string, most: number, option: string): SkeinError {
  return new SkeinError('SKEIN_ARTIFACT', `${what}; at most ${most} are allowed`, {
    hint: `keep large results elsewhere and store where they are, or raise ${option}`,
    details: { bytes: most },
  });
}

/** Returns how many bytes appending a text adds, without reading the whole: a surrogate pair joined has 4 bytes, its halves apart 3 each. */
function bytesAfter(before: string, added: string): number {
  const isPair =
    isBetween(before.charCodeAt(before.length - 1), 0xd8_00, 0xdb_ff) &&
    isBetween(added.charCodeAt(0), 0xdc_00, 0xdf_ff);
  return Buffer.byteLength(added) - (isPair ? 2 : 0);
}

function isBetween(code: number, low: number, high: number): boolean {
  return code >= low && code <= high;
}
