import { SkeinError } from '../base/errors.js';
import { present } from '../base/json.js';
import type { Listener } from '../events/event.js';
import { hasErrors, type Problem } from '../base/problem.js';
import { missingModel } from '../agent/models/default-models.js';
import { openModels } from '../runtime/launch.js';
import { checkTree } from '../notations/tree/check-tree.js';
import { compileTree, type CompiledTree } from '../notations/tree/compile.js';
import type { SupervisionMode, TreeWorkflow } from '../notations/tree/definition.js';
import { modesUsed } from '../notations/tree/inherited.js';
import type { GivenValue } from '../notations/tree/names.js';
import { tidyTree } from '../notations/tree/tidy.js';
import { agentsOf } from '../plan/nodes.js';
import { treeEvents } from './events.js';
import { functionOf, type NamedModel } from './override.js';
import { modelObjects, modelProblems, runOptionsOf } from './model-objects.js';
import { checkState, givenOf, type TreeRunOptions, type TreeState } from './state.js';
import { checkRuntime, defaultsOf, plannedFields, type Runtime } from './runtime.js';
import type { RunOptions } from '../runtime/options.js';

export interface Occasion {
  readonly runtime: Runtime;
  readonly options: TreeRunOptions;
  readonly given?: readonly GivenValue[] | undefined;
}

/** A tree compiled with the parts of its runtime that affect the plan. */
interface Prepared {
  readonly fields: readonly unknown[];
  readonly made: CompiledTree;
  readonly objects: readonly NamedModel[];
  readonly modes: ReadonlySet<SupervisionMode>;
}

/** The latest preparation of each frozen definition. */
const kept = new WeakMap<TreeWorkflow, Prepared>();

export interface Ready extends CompiledTree {
  readonly objects: readonly NamedModel[];
}

export async function compiledFor(tree: TreeWorkflow, { runtime, options, given }: Occasion): Promise<Ready> {
  const prepared = preparedTree(tree, runtime, given);
  const { made, objects } = prepared;
  const problems = [...made.problems, ...needs(prepared, runtime, hasPerson(runtime, options))];
  if (runtime.model === undefined && options.resume === undefined) {
    const missing = await unansweredBy(made, tree.name, runOptionsOf(objects, runtime, options));
    if (missing !== undefined) problems.push(missing);
  }
  return hasErrors(problems) ? { ...made, objects, plan: undefined, problems } : { ...made, objects };
}

/** @throws SkeinError `SKEIN_USAGE`, `SKEIN_DEFINITION` for a runtime that can't be used */
function preparedTree(tree: TreeWorkflow, runtime: Runtime, given?: readonly GivenValue[]): Prepared {
  checkRuntime(runtime);
  const fields = plannedFields(runtime);
  const known = given === undefined ? kept.get(tree) : undefined;
  if (known?.fields.every((field, at) => field === fields[at]) === true) return known;
  const defaults = defaultsOf(runtime);
  const { maxReorientAttempts: maxReorients } = runtime;
  const made = compileTree(tree, {
    defaults,
    functionOf,
    ...present({ maxReorients, given }),
  });
  const prepared = { fields, made, objects: modelObjects(tree, defaults), modes: modesUsed(tree) };
  if (given === undefined) kept.set(tree, prepared);
  return prepared;
}

/** A runtime or a state that can't be used is a problem of those who check a tree. */
function preparedOrProblem(
  tree: TreeWorkflow,
  runtime: Runtime,
  from: TreeState | 'any' | undefined,
): Prepared | Problem {
  try {
    if (from === undefined || from === 'any') return preparedTree(tree, runtime);
    checkState(from);
    return preparedTree(withInputs(tree, from), runtime, givenOf(from));
  } catch (error) {
    if (!SkeinError.isInstance(error)) throw error;
    const { message, hint } = error;
    return present({ code: 'bad-runtime', severity: 'error', message, hint } as const);
  }
}

