import { toErrorData } from '../base/errors.js';
import type { Listener } from '../events/event.js';
import { CheckpointLog } from '../audit/checkpoint-log.js';

/** The supervision record of a step that was accepted or ended: `{ path, pre, attempts, outcome, spent }`. */
export type Checkpoint = Readonly<Record<string, unknown>>;

/** Stores checkpoints. Runs never read them. */
export interface CheckpointStore {
  /** Saves a checkpoint. `name` derives from the step's path and is unique in its run. A thrown error becomes a warning. */
  save(name: string, checkpoint: Checkpoint): unknown;
}

/** Keeps checkpoints in memory, in the order in which their steps were accepted or ended. */
export class MemoryCheckpoints implements CheckpointStore {
  private readonly kept: Checkpoint[] = [];

  save(_name: string, checkpoint: Checkpoint): void {
    this.kept.push(checkpoint);
  }

  /** Returns the newest checkpoint of the step with this path. Undefined if there is none. */
  get(path: string): Checkpoint | undefined {
    return this.kept.findLast((checkpoint) => checkpoint['path'] === path);
  }

  /** All checkpoints, oldest first. */
  get decisionTrail(): readonly Checkpoint[] {
    return [...this.kept];
  }
}

/**
 * Creates a checkpoint store in memory, for the option `checkpoints` of a runtime.
 *
 * @example
 * const checkpoints = checkpointStore();
 * await flow.execute({ model: 'openai/gpt-5-mini', supervisor: supervisor(), checkpoints });
 * for (const { path, outcome } of checkpoints.decisionTrail) console.log(path, outcome);
 */
export function checkpointStore(): MemoryCheckpoints {
  return new MemoryCheckpoints();
}

/** Returns a listener that passes the checkpoints of a run to a store. */
export function savingIn(store: CheckpointStore): { readonly listener: Listener; close(): Promise<readonly string[]> } {
  const saved: Promise<string | undefined>[] = [];
  const save = async (name: string, checkpoint: Checkpoint): Promise<string | undefined> => {
    try {
      await store.save(name, checkpoint);
      return undefined;
    } catch (error) {
      return `${name}: ${toErrorData(error).message}`;
    }
  };
  const log = new CheckpointLog((name, checkpoint) => saved.push(save(name, checkpoint)));
  return {
    listener: log.listen,
    async close() {
      return (await Promise.all(saved)).filter((lost) => lost !== undefined);
    },
  };
}
