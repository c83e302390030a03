import type { SkeinEvent } from '../events/event.js';
import type { Spending } from '../events/spending.js';
import type { StepReport } from '../events/census.js';
import type { Workflow } from '../plan/workflow.js';
import type { FileWriter } from './file-writer.js';
import type { Fields } from './record-fields.js';
import type { Redactor } from '../secrets/redact.js';

/** The run and the tools that keepers of a run folder work with. */
export interface KeeperOptions {
  readonly workflow: Workflow;
  readonly runId: string;
  readonly inputs: Fields;
  readonly streaming?: boolean;
  /** Spending of earlier sessions of the run. Absent if there were none. */
  readonly before?: Spending;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly project: string;
  readonly redactor: Redactor;
  readonly writer: FileWriter;
}

export interface RunEnd {
  readonly state: Fields;
  readonly result?: Fields | undefined;
  /** Every step that did not simply succeed. */
  readonly steps: readonly StepReport[];
  readonly spent: Spending;
  readonly saved: Spending;
}

/**
 * Writes files of a run folder from the events of the run. An error that it throws is reported as a failed write. All keepers are listed in
 * `run-folder.ts`, and `docs/dag.md` names their files.
 *
 * @example
 * export function keepTimes({ writer }: KeeperOptions): Keeper {
 *   return { listen: ({ at, path }) => writer.append('times.csv', `${path},${at}\n`) };
 * }
 */
export interface Keeper {
  /** Files to write before the run begins, as name and text. */
  readonly first?: () => readonly (readonly [string, string])[];
  readonly listen?: (event: SkeinEvent) => void;
  /** Called when the run has ended. `result` is undefined if the outcome is unknown. */
  readonly close?: (result: RunEnd | undefined) => void;
}
