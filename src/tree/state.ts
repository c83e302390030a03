import type { GivenValue } from '../notations/tree/names.js';
import type { ErrorData } from '../base/errors.js';
import type { Problem } from '../base/problem.js';
import type { RunResult } from '../engine/run-result.js';
import type { RunOptions } from '../runtime/options.js';

/** What steps that are run by themselves read and add to. */
export interface TreeState {
  readonly inputs: Record<string, unknown>;
  /** Texts by the names of steps and fields. */
  readonly outputs: Record<string, string>;
  /** Convergences that came to their cap, with the cap. */
  readonly failures: Record<string, number>;
}

/** Outputs of a state that are not those of goals: fields, and what agents inside of goals said. */
const parts = new WeakMap<TreeState, Set<string>>();

/**
 * A state for steps that are run by themselves. It is built from a copy of the inputs.
 *
 * @example
 * const at = state({ topic: 'looms' });
 * await goal('draft', 'Write about $topic.').execute({ model: 'mock/echo' }, at);
 * console.log(at.outputs.draft);
 */
export function state(inputs: Readonly<Record<string, unknown>> = {}): TreeState {
  return { inputs: { ...inputs }, outputs: {}, failures: {} };
}

/** What a step finds in a state. */
export function givenOf(from: TreeState): readonly GivenValue[] {
  const known = parts.get(from);
  return Object.keys(from.outputs).map((name) => ({ name, isGoal: known?.has(name) !== true }));
}

/** Adds what a step left. */
export function addToState(to: TreeState, step: string, result: Pick<TreeState, 'outputs' | 'failures'>): void {
  const known = parts.get(to) ?? new Set();
  parts.set(to, known);
  for (const [name, text] of Object.entries(result.outputs)) {
    if (name !== step && to.outputs[name] === undefined) known.add(name);
    to.outputs[name] = text;
  }
  Object.assign(to.failures, result.failures);
}

/** How a tree is run: the options of any run. */
export type TreeRunOptions = Omit<RunOptions, 'inputs'>;

/** How a run of a tree ended; what there is of the state is there also when it failed. */
export interface TreeResult
  extends TreeState, Pick<RunResult, 'runId' | 'outcome' | 'census' | 'questions' | 'spent' | 'saved'> {
  /** Why it failed. */
  readonly error?: ErrorData;
  /** What is worth knowing about the definition. */
  readonly warnings: readonly Problem[];
}
