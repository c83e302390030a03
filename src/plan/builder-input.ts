import type { ErrorData } from '../base/errors.js';
import type { Json, JsonObject } from '../base/json.js';
import type { Moment } from '../base/duration.js';
import type { Condition, Template } from '../lang/values.js';
import type { AgentSpec } from './agent-spec.js';
import type { BudgetInput } from './budget.js';
import type { SecurityInput } from './security.js';
import type { ToolUse } from './tool-use.js';
import type { Declarations } from './declarations.js';
import type { GuideOf } from './guide.js';
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

/** A plan and the functions that go with it: what `run` takes. */
export interface Definition {
  readonly plan: Plan;
  readonly bindings: Bindings;
}

/** The state as functions see it, read-only: channel -> value. */
export type StateOf = Readonly<Record<string, unknown>>;

/** What a task's function may ask a person. With choices and no schema the answer is one of them. */
export interface TaskQuestion {
  readonly text: string;
  readonly choices?: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema?: Json;
}

/** How a function asks. */
export interface AskOptions<A = unknown> {
  /** Each question of a step has a name of its own. Default: its number. */
  readonly name?: string;
  /**
   * When it is too late to answer: a duration, `2h` or milliseconds, from when it was asked first, or a time. Then `default` is the answer; without one
   * the function gets a `SKEIN_TIMEOUT`. Time goes on while no process runs.
   */
  readonly expires?: Moment;
  /** The answer when nobody gave one in time. */
  readonly default?: A;
}

/** A question whose answer is a text: any, or one of the choices. */
export interface TextQuestion<C extends string> extends Omit<TaskQuestion, 'choices'> {
  readonly choices?: readonly C[];
  readonly schema?: never;
}

/** What a function is told of a token with which its node fired. */
export interface StepArrival {
  /** The node that sent it. */
  readonly from: string;
  /** `live`: it ran; `dead`: it was skipped, or did not choose this way; `failed`: it failed; `poison`: it failed, or was skipped for a failure. */
  readonly kind: 'live' | 'dead' | 'failed' | 'poison';
  /** Address of the step that failed, `review/draft#2`. */
  readonly path?: string;
  /** Why it failed. */
  readonly error?: ErrorData;
}

/** What a function that `step.run` is given may use. */
export interface StepPart {
  /** Aborted when the run is cancelled or the attempt timed out. */
  readonly signal: AbortSignal;
  /** The same for every execution of it, also after a crash: hand it to services that know idempotency keys. */
  readonly idempotencyKey: string;
}

/** What a task's function may know about its step, and the signal that tells it to stop. */
export interface TaskStep {
  /** Address of the step, `review/loop#3/critic`. */
  readonly path: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /**
   * What a supervisor, or a person, said of the attempt before, where the step or one around it is supervised: what it is to do otherwise.
   * Undefined in the first attempt. The latest correction alone counts.
   *
   * @example
   * const draft = async ({ topic }, step) => ({ text: await write(topic, step.correction) });
   */
  readonly correction: string | undefined;
  /** Aborted when the run is cancelled or the attempt timed out. */
  readonly signal: AbortSignal;
  /** The same for every execution of this step, also after a crash. */
  readonly idempotencyKey: string;
  readonly runId: string;
  /** Options for a run that the function starts, of an agent or a graph: its models, folder and answers are those of this run. */
  readonly runOptions: object;
  /**
   * What came along each in-edge: a node with `join: 'settled'` looks at skips and failures here. A node that takes over for one that failed
   * (`onError: { to }`) has one of the kind `failed`.
   */
  readonly arrivals: readonly StepArrival[];
  /**
   * Asks a person and gives the answer: text, or what the schema asks for. Each question of a step has a name of its own; without one it
   * is its number. When nobody can answer for now the function ends here and the step is paused; the function starts again, from its
   * beginning, when there is an answer.
   */
  ask<const C extends string = string>(question: TextQuestion<C>, how?: string | AskOptions<C>): Promise<C>;
  ask(question: TaskQuestion, how?: string | AskOptions): Promise<unknown>;
  /**
   * Does something of its own inside of the step, such as a call that costs money, and gives what came of it. With a store it is recorded when
   * it has ended: a step that is tried again, or goes on after its process died, has it and does not do it again. A name that is used twice
   * is counted, `page` and `page#2`. What fails is not kept. What it gives is JSON.
   */
  run<T>(name: string, part: (io: StepPart) => T): Promise<Awaited<T>>;
  /**
   * Tells whoever listens something: an event of kind `step.note` with `{ kind: 'event', event }`. It is not recorded, a step whose result is
   * taken from a record tells nothing again, and nothing is told any more once the attempt is over. Never rely on it for the result.
   */
  emit(event: JsonObject): void;
}