/** Returns all problems of a tree and its runtime. Whether a local Ollama has a model is known only in a run. */
export function problemsOf(
  tree: TreeWorkflow,
  runtime?: Runtime,
  options: TreeRunOptions = {},
  from?: TreeState | 'any',
): readonly Problem[] {
  const prepared = preparedOrProblem(tree, runtime === undefined ? {} : runtime, from);
  if ('code' in prepared) return [prepared];
  const found = from === 'any' ? checkTree(tidyTree(tree), { given: from }) : prepared.made.problems;
  if (runtime !== undefined) return [...found, ...lacks(prepared, runtime, options)];
  // The servers of the runtime have tools, too.
  return found.filter(({ code }) => code !== 'unknown-tools');
}

function lacks(prepared: Prepared, runtime: Runtime, options: TreeRunOptions): readonly Problem[] {
  const found = needs(prepared, runtime, hasPerson(runtime, options));
  const { env = process.env, noProbe = false, override, mock, script, replay } = options.models ?? {};
  const isSaid = override !== undefined || mock === true || script !== undefined || replay !== undefined;
  const isNamed = isSaid || runtime.model !== undefined || options.resume !== undefined;
  if (isNamed || !asksEnvironment(prepared.made)) return found;
  const missing = missingModel(env, noProbe);
  if (missing === undefined) return found;
  const problem = noModel(missing.error);
  return [...found, missing.sure ? problem : { ...problem, severity: 'warning' }];
}

/** Returns a single step's workflow with the inputs of a state as its parameters. */
export function withInputs(tree: TreeWorkflow, { inputs }: TreeState): TreeWorkflow {
  return { ...tree, inputs: Object.keys(inputs).map((name) => ({ name })) };
}

/** A tree compiled to an ordinary workflow. */
export interface CompiledWorkflow extends CompiledTree {
  /** The runtime's options for `run`. */
  readonly runOptions: RunOptions;
  /** Returns the listeners of a run that begins with these inputs: the telemetry of the runtime. */
  listeners(inputs: Readonly<Record<string, unknown>>): readonly Listener[];
}

/** Compiles a tree for callers that run it in another way and ask people in their own way. */
export function compiledWorkflow(tree: TreeWorkflow, runtime: Runtime = {}): CompiledWorkflow {
  const prepared = preparedOrProblem(tree, runtime, undefined);
  if ('code' in prepared) {
    return { plan: undefined, bindings: {}, problems: [prepared], runOptions: {}, listeners: () => [] };
  }
  const { made, objects } = prepared;
  const problems = [...made.problems, ...needs(prepared, runtime, true)];
  const plan = hasErrors(problems) ? undefined : made.plan;
  const { telemetry } = runtime;
  return {
    plan,
    bindings: made.bindings,
    problems,
    runOptions: runOptionsOf(objects, runtime, {}),
    listeners(inputs) {
      return plan === undefined || telemetry === undefined ? [] : [treeEvents(plan, () => inputs, telemetry)];
    },
  };
}

/** Whether a question can be answered, in the process or later. */
function hasPerson({ human }: Runtime, { store, answer }: TreeRunOptions): boolean {
  return human !== undefined || store !== undefined || answer !== undefined;
}

function needs({ objects, modes }: Prepared, { supervisor }: Runtime, isHeard: boolean): readonly Problem[] {
  const problems: Problem[] = [...modelProblems(objects)];
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

/** Reports a needed model that neither the runtime, nor the options, nor the environment names. */
async function unansweredBy(made: CompiledTree, name: string, options: RunOptions): Promise<Problem | undefined> {
  if (!asksEnvironment(made)) return undefined;
  try {
    const models = openModels(options);
    await models.resolve({ name, instructions: [], models: [] }, { path: '', agent: name });
    return undefined;
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_NO_MODEL') throw error;
    return noModel(error);
  }
}

function noModel({ message, hint }: SkeinError): Problem {
  return {
    code: 'no-model',
    severity: 'error',
    message: `workflow: Runtime.Model is required (${message})`,
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Whether some agent has no model of its own. Without a plan, none is known to have one. */
function asksEnvironment({ plan }: Pick<CompiledTree, 'plan'>): boolean {
  return plan === undefined || [...agentsOf(plan)].some(({ node }) => node.agent.models.length === 0);
}
