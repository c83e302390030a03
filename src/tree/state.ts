import type { GivenValue } from '../notations/tree/names.js';
import { SkeinError, type ErrorData } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import type { Problem } from '../base/problem.js';
import type { RunResult } from '../engine/run-result.js';
import type { RunOptions } from '../runtime/options.js';

/** The state that steps run on their own read and add to. */
export interface TreeState {
  readonly inputs: Record<string, unknown>;
  /** Texts by the names of steps and fields. */
  readonly outputs: Record<string, string>;
  /** The caps of convergences that reached their cap. */
  readonly failures: Record<string, number>;
}

/** Outputs of a state that do not come from goals: fields, and the answers of agents inside goals. */
const parts = new WeakMap<TreeState, Set<string>>();

/**
 * Creates a state for steps that are run on their own, with a copy of the inputs.
 *
 * @example
 * const at = state({ topic: 'looms' });
 * await goal('draft', 'Write about $topic.').execute({ model: 'mock/echo' }, at);
 * console.log(at.outputs.draft);
 */
export function state(inputs: Readonly<Record<string, unknown>> = {}): TreeState {
  return { inputs: { ...inputs }, outputs: {}, failures: {} };
}

/** @throws SkeinError `SKEIN_USAGE` for what is not a state, such as the inputs themselves */
export function checkState(from: unknown): void {
  const isState = isPlainObject(from) && [from['inputs'], from['outputs'], from['failures']].every(isPlainObject);
  if (isState) return;
  const hint = "a step that runs alone reads its inputs from a state: execute(runtime, state({ topic: 'looms' }))";
  throw new SkeinError('SKEIN_USAGE', 'the state has no inputs, outputs and failures', { hint });
}

/** Lists the outputs that a state offers to a step. */
export function givenOf(from: TreeState): readonly GivenValue[] {
  const known = parts.get(from);
  return Object.keys(from.outputs).map((name) => ({ name, isGoal: known?.has(name) !== true }));
}

export function addToState(to: TreeState, step: string, result: Pick<TreeState, 'outputs' | 'failures'>): void {
  const known = parts.get(to) ?? new Set();
  parts.set(to, known);
  for (const [name, text] of Object.entries(result.outputs)) {
    if (name !== step && to.outputs[name] === undefined) known.add(name);
    to.outputs[name] = text;
  }
  Object.assign(to.failures, result.failures);
}

/** Options for running a tree: those of any run. */
export type TreeRunOptions = Omit<RunOptions, 'inputs'>;

/** How a run of a tree ended. After a failure, the state holds whatever was produced. */
export interface TreeResult
  extends TreeState, Pick<RunResult, 'runId' | 'outcome' | 'census' | 'questions' | 'spent' | 'saved'> {
  /** Why the run failed. */
  readonly error?: ErrorData;
  /** Warnings about the definition. */
  readonly warnings: readonly Problem[];
}
