import type { WorkflowResult } from '../../runtime.js';
import type { ModuleWorkflow } from '../modules/load-module.js';
import type { RunLog } from '../view/run-log.js';
import type { Recording } from './recording.js';
import type { CommonFlags } from './run-flags.js';

/** A workflow that was loaded and may be run. */
export interface Execution {
  readonly flags: CommonFlags;
  readonly cwd: string;
  readonly workflow: ModuleWorkflow;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly log: RunLog;
  /** Absent: nothing is recorded. */
  readonly recording?: Recording;
}

/** A run that has ended. */
export interface Executed {
  readonly exitCode: number;
  readonly result: WorkflowResult;
}
