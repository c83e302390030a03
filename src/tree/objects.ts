import { checkOptions } from '../base/options.js';
import { freezeData, type Json } from '../base/json.js';
import { refusal, type Problem } from '../base/problem.js';
import {
  childrenOf,
  type SupervisionMode,
  type TreeAgent,
  type TreeConvergence,
  type TreeGoal,
  type TreeNode,
  type TreeParameter,
  type TreeSequence,
  type TreeStep,
  type TreeWork,
  type TreeWorkflow,
} from '../notations/tree/definition.js';
import { budgetData, type BudgetInput } from '../plan/budget.js';
import type { DeclaredSend } from '../plan/declarations.js';
import { securityData, type SecurityInput } from '../plan/security.js';
import { overrideOf, type Override } from './override.js';
import { state as emptyState, type TreeResult, type TreeRunOptions, type TreeState } from './state.js';
import type { Runtime } from './runtime.js';
import { compiledWorkflow, problemsOf, type CompiledWorkflow } from './prepare.js';
import { executeStep, executeTree, succeeded, type TreeInputs } from './running.js';

/** Shared by all copies of this module, so that they recognize each other's objects. */
const TREE = Symbol.for('skein.tree');

/** A step of a sequence, or of the fan-out of a goal. */
export type Step = Goal | Convergence | Agent;

/** A part of a tree, as far as walking the tree needs it. */
export interface Node {
  readonly name: string;
  readonly kind: TreeNode['kind'];
  /** Its direct children, as copies. */
  readonly children: readonly Node[];
}

/** Parts that can be supervised: all but agents, which are supervised with the goal around them. */
type Supervisable = TreeObject<Exclude<TreeNode, TreeAgent>>;

/** The base of all parts of a tree. The definition is replaced, never changed, so a part added elsewhere is a copy. */
abstract class TreeObject<D extends TreeNode> implements Node {
  #definition: D;

  constructor(definition: D) {
    this.#definition = freezeData(definition);
  }

  get [TREE](): D {
    return this.#definition;
  }

  get name(): string {
    return this.#definition.name;
  }

  get kind(): D['kind'] {
    return this.#definition.kind;
  }

