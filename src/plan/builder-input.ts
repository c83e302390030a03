import type { ErrorData } from '../base/errors.js';
import type { Json, JsonObject } from '../base/json.js';
import type { Moment } from '../base/duration.js';
import type { Condition, Template } from '../lang/values.js';
import type { AgentSpec } from './agent-spec.js';
import type { BudgetInput } from './budget.js';
import type { SecurityInput } from './security.js';
import type { ToolUse } from './tool-use.js';
import type { Declarations } from './declarations.js';
import type { AcceptedBy, TypedSchema } from './given-schema.js';
import type { GuideOf } from './guide.js';
import type { LostCall, Probed } from './probe.js';
import type { RetryInput } from './retry-input.js';
import type {
  AgentNode,
  AskNode,
  Bindings,
  CallNode,
  Choice,
  EndNode,
  LoopNode,
  MapNode,
  NodeBase,
  PassNode,
  SetNode,
  Plan,
  ReducerName,
  Route,
  TaskNode,
  WaitNode,
} from './plan.js';

/** A plan and its functions, as `run` accepts them. */
export interface Definition {
  readonly plan: Plan;
  readonly bindings: Bindings;
}

/** The state as functions see it, read-only: channel -> value. */
export type StateOf = Readonly<Record<string, unknown>>;

/** A question of a task's function to a person. With choices and without a schema, the answer is one of them. */
export interface TaskQuestion {
  readonly text: string;
  readonly choices?: readonly string[];
  /** The schema of the answer: a JSON Schema, or a Standard Schema that can be converted to one. */
  readonly schema?: Json | { readonly '~standard': unknown };
  /** What the person should see to decide: JSON of any form. It is shown below the text, and is part of the entry in `questions`. */
  readonly evidence?: unknown;
}

/** Options of a question. */
export interface AskOptions<A = unknown> {
  /** Name of the question, unique in its step. Default: its number. */
  readonly name?: string;
  /**
   * The deadline for the answer: a duration, `2h` or milliseconds, from when it was first asked, or a point in time. Afterwards `default`
   * is the answer; without one the function receives a `SKEIN_TIMEOUT`. Time passes even while no process runs.
   */
  readonly expires?: Moment;
  /** The answer after expiry. */
  readonly default?: A;
}

/** A question whose answer is a text: any text, or one of the choices. */
export interface TextQuestion<C extends string> extends Omit<TaskQuestion, 'choices'> {
  readonly choices?: readonly C[];
  readonly schema?: never;
}

/** A question whose answer has the type of a schema of zod, Valibot or ArkType. */
export interface TypedQuestion<Schema extends TypedSchema> extends TaskQuestion {
  readonly schema: Schema;
}

/** A token that made a node fire, as its function sees it. */
export interface StepArrival {
  /** The node that sent it. */
  readonly from: string;
  /** `live`: it ran; `dead`: skipped, or this edge was not chosen; `failed`: it failed; `poison`: it failed, or a failure skipped it. */
  readonly kind: 'live' | 'dead' | 'failed' | 'poison';
  /** Path of the failed step, `review/draft#2`. */
  readonly path?: string;
  /** The reason of the failure. */
  readonly error?: ErrorData;
}

/** What a function passed to `step.run` receives. */
export interface StepPart {
  /** Aborts if the run is cancelled or the attempt times out. */
  readonly signal: AbortSignal;
  /** The same on every execution, even after a crash or in a retry: pass it to services that support idempotency keys. */
  readonly idempotencyKey: string;
}

