import type { CompiledPlan } from '../engine/graph/compile.js';
import { systemIds } from '../base/ids.js';
import type { RunHandle } from '../engine/run.js';
import { backendOf } from './backends/recorded.js';
import { checkStart } from './check-launch.js';
import { launch, openModels } from './launch.js';
import type { RunOptions } from './options.js';
import { startLater, stopOf } from './start-later.js';

export { startRun } from '../engine/run.js';
export { runWorkflow } from './workflow-run.js';

export interface Ready {
  readonly compiled: CompiledPlan;
  readonly places: readonly string[];
  /** The script of its options, if that was copied. */
  readonly script?: NonNullable<RunOptions['models']>['script'];
}

/** Starts a run with options that were checked. What its record refuses rejects the result. */
export function start(ready: Ready, options: RunOptions): RunHandle {
  try {
    return started(ready, options);
  } catch (error) {
    // Whether a run starts at once or later, the same mistakes are thrown.
    checkStart(ready.compiled, options);
    if (!(error instanceof Error)) throw error;
    const runId = options.resume ?? options.runId ?? systemIds.next();
    return startLater(runId, stopOf(options), Promise.reject(error));
  }
}

function started({ compiled, places, script }: Ready, options: RunOptions): RunHandle {
  return launch({
    compiled,
    models: openModels(options, script),
    backend: backendOf(options.store),
    options,
    origins: { definition: places },
  });
}
