import { isoTime } from '../../base/clock.js';
import { SkeinError } from '../../base/errors.js';
import { cloneData, present } from '../../base/json.js';
import { Artifacts, type ArtifactLimits } from './artifacts.js';
import {
  readContext,
  type ArtifactSnapshot,
  type Context,
  type OwnMetadata,
  type StateTransition,
  type ReadContext,
} from './context-data.js';
import { Recent } from './recent.js';

/** Number of transitions, and of artifact snapshots, that are kept: the newest ones. */
export const MAX_HISTORY = 1000;

/** Limit of the values in all kept artifact snapshots together, in bytes. */
const MAX_SNAPSHOT_BYTES = 16 * 1024 * 1024;

/**
 * A machine's account of its state, visits, transitions and artifacts. It checks no rules; {@link StateMachine} does. Totals stay exact
 * when old history entries are dropped.
 *
 * @example
 * const context = new MachineContext('draft', Date.now());
 * context.recordTransition('draft', 'review', 'Submit', Date.now());
 * context.transitionCount(); // 1
 * JSON.stringify(context); // what PromptKit reads
 */
export class MachineContext {
  private state: string;
  private readonly visits = new Map<string, number>();
  private visitSum = 0;
  private toolCalls = 0;
  private alive = 0;
  private readonly history = new Recent<StateTransition>(MAX_HISTORY);
  private readonly snapshots = new Recent<ArtifactSnapshot>(MAX_HISTORY, MAX_SNAPSHOT_BYTES);
  private readonly current: Artifacts;
  private metadata: Readonly<Record<string, unknown>> = {};
  private readonly startedAt: string;
  private updatedAt: string;

  /** @param now milliseconds since 1970, or a time as text */
  constructor(
    entry: string,
    now: number | string,
    private readonly limits: ArtifactLimits = {},
  ) {
    this.state = entry;
    this.enter(entry, 1);
    this.startedAt = typeof now === 'string' ? now : isoTime(now);
    this.updatedAt = this.startedAt;
    this.current = new Artifacts(limits);
  }

  /**
   * Reads the JSON of a context, including one that PromptKit wrote. Unknown keys are left out.
   *
   * @throws SkeinError `SKEIN_CONTEXT` that describes what is wrong with the context
   * @example
   * const context = MachineContext.from(JSON.parse(text));
   */
  static from(json: unknown, limits: ArtifactLimits = {}): MachineContext {
    return MachineContext.of(readContext(json), limits);
  }

  /** Makes a context from valid data. `artifacts` replaces those of the data. */
  static of(
    { data, own, metadata }: ReadContext,
    limits: ArtifactLimits = {},
    artifacts = data.artifacts,
  ): MachineContext {
    const context = new MachineContext(data.current_state, data.started_at, limits);
    context.visits.clear();
    context.visitSum = 0;
    for (const [state, visits] of Object.entries(data.visit_counts ?? {})) context.enter(state, visits);
    context.toolCalls = data.total_tool_calls ?? 0;
    for (const one of data.history) context.history.add(one);
    for (const [name, value] of Object.entries(artifacts ?? {})) context.current.take(name, value);
    for (const one of data.artifact_history ?? []) context.snapshots.add(one, bytesOf(one.values));
    context.history.countAtLeast(own['skein.transitions'] ?? 0);
    context.snapshots.countAtLeast(own['skein.artifact_snapshots'] ?? 0);
    context.alive = own['skein.alive_ms'] ?? 0;
    context.metadata = metadata;
    context.updatedAt = data.updated_at;
    return context;
  }

  get current_state(): string {
    return this.state;
  }

  /** Returns an independent copy. */
  clone(): MachineContext {
    return MachineContext.from(this.toJSON(), this.limits);
  }

  /** Returns the value of an artifact; the empty text if it is not set. */
  getArtifact(name: string): string {
    return this.current.get(name);
  }

  /**
   * Sets an artifact or appends to it. Nothing changes if it would become too large.
   *
   * @throws SkeinError `SKEIN_ARTIFACT` without a name, or beyond the byte limits
   */
  setArtifact(name: string, value: string, mode: 'replace' | 'append' = 'replace'): void {
    this.current.set(name, value, mode);
  }