/** A text with `{{ channel }}` or `{{ channel.path }}` references, or a template that was parsed before. */
export type TextInput = string | Template;

/**
 * Functions of the state are declared as methods, so that a parameter may be annotated with just what the function needs:
 * `({ topic }: { topic: string }) => ...`.
 */
interface Functions<S> {
  run(state: Readonly<NoInfer<S>>, step: TaskStep): unknown;
  choose(state: Readonly<NoInfer<S>>): unknown;
  test(state: Readonly<NoInfer<S>>, round?: number): boolean;
  reduce(current: unknown, contribution: unknown): unknown;
}

/** A function that folds a contribution into the value of a channel; the value is undefined for the first one. */
export type ReduceInput = Functions<never>['reduce'];

/** A function that tests the state; for a loop, that of a round, whose number comes second. */
export type StateTest<S = StateOf> = Functions<S>['test'];

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
  /** Which models look at the calls that it makes, and what is inside of it: a mode, or one with a scope or a model. */
  readonly security?: SecurityInput;
};

/** A function as a node. What it returns is an update, or the value of `output` when that is given. */
export type TaskInput<S> = Omit<OptionsOf<TaskNode, S>, 'tool'> & {
  readonly kind?: 'task';
  readonly run: Functions<S>['run'];
};

/** A tool that is called without a model, as a node. */
export type ToolInput<S> = OptionsOf<TaskNode, S> & {
  readonly kind: 'task';
  readonly tool: ToolUse;
};

/** An agent as a node. The name of the agent is the node's id unless it is given. */
export type AgentInput<S> = Omit<OptionsOf<AgentNode, S>, 'agent' | 'prompt' | 'choice'> & {
  readonly kind: 'agent';
  /** How the agent chooses what runs next: by a tool, or by a function that makes what guides each step. */
  readonly choice?: Choice | GuideOf;
  readonly prompt: TextInput;
  readonly agent?: Partial<Omit<AgentSpec, 'instructions'>> & { readonly instructions?: TextInput };
};

type WithPlan<N extends NodeBase & { readonly plan: Plan }, S> = Omit<OptionsOf<N, S>, 'plan'> & {
  readonly plan: Definition | Plan;
};

/** A workflow as a node. */
export type CallInput<S> = WithPlan<CallNode, S> & { readonly kind: 'call' };

/** A workflow for each item of a list. */
export type MapInput<S> = WithPlan<MapNode, S> & { readonly kind: 'map' };

/** A workflow again and again, until conditions hold on its final state. */
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

/** A place where paths part or meet. */
export type PassInput<S> = OptionsOf<PassNode, S> & { readonly kind: 'pass' };

/** An end of the plan, on purpose. */
export type EndInput<S> = Omit<OptionsOf<EndNode, S>, 'reason'> & {
  readonly kind: 'end';
  readonly reason?: TextInput;
};

/**
 * A node that makes values. In texts `{{ key.path }}` is a value of the state and `{{= EXPRESSION }}` one that is worked out; a text that is one of them and nothing else keeps its
 * type.
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

/** A choice after a node: a function that answers with a target, or cases that are tried in order. */
export interface RouteInput<S> extends Pick<Route, 'from' | 'map' | 'targets' | 'parent'> {
  /**
   * Answers with the name of a node, a key of `map`, `END`, or a list of those. `result`: the function of the node says it by itself,
   * in what it returns: `goto('publish', { checked: true })`; without one `otherwise` is taken, or the branch ends.
   */
  readonly choose?: Functions<S>['choose'] | 'result';
  readonly cases?: readonly { readonly when: DeclaredConditions; readonly to: string | readonly string[] }[];
  readonly otherwise?: string | readonly string[];
}

/**
 * A channel: the name of a reducer, a reducer function, or reducer, schema and label by name. The schema is a Standard Schema, such as one
 * of zod; the label is what its value is called in a block of outputs.
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

/** What `definePlan` takes. `S` is the type of the state, for the parameters of functions. */
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
  /** What a run of it may spend. */
  readonly budget?: BudgetInput;
  /** Which models look at the calls that its agents make: a mode, or one with a scope or a model. */
  readonly security?: SecurityInput;
  /** Only inputs, declared channels and outputs of nodes may be written. */
  readonly closedState?: boolean;
  readonly channels?: Readonly<Record<string, ChannelInput>>;
  readonly nodes: readonly NodeInput<S>[];
  /** Chains of node ids: `['a', 'b', 'c']` is an edge from a to b and one from b to c. */
  readonly edges?: readonly (readonly string[])[];
  readonly routes?: readonly RouteInput<S>[];
  /** Channels that the final state has for whoever runs it. Default: all. */
  readonly output?: readonly string[];
}
