import type { Json } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import type { Budget } from '../../plan/budget.js';
import type { Declarations } from '../../plan/declarations.js';
import type { AgentSpec, McpServerSpec, Permissions } from '../../plan/agent-spec.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { Conversation, Require } from '../../plan/plan.js';
import type { InputDef } from '../inputs-key.js';
import type { AskDef } from '../ask-keys.js';
import type { CallDef, EndDef, WaitDef } from '../step-keys.js';
import type { LoopDef } from '../loop-keys.js';
import type { SecurityDef } from '../security-key.js';
import type { MapDef } from '../map-keys.js';
import type { SuperviseDef } from '../supervise-key.js';
import type { CallType } from '../tool-keys.js';
import type { ToolDef } from '../tool-steps.js';
import type { ValuesDef } from '../values-key.js';
import type { ModelTable } from './agents/agent-models.js';
import type { ContextDef } from './keys.js';

/** A pipeline file as written. Types are checked and steps have ids; references are not resolved. */
export interface PipelineDef {
  /** The name of the file, without its ending. */
  readonly name: string;
  readonly description: string | undefined;
  readonly agents: ReadonlyMap<string, AgentDef>;
  readonly models: ModelTable;
  /** Tool servers that steps may call directly. */
  readonly servers: Readonly<Record<string, McpServerSpec>>;
  readonly permissions: Permissions;
  readonly supervise: SuperviseDef | undefined;
  readonly budget: Budget | undefined;
  readonly security: SecurityDef | undefined;
  readonly declared: Declarations;
  readonly inputs: readonly InputDef[];
  /** The values of a run. Undefined: the outputs of its last steps. */
  readonly values: ValuesDef | undefined;
  /** Never empty in a file without errors. Without `workflow`, the only step is the agent `root`, or else the first agent. */
  readonly steps: readonly StepDef[];
  readonly maxLoopIterations: number;
  /** The outputs shown to agents, unless a step or sequence sets its own. */
  readonly context: ContextDef | undefined;
  readonly at: Position;
}

export interface AgentDef {
  /** All but the instructions, which may refer to steps and so differ between steps. */
  readonly spec: Omit<AgentSpec, 'instructions'>;
  readonly instruction: SourceScalar | undefined;
  readonly at: Position;
}

export interface StepBase {
  /** The written id, or one derived from its place: `step_1`, `par_2`, `cond_3`, in a branch `cond_3_true_1`. Unique in its block. */
  readonly id: string;
  /** The place of the id, or of the step if it has none. */
  readonly idAt: Position;
  readonly at: Position;
  readonly label: string;
  /** If this does not hold, the step is skipped. */
  readonly when: SourceScalar | undefined;
  /** Timeout of each attempt, in milliseconds. */
  readonly timeoutMs: number | undefined;
  readonly retry: RetryDef | undefined;
  readonly onError: 'fail' | 'continue';
  /** The supervision of an agent, or of any other step as a whole. */
  readonly supervise: SuperviseDef | undefined;
  readonly budget: Budget | undefined;
  readonly security: SecurityDef | undefined;
  readonly endorse: 'person' | 'schema' | undefined;
}

export interface RetryDef {
  /** Attempts after the first. */
  readonly retries: number;
  readonly backoff: 'fixed' | 'exponential';
  readonly delayMs: number;
  /** From 0 to 1. */
  readonly jitter: number;
  /** Classes and substrings. Undefined: any error. */
  readonly on: readonly string[] | undefined;
}

export interface AgentStep extends StepBase {
  readonly type: 'agent';
  readonly agent: SourceScalar | undefined;
  /** Replaces the workflow's prompt. */
  readonly prompt: SourceScalar | undefined;
  readonly context: ContextDef | undefined;
  /** JSON Schema of the answer; takes precedence over the agent's. */
  readonly schema: Json | undefined;
  /** The answers the agent may choose, and the steps that follow. Empty if the agent does not choose. */
  readonly choose: readonly AnswerDef[];
  readonly conversation: Conversation | undefined;
}

/** An answer of `choose`. Its steps belong to the block of the agent. */
export interface AnswerDef {
  readonly answer: string;
  readonly about: string | undefined;
  readonly steps: readonly StepDef[];
}

/** A condition. Its branches belong to its block, so their steps are addressed like those around it. */
export interface ConditionStep extends StepBase {
  readonly type: 'condition';
  /** The first case that holds is taken. `true` is also a case. */
  readonly cases: readonly CaseDef[];
  /** The steps if no case holds: under `false`, or `else`. */
  readonly otherwise: readonly StepDef[];
}

