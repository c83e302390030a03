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

/** A pipeline file as it was written: types are checked, steps have their ids, references are not resolved yet. */
export interface PipelineDef {
  /** The name of the file, without its ending. */
  readonly name: string;
  readonly description: string | undefined;
  readonly agents: ReadonlyMap<string, AgentDef>;
  readonly models: ModelTable;
  /** Tool servers that steps may call by themselves. */
  readonly servers: Readonly<Record<string, McpServerSpec>>;
  readonly permissions: Permissions;
  /** Of all agents, wherever they stand. */
  readonly supervise: SuperviseDef | undefined;
  /** Of a run. */
  readonly budget: Budget | undefined;
  readonly security: SecurityDef | undefined;
  readonly declared: Declarations;
  /** In addition to the prompt. */
  readonly inputs: readonly InputDef[];
  /** What a run gives; absent: what its last steps have given. */
  readonly values: ValuesDef | undefined;
  /** Never empty in a file without errors. A file without `workflow` has one step: its agent `root`, or else its first one. */
  readonly steps: readonly StepDef[];
  /** How often each jump back may be made. */
  readonly maxLoopIterations: number;
  /** Which outputs agents are shown, where nothing else says so. */
  readonly context: ContextDef | undefined;
  readonly at: Position;
}

/** An agent of the section `agents`. */
export interface AgentDef {
  /** All but the instructions, which may refer to steps and so differ from step to step. */
  readonly spec: Omit<AgentSpec, 'instructions'>;
  readonly instruction: SourceScalar | undefined;
  readonly at: Position;
}

/** What every step has. */
export interface StepBase {
  /** As it was written, or else by its place: `step_1`, `par_2`, `cond_3`, in a branch `cond_3_true_1`. Unique in its block. */
  readonly id: string;
  /** Where the id stands; where the step stands when it has none. */
  readonly idAt: Position;
  readonly at: Position;
  /** For messages: `step "qa"`. */
  readonly label: string;
  /** Where it does not hold the step is skipped. */
  readonly when: SourceScalar | undefined;
  /** Per attempt. */
  readonly timeoutMs: number | undefined;
  readonly retry: RetryDef | undefined;
  readonly onError: 'fail' | 'continue';
  /** Of an agent; of any other step as a whole. */
  readonly supervise: SuperviseDef | undefined;
  readonly budget: Budget | undefined;
  readonly security: SecurityDef | undefined;
  readonly endorse: 'person' | 'schema' | undefined;
}

/** The key `retry`. */
export interface RetryDef {
  /** Tries after the first one. */
  readonly retries: number;
  readonly backoff: 'fixed' | 'exponential';
  readonly delayMs: number;
  /** 0 to 1. */
  readonly jitter: number;
  /** Classes and substrings; absent: any error. */
  readonly on: readonly string[] | undefined;
}

export interface AgentStep extends StepBase {
  readonly type: 'agent';
  readonly agent: SourceScalar | undefined;
  /** Takes the place of the workflow's prompt. */
  readonly prompt: SourceScalar | undefined;
  readonly context: ContextDef | undefined;
  /** JSON Schema of the answer; stands before that of the agent. */
  readonly schema: Json | undefined;
  /** By what the agent may answer, and what runs then; empty: it does not choose. */
  readonly choose: readonly AnswerDef[];
  readonly conversation: Conversation | undefined;
}

/** An answer of `choose`. Its steps belong to the block that the agent stands in. */
export interface AnswerDef {
  readonly answer: string;
  readonly about: string | undefined;
  readonly steps: readonly StepDef[];
}

/** Its branches belong to the block that it stands in: their steps are addressed like those around it. */
export interface ConditionStep extends StepBase {
  readonly type: 'condition';
  /** The first one that holds is taken; `true` is one, too. */
  readonly cases: readonly CaseDef[];
  /** Where none holds: under `false`, or `else`. */
  readonly otherwise: readonly StepDef[];
}

/** A case of a condition. */
export interface CaseDef {
  /** Absent: something was reported. */
  readonly when: SourceScalar | undefined;
  readonly steps: readonly StepDef[];
}

/** Its steps start together, and it ends when all have ended. */
export interface ParallelStep extends StepBase {
  readonly type: 'parallel';
  readonly require: Require | undefined;
  readonly steps: readonly StepDef[];
}

/** Its steps run one after the other, and are one step of what is around it. cagent's `subworkflow` is one too. */
export interface SequenceStep extends StepBase {
  readonly type: 'sequence';
  readonly steps: readonly StepDef[];
  /** How often each jump back in it may be made; absent: as around it. */
  readonly maxLoopIterations: number | undefined;
  /** The steps under `finally` of the file: they run when all others have ended. */
  readonly isLast: boolean;
  readonly context: ContextDef | undefined;
}

/** A jump to a step of the same block, by id or by index into the block's list. */
export interface GotoStep extends StepBase {
  readonly type: 'goto';
  readonly target: SourceScalar | undefined;
  readonly limits: JumpLimits;
}

/** How often a jump back is made. */
export interface JumpLimits {
  /** Absent: as often as any jump of the file. */
  readonly max: number | undefined;
  /** What happens then: the run fails, or goes on behind the jump. */
  readonly onLimit: 'fail' | 'continue';
}

/** Its steps, one after the other, again and again. */
export interface LoopStep extends StepBase {
  readonly type: 'loop';
  readonly loop: LoopDef;
  readonly steps: readonly StepDef[];
}

/** Its steps, one after the other, for each item of a list. */
export interface MapStep extends StepBase {
  readonly type: 'map';
  readonly map: MapDef;
  readonly steps: readonly StepDef[];
}

/** A step that calls something without a model. */
export interface ToolStep extends StepBase {
  readonly type: CallType;
  readonly tool: ToolDef;
}

/** A question to a person. */
export interface AskStep extends StepBase {
  readonly type: 'ask';
  readonly ask: AskDef;
}

/** Waits for time to pass, or for an outside event. */
export interface WaitStep extends StepBase {
  readonly type: 'wait';
  readonly wait: WaitDef;
}

/** Another workflow file as one step. */
export interface CallStep extends StepBase {
  readonly type: 'call';
  readonly call: CallDef;
  readonly prompt: SourceScalar | undefined;
}

/** Makes values of others. */
export interface SetStep extends StepBase {
  readonly type: 'set';
  readonly values: ValuesDef;
}

/** Ends the file, wherever in it the step stands. */
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

/**
 * Whether nothing runs behind a step, whatever happens: it ends the file, or something in it does that is reached in any case. What jumps may pass by is
 * not reached in any case.
 */
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

/** The lists of steps of which one runs next. */
export function branchesOf(step: StepDef): readonly (readonly StepDef[])[] {
  if (step.type === 'condition') return [...step.cases.map(({ steps }) => steps), step.otherwise];
  return step.type === 'agent' ? step.choose.map(({ steps }) => steps) : [];
}

/** All steps that call a file, wherever they stand. */
export function callsIn(steps: readonly StepDef[]): readonly CallStep[] {
  return steps.flatMap((step): readonly CallStep[] => {
    if (step.type === 'call') return [step];
    return callsIn('steps' in step ? step.steps : branchesOf(step).flat());
  });
}
