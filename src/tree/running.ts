import { passTo } from '../base/at-once.js';
import { systemClock } from '../base/clock.js';
import { SkeinError, fromErrorData, toErrorData } from '../base/errors.js';
import { asGiven, ownValue } from '../base/json.js';
import { definitionError, type Problem } from '../base/problem.js';
import type { RunResult } from '../engine/run.js';
import { valueText } from '../lang/value-text.js';
import type { TreeWorkflow } from '../notations/tree/definition.js';
import type { GivenValue } from '../notations/tree/names.js';
import { backendOf } from '../runtime/backends/recorded.js';
import { checkInputs, checkRunOptions } from '../runtime/check-run.js';
import { preparedPlan } from '../runtime/checked-plan.js';
import { launch, openModels } from '../runtime/launch.js';
import { compiledFor, withInputs } from './prepare.js';
import { preflightFailed, type TreeListener } from './events.js';
import { addToState, checkState, givenOf, type TreeResult, type TreeRunOptions, type TreeState } from './state.js';
import type { Runtime } from './runtime.js';
import { runOptionsOf } from './model-objects.js';
import { watchRun } from './watching.js';

/** Values of parameters by name. */
export type TreeInputs = Readonly<Record<string, unknown>>;

/** Runs a workflow: see `Workflow.execute`. */
export async function executeTree(
  tree: TreeWorkflow,
  runtime: Runtime,
  inputs: TreeInputs = {},
  options: TreeRunOptions = {},
): Promise<TreeResult> {
  checkInputs(inputs, "execute(runtime, { topic: 'looms' })");
  checkRunOptions(options, {}, ['inputs']);
  return await started(tree, { runtime, options, inputs: isBegun(options) ? inputs : boundInputs(tree, inputs) });
}

/** Runs one step on its own: see `Goal.execute`. */
export async function executeStep(
  tree: TreeWorkflow,
  runtime: Runtime,
  state: TreeState,
  options: TreeRunOptions = {},
): Promise<TreeResult> {
  checkState(state);
  checkRunOptions(options, {}, ['inputs']);
  const inputs = isBegun(options) ? {} : { ...state.inputs, ...state.outputs };
  const result = await started(withInputs(tree, state), { runtime, options, inputs, given: givenOf(state) });
  addToState(state, tree.sequences[0]?.steps[0]?.name.trim() ?? '', result);
  return result;
}

/** True if a record provides the inputs. */
function isBegun({ resume, fork, thread }: TreeRunOptions): boolean {
  return resume !== undefined || fork !== undefined || thread !== undefined;
}

/** @throws SkeinError `SKEIN_INPUT` for a parameter that is missing, or declared twice */
function boundInputs({ inputs: declared }: TreeWorkflow, inputs: TreeInputs): TreeInputs {
  const bound: Record<string, unknown> = {};
  for (const { name: written, default: preset } of declared) {
    const name = written.trim();
    if (Object.hasOwn(bound, name)) throw new SkeinError('SKEIN_INPUT', `duplicate parameter declaration: ${name}`);
    const value = ownValue(inputs, name) ?? preset;
    if (value === undefined)
      throw new SkeinError('SKEIN_INPUT', `required parameter missing: ${name}`, {
        hint: 'give it, or give it a default',
      });
    if (name !== '') bound[name] = value;
  }
  return bound;
}

interface Start {
  readonly runtime: Runtime;
  readonly options: TreeRunOptions;
  readonly inputs: TreeInputs;
  readonly given?: readonly GivenValue[];
}

async function started(tree: TreeWorkflow, start: Start): Promise<TreeResult> {
  const { runtime, inputs, given } = asGiven(start);
  const own = asGiven(start.options);
  const { plan, bindings, problems, objects } = await compiledFor(tree, { runtime, options: own, given });
  const { telemetry } = runtime;
  if (plan === undefined) {
    const error = preflightError(problems);
    tellPreflight(tree.name, error, telemetry);
    throw error;
  }
  const options = { ...runOptionsOf(objects, runtime, own), inputs };
  let begun: TreeInputs = {};
  const watching = await watchRun(plan, runtime, () => begun);
  const handle = launch({
    compiled: preparedPlan({ plan, bindings }),
    models: openModels(options),
    backend: backendOf(options.store),
    begins: (all) => (begun = all),
    options: { ...options, listeners: [...(options.listeners ?? []), ...watching.listeners] },
  });
  const result = await handle.result;
  const { failures, warnings } = await watching.close();
  return resultOf(tree, result, { inputs: begun, failures, warnings: [...problems, ...warnings] });
}

function tellPreflight(workflow: string, error: SkeinError, telemetry: TreeListener | undefined): void {
  if (telemetry === undefined) return;
  passTo(telemetry, preflightFailed(workflow, toErrorData(error), systemClock.now()), () => undefined);
}

/** Combines all problems in one error, with a prefix that distinguishes it from errors of a run. */
function preflightError(problems: readonly Problem[]): SkeinError {
  const error = toErrorData(definitionError(problems));
  return fromErrorData({ ...error, message: `preflight: ${error.message}` });
}

function resultOf(
  { inputs: declared }: TreeWorkflow,
  result: RunResult,
  { inputs: begun, failures, warnings }: Pick<TreeResult, 'inputs' | 'failures' | 'warnings'>,
): TreeResult {
  const { runId, outcome, census, questions, error, state, spent, saved } = result;
  const outputs = Object.entries(state).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, valueText(value)] as const],
  );
  const inputs = declared.map(({ name }) => [name.trim(), ownValue(begun, name.trim())] as const);
  return {
    runId,
    outcome,
    inputs: Object.fromEntries(inputs.filter(([, value]) => value !== undefined)),
    outputs: Object.fromEntries(outputs),
    failures,
    ...(error === undefined ? {} : { error }),
    census,
    questions,
    spent,
    saved,
    warnings,
  };
}

/** @throws SkeinError if the run failed, was paused or was cancelled */
export function succeeded(result: TreeResult): TreeResult {
  const { outcome, error } = result;
  if (outcome === 'succeeded' || outcome === 'degraded') return result;
  if (error !== undefined) throw fromErrorData(error);
  throw new SkeinError('SKEIN_QUESTION', `the run is ${outcome}: it waits for an answer`);
}