export interface CaseDef {
  /** Undefined if a problem was reported. */
  readonly when: SourceScalar | undefined;
  readonly steps: readonly StepDef[];
}

/** Steps that start together. The block ends when all have ended. */
export interface ParallelStep extends StepBase {
  readonly type: 'parallel';
  readonly require: Require | undefined;
  readonly steps: readonly StepDef[];
}

/** Steps that run in order, as one step of the surrounding block. cagent's `subworkflow` is also one. */
export interface SequenceStep extends StepBase {
  readonly type: 'sequence';
  readonly steps: readonly StepDef[];
  /** The limit of each jump back inside. Undefined: that of the surrounding block. */
  readonly maxLoopIterations: number | undefined;
  /** True for the steps under `finally` of the file, which run after all others. */
  readonly isLast: boolean;
  readonly context: ContextDef | undefined;
}

/** A jump to a step of the same block, by id or by index into the block's list. */
export interface GotoStep extends StepBase {
  readonly type: 'goto';
  readonly target: SourceScalar | undefined;
  readonly limits: JumpLimits;
}

export interface JumpLimits {
  /** Undefined: the limit of the surrounding block. */
  readonly max: number | undefined;
  /** At the limit, the run fails, or continues after the jump. */
  readonly onLimit: 'fail' | 'continue';
}

export interface LoopStep extends StepBase {
  readonly type: 'loop';
  readonly loop: LoopDef;
  readonly steps: readonly StepDef[];
}

/** Steps that run in order for each item of a list. */
export interface MapStep extends StepBase {
  readonly type: 'map';
  readonly map: MapDef;
  readonly steps: readonly StepDef[];
}

export interface ToolStep extends StepBase {
  readonly type: CallType;
  readonly tool: ToolDef;
}

export interface AskStep extends StepBase {
  readonly type: 'ask';
  readonly ask: AskDef;
}

export interface WaitStep extends StepBase {
  readonly type: 'wait';
  readonly wait: WaitDef;
}

export interface CallStep extends StepBase {
  readonly type: 'call';
  readonly call: CallDef;
  readonly prompt: SourceScalar | undefined;
}

export interface SetStep extends StepBase {
  readonly type: 'set';
  readonly values: ValuesDef;
}

/** Ends the file, from any place in it. */
export interface EndStep extends StepBase {
  readonly type: 'end';
  readonly end: EndDef;
}

export type StepDef =
  | ToolStep
  | AgentStep
  | ConditionStep
  | ParallelStep
  | SequenceStep
  | GotoStep
  | LoopStep
  | MapStep
  | AskStep
  | WaitStep
  | CallStep
  | EndStep
  | SetStep;

/** Whether nothing can run after a step: it, or a step inside that is always reached, ends the file. */
export function endsFile(step: StepDef): boolean {
  if (step.when !== undefined) return false;
  switch (step.type) {
    case 'end':
      return true;
    case 'condition':
      return branchesOf(step).every((branch) => branch.length > 0 && listEnds(branch));
    case 'parallel':
      return step.onError === 'fail' && step.steps.some(endsFile);
    case 'sequence':
    case 'loop':
      return step.onError === 'fail' && listEnds(step.steps);
    case 'agent':
    case 'run':
    case 'tool':
    case 'goto':
    case 'map':
    case 'ask':
    case 'set':
    case 'call':
    case 'wait':
      return false;
  }
}

function listEnds(steps: readonly StepDef[]): boolean {
  const end = steps.findIndex(endsFile);
  return end >= 0 && !steps.slice(0, end).some(jumps);
}

function jumps(step: StepDef): boolean {
  return step.type === 'goto' || branchesOf(step).some((branch) => branch.some(jumps));
}

/** Returns the lists of steps, one of which runs next. */
export function branchesOf(step: StepDef): readonly (readonly StepDef[])[] {
  if (step.type === 'condition') return [...step.cases.map(({ steps }) => steps), step.otherwise];
  return step.type === 'agent' ? step.choose.map(({ steps }) => steps) : [];
}

export function callsIn(steps: readonly StepDef[]): readonly CallStep[] {
  return steps.flatMap((step): readonly CallStep[] => {
    if (step.type === 'call') return [step];
    return callsIn('steps' in step ? step.steps : branchesOf(step).flat());
  });
}