/** What a task's function knows about its step, and the signal that tells it to stop. */
export interface TaskStep {
  /** Path of the step, `review/loop#3/critic`. */
  readonly path: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /**
   * The correction by a supervisor or a person after the previous attempt, if the step or one around it is supervised. Undefined in the
   * first attempt. Only the latest correction counts.
   *
   * @example
   * const draft = async ({ topic }, step) => ({ text: await write(topic, step.correction) });
   */
  readonly correction: string | undefined;
  /** Aborts if the run is cancelled or the attempt times out. */
  readonly signal: AbortSignal;
  /** The same on every execution of this step, even after a crash, and in the attempts of a `retry`. */
  readonly idempotencyKey: string;
  readonly runId: string;
  /**
   * Options for a run of an agent or graph that the function starts: they carry over this run's models, folder and answers, and end that run
   * if this attempt is cut off.
   */
  readonly runOptions: object;
  /**
   * One entry for each in-edge. A node with `join: 'settled'` finds skips and failures here. A handler of a failed node (`onError: { to }`)
   * has one of the kind `failed`.
   */
  readonly arrivals: readonly StepArrival[];
  /**
   * Asks a person and returns the answer: text, or a value that matches the schema. Each question of a step has a unique name, by default
   * its number. If it has no answer yet, the function ends here and the step pauses; the function starts again from its beginning once
   * there is an answer.
   */
  ask<const C extends string = string>(question: TextQuestion<C>, how?: string | AskOptions<C>): Promise<C>;
  ask<Schema extends TypedSchema>(
    question: TypedQuestion<Schema>,
    how?: string | AskOptions<AcceptedBy<Schema>>,
  ): Promise<AcceptedBy<Schema>>;
  ask(question: TaskQuestion, how?: string | AskOptions): Promise<unknown>;
  /**
   * Runs a part of the step, such as a call that costs money, and returns its result, which must be JSON. With a store the result is
   * recorded when the part ends: a retried or resumed step reuses it instead of repeating the part. A repeated name is numbered, `page` and
   * `page#2`. Failures are not recorded.
   */
  run<T>(name: string, part: (io: StepPart) => T): Promise<Awaited<T>>;
  /**
   * Sends an event of kind `step.note` with `{ kind: 'event', event }` to all listeners. Events are not recorded: a step whose result is
   * reused emits none, and nothing is emitted once the attempt is over. Results must never depend on them.
   */
  emit(event: JsonObject): void;
}

/** A text with `{{ channel }}` or `{{ channel.path }}` references, or a parsed template. */
export type TextInput = string | Template;

/**
 * Functions of the state are declared as methods, so that a parameter may be annotated with only what the function needs: `({ topic }: {
 * topic: string }) => ...`.
 */
interface Functions<S> {
  run(state: Readonly<NoInfer<S>>, step: TaskStep): unknown;
  choose(state: Readonly<NoInfer<S>>): unknown;
  test(state: Readonly<NoInfer<S>>, round?: number): boolean;
  reduce(current: unknown, contribution: unknown): unknown;
  probe(state: Readonly<NoInfer<S>>, lost: LostCall): Probed | Promise<Probed>;
}

/** A function that folds a contribution into a channel's value; the value is undefined for the first one. */
export type ReduceInput = Functions<never>['reduce'];

/** A function that tests the state. For a loop it receives the state of a round, and the round's number. */
export type StateTest<S = StateOf> = Functions<S>['test'];

/** A function that finds out what became of an interrupted execution of a node. It sees the same state. */
export type ProbeInput<S = StateOf> = Functions<S>['probe'];

/** Conditions without functions: expressions and plan data. */
export type DeclaredConditions = string | Condition | readonly (string | Condition)[];

/** A condition: a function, an expression of the Common Expression Language over the channels, or plan data. */
export type ConditionInput<S> = StateTest<S> | string | Condition;

/** One condition, or several that must all hold. */
export type ConditionsInput<S> = ConditionInput<S> | readonly ConditionInput<S>[];

type OptionsOf<N extends NodeBase, S> = Omit<N, 'kind' | 'when' | 'retry' | 'budget' | 'security'> & {
  readonly when?: ConditionsInput<S>;
  readonly retry?: RetryInput;
  readonly budget?: BudgetInput;
  /** Which models review the calls of the node and everything inside it: a mode, or one with a scope or a model. */
  readonly security?: SecurityInput;
};

/** A function as a node. It returns an update, or the value of `output` if that is given. */
export type TaskInput<S> = Omit<OptionsOf<TaskNode, S>, 'tool' | 'probe'> & {
  readonly kind?: 'task';
  readonly run: Functions<S>['run'];
  /** With `effect: 'once'`: finds out what became of an execution that was interrupted, before a person is asked. */
  readonly probe?: Functions<S>['probe'];
};

/** A tool that is called without a model, as a node. */
export type ToolInput<S> = OptionsOf<TaskNode, S> & {
  readonly kind: 'task';
  readonly tool: ToolUse;
};

/** An agent as a node. The agent's name defaults to the node's id. */
export type AgentInput<S> = Omit<OptionsOf<AgentNode, S>, 'agent' | 'prompt' | 'choice'> & {
  readonly kind: 'agent';
  /** How the agent chooses what runs next: with a tool, or with a function that makes the guide of each step. */
  readonly choice?: Choice | GuideOf;
  readonly prompt: TextInput;
  readonly agent?: Partial<Omit<AgentSpec, 'instructions'>> & { readonly instructions?: TextInput };
};

