import { SkeinError } from '../base/errors.js';
import { hasErrors } from '../base/problem.js';
import type { Problem } from '../base/problem.js';
import { openModels } from '../runtime/launch.js';
import { checkTree } from '../notations/tree/check-tree.js';
import { compileTree } from '../notations/tree/compile.js';
import type { CompiledTree } from '../notations/tree/compile.js';
import type { TreeOverride, TreeWorkflow } from '../notations/tree/definition.js';
import { modesUsed } from '../notations/tree/modes.js';
import type { GivenValue } from '../notations/tree/names.js';
import { tidyTree } from '../notations/tree/tidy.js';
import { agentsOf } from '../plan/nodes.js';
import { functionOf } from './override.js';
import { modelProblems } from './model-objects.js';
import type { TreeRunOptions } from './result.js';
import { defaultsOf } from './runtime.js';
import type { Runtime } from './runtime.js';
import { runOptionsOf } from './run-options.js';
import { givenOf } from './state.js';
import type { TreeState } from './state.js';
import type { RunOptions } from '../runtime/options.js';

/** What a tree is prepared for. */
export interface Occasion {
  readonly runtime: Runtime;
  readonly options: TreeRunOptions;
  readonly given?: readonly GivenValue[] | undefined;
}

/** Plans of definitions that nobody can change any more, for what they were last prepared with. */
const compiled = new WeakMap<
  TreeWorkflow,
  { readonly defaults: TreeOverride; readonly maxReorients: number | undefined; readonly tree: CompiledTree }
>();

/** The plan of a tree for a run, unless something is wrong. */
export async function compiledFor(tree: TreeWorkflow, { runtime, options, given }: Occasion): Promise<CompiledTree> {
  const made = compiledTree(tree, runtime, given);
  const problems = [...made.problems, ...needs(tree, runtime, hasPerson(runtime, options))];
  if (runtime.model === undefined && options.resume === undefined) {
    const missing = await missingModel(tree, runtime, { options, made });
    if (missing !== undefined) problems.push(missing);
  }
  return hasErrors(problems) ? { ...made, plan: undefined, problems } : made;
}

function compiledTree(tree: TreeWorkflow, runtime: Runtime, given: readonly GivenValue[] | undefined): CompiledTree {
  const defaults = defaultsOf(runtime);
  const { maxReorientAttempts: maxReorients } = runtime;
  const known = compiled.get(tree);
  if (given === undefined && known?.defaults === defaults && known.maxReorients === maxReorients) return known.tree;
  const made = compileTree(tree, {
    defaults,
    functionOf,
    ...(maxReorients === undefined ? {} : { maxReorients }),
    ...(given === undefined ? {} : { given }),
  });
  if (given === undefined) compiled.set(tree, { defaults, maxReorients, tree: made });
  return made;
}

/** All that is wrong with a tree, and with what it is to run with. Whether there is a model is known only when it runs. */
export function problemsOf(
  tree: TreeWorkflow,
  runtime?: Runtime,
  options: TreeRunOptions = {},
  from?: TreeState | 'any',
): readonly Problem[] {
  const wanting = runtime === undefined ? [] : needs(tree, runtime, hasPerson(runtime, options));
  if (from === 'any') return [...checkTree(tidyTree(tree), { given: from }), ...wanting];
  const made =
    from === undefined
      ? compiledTree(tree, runtime ?? {}, undefined)
      : compiledTree(withInputs(tree, from), runtime ?? {}, givenOf(from));
  return [...made.problems, ...wanting];
}

/** A step in a workflow of its own, with the inputs of a state as its parameters. */
export function withInputs(tree: TreeWorkflow, { inputs }: TreeState): TreeWorkflow {
  return { ...tree, inputs: Object.keys(inputs).map((name) => ({ name })) };
}

/** A tree as a workflow like any other. */
export interface CompiledWorkflow extends CompiledTree {
  /** What the runtime says of runs: options for `run`. */
  readonly runOptions: RunOptions;
}

/** The plan of a tree, for those who run it otherwise: they ask persons in their own way. */
export function compiledWorkflow(tree: TreeWorkflow, runtime: Runtime = {}): CompiledWorkflow {
  const made = compiledTree(tree, runtime, undefined);
  const problems = [...made.problems, ...needs(tree, runtime, true)];
  const plan = hasErrors(problems) ? undefined : made.plan;
  return { plan, bindings: made.bindings, problems, runOptions: runOptionsOf(tree, runtime, {}) };
}

/** Whether a question reaches somebody, now or later. */
function hasPerson({ human }: Runtime, { store, answer }: TreeRunOptions): boolean {
  return human !== undefined || store !== undefined || answer !== undefined;
}

/** What a runtime lacks. */
function needs(tree: TreeWorkflow, runtime: Runtime, isHeard: boolean): readonly Problem[] {
  const problems: Problem[] = [...modelProblems(tree, runtime)];
  const modes = modesUsed(tree);
  const { supervisor } = runtime;
  if (supervisor === undefined && (modes.has('model') || modes.has('human'))) {
    problems.push({
      code: 'no-supervisor',
      severity: 'error',
      message: 'Runtime.Supervisor is required when any node sets Supervise() or SuperviseByHuman()',
      hint: 'supervisor({ model })',
    });
  }
  if (modes.has('human') && !isHeard) {
    problems.push({
      code: 'no-human',
      severity: 'error',
      message: 'Runtime.human is required when any node sets SuperviseByHuman()',
      hint: 'give a function that asks the person, or a store: then the run pauses',
    });
  }
  return problems;
}

/** Whether somebody needs a model that neither the runtime, nor the options, nor the environment names. */
async function missingModel(
  tree: TreeWorkflow,
  runtime: Runtime,
  { options, made }: { readonly options: TreeRunOptions; readonly made: CompiledTree },
): Promise<Problem | undefined> {
  const agents = made.plan === undefined ? undefined : [...agentsOf(made.plan)];
  if (agents?.every(({ node }) => node.agent.models.length > 0) === true) return undefined;
  try {
    const models = openModels(runOptionsOf(tree, runtime, options));
    await models.resolve({ name: tree.name, instructions: [], models: [] }, { path: '', agent: tree.name });
    return undefined;
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_NO_MODEL') throw error;
    const { message, hint } = error;
    return {
      code: 'no-model',
      severity: 'error',
      message: `workflow: Runtime.Model is required (${message})`,
      ...(hint === undefined ? {} : { hint }),
    };
  }
}
