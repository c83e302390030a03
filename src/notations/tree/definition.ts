import type { Position, Problem } from '../../base/problem.js';
import type { Budget } from '../../plan/budget.js';
import type { Declarations } from '../../plan/declarations.js';
import type { Endorsement } from '../../plan/endorsement.js';
import type {
  CacheUse,
  FunctionTool,
  McpServerSpec,
  ModelSettings,
  Permissions,
  SandboxUse,
  SkillText,
} from '../../plan/agent-spec.js';
import type { NarrowPolicy } from '../../plan/policy.js';
import type { Security } from '../../plan/security.js';
import { present } from '../../base/json.js';

/**
 * A tree as data: what the constructors of `skein/tree` and Agentfiles are read into, before it is checked and compiled. Texts are as the author
 * wrote them, with their `$name`s.
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

/** Who judges what a step did. Absent: as the step around it. `off` opts out. */
export type SupervisionMode = 'model' | 'human' | 'off';

/** A value that a caller gives. It is required unless it has a default, which may be the empty text. */
export interface TreeParameter {
  readonly name: string;
  readonly default?: string;
  readonly at?: Position;
}

/** Steps in the order in which they run. */
export interface TreeSequence {
  readonly kind: 'sequence';
  readonly name: string;
  readonly steps: readonly TreeStep[];
  readonly supervision?: SupervisionMode;
  /** Of all steps in it. */
  readonly security?: Security;
  readonly override?: TreeOverride;
  readonly at?: Position;
}

/** What can stand in a sequence, and in the fan-out of a goal. */
export type TreeStep = TreeGoal | TreeConvergence | TreeAgent;

/** One step of work, done by the model itself, or by those in `using` side by side. */
export interface TreeGoal extends TreeWork {
  readonly kind: 'goal';
}

/** Work that is refined until the model says that it has converged. */
export interface TreeConvergence extends TreeWork {
  readonly kind: 'convergence';
  /** Iterations at most; 0 where `withinVar` says it. */
  readonly within: number;
  /** The input or earlier output that holds the number. */
  readonly withinVar?: string;
  /** With `withinVar`: the largest number that it may hold. Default 100. */
  readonly cap?: number;
}

/** What goals and convergences have in common. */
export interface TreeWork {
  readonly name: string;
  readonly description: string;
  readonly using: readonly TreeStep[];
  /** Fields that the answer has as JSON. */
  readonly outputs: readonly string[];
  /** An answer without its fields fails the step. */
  readonly strict?: boolean;
  readonly supervision?: SupervisionMode;
  readonly budget?: Budget;
  readonly security?: Security;
  readonly endorse?: Endorsement;
  readonly override?: TreeOverride;
  readonly at?: Position;
}

/** A persona. In the fan-out of a goal, its task is the goal's description. */
export interface TreeAgent {
  readonly kind: 'agent';
  readonly name: string;
  readonly prompt: string;
  readonly task?: string;
  readonly outputs: readonly string[];
  readonly strict?: boolean;
  readonly budget?: Budget;
  readonly security?: Security;
  readonly endorse?: Endorsement;
  readonly override?: TreeOverride;
  readonly at?: Position;
}

/**
 * What is different for a step and everything in it. Each field replaces what the step around it has, except that system contexts add up. Functions and
 * model objects of a program are kept beside it.
 */
export interface TreeOverride {
  /** `provider/model`. */
  readonly model?: string;
  /** Names as in an agent's `tools`. */
  readonly tools?: readonly string[];
  readonly functions?: readonly FunctionTool[];
  readonly mcpServers?: Readonly<Record<string, McpServerSpec>>;
  readonly permissions?: Permissions;
  readonly systemContext?: string;
  readonly skills?: readonly SkillText[];
  /** Folders in addition to the working directory that the file tools may read. */
  readonly extraDirs?: readonly string[];
  readonly settings?: ModelSettings;
  /** What providers are told of their caches; absent: what they may take from them. */
  readonly cache?: CacheUse;
  /** What a policy beside the file keeps agents from. */
  readonly policy?: NarrowPolicy;
  /** Where programs run that agents start. */
  readonly sandbox?: SandboxUse;
}

/** Anything with a name in a tree; parameters are arguments, not nodes. */
export type TreeNode = TreeWorkflow | TreeSequence | TreeStep;

/** What stands directly in a node, in declared order. Agents have nothing in them. */
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

/** Where a child stands, `using[2]`. */
export function partOf({ kind }: TreeNode, at: number): string {
  return `${PARTS[kind]}[${at}]`;
}

/** A node and all nodes below it, in declared order, each before what stands in it. */
export function* walkTree(node: TreeNode): Generator<TreeNode> {
  yield node;
  for (const child of childrenOf(node)) yield* walkTree(child);
}

/** Where something of a tree stands: in a file, or in the data. */
export interface TreePlace {
  readonly at?: Position | undefined;
  readonly path: string;
}

/** Collects what is wrong with a tree. */
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

/** A place deeper inside. */
export function within(place: string, part: string): string {
  return place === '' ? part : `${place}.${part}`;
}
