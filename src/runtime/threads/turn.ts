import { systemClock } from '../../base/clock.js';
import type { ErrorData } from '../../base/errors.js';
import { isPlainObject, present } from '../../base/json.js';
import { carriedState, channelEnds, type CarriedStart, type ChannelEnd } from '../../engine/state/carried-state.js';
import type { RunState } from '../../engine/state/inputs.js';
import type { CompiledPlan } from '../../engine/graph/compile.js';
import type { RunResult } from '../../engine/run.js';
import type { RunWarning } from '../../engine/services.js';
import type { TurnOf } from '../../journal/record.js';
import type { Store } from '../../journal/store.js';
import {
  keptChannels,
  putTogether,
  readHead,
  shapeOf,
  stateAt,
  type KeptChannel,
  type ThreadHead,
} from '../../journal/thread-journal.js';
import type { ThreadState } from '../../journal/thread-record.js';
import type { ChannelWrite, ThreadWriter } from '../../journal/thread-writer.js';
import { storedValue } from '../../journal/stored.js';
import { taken } from '../../stores/rules.js';
import { checkKinship, shapeOfPlan } from './shape.js';

/** Outcomes of a turn that counts: the next turn begins with its state. */
export const COUNTS: ReadonlySet<string> = new Set(['succeeded', 'degraded', 'out_of_budget']);

/** The lease of the thread. Its owner decides when to release it. */
export interface Holding {
  readonly writer: ThreadWriter;
  /** Releases the thread and notes the outcome of its last turn. */
  readonly leave: (outcome: string) => void;
  /** True if the turn ended before, with a state that this attempt replaces. */
  readonly replaces?: boolean;
}

/** A run that is a turn of a thread (J12). Without a holding, it only reads the thread: a fork, or a turn that others follow. */
export class Turn {
  private readonly state: ThreadState;
  private readonly channels: ReturnType<typeof keptChannels>;
  private begun: CarriedStart | undefined = undefined;
  private last: RunState | undefined = undefined;
  private writes: readonly ChannelWrite[] | undefined = undefined;
  private compiled: CompiledPlan | undefined = undefined;

  constructor(
    private readonly store: Store,
    readonly of: TurnOf,
    private readonly holding: Holding | undefined,
    /** Messages to report before anything runs. */
    private readonly words: readonly string[] = [],
  ) {
    this.state = stateAt(store, of.id, of.on);
    this.channels = keptChannels(store, of.id, this.state);
  }

  /** Returns the state that the run begins with. @throws SkeinError `SKEIN_INPUT`, `SKEIN_THREAD` */
  start(compiled: CompiledPlan, inputs: Readonly<Record<string, unknown>>): CarriedStart {
    if (this.begun !== undefined) return this.begun;
    const before = shapeOf(this.store, this.of.id, this.state);
    const shape = shapeOfPlan(compiled);
    if (before !== undefined) checkKinship(this.of.id, before, compiled.plan);
    this.compiled = compiled;
    const begun = carriedState(compiled, this.channels, inputs, before?.digest !== shape.digest);
    const { absent } = this.state;
    this.begun = absent === undefined ? begun : { ...begun, labels: { channels: {}, ...begun.labels, absent } };
    return this.begun;
  }

  get warnings(): readonly RunWarning[] {
    const dropped = this.begun?.dropped ?? [];
    const { id } = this.of;
    const gone = dropped.map(
      (name) => `the workflow has no '${name}' any longer: the thread '${id}' continues without it`,
    );
    return [...this.words, ...gone].map((message) => ({ code: 'thread', message }));
  }

  /** Notes the turn before its run is recorded. @throws SkeinError `SKEIN_RUN_EXISTS` */
  begin(run: string, inputs: Readonly<Record<string, unknown>>): void {
    if (this.holding === undefined) return;
    // The next turn would take that run for this turn.
    if (this.store.run(run) !== undefined) throw taken(run);
    const { stored, blobs } = storedValue(inputs, 'the inputs');
    const { turn, on } = this.of;
    const at = systemClock.now();
    this.holding.writer.write({
      at,
      head: () => ({ t: 'turn', at, turn, run, inputs: stored, on }),
      turns: turn,
      blobs,
    });
  }

  /** Sets the action for when another process takes over the thread. */
  onLost(cancel: () => void): void {
    if (this.holding !== undefined) this.holding.writer.onLost = cancel;
  }

  readonly note = (state: RunState): void => {
    this.last = state;
  };

