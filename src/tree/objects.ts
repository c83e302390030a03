import { freezeData } from '../base/json.js';
import type { Json } from '../base/json.js';
import type { Problem } from '../base/problem.js';
import { refusal } from '../base/problem.js';
import type {
  SupervisionMode,
  TreeAgent,
  TreeConvergence,
  TreeGoal,
  TreeNode,
  TreeParameter,
  TreeSequence,
  TreeStep,
  TreeWork,
  TreeWorkflow,
} from '../notations/tree/definition.js';
import { childrenOf } from '../notations/tree/definition.js';
import { budgetData } from '../plan/budget.js';
import type { BudgetInput } from '../plan/budget.js';
import type { DeclaredSend } from '../plan/declarations.js';
import { securityData } from '../plan/security.js';
import type { SecurityInput } from '../plan/security.js';
import { overrideOf } from './override.js';
import type { Override } from './override.js';
import type { TreeResult, TreeRunOptions, TreeState } from './state.js';
import type { Runtime } from './runtime.js';
import { compiledWorkflow, problemsOf } from './prepare.js';
import type { CompiledWorkflow } from './prepare.js';
import { executeStep, executeTree, succeeded } from './running.js';
import type { TreeInputs } from './running.js';

/** Known again across copies of this module. */
const TREE = Symbol.for('skein.tree');

/** A step of a sequence, or of the fan-out of a goal. */
export type Step = Goal | Convergence | Agent;

/** Anything in a tree: enough to walk it. */
export interface Node {
  readonly name: string;
  readonly kind: TreeNode['kind'];
  /** What stands directly in it, as copies. */
  readonly children: readonly Node[];
}

/** What can be supervised by itself: all but agents, which are supervised with the goal around them. */
type Supervisable = TreeObject<Exclude<TreeNode, TreeAgent>>;

