import { ownValue, type Json } from '../base/json.js';
import type { Store } from '../journal/store.js';
import { readStored } from '../journal/stored.js';
import { keptChannels, readHead, shapeOf, type ThreadHead } from '../journal/thread-journal.js';
import { endedWithoutSuccess } from '../journal/thread-rows.js';
import type { LogEntry, Standing } from '../notations/machine/plan/standing.js';
import type { Plan } from '../plan/plan.js';
import { checkKinship } from '../runtime/threads/shape.js';
import type { KeptMessage } from './turn-log.js';

/** The stored state of a conversation; each part is read on first use. */
export class KeptState {
  private readonly channels: ReturnType<typeof keptChannels>;

  private constructor(
    private readonly store: Store,
    readonly head: ThreadHead,
  ) {
    this.channels = keptChannels(store, head.id, head.state);
  }

  /** Returns undefined if the store has no such conversation. */
  static read(store: Store, thread: string): KeptState | undefined {
    const head = readHead(store, thread);
    return head === undefined ? undefined : new KeptState(store, head);
  }

  /**
   * Reads a conversation that is to continue with a pack.
   *
   * @throws SkeinError `SKEIN_THREAD` if it is one of another workflow, before anything of this pack is found missing
   */
  static of(store: Store, thread: string, plan: Plan): KeptState | undefined {
    const kept = KeptState.read(store, thread);
    const before = kept && shapeOf(store, thread, kept.head.state);
    if (before !== undefined) checkKinship(thread, before, plan);
    return kept;
  }

  /** Whether a turn has not ended. The next turn waits for its end, or resumes it first. */
  get isOpen(): boolean {
    return this.head.record.t === 'turn';
  }

  /** The run of a last turn that failed or was cancelled. */
  get failedRun(): string | undefined {
    const { record } = this.head;
    const isOver = record.t === 'turn' || (record.t === 'ended' && record.state === undefined);
    const row = isOver ? this.store.run(record.run) : undefined;
    return row !== undefined && endedWithoutSuccess(row) !== undefined ? row.id : undefined;
  }

  get position(): Standing | undefined {
    return this.value('position') as Standing | undefined;
  }

  get log(): readonly LogEntry[] {
    return (this.value('log') ?? []) as readonly LogEntry[];
  }

  get artifacts(): Readonly<Record<string, string>> {
    return (this.value('artifacts') ?? {}) as Readonly<Record<string, string>>;
  }

  /** Values of variables as of the last turn, even if that has not ended. */
  get variables(): Readonly<Record<string, Json>> {
    const { record } = this.head;
    const given = record.t === 'turn' && record.inputs !== undefined ? readStored(this.store, record.inputs) : {};
    const values = ownValue(given, 'variables') ?? this.value('variables') ?? {};
    return values as Readonly<Record<string, Json>>;
  }

  /** All messages, including those of a transient state that is still current. */
  get messages(): readonly KeptMessage[] {
    return [...this.conversation, ...((this.value('aside') ?? []) as readonly KeptMessage[])];
  }

  /** The messages that persist. */
  get conversation(): readonly KeptMessage[] {
    return (this.value('conversation') ?? []) as readonly KeptMessage[];
  }

  private value(channel: string): unknown {
    return this.channels.get(channel)?.kept.value;
  }
}