  /** Returns a copy of all current artifacts by name. */
  artifacts(): Record<string, string> {
    return { ...this.current.asData() };
  }

  /**
   * Enters a state: counts the visit, and keeps the transition and, if any artifact is set, a snapshot of all.
   *
   * @param at milliseconds since 1970
   */
  recordTransition(from: string, to: string, event: string, at: number): void {
    const timestamp = isoTime(at);
    this.state = to;
    this.enter(to, 1);
    this.history.add({ from, to, event, timestamp });
    this.updatedAt = timestamp;
    if (this.current.size === 0) return;
    const values = this.current.asData();
    this.snapshots.add({ from_state: from, to_state: to, event, values, timestamp }, this.current.bytes);
  }

  /** @throws SkeinError `SKEIN_USAGE` for anything but a whole number of at least 0 */
  incrementToolCalls(n: number): void {
    if (!Number.isSafeInteger(n) || n < 0) {
      throw new SkeinError('SKEIN_USAGE', `tool calls are counted by whole numbers of at least 0, not by ${String(n)}`);
    }
    this.toolCalls += n;
  }

  totalToolCalls(): number {
    return this.toolCalls;
  }

  /** Returns the newest transition; null if there is none. */
  lastTransition(): StateTransition | null {
    const { last } = this.history;
    return last === undefined ? null : { ...last };
  }

  /** Returns how often a state was entered. */
  visitsOf(state: string): number {
    return this.visits.get(state) ?? 0;
  }

  /** Returns the number of entries of all states. */
  totalVisits(): number {
    return this.visitSum;
  }

  /** Returns the number of all transitions, including dropped ones. */
  transitionCount(): number {
    return this.history.total;
  }

  /** Returns the number of all artifact snapshots, including dropped ones. */
  snapshotCount(): number {
    return this.snapshots.total;
  }

  /** Returns the milliseconds for which the machine was alive. */
  aliveMs(): number {
    return this.alive;
  }

  addAliveMs(ms: number): void {
    this.alive += ms;
  }

  /** Returns the context as data that shares nothing with this object. */
  toJSON(): Context {
    const metadata = { ...cloneData(this.metadata), ...this.ownMetadata() };
    const snapshots = this.snapshots.items().map((one) => ({ ...one, values: { ...one.values } }));
    return {
      current_state: this.state,
      history: this.history.items().map((one) => ({ ...one })),
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      ...(this.visits.size === 0 ? {} : { visit_counts: Object.fromEntries(this.visits) }),
      ...(this.toolCalls === 0 ? {} : { total_tool_calls: this.toolCalls }),
      ...(this.current.size === 0 ? {} : { artifacts: this.artifacts() }),
      ...(snapshots.length === 0 ? {} : { artifact_history: snapshots }),
      started_at: this.startedAt,
      updated_at: this.updatedAt,
    };
  }

  /** Returns the context without its growing parts: histories, whose totals are in the metadata, and artifacts. */
  account(): Context {
    const { visits, toolCalls, alive } = this;
    const metadata: Record<string, unknown> = {
      'skein.transitions': this.history.total,
      'skein.artifact_snapshots': this.snapshots.total,
      ...this.metadata,
    };
    if (alive !== 0) metadata['skein.alive_ms'] = alive;
    // Each hand-over makes one, and an object that is put together of spread parts takes three times as long.
    return present({
      current_state: this.state,
      visit_counts: visits.size === 0 ? undefined : Object.fromEntries(visits),
      total_tool_calls: toolCalls === 0 ? undefined : toolCalls,
      started_at: this.startedAt,
      updated_at: this.updatedAt,
      history: [],
      metadata,
    });
  }

  private ownMetadata(): OwnMetadata {
    const { history, snapshots, alive } = this;
    return {
      ...(alive === 0 ? {} : { 'skein.alive_ms': alive }),
      ...(history.total === history.length ? {} : { 'skein.transitions': history.total }),
      ...(snapshots.total === snapshots.length ? {} : { 'skein.artifact_snapshots': snapshots.total }),
    };
  }

  private enter(state: string, visits: number): void {
    this.visits.set(state, this.visitsOf(state) + visits);
    this.visitSum += visits;
  }
}

function bytesOf(values: Readonly<Record<string, string>>): number {
  const texts = Object.entries(values).flat();
  return texts.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
}
