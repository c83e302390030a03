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

/** A workflow file as it was written: types are checked, names are not resolved yet. */
export interface Definition {
  readonly name: string;
  readonly description: string | undefined;
  readonly inputs: readonly InputDef[];
  readonly config: ConfigDef;
  /** Of all steps. */
  readonly supervise: SuperviseDef | undefined;
  /** Of a run. */
  readonly budget: Budget | undefined;
  readonly security: SecurityDef | undefined;
  readonly declared: Declarations;
  /** Absent: agents are found in the agent folders. Empty: the section could not be read. */
  readonly agents: readonly AgentDef[] | undefined;
  /** Tool servers of steps that call a tool by themselves. */
  readonly mcpServers: Readonly<Record<string, McpServerSpec>>;
  readonly skills: readonly SourceScalar[];
  readonly steps: readonly StepDef[];
  readonly output: OutputDef;
}

/** The section `config`. */
export interface ConfigDef {
  readonly models: readonly string[];
  readonly auditDir: string;
  readonly auditRetention: number;
  readonly memory: MemoryDef | undefined;
  readonly provider: ProviderSpec | undefined;
  readonly streaming: boolean | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly searchPaths: readonly SourceScalar[];
  /** Absent: no bound. */
  readonly concurrency: number | undefined;
  readonly interactive: boolean | undefined;
  readonly truncate: Truncate | undefined;
}

/** Shared memory, when it is switched on. */
export interface MemoryDef {
  readonly inject: boolean;
  readonly content: string | undefined;
  readonly file: SourceScalar | undefined;
}

/** An entry of the section `agents`. */
export interface AgentDef {
  readonly name: string;
  readonly at: Position;
  readonly file: SourceScalar | undefined;
  readonly inline: InlineAgent | undefined;
}

/** What decides about an agent apart from its prompt, in agent files and inline alike. */
export interface AgentTraits {
  readonly description: string | undefined;
  readonly models: readonly string[];
  /** Absent: the defaults; empty: none. */
  readonly tools: readonly string[] | undefined;
  /** Tools whose calls a person must allow. */
  readonly approve: readonly string[] | undefined;
  readonly checks: readonly AnswerCheck[] | undefined;
  readonly cache: CacheUse | undefined;
  /** Where its commands run. */
  readonly sandbox: SandboxUse | undefined;
  /** The longest answer. */
  readonly maxTokens: number | undefined;
  readonly mcpServers: Readonly<Record<string, McpServerSpec>> | undefined;
}

/** An agent that is written in the workflow file; its prompt may hold references. */
export interface InlineAgent extends AgentTraits {
  readonly prompt: SourceScalar | undefined;
}

/** A step: it asks an agent, or is one of the other types. */
export interface StepDef {
  /** Empty when it is missing. */
  readonly id: string;
  /** For messages: `step "scan"`, or `step 3` without an id. */
  readonly label: string;
  readonly at: Position;
  readonly loop: LoopSteps | undefined;
  readonly map: MapSteps | undefined;
  readonly ask: AskDef | undefined;
  readonly call: CallDef | undefined;
  readonly wait: WaitDef | undefined;
  readonly end: EndDef | undefined;
  /** The steps under `finally` of the file. */
  readonly last?: { readonly steps: readonly StepDef[] } | undefined;
  readonly tool: ToolDef | undefined;
  /** The values that it makes. */
  readonly set: ValuesDef | undefined;
  readonly agent: SourceScalar | undefined;
  readonly prompt: SourceScalar | undefined;
  /** JSON Schema of the output. */
  readonly schema: Json | undefined;
  readonly dependsOn: readonly SourceScalar[];
  readonly condition: ConditionDef | undefined;
  readonly skills: readonly SourceScalar[];
  /** The words, numbers and truth values of the step, by key. */
  readonly keys: Values<typeof STEP.keys>;
  readonly timeoutMs: number | undefined;
  readonly supervise: SuperviseDef | undefined;
  readonly budget: Budget | undefined;
  readonly security: SecurityDef | undefined;
  readonly models: readonly string[];
  readonly extraDirs: readonly SourceScalar[];
  /** By what the agent may answer, and the steps that this leads to; empty: it does not choose. */
  readonly choose: readonly AnswerDef[];
  readonly conversation: Conversation | undefined;
}

/** What a step has that does not ask an agent: one of these. */
export type OfType = Pick<StepDef, 'loop' | 'map' | 'ask' | 'call' | 'wait' | 'end' | 'tool' | 'set'>;

/** What a step has of them that asks an agent. */
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

/** What is repeated, and how. */
export interface LoopSteps extends LoopDef {
  readonly steps: readonly StepDef[];
}

/** What is done for each item of a list. */
export interface MapSteps extends MapDef {
  readonly steps: readonly StepDef[];
}

/** The steps of a loop, of a map or under `finally`; undefined for any other step. */
export function innerSteps({ loop, map, last }: StepDef): readonly StepDef[] | undefined {
  return (loop ?? map ?? last)?.steps;
}

/** All steps, each loop and each map in front of its own. */
export function allSteps(steps: readonly StepDef[]): readonly StepDef[] {
  return steps.flatMap((step) => [step, ...allSteps(innerSteps(step) ?? [])]);
}

/** JSON Schemas of outputs by the id of their step; that of a loop is that of its last step. */
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

/** The condition of a step. */
export interface ConditionDef {
  readonly at: Position;
  readonly step: SourceScalar | undefined;
  readonly texts: readonly { readonly op: 'contains' | 'not_contains' | 'equals'; readonly operand: SourceScalar }[];
  readonly matchesJson: SourceNode | undefined;
  readonly cel: SourceScalar | undefined;
}

/** The section `output`. */
export interface OutputDef {
  readonly steps: readonly SourceScalar[] | undefined;
  readonly format: OutputFormat;
  readonly truncate: Truncate | undefined;
  /** What the run gives; absent: what its steps have given. */
  readonly values: ValuesDef | undefined;
}

/** Channel that holds a step's output; of a step in a loop, as it is reached from outside, behind the ids of the loops around it. */
export const stepChannel = (...ids: readonly string[]): string => `steps.${ids.join('.outputs.')}.output`;

/** Channel of a loop that holds what a step of it gave in the round before, by the channel of that step. */
export const beforeChannel = (channel: string): string => `${channel}?`;

/** Channel that holds how a step ended; ids as in {@link stepChannel}. */
export const endingChannel = (...ids: readonly string[]): string => `steps.${ids.join('.outputs.')}.ending`;

/** Channels that hold the index of an item, and what it is called. */
export const countChannel = (map: string, word: 'index' | 'key'): string => `items.${map}.${word}`;

/** Channel that holds an item of a map, as its steps see it. */
export const itemChannel = (map: string): string => `items.${map}`;
