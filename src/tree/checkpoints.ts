import { toErrorData } from '../base/errors.js';
import type { Listener } from '../events/event.js';
import { CheckpointLog } from '../audit/checkpoint-log.js';

/** What supervision said of a step that was accepted or ended: `{ path, pre, attempts, outcome, spent }`. */
export type Checkpoint = Readonly<Record<string, unknown>>;

/** Keeps checkpoints. No run reads them. */
export interface CheckpointStore {
  /** `name` is made of the path of the step, and unique in its run. What it throws is a warning of the result. */
  save(name: string, checkpoint: Checkpoint): unknown;
}

/** Checkpoints in memory, in the order in which their steps were accepted or ended. */
export class MemoryCheckpoints implements CheckpointStore {
  private readonly kept: Checkpoint[] = [];

  save(_name: string, checkpoint: Checkpoint): void {
    this.kept.push(checkpoint);
  }

  /** The newest one of the step with this path; undefined when there is none. */
  get(path: string): Checkpoint | undefined {
    return this.kept.findLast((checkpoint) => checkpoint['path'] === path);
  }

  /** All of them. */
  get decisionTrail(): readonly Checkpoint[] {
    return [...this.kept];
  }
}

/**
 * A store of checkpoints in memory, for `checkpoints` of a runtime.
 *
 * @example
 * const checkpoints = checkpointStore();
 * await flow.execute({ model: 'openai/gpt-5-mini', supervisor: supervisor(), checkpoints });
 * for (const { path, outcome } of checkpoints.decisionTrail) console.log(path, outcome);
 */
export function checkpointStore(): MemoryCheckpoints {
  return new MemoryCheckpoints();
}

/** Hands the checkpoints of a run to a store. */
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
