import type { Json } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import type { Truncate } from '../../lang/values.js';
import type { CacheUse, McpServerSpec, ProviderSpec, SandboxUse } from '../../plan/agent-spec.js';
import type { AnswerCheck } from '../../plan/answer-check.js';
import type { OutputFormat } from '../../plan/workflow.js';
import type { Values } from '../../text/forms.js';
import type { SourceNode, SourceScalar } from '../../text/nodes.js';
import type { Budget } from '../../plan/budget.js';
import type { Declarations } from '../../plan/declarations.js';
import type { Conversation } from '../../plan/plan.js';
import type { AskDef } from '../ask-keys.js';
import type { CallDef, EndDef, WaitDef } from '../step-keys.js';
import type { InputDef } from '../inputs-key.js';
import type { LoopDef } from '../loop-keys.js';
import type { MapDef } from '../map-keys.js';
import type { SecurityDef } from '../security-key.js';
import type { SuperviseDef } from '../supervise-key.js';
import type { ToolDef } from '../tool-steps.js';
import type { ValuesDef } from '../values-key.js';
import type { STEP } from './keys.js';

/** A workflow file as written. Types are checked; names are not resolved. */
export interface Definition {
  readonly name: string;
  readonly description: string | undefined;
  readonly inputs: readonly InputDef[];
  readonly config: ConfigDef;
  readonly supervise: SuperviseDef | undefined;
  readonly budget: Budget | undefined;
  readonly security: SecurityDef | undefined;
  readonly declared: Declarations;
  /** Undefined: agents come from the agent folders. Empty: the section could not be read. */
  readonly agents: readonly AgentDef[] | undefined;
  /** Tool servers of steps that call a tool directly. */
  readonly mcpServers: Readonly<Record<string, McpServerSpec>>;
  readonly skills: readonly SourceScalar[];
  readonly steps: readonly StepDef[];
  readonly output: OutputDef;
}

export interface ConfigDef {
  readonly models: readonly string[];
  readonly auditDir: string;
  readonly auditRetention: number;
  readonly memory: MemoryDef | undefined;
  readonly provider: ProviderSpec | undefined;
  readonly streaming: boolean | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly searchPaths: readonly SourceScalar[];
  /** Undefined: unlimited. */
  readonly concurrency: number | undefined;
  readonly interactive: boolean | undefined;
  readonly truncate: Truncate | undefined;
}

/** Shared memory, if enabled. */
export interface MemoryDef {
  readonly inject: boolean;
  readonly content: string | undefined;
  readonly file: SourceScalar | undefined;
}

export interface AgentDef {
  readonly name: string;
  readonly at: Position;
  readonly file: SourceScalar | undefined;
  readonly inline: InlineAgent | undefined;
}

/** The traits of an agent other than its prompt, for agent files and inline agents. */
export interface AgentTraits {
  readonly description: string | undefined;
  readonly models: readonly string[];
  /** Undefined: the defaults. Empty: none. */
  readonly tools: readonly string[] | undefined;
  readonly toolPlaces: ReadonlyMap<string, Position>;
  /** Tools whose calls a person must allow. */
  readonly approve: readonly string[] | undefined;
  readonly checks: readonly AnswerCheck[] | undefined;
  readonly cache: CacheUse | undefined;
  /** Where the agent's commands run. */
  readonly sandbox: SandboxUse | undefined;
  /** The longest answer, in tokens. */
  readonly maxTokens: number | undefined;
  readonly mcpServers: Readonly<Record<string, McpServerSpec>> | undefined;
}

/** An agent defined in the workflow file. Its prompt may hold references. */
export interface InlineAgent extends AgentTraits {
  readonly prompt: SourceScalar | undefined;
}