/** What all of a tree have. What it is stands in data that is replaced, never changed: whoever takes it has a copy. */
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

  /** A model judges what the steps in it did. */
  supervise<T extends Supervisable>(this: T): T {
    return this.supervised('model');
  }

  /** A person judges what the steps in it did. Nothing below can remove that. */
  superviseByHuman<T extends Supervisable>(this: T): T {
    return this.supervised('human');
  }

  /** Not supervised, although what is around it is. */
  unsupervised<T extends Supervisable>(this: T): T {
    return this.supervised('off');
  }

  /** Which calls of tools models look at before they are made, here and in everything inside of it. It is never less careful than what is around it. */
  security(security: SecurityInput): this {
    return this.changed({ security: { ...this.#definition.security, ...securityData(security) } });
  }

  /** What `security('research')` may look into. */
  scope(text: string): this {
    return this.changed({ security: { mode: 'default', ...this.#definition.security, scope: text } });
  }

  /** @throws SkeinError `SKEIN_DEFINITION` for an agent */
  protected supervised(supervision: SupervisionMode): this {
    if (this.kind !== 'agent') return this.changed({ supervision });
    const message = `agent ${this.name}: an agent can't be supervised by itself`;
    throw refusal('not-supervised', message, 'supervise the goal around it');
  }

  /** `part`: fields of the definition. */
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
  /** Adds parameters. One without a default must be given; a default may be the empty text. */
  input(...parameters: readonly (string | TreeParameter)[]): this {
    const more = parameters.map((each) => (typeof each === 'string' ? { name: each } : { ...each }));
    return this.changed({ inputs: [...this[TREE].inputs, ...more] });
  }

  /** Adds copies of sequences. */
  add(...sequences: readonly Sequence[]): this {
    const more = definitionsOf(sequences, ['sequence'], 'add');
    return this.changed({ sequences: [...this[TREE].sequences, ...more] });
  }

  /** What a run of it may spend: dollars, a text such as `200k-tokens, 20-calls`, or a budget. */
  budget(budget: BudgetInput): this {
    return this.changed({ budget: budgetData(budget) });
  }

  /** Hosts that agents may ask although an untrusted text had a say in it: `example.com`, `*.example.com`. */
  hosts(...hosts: readonly string[]): this {
    return this.changed({ hosts });
  }

  /** Command lines, word by word, that agents may run although an untrusted text had a say in them. */
  commands(...commands: readonly (readonly string[])[]): this {
    return this.changed({ commands });
  }

  /** Calls that agents may make although an untrusted text had a say in them: every argument has its fixed value, or is free. */
  sends(...sends: readonly DeclaredSend[]): this {
    return this.changed({ sends });
  }

  /** All that is wrong, with what the runtime lacks where there is one. Never throws. */
  validate(runtime?: Runtime, options?: TreeRunOptions): readonly Problem[] {
    return problemsOf(this[TREE], runtime, options);
  }

  /** Its plan, with all that is wrong: for the command line, for drawings, and to run it like any other workflow. Never throws. */
  compile(runtime?: Runtime): CompiledWorkflow {
    return compiledWorkflow(this[TREE], runtime);
  }

  /**
   * Runs it. What happens inside of steps never throws: it is in the result, with what there is of the outputs.
   *
   * @throws SkeinError `SKEIN_INPUT` for missing parameters; `SKEIN_DEFINITION` with all problems, before anything runs; what a store says of a run
   *   that is recorded or resumed
   */
  async execute(runtime: Runtime, inputs?: TreeInputs, options?: TreeRunOptions): Promise<TreeResult> {
    return await executeTree(this[TREE], runtime, inputs, options);
  }

  /**
   * Runs it, and gives the result of a run that came to its end.
   *
   * @throws SkeinError what made it fail, pause or be cancelled
   */
  async executeOrThrow(runtime: Runtime, inputs?: TreeInputs, options?: TreeRunOptions): Promise<TreeResult> {
    return succeeded(await this.execute(runtime, inputs, options));
  }
}

/**
 * Steps in the order in which they run. Make one with `sequence(name)`.
 *
 * @example
 * const main = sequence('main').steps(goal('draft', 'Write a line.')).customize({ systemContext: 'Write plainly.' });
 */
export class Sequence extends TreeObject<TreeSequence> {
  /** Adds copies of steps. */
  steps(...steps: readonly Step[]): this {
    return this.changed({ steps: [...this[TREE].steps, ...stepsOf(steps, 'steps')] });
  }

  /** What all steps in it have; what was customized before is replaced. */
  customize(override: Override): this {
    return this.changed({ override: overrideOf(override) });
  }
}

/** What all steps have in common. */
abstract class StepObject<D extends TreeStep> extends TreeObject<D> {
  /** Adds fields that the answer has as JSON. With `{ strict: true }` behind them, an answer without its fields fails the step. */
  withOutputs(...fields: readonly (string | FieldOptions)[]): this {
    return this.changed(withFields(this[TREE], fields));
  }

  /** What it and those inside of it have; what was customized before is replaced. */
  customize(override: Override): this {
    return this.changed({ override: overrideOf(override) });
  }

  /** What it, with those inside of it, may spend in a run: dollars, a text such as `200k-tokens, 20-calls`, or a budget. */
  budget(budget: BudgetInput): this {
    return this.changed({ budget: budgetData(budget) });
  }

  /** Who makes vetted what it gives although an untrusted text had a say in it: a person who sees it, or a JSON Schema of the answer. */
  endorse(by: 'person' | { readonly schema: Json }): this {
    return this.changed({ endorse: by });
  }

  /** All that is wrong with it; references are judged where there is a state. Never throws. */
  validate(runtime?: Runtime, from?: TreeState): readonly Problem[] {
    return problemsOf(alone(this[TREE]), runtime, {}, from ?? 'any');
  }

  /**
   * Runs it by itself. It reads the state, and adds what it leaves.
   *
   * @throws SkeinError as `execute` of a workflow does
   */
  async execute(runtime: Runtime, state: TreeState, options?: TreeRunOptions): Promise<TreeResult> {
    return await executeStep(alone(this[TREE]), runtime, state, options);
  }
}

/** What goals and convergences have in common. */
abstract class Work<D extends TreeGoal | TreeConvergence> extends StepObject<D> {
  /** Adds copies of those who do the work, side by side. */
  using(...steps: readonly Step[]): this {
    return this.changed({ using: [...this[TREE].using, ...stepsOf(steps, 'using')] });
  }
}

/** How fields are asked for. */
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
  /** The parameter or earlier output that says how many iterations there are at most; `within` is 0 then. `cap` bounds it, 100 if absent. */
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
  /** What it is to do, where it does not get its task from the goal around it. */
  task(text: string): this {
    return this.changed({ task: text });
  }
}

/** A step in a workflow of its own. */
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
  const isStrict = said?.strict ?? strict;
  return { outputs: [...outputs, ...names], ...(isStrict === undefined ? {} : { strict: isStrict }) };
}

function stepsOf(steps: readonly Step[], method: string): readonly TreeStep[] {
  return definitionsOf(steps, ['goal', 'convergence', 'agent'], method);
}

/** @throws SkeinError `SKEIN_DEFINITION` for what can't stand there */
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

/** The data of a tree, for those who compile it or write it down. */
export function definitionOf(tree: Workflow): TreeWorkflow {
  return tree[TREE];
}
