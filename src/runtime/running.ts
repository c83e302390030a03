import type { CompiledPlan } from '../engine/graph/compile.js';
import type { RunHandle } from '../engine/run.js';
import { backendOf } from './backends/recorded.js';
import { launch, openModels } from './launch.js';
import type { RunOptions } from './options.js';

export { startRun } from '../engine/run.js';
export { runWorkflow } from './workflow-run.js';

/** A workflow that was checked and compiled. */
export interface Ready {
  readonly compiled: CompiledPlan;
  /** The places it was read from. */
  readonly places: readonly string[];
  /** The script of its options, if that was copied. */
  readonly script?: NonNullable<RunOptions['models']>['script'];
}

/** Starts a run with options that were checked. */
export function start({ compiled, places, script }: Ready, options: RunOptions): RunHandle {
  return launch({
    compiled,
    models: openModels(options, script),
    backend: backendOf(options.store),
    options,
    origins: { definition: places },
  });
}
