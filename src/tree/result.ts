import type { ErrorData } from '../base/errors.js';
import type { Problem } from '../base/problem.js';
import type { RunResult } from '../engine/run-result.js';
import type { RunOptions } from '../runtime/options.js';
import type { TreeState } from './state.js';

/** How a tree is run: the options of any run. */
export type TreeRunOptions = Omit<RunOptions, 'inputs'>;

/** How a run of a tree ended; what there is of the state is there also when it failed. */
export interface TreeResult extends TreeState, Pick<RunResult, 'runId' | 'outcome' | 'census' | 'questions'> {
  /** Why it failed. */
  readonly error?: ErrorData;
  /** What is worth knowing about the definition. */
  readonly warnings: readonly Problem[];
}