  get children(): readonly Node[] {
    return childrenOf(this.#definition).map(objectOf);
  }

  /** Lets a model judge the results of the steps inside. */
  supervise<T extends Supervisable>(this: T): T {
    return this.supervised('model');
  }

  /** Lets a person judge the results of the steps inside. Nothing below can remove that. */
  superviseByHuman<T extends Supervisable>(this: T): T {
    return this.supervised('human');
  }

  /** Turns supervision off, even if the part around it is supervised. */
  unsupervised<T extends Supervisable>(this: T): T {
    return this.supervised('off');
  }

  /** Sets which tool calls models review before they run, here and inside. Never less careful than the setting around it. */
  security(security: SecurityInput): this {
    return this.changed({ security: { ...this.#definition.security, ...securityData(security) } });
  }

  /** Sets the scope of `security('research')`. */
  scope(text: string): this {
    return this.changed({ security: { mode: 'default', ...this.#definition.security, scope: text } });
  }

  /** @throws SkeinError `SKEIN_DEFINITION` for an agent */
  protected supervised(supervision: SupervisionMode): this {
    if (this.kind !== 'agent') return this.changed({ supervision });
    const message = `agent ${this.name}: an agent can't be supervised by itself`;
    throw refusal('not-supervised', message, 'supervise the goal around it');
  }

  /** Replaces fields of the definition with those of `part`. */
  protected changed(part: object): this {
    this.#definition = freezeData({ ...this.#definition, ...part });
    return this;
  }
}

/**
 * The root of a tree. Make one with `workflow(name)`.
 *
 * @example
 * const flow = workflow('hello').add(sequence('main').steps(goal('greet', 'Greet the reader.')));
 * console.log((await flow.execute({ model: 'mock/echo' })).outcome);
 */
export class Workflow extends TreeObject<TreeWorkflow> {
  /** Adds parameters. A parameter without a default is required; a default may be the empty text. */
  input(...parameters: readonly (string | TreeParameter)[]): this {
    const more = parameters.map((each) => (typeof each === 'string' ? { name: each } : parameterOf(each)));
    return this.changed({ inputs: [...this[TREE].inputs, ...more] });
  }

  /** Adds copies of sequences. */
  add(...sequences: readonly Sequence[]): this {
    const more = definitionsOf(sequences, ['sequence'], 'add');
    return this.changed({ sequences: [...this[TREE].sequences, ...more] });
  }

  /** Sets what a run may spend: dollars, a text such as `200k-tokens, 20-calls`, or a budget. */
  budget(budget: BudgetInput): this {
    return this.changed({ budget: budgetData(budget) });
  }

  /** Sets hosts that agents may reach even if an untrusted text influenced the call: `example.com`, `*.example.com`. */
  hosts(...hosts: readonly string[]): this {
    return this.changed({ hosts });
  }

  /** Sets command lines, word by word, that agents may run even if an untrusted text influenced them. */
  commands(...commands: readonly (readonly string[])[]): this {
    return this.changed({ commands });
  }

  /** Sets calls that agents may make even if an untrusted text influenced them: each argument is fixed or free. */
  sends(...sends: readonly DeclaredSend[]): this {
    return this.changed({ sends });
  }

  /** Returns all problems, including those of the runtime if one is given. Never throws. */
  validate(runtime?: Runtime, options?: TreeRunOptions): readonly Problem[] {
    return problemsOf(this[TREE], runtime, options);
  }

  /** Returns the plan and all problems: for the command line, for drawings, and to run it like any other workflow. Never throws. */
  compile(runtime?: Runtime): CompiledWorkflow {
    return compiledWorkflow(this[TREE], runtime);
  }

  /**
   * Runs the workflow. Errors inside steps are not thrown: the result holds them, with the outputs that exist.
   *
   * @throws SkeinError `SKEIN_INPUT` for missing parameters; `SKEIN_DEFINITION` with all problems, before anything runs; errors of the
   * store for a run that is recorded or resumed
   */
  async execute(runtime: Runtime, inputs?: TreeInputs, options?: TreeRunOptions): Promise<TreeResult> {
    return await executeTree(this[TREE], runtime, inputs, options);
  }

  /**
   * Runs the workflow, and returns the result of a run that finished.
   *
   * @throws SkeinError if the run failed, was paused or was cancelled
   */
  async executeOrThrow(runtime: Runtime, inputs?: TreeInputs, options?: TreeRunOptions): Promise<TreeResult> {
    return succeeded(await this.execute(runtime, inputs, options));
  }
}

/**
 * Steps that run in order. Make one with `sequence(name)`.
 *
 * @example
 * const main = sequence('main').steps(goal('draft', 'Write a line.')).customize({ systemContext: 'Write plainly.' });
 */
export class Sequence extends TreeObject<TreeSequence> {
  /** Adds copies of steps. */
  steps(...steps: readonly Step[]): this {
    return this.changed({ steps: [...this[TREE].steps, ...stepsOf(steps, 'steps')] });
  }

  /** Sets the overrides of all steps inside, replacing earlier ones. */
  customize(override: Override): this {
    return this.changed({ override: overrideOf(override) });
  }
}

/** The base of all steps. */
abstract class StepObject<D extends TreeStep> extends TreeObject<D> {
  /** Adds fields that the answer has as JSON. With a final `{ strict: true }`, an answer without its fields fails the step. */
  withOutputs(...fields: readonly (string | FieldOptions)[]): this {
    return this.changed(withFields(this[TREE], fields));
  }

  /** Sets the overrides of the step and those inside, replacing earlier ones. */
  customize(override: Override): this {
    return this.changed({ override: overrideOf(override) });
  }

  /** Sets what the step and those inside may spend in a run: dollars, a text such as `200k-tokens, 20-calls`, or a budget. */
  budget(budget: BudgetInput): this {
    return this.changed({ budget: budgetData(budget) });
  }

  /** Sets who vets an output that an untrusted text influenced: a person who sees it, or a JSON Schema of the answer. */
  endorse(by: 'person' | { readonly schema: Json }): this {
    return this.changed({ endorse: by });
  }

  /** Returns all problems of the step. References are checked only if a state is given. Never throws. */
  validate(runtime?: Runtime, from?: TreeState): readonly Problem[] {
    return problemsOf(alone(this[TREE]), runtime, {}, from ?? 'any');
  }

  /**
   * Runs the step on its own. It reads from the state, and its outputs are added to the state. Without a state, it starts with an empty one.
   *
   * @throws SkeinError as `execute` of a workflow does
   */
  async execute(runtime: Runtime, state: TreeState = emptyState(), options?: TreeRunOptions): Promise<TreeResult> {
    return await executeStep(alone(this[TREE]), runtime, state, options);
  }
}

/** The base of goals and convergences. */
abstract class Work<D extends TreeGoal | TreeConvergence> extends StepObject<D> {
  /** Adds copies of the steps that do the work, in parallel. */
  using(...steps: readonly Step[]): this {
    return this.changed({ using: [...this[TREE].using, ...stepsOf(steps, 'using')] });
  }
}

/** How the fields of an answer are requested. */
export interface FieldOptions {
  readonly strict?: boolean;
}

/**
 * A step of work. Make one with `goal(name, description)`.
 *
 * @example
 * const review = goal('review', 'Review the draft.').using(agent('critic', 'You are a critic.')).withOutputs('verdict');
 */
export class Goal extends Work<TreeGoal> {}

/**
 * Work that is refined until the model is satisfied. Make one with `convergence(name, description, within)`.
 *
 * @example
 * const polish = convergence('polish', 'Make the draft shorter.', 0).withinVar('rounds', 20);
 */
export class Convergence extends Work<TreeConvergence> {
  /** Reads the maximum number of iterations from a parameter or earlier output; set `within` to 0. `cap` bounds it, default 100. */
  withinVar(name: string, cap?: number): this {
    return this.changed({ withinVar: name, ...(cap === undefined ? {} : { cap }) });
  }
}

/**
 * A persona. Make one with `agent(name, prompt)`.
 *
 * @example
 * const critic = agent('critic', 'You are a rigorous critic.').customize({ model: 'mock/echo' });
 */
export class Agent extends StepObject<TreeAgent> {
  /** Sets the agent's work, unless its task comes from the goal around it. */
  task(text: string): this {
    return this.changed({ task: text });
  }
}

/** @throws SkeinError `SKEIN_USAGE` for options that do not exist */
function parameterOf(given: TreeParameter): TreeParameter {
  checkOptions<TreeParameter>('a parameter', given, { name: 'text', default: 'text', at: 'an object' });
  return { ...given };
}

function alone(step: TreeStep): TreeWorkflow {
  const name = step.name.trim() === '' ? step.kind : step.name;
  return { kind: 'workflow', name, inputs: [], sequences: [{ kind: 'sequence', name: 'main', steps: [step] }] };
}

function withFields(
  { outputs, strict }: Pick<TreeWork, 'outputs' | 'strict'>,
  fields: readonly (string | FieldOptions)[],
): Pick<TreeWork, 'outputs' | 'strict'> {
  const names = fields.filter((each) => typeof each === 'string');
  const said = fields.findLast((each) => typeof each !== 'string');
  if (said !== undefined) checkOptions<FieldOptions>('withOutputs', said, { strict: 'true or false' });
  const isStrict = said?.strict ?? strict;
  return { outputs: [...outputs, ...names], ...(isStrict === undefined ? {} : { strict: isStrict }) };
}

function stepsOf(steps: readonly Step[], method: string): readonly TreeStep[] {
  return definitionsOf(steps, ['goal', 'convergence', 'agent'], method);
}

/** @throws SkeinError `SKEIN_DEFINITION` for an object that is not allowed there */
function definitionsOf<K extends TreeNode['kind']>(
  objects: readonly object[],
  kinds: readonly K[],
  method: string,
): readonly Extract<TreeNode, { readonly kind: K }>[] {
  return objects.map((object: unknown) => {
    const of = typeof object === 'object' && object !== null && TREE in object ? (object[TREE] as TreeNode) : undefined;
    const isOne = (node: TreeNode): node is Extract<TreeNode, { readonly kind: K }> =>
      kinds.some((kind) => kind === node.kind);
    if (of !== undefined && isOne(of)) return of;
    const what = of === undefined ? 'something that is not part of a tree' : `a ${of.kind}`;
    throw refusal('wrong-part', `${method} takes ${kinds.join(', ')}, not ${what}`, `${kinds[0] ?? ''}('name', ...)`);
  });
}

function objectOf(node: TreeNode): Node {
  switch (node.kind) {
    case 'workflow':
      return new Workflow(node);
    case 'sequence':
      return new Sequence(node);
    case 'goal':
      return new Goal(node);
    case 'convergence':
      return new Convergence(node);
    case 'agent':
      return new Agent(node);
  }
}

export function definitionOf(tree: Workflow): TreeWorkflow {
  return tree[TREE];
}
