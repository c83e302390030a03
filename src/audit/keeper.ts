import type { SkeinEvent } from '../events/event.js';
import type { Spending } from '../events/spending.js';
import type { StepReport } from '../events/census.js';
import type { Workflow } from '../plan/workflow.js';
import type { FileWriter } from './file-writer.js';
import type { Fields } from './record-fields.js';
import type { Redactor } from '../secrets/redact.js';

/** What run folders are kept of, and with. */
export interface KeeperOptions {
  readonly workflow: Workflow;
  readonly runId: string;
  readonly inputs: Fields;
  readonly streaming?: boolean;
  /** What earlier sessions of the run have spent; absent: there were none. */
  readonly before?: Spending;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly project: string;
  readonly redactor: Redactor;
  readonly writer: FileWriter;
}

/** What a run folder takes from the result of a run. */
export interface RunEnd {
  /** The final state by channel. */
  readonly state: Fields;
  /** What the workflow says that it gives. */
  readonly result?: Fields | undefined;
  /** Every step that did not simply succeed. */
  readonly steps: readonly StepReport[];
  readonly spent: Spending;
  readonly saved: Spending;
}

/**
 * Keeps files of a run folder: hears every event of the run. What it throws is reported as a failure to write. All of them are listed in
 * `run-folder.ts`, and `docs/dag.md` names their files.
 *
 * @example
 * export function keepTimes({ writer }: KeeperOptions): Keeper {
 *   return { listen: ({ at, path }) => writer.append('times.csv', `${path},${at}\n`) };
 * }
 */
export interface Keeper {
  /** Files that are there before the run begins, as name and text. */
  readonly first?: () => readonly (readonly [string, string])[];
  readonly listen?: (event: SkeinEvent) => void;
  /** The run has ended; without a result it was never known how. */
  readonly close?: (result: RunEnd | undefined) => void;
}