export interface StepDef {
  /** Empty if missing. */
  readonly id: string;
  /** The name in messages: `step "scan"`, or `step 3` without an id. */
  readonly label: string;
  readonly at: Position;
  readonly loop: LoopSteps | undefined;
  readonly map: MapSteps | undefined;
  readonly ask: AskDef | undefined;
  readonly call: CallDef | undefined;
  readonly wait: WaitDef | undefined;
  readonly end: EndDef | undefined;
  readonly last?: { readonly steps: readonly StepDef[] } | undefined;
  readonly tool: ToolDef | undefined;
  readonly set: ValuesDef | undefined;
  readonly agent: SourceScalar | undefined;
  readonly prompt: SourceScalar | undefined;
  readonly schema: Json | undefined;
  readonly dependsOn: readonly SourceScalar[];
  readonly condition: ConditionDef | undefined;
  readonly skills: readonly SourceScalar[];
  /** The words, numbers and booleans of the step, by key. */
  readonly keys: Values<typeof STEP.keys>;
  readonly timeoutMs: number | undefined;
  readonly supervise: SuperviseDef | undefined;
  readonly budget: Budget | undefined;
  readonly security: SecurityDef | undefined;
  readonly models: readonly string[];
  readonly extraDirs: readonly SourceScalar[];
  /** The answers the agent may choose, and the steps they lead to. Empty if the agent does not choose. */
  readonly choose: readonly AnswerDef[];
  readonly conversation: Conversation | undefined;
}

/** The type of a step that does not call an agent: one of these fields is set. */
export type OfType = Pick<StepDef, 'loop' | 'map' | 'ask' | 'call' | 'wait' | 'end' | 'tool' | 'set'>;

/** The type fields of a step that calls an agent. */
export const NO_TYPE: OfType = {
  loop: undefined,
  map: undefined,
  ask: undefined,
  call: undefined,
  wait: undefined,
  end: undefined,
  tool: undefined,
  set: undefined,
};

export interface LoopSteps extends LoopDef {
  readonly steps: readonly StepDef[];
}

/** The steps that run for each item of a list. */
export interface MapSteps extends MapDef {
  readonly steps: readonly StepDef[];
}

/** Returns the steps of a loop, of a map or under `finally`. Undefined for any other step. */
export function innerSteps({ loop, map, last }: StepDef): readonly StepDef[] | undefined {
  return (loop ?? map ?? last)?.steps;
}

/** Returns all steps, each loop and each map before its inner steps. */
export function allSteps(steps: readonly StepDef[]): readonly StepDef[] {
  return steps.flatMap((step) => [step, ...allSteps(innerSteps(step) ?? [])]);
}

/** Returns the JSON Schemas of outputs by the id of their step. The schema of a loop is that of its last step. */
export function schemasOf(steps: readonly StepDef[]): ReadonlyMap<string, Json> {
  return new Map(
    allSteps(steps).flatMap((step) => {
      const schema = schemaOf(step);
      return schema === undefined ? [] : [[step.id, schema] as const];
    }),
  );
}

function schemaOf(step: StepDef | undefined): Json | undefined {
  if (step?.loop !== undefined) return schemaOf(step.loop.steps.at(-1));
  if (step?.map !== undefined) return { type: 'array', items: schemaOf(step.map.steps.at(-1)) ?? {} };
  return step?.ask?.schema ?? step?.schema;
}

/** An answer of `choose`. */
export interface AnswerDef {
  readonly answer: string;
  readonly to: SourceScalar;
  readonly about: string | undefined;
}

export interface ConditionDef {
  readonly at: Position;
  readonly step: SourceScalar | undefined;
  readonly texts: readonly { readonly op: 'contains' | 'not_contains' | 'equals'; readonly operand: SourceScalar }[];
  readonly matchesJson: SourceNode | undefined;
  readonly cel: SourceScalar | undefined;
}

export interface OutputDef {
  readonly steps: readonly SourceScalar[] | undefined;
  readonly format: OutputFormat;
  readonly truncate: Truncate | undefined;
  readonly values: ValuesDef | undefined;
}

/** Returns the channel of a step's output. For a step in a loop as seen from outside, the ids of the enclosing loops come first. */
export const stepChannel = (...ids: readonly string[]): string => `steps.${ids.join('.outputs.')}.output`;

/** Returns the loop's channel for a step's output in the previous round, by the step's own channel. */
export const beforeChannel = (channel: string): string => `${channel}?`;

/** Returns the channel that holds how a step ended. Ids are as in {@link stepChannel}. */
export const endingChannel = (...ids: readonly string[]): string => `steps.${ids.join('.outputs.')}.ending`;

export const countChannel = (map: string, word: 'index' | 'key'): string => `items.${map}.${word}`;

/** Returns the channel that holds an item of a map, in the scope of its steps. */
export const itemChannel = (map: string): string => `items.${map}`;
