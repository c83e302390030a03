import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import type { Effect, Ticket } from '../../src/engine/ports/durable.js';
import type { Identity, StepOptions } from '../../src/engine/ports/recording.js';

/** A back end in memory that says that it records, and keeps what it is told about identities. */
export class SpyDurable extends MemoryDurable {
  readonly identities = new Map<string, Identity>();

  override get recorded(): boolean {
    return true;
  }

  override step(key: string, effect: Effect, options?: StepOptions): Ticket {
    if (options?.identity !== undefined) this.identities.set(key, options.identity);
    return super.step(key, effect, options);
  }

  /** What the effect with this key read; ask when the run has ended. */
  reads(key: string): Readonly<Record<string, string>> {
    return this.identities.get(key)?.reads?.() ?? {};
  }

  /** Digest of what an effect is made of. */
  definition(key: string): string {
    return this.identities.get(key)?.digest() ?? '';
  }
}
