import { systemIds } from '../base/ids.js';
import { asGiven, dataAsGiven, present } from '../base/json.js';
import { compile, type CompiledPlan } from '../engine/graph/compile.js';
import type { RunHandle } from '../engine/run-result.js';
import type { StartOptions } from '../engine/start-options.js';
import { firstState } from '../engine/state/inputs.js';
import type { Plan } from '../plan/plan.js';
import type { Workflow } from '../plan/workflow.js';
import { checkStart } from './check-launch.js';
import type { RunOptions } from './options.js';
import type * as Running from './running.js';
import { startLater, stopOf } from './start-later.js';
import type { WorkflowRun, WorkflowRunOptions } from './workflow-run.js';

/**
 * What carries out runs is most of Skein's code: it is loaded when the first run starts. That run is checked at once, and keeps copies of
 * what it was given, as one that starts at once does.
 */
let running: typeof Running | undefined;
let loading: Promise<typeof Running> | undefined;

/** One promise for all: runs start in the order in which they were asked for, and several imports end in any order. */
function loaded(): Promise<typeof Running> {
  return (loading ??= import('./running.js').then((code) => (running ??= code)));
}

/** Takes what carries out runs from a module that needs it anyway: all runs start at once. */
export function startAtOnce(code: typeof Running): void {
  running = code;
}

export function start(ready: Running.Ready, options: RunOptions): RunHandle {
  if (running !== undefined) return running.start(ready, options);
  checkStart(ready.compiled, options);
  const runId = options.resume ?? options.runId ?? systemIds.next();
  const stop = stopOf(options);
  const own = options.resume === undefined ? { runId } : {};
  const kept: RunOptions = { ...asGiven(options), ...own, signal: stop.signal };
  const copied = { ...ready, ...present({ script: dataAsGiven(options.models?.script) }) };
  const starting = loaded().then((code) => code.start(copied, kept));
  return startLater(runId, stop, starting);
}

/**
 * Starts a run of a plan with executors and a back end of your own: `run` starts one with agents and tools. Starting a plan that
 * {@link compile} prepared costs microseconds. The first run of a process starts once the code that carries out runs is loaded; after an
 * import of `skein/testing` it is.
 *
 * @throws SkeinError `SKEIN_INPUT` if an input is missing or unknown, `SKEIN_NO_BINDING` if a function is missing.
 * @example
 * const { result } = startRun(plan, { inputs: { topic: 'looms' }, bindings });
 * console.log((await result).outcome);
 */
export function startRun(plan: Plan | CompiledPlan, options: StartOptions = {}): RunHandle {
  if (running !== undefined) return running.startRun(plan, options);
  const compiled = 'maxSteps' in plan ? plan : compile(plan, options.bindings);
  if (options.first === undefined) firstState(compiled, options.inputs);
  const runId = options.runId ?? options.durable?.runId ?? systemIds.next();
  const stop = stopOf(options);
  const kept: StartOptions = { ...asGiven(options), runId, signal: stop.signal };
  const starting = loaded().then((code) => code.startRun(compiled, kept));
  return startLater(runId, stop, starting);
}

/**
 * Runs a workflow with its settings: shared memory and the run folder. All checks that need no step come before anything starts or is
 * written: the definition, the inputs, a model for every agent.
 *
 * @throws SkeinError `SKEIN_DEFINITION`, `SKEIN_INPUT`, `SKEIN_USAGE`; `SKEIN_NO_MODEL`, `SKEIN_NO_KEY`, `SKEIN_MODEL_UNKNOWN` for an agent
 *   without a usable model; `SKEIN_SANDBOX` if a needed sandbox is missing; `SKEIN_FILE` for a script or recording; `SKEIN_AUDIT` if the
 *   run folder can't be made; `SKEIN_STORE`, `SKEIN_RUN_EXISTS`, `SKEIN_NO_RUN`, `SKEIN_LEASE`, `SKEIN_JOURNAL` for a run that is recorded, resumed or
 *   forked.
 * @example
 * const { result } = await runWorkflow(await loadDag('review.yaml'), { inputs: { diff } });
 * console.log((await result).auditFolder);
 */
export async function runWorkflow(workflow: Workflow, options: WorkflowRunOptions = {}): Promise<WorkflowRun> {
  const given = asGiven(options);
  const code = running ?? (await loaded());
  return await code.runWorkflow(workflow, given);
}