type WithPlan<N extends NodeBase & { readonly plan: Plan }, S> = Omit<OptionsOf<N, S>, 'plan'> & {
  readonly plan: Definition | Plan;
};

/** A workflow as a node. */
export type CallInput<S> = WithPlan<CallNode, S> & { readonly kind: 'call' };

/** A workflow that runs for each item of a list. */
export type MapInput<S> = WithPlan<MapNode, S> & { readonly kind: 'map' };

/** A workflow that repeats until conditions hold on its final state. */
export type LoopInput<S> = Omit<WithPlan<LoopNode, S>, 'until'> & {
  readonly kind: 'loop';
  readonly until: ConditionsInput<S>;
};

/** A question to a person. */
export type AskInput<S> = Omit<OptionsOf<AskNode, S>, 'question'> & {
  readonly kind: 'ask';
  readonly question: TextInput;
};

/** A wait for time or for an event. */
export type WaitInput<S> = OptionsOf<WaitNode, S> & { readonly kind: 'wait' };

/** A point where paths part or meet. */
export type PassInput<S> = OptionsOf<PassNode, S> & { readonly kind: 'pass' };

/** A deliberate end of the plan. */
export type EndInput<S> = Omit<OptionsOf<EndNode, S>, 'reason'> & {
  readonly kind: 'end';
  readonly reason?: TextInput;
};

/**
 * A node that computes values. In texts `{{ key.path }}` is a value of the state and `{{= EXPRESSION }}` a computed one; a text that
 * consists of exactly one of them keeps the type.
 */
export type SetInput<S> = Omit<OptionsOf<SetNode, S>, 'values'> & {
  readonly kind: 'set';
  readonly values: JsonObject;
};

/** Any node of {@link PlanInput}. */
export type NodeInput<S> =
  | TaskInput<S>
  | ToolInput<S>
  | AgentInput<S>
  | CallInput<S>
  | MapInput<S>
  | LoopInput<S>
  | AskInput<S>
  | WaitInput<S>
  | PassInput<S>
  | EndInput<S>
  | SetInput<S>;

/** A choice after a node: a function that returns a target, or cases tried in order. */
export interface RouteInput<S> extends Pick<Route, 'from' | 'map' | 'targets' | 'parent'> {
  /**
   * Returns the name of a node, a key of `map`, `END`, or a list of those. `result`: the node's own function decides by its return value,
   * `goto('publish', { checked: true })`; otherwise `otherwise` is taken, or the branch ends.
   */
  readonly choose?: Functions<S>['choose'] | 'result';
  readonly cases?: readonly { readonly when: DeclaredConditions; readonly to: string | readonly string[] }[];
  readonly otherwise?: string | readonly string[];
}

/**
 * A channel: the name of a reducer, a reducer function, or reducer, schema and label by name. The schema is a Standard Schema, such as one
 * of zod; the label is the name of its value in a block of outputs.
 */
export type ChannelInput =
  | ReducerName
  | ReduceInput
  | {
      readonly reducer?: ReducerName | ReduceInput;
      readonly schema?: { readonly '~standard': unknown };
      readonly label?: string;
    };

/** An input by name; it is required unless it has a default. */
export type InputInput =
  | string
  | {
      readonly name: string;
      /** Default: the name. */
      readonly channel?: string;
      readonly description?: string;
      readonly required?: boolean;
      readonly default?: Json;
    };

/** The input of `definePlan`. `S` is the type of the state, for the parameters of functions. */
export interface PlanInput<S = StateOf> extends Pick<
  Plan,
  | 'name'
  | 'description'
  | 'openInputs'
  | 'entry'
  | 'exits'
  | 'finally'
  | 'firstExitWins'
  | 'limits'
  | keyof Declarations
> {
  readonly inputs?: readonly InputInput[];
  /** What a run may spend. */
  readonly budget?: BudgetInput;
  /** Which models review the calls of the plan's agents: a mode, or one with a scope or a model. */
  readonly security?: SecurityInput;
  /** Allows writes only to inputs, declared channels and outputs of nodes. */
  readonly closedState?: boolean;
  readonly channels?: Readonly<Record<string, ChannelInput>>;
  readonly nodes: readonly NodeInput<S>[];
  /** Chains of node ids: `['a', 'b', 'c']` adds an edge from a to b and one from b to c. */
  readonly edges?: readonly (readonly string[])[];
  readonly routes?: readonly RouteInput<S>[];
  /** Channels of the final state that callers see. Default: all. */
  readonly output?: readonly string[];
}
