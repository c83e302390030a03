import type { SkeinEvent } from '../events/event.js';
import type { Workflow } from '../plan/workflow.js';

/** What a run folder is made from. */
export interface RunFolderOptions {
  readonly workflow: Workflow;
  readonly runId: string;
  /** Folder of run folders; absolute. */
  readonly dir: string;
  /** How many run folders stay; 0 keeps all. */
  readonly keep: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Values that must not appear in any file. */
  readonly secrets: readonly string[];
}

/** A run folder that is being written. */
export interface RunFolder {
  /** Where it is. */
  readonly path: string;
  /** Takes an event; never throws, never waits. */
  listen(event: SkeinEvent): void;
  /** Waits until everything is on the disk. Gives what could not be written. */
  close(): Promise<readonly string[]>;
}