  /**
   * Prepares the state that the thread keeps of a run. It comes before the recorded end, so that a state that can't be kept fails the run.
   *
   * @throws SkeinError `SKEIN_NOT_JSON`
   */
  prepare({ outcome }: RunResult): void {
    const { holding } = this;
    if (holding === undefined || !COUNTS.has(outcome) || this.last === undefined) return;
    const ends = channelEnds(this.last, this.channels, this.begun?.version);
    const next = holding.writer.batches;
    this.writes = ends.map((end) => {
      const before = this.channels.get(end.name);
      const kept =
        before === undefined ? end : holding.replaces === true ? inWhole(end, before) : shortened(end, before, next);
      return { ...kept, place: before?.place };
    });
    for (const { name, more, whole } of ends) storedValue(more ?? whole ?? null, `'${name}'`);
  }

  /** Ends the turn after the end of its run is recorded. @throws SkeinError `SKEIN_STORE`, `SKEIN_LEASE` */
  settle({ runId, outcome, error }: RunResult): void {
    if (this.holding === undefined) return;
    try {
      // A turn that waits for an answer is still open. One that counted before does so whatever became of its resume.
      const stays = this.holding.replaces === true && !COUNTS.has(outcome);
      if (outcome !== 'paused' && !stays) this.end(runId, outcome, error);
    } finally {
      this.leave(outcome);
    }
  }

  /** Leaves the turn without an end: it has not begun, or its outcome is unknown, and the next holder resumes it. */
  abandon(): void {
    try {
      const head = readHead(this.store, this.of.id);
      this.leave(head === undefined ? 'interrupted' : lastOutcome(this.store, head));
    } catch {
      this.leave('interrupted');
    }
  }

  private leave(outcome: string): void {
    try {
      this.holding?.leave(outcome);
    } catch {
      // The lease expires on its own.
    }
  }

  private end(run: string, outcome: RunResult['outcome'], error: ErrorData | undefined): void {
    const { compiled, writes, holding } = this;
    const { turn, on } = this.of;
    const at = systemClock.now();
    const ended = {
      t: 'ended' as const,
      at,
      turn,
      run,
      outcome,
      ...(error === undefined ? {} : { error: shownOf(error) }),
    };
    if (writes === undefined || compiled === undefined) {
      holding?.writer.write({ at, head: () => ({ ...ended, on }), turns: turn });
      return;
    }
    const shape = shapeOfPlan(compiled);
    const repeated = writes.filter(({ isRepeated }) => isRepeated === true).map(({ name }) => name);
    const isOther = shapeOf(this.store, this.of.id, this.state)?.digest !== shape.digest;
    holding?.writer.write({
      at,
      writes,
      ...(isOther ? { shape: { t: 'shape', at, ...shape } } : {}),
      head: (channels, written) => ({
        ...ended,
        ...(outcome === 'succeeded' ? {} : { on }),
        state: present({ channels, shape: written ?? this.state.shape, absent: this.last?.labels?.absent }),
        ...(repeated.length === 0 ? {} : { repeated }),
      }),
      turns: turn,
    });
  }
}

/** What people see of an error: details may be large. */
export function shownOf({ code, message, hint }: ErrorData): ErrorData {
  return present({ code, message, hint });
}

/** How the last turn of a thread ended, or stands. */
export function lastOutcome(store: Store, { record }: ThreadHead): string {
  if (record.t === 'ended') return record.outcome;
  return record.t === 'turn' ? (store.run(record.run)?.outcome ?? 'interrupted') : 'succeeded';
}

/** A value that spans at most this many batches is not rewritten. */
const FEW_BATCHES = 1_024;

/**
 * Rewrites an object whose keys are written repeatedly as a whole from time to time, so that readers do not go through all former values.
 * The check runs whenever the number of batches that the object spans has doubled.
 */
function shortened(end: ChannelEnd, { kept, place }: KeptChannel, next: number): ChannelEnd {
  const { more, ...rest } = end;
  const span = next - place.from;
  const hasDoubled = Math.clz32(place.at - place.from) !== Math.clz32(span);
  if (!isPlainObject(more) || span < FEW_BATCHES || !hasDoubled) return end;
  const all = new Map([...Object.entries(kept.value as object), ...Object.entries(more)]);
  return all.size * 8 > span ? end : { ...rest, whole: Object.fromEntries(all) };
}

/** Writes that the replaced turn made after the state before it are not part of the value. */
function inWhole({ more, ...rest }: ChannelEnd, { kept }: KeptChannel): ChannelEnd {
  return more === undefined ? rest : { ...rest, whole: putTogether(kept.value, [more]) };
}
