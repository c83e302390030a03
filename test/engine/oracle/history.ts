import type { ChannelSpec } from '../../../src/plan/plan.js';

/** One write: what a step (or the run's inputs) put into channels, and everything that happened before it. */
export interface Write {
  readonly id: number;
  readonly node: string;
  /** Cycle-closing traversals on the deepest path that led here. */
  readonly round: number;
  readonly topo: number;
  readonly visit: number;
  readonly update: ReadonlyMap<string, unknown>;
  /** Ids of all writes that happened before: the happens-before relation, written out. */
  readonly before: ReadonlySet<number>;
}

/** Writes that a token knows of. */
export type History = ReadonlySet<number>;

/** Two writes of a plain channel of which neither happened before the other. */
export interface Conflict {
  readonly channel: string;
  readonly writers: readonly string[];
}

/** A fold of a reducer channel; `undefined` is "nothing yet". */
export type Fold = (so_far: unknown, value: unknown) => unknown;

/** The writes of one plan instance. Write 0 is the inputs. */
export class Histories {
  readonly #writes: Write[] = [];
  readonly #channels: readonly ChannelSpec[];
  readonly #codeFold: (channel: string) => Fold;

  constructor(
    channels: readonly ChannelSpec[],
    inputs: ReadonlyMap<string, unknown>,
    codeFold: (channel: string) => Fold,
  ) {
    this.#channels = channels;
    this.#codeFold = codeFold;
    this.add({ node: '(inputs)', round: -1, topo: -1, visit: 0, update: inputs, before: new Set() });
  }

  add(write: Omit<Write, 'id'>): number {
    this.#writes.push({ ...write, id: this.#writes.length });
    return this.#writes.length - 1;
  }

  /** What a node with this history sees (S2), or the first conflict in channel order (S3). */
  read(history: History): { readonly state: Record<string, unknown> } | { readonly conflict: Conflict } {
    const names = new Set([
      ...this.#channels.map((channel) => channel.name),
      ...this.#writes.flatMap((write) => [...write.update.keys()]),
    ]);
    const state: Record<string, unknown> = {};
    for (const name of names) {
      const writes = this.#writes.filter((write) => history.has(write.id) && write.update.has(name));
      if (writes.length === 0) continue;
      const reducer = this.#channels.find((channel) => channel.name === name)?.reducer;
      if (reducer === undefined) {
        const latest = writes.filter((write) => !writes.some((other) => other.before.has(write.id)));
        if (latest.length > 1) return { conflict: { channel: name, writers: latest.map((write) => write.node) } };
        state[name] = latest[0]?.update.get(name);
      } else {
        state[name] = this.#folded(name, writes, reducer === 'code' ? this.#codeFold(name) : FOLDS[reducer]);
      }
    }
    return { state };
  }

  #folded(name: string, writes: readonly Write[], fold: Fold): unknown {
    const inputs = writes.find((write) => write.id === 0);
    const sorted = writes
      .filter((write) => write.id !== 0)
      .toSorted((left, right) => left.round - right.round || left.topo - right.topo || left.visit - right.visit);
    let value: unknown = inputs?.update.get(name);
    for (const write of sorted) value = fold(value, write.update.get(name));
    return value;
  }
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

const FOLDS = {
  append: (old: unknown, value: unknown): unknown => [...list(old), value],
  extend: (old: unknown, value: unknown): unknown => [...list(old), ...list(value)],
  mergeDict: (old: unknown, value: unknown): unknown => ({ ...(old as object | undefined), ...(value as object) }),
  add: (old: unknown, value: unknown): unknown => (old === undefined ? value : (old as number) + (value as number)),
  last: (_old: unknown, value: unknown): unknown => value,
} as const;

/** Everything that any of the histories knows. */
export function union(histories: readonly History[]): Set<number> {
  return new Set(histories.flatMap((history) => [...history]));
}
