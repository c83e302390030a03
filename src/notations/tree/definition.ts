import type { Position, Problem } from '../../base/problem.js';
import type { Budget } from '../../plan/budget.js';
import type { Declarations } from '../../plan/declarations.js';
import type { Endorsement } from '../../plan/endorsement.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { Security } from '../../plan/security.js';
import { present } from '../../base/json.js';

/**
 * A tree as data: what the constructors of `skein/tree` and Agentfiles produce, before it is checked and compiled. Texts are unchanged,
 * with their `$name`s.
 */
export interface TreeWorkflow extends Declarations {
  readonly kind: 'workflow';
  readonly name: string;
  readonly inputs: readonly TreeParameter[];
  readonly sequences: readonly TreeSequence[];
  readonly supervision?: SupervisionMode;
  readonly budget?: Budget;
  readonly security?: Security;
  readonly at?: Position;
}

/** Who judges the results of a step. Undefined: as for the step around it. `off` opts out. */
export type SupervisionMode = 'model' | 'human' | 'off';

/** An input from the caller. It is required unless it has a default, which may be the empty text. */
export interface TreeParameter {
  readonly name: string;
  readonly default?: string;
  readonly at?: Position;
}

/** Steps that run in order. */
export interface TreeSequence {
  readonly kind: 'sequence';
  readonly name: string;
  readonly steps: readonly TreeStep[];
  readonly supervision?: SupervisionMode;
  /** The security of all steps inside. */
  readonly security?: Security;
  readonly override?: TreeOverride;
  readonly at?: Position;
}

/** A step of a sequence, or of the fan-out of a goal. */
export type TreeStep = TreeGoal | TreeConvergence | TreeAgent;

/** One step of work, done by the model itself, or by the steps in `using` in parallel. */
export interface TreeGoal extends TreeWork {
  readonly kind: 'goal';
}

/** Work that is refined until the model declares convergence. */
export interface TreeConvergence extends TreeWork {
  readonly kind: 'convergence';
  /** Maximum number of iterations. 0 if `withinVar` determines it. */
  readonly within: number;
  /** The input or earlier output that holds the maximum. */
  readonly withinVar?: string;
  /** The upper bound of the value of `withinVar`. Default 100. */
  readonly cap?: number;
}

/** The fields that all steps share. */
interface TreeStepBase {
  readonly name: string;
  /** Fields that the answer has as JSON. */
  readonly outputs: readonly string[];
  /** True if an answer without its fields fails the step. */
  readonly strict?: boolean;
  readonly budget?: Budget;
  readonly security?: Security;
  readonly endorse?: Endorsement;
  readonly override?: TreeOverride;
  readonly at?: Position;
}

/** The fields that goals and convergences share. */
export interface TreeWork extends TreeStepBase {
  readonly description: string;
  readonly using: readonly TreeStep[];
  readonly supervision?: SupervisionMode;
}

/** A persona. In the fan-out of a goal, its task is the goal's description. */
export interface TreeAgent extends TreeStepBase {
  readonly kind: 'agent';
  readonly prompt: string;
  readonly task?: string;
}

/**
 * Overrides for a step and everything in it. Each field replaces the surrounding one, except that system contexts are concatenated. A
 * program's functions and model objects are stored separately.
 */
export interface TreeOverride extends Pick<
  AgentSpec,
  | 'tools'
  | 'functions'
  | 'mcpServers'
  | 'permissions'
  | 'skills'
  | 'extraDirs'
  | 'settings'
  | 'cache'
  | 'policy'
  | 'sandbox'
> {
  /** `provider/model`. */
  readonly model?: string;
  readonly systemContext?: string;
}

/** Any named part of a tree. Parameters are arguments, not nodes. */
export type TreeNode = TreeWorkflow | TreeSequence | TreeStep;

/** Returns the direct children of a node, in declared order. Agents have none. */
export function childrenOf(node: TreeNode): readonly TreeNode[] {
  switch (node.kind) {
    case 'workflow':
      return node.sequences;
    case 'sequence':
      return node.steps;
    case 'goal':
    case 'convergence':
      return node.using;
    case 'agent':
      return [];
  }
}

const PARTS = { workflow: 'sequences', sequence: 'steps', goal: 'using', convergence: 'using', agent: '' } as const;

/** Returns the place of a child, such as `using[2]`. */
export function partOf({ kind }: TreeNode, at: number): string {
  return `${PARTS[kind]}[${at}]`;
}

/** Yields a node and all nodes below it, in declared order, each before its children. */
export function* walkTree(node: TreeNode): Generator<TreeNode> {
  yield node;
  for (const child of childrenOf(node)) yield* walkTree(child);
}

/** The place of a part of a tree: in a file, or in the data. */
export interface TreePlace {
  readonly at?: Position | undefined;
  readonly path: string;
}

export class TreeFindings {
  readonly problems: Problem[] = [];

  error(code: string, message: string, place: TreePlace, hint?: string): void {
    this.add({ code, severity: 'error', message }, place, hint);
  }

  warning(code: string, message: string, place: TreePlace, hint?: string): void {
    this.add({ code, severity: 'warning', message }, place, hint);
  }

  private add(problem: Problem, { at, path }: TreePlace, hint: string | undefined): void {
    const where = path === '' ? undefined : path;
    this.problems.push(present({ ...problem, at, path: where, hint }));
  }
}

export function within(place: string, part: string): string {
  return place === '' ? part : `${place}.${part}`;
}
