import type { Json } from '../base/json.js';
import type { Position } from '../base/problem.js';
import type { Condition, JsonTemplate, Template, ValueRef } from '../lang/values.js';
import type { AgentSpec, Choice, Conversation } from './agent-spec.js';
import type { Budget } from './budget.js';
import type { Declarations } from './declarations.js';
import type { Edge, Join, OnError, Route } from './edges.js';
import type { InputSpec } from './input-types.js';
import type { NodePolicies } from './node-policies.js';
import type { Security } from './security.js';
import type { OtherWay } from './endings.js';
import type { ToolUse } from './tool-use.js';

export type { Declarations, DeclaredSend } from './declarations.js';

export { END } from './edges.js';
export type { Edge, Join, OnError, Route, RouteCase } from './edges.js';
export type { InputSpec } from './input-types.js';

export type { Choice, Conversation } from './agent-spec.js';

export type { RetryPolicy } from './node-policies.js';
export type { ItemError, OtherWay, RunEnd, StepEnd } from './endings.js';

/**
 * The compiled form of a workflow: plain JSON data (DESIGN.md section 3). Functions of code nodes sit in
 * {@link Bindings}, so a workflow written in TypeScript is checked, drawn, compared and hashed like one written in YAML.
 * The order of `nodes` is the *plan order* that the rules E4, E9 and S3 speak of.
 */
export interface Plan extends Declarations {
  readonly format: 1;
  readonly name: string;
  readonly description?: string;
  /** Which notation it was written in: `dag`, `graph` ... */
  readonly notation?: string;
  readonly inputs: readonly InputSpec[];
  /** Any other value may be given too: it becomes a channel. */
  readonly openInputs?: boolean;
  /** Only inputs and declared channels may be written: anything else in an update fails its step. */
  readonly closedState?: boolean;
  /** Channels that a node writes before anybody reads them: who starts a run can't give them values. */
  readonly computed?: readonly string[];
  readonly channels: readonly ChannelSpec[];
  readonly nodes: readonly PlanNode[];
  readonly edges: readonly Edge[];
  readonly routes: readonly Route[];
  /** Where a run starts; absent: every node without in-edges (E6). */
  readonly entry?: string;
  /** Nodes that end their branch (E7). */
  readonly exits?: readonly string[];
  /**
   * A node that nothing leads to and that no route chooses: it runs when all others have ended, however they did, but not while the plan waits. It sees the final
   * state, and how the plan ended (`endings.ts`). Its failure degrades a plan that succeeded, and changes nothing else.
   */
  readonly finally?: string;
  /** The first exit that is reached ends the run (E7). */
  readonly firstExitWins?: boolean;
  /**
   * Channels that its final state has for whoever runs it; the others are private. Each is checked at the end by the Standard Schema in the
   * bindings under `output:NAME`, if there is one. Absent: all.
   */
  readonly output?: readonly string[];
  /** What it gives when it has come to its end, made of its final state: its result. */
  readonly values?: Readonly<Record<string, JsonTemplate>>;
  readonly limits?: Limits;
  /** What a run of it may spend. */
  readonly budget?: Budget;
  /** Which models look at the calls that its agents make. */
  readonly security?: Security;
}

/** Bounds of a run. */
export interface Limits {
  /** Causal depth: how many nodes may run one after another. Default: the longest static path + 100. */
  readonly maxSteps?: number;
  /** How many leaf steps run at once (E5). Default: no bound. */
  readonly concurrency?: number;
}

/** A key of the state. What it takes can be checked by a Standard Schema in the bindings, under `schema:NAME`. */
export interface ChannelSpec {
  readonly name: string;
  /** How unordered writes are folded (S3); absent: unordered writes are an error. */
  readonly reducer?: ReducerName;
  /** What its value is called in a block of outputs (`OutputsBlock`), which shows labelled channels only. */
  readonly label?: string;
}

/** Built-in reducers, or `code` for a function in {@link Bindings} under `channel:NAME`. */
export type ReducerName = 'append' | 'extend' | 'mergeDict' | 'add' | 'last' | 'code';

/** What whoever writes a workflow may say about any node. */
export interface NodeOptions extends NodePolicies {
  /** What drawings show beside the name. */
  readonly label?: string;
  /** When it runs, by what comes along the edges that lead to it. Default `all`. */
  readonly join?: Join;
  /** Where `when` does not hold, what comes after it runs as if it had given nothing. Default: its path is not taken. */
  readonly onSkip?: 'continue';
  /** What happens when it fails. Default: the run fails. */
  readonly onError?: OnError;
  /** Channel that takes how it ended, whenever the run goes on after it: a `StepEnd`. */
  readonly ending?: string;
  /** How often the node may run in one run. */
  readonly maxVisits?: number;
  /** What all visits of it, and everything below it, may spend. Not on `ask`, `wait`, `pass`. */
  readonly budget?: Budget;
  /** Which models look at the calls that it, and what is inside of it, makes; never less careful than what holds around it. */
  readonly security?: Security;
  /**
   * At the cap: fail the run (default), also with a message and a hint of its own, skip the step, or continue at another node, or with `END` nowhere;
   * with `degraded` the run is degraded then.
   */
  readonly onMaxVisits?: 'fail' | 'skip' | OtherWay | { readonly fail: string; readonly hint?: string };
  /** How a crash in the middle is treated when the run is recorded (J6). */
  readonly effect?: 'read' | 'idempotent' | 'once';
  /** Changes when a code node's behaviour changes in a way its source text does not show (J2). */
  readonly version?: string;
}

/** What every node has. */
export interface NodeBase extends NodeOptions {
  /** Unique in its plan; letters, digits, `_`, `-`, `.`; no slash. */
  readonly id: string;
  /** Channels that it may write. Absent for code nodes: not known before it runs. */
  readonly writes?: readonly string[];
  /** Channel that takes the whole result. Absent: the result must be an update, an object of channel values. */
  readonly output?: string;
  /** Id of a node that stands before it: whenever this one runs, the visits of nodes with a cap from there up to it are counted anew. */
  readonly countsAnewFrom?: string;
  /** What happens inside of it is not told as events of a graph. */
  readonly quiet?: true;
  /** A supervision that holds around it is neither for it nor for what is inside of it. */
  readonly unsupervised?: true;
  /** What it is in a tree, for those who tell of it. Decides nothing. */
  readonly role?: Role;
  /** What a goal or a convergence is to do, for those who tell of it. Decides nothing. */
  readonly about?: Template;
  readonly at?: Position;
}

/** What a node is in a tree: a goal, a convergence, one of the agents of a goal, or what makes one answer of theirs. */
export type Role = 'goal' | 'convergence' | 'subagent' | 'synthesis';

/** A function: binding `NODE`, called with (state, step); or, as data, a tool that is called without a model. */
export interface TaskNode extends NodeBase {
  readonly kind: 'task';
  /** In place of a function. */
  readonly tool?: ToolUse;
  /** It is an agent that does not run on Skein, and this is its task: what it promises where it is supervised. */
  readonly asked?: Template;
}

/** A language-model agent with tools. */
export interface AgentNode extends NodeBase {
  readonly kind: 'agent';
  readonly agent: AgentSpec;
  readonly prompt: Template;
  /** What was said before, and where what is said now goes. */
  readonly conversation?: Conversation;
  /**
   * Channels that take fields of the answer: channel -> field. The answer has to hold one JSON object with all of them, as its structured output or in
   * its text; otherwise it is asked for once more, and then given up with a warning. The channel of the output takes the field in place of the answer.
   */
  readonly fields?: Readonly<Record<string, string>>;
  /** An answer without its fields fails the step, in place of the warning. */
  readonly fieldsStrict?: true;
  /** No fields are looked for in an answer with this line when there is something in this place: the model has nothing to add to it. */
  readonly fieldsUnless?: { readonly line: string; readonly after: ValueRef };
  /**
   * The agent says what runs next. The node has a route with `choose: 'result'`. `code`: the binding `choice:NODE` makes what guides each step
   * (`plan/guide.ts`).
   */
  readonly choice?: Choice | 'code';
}

/** Where the inputs of a sub-plan come from. */
export type SubInputs = Readonly<Record<string, JsonTemplate>>;

/** Instead of a channel of a sub-plan: its whole final state, as one object. */
export const WHOLE_STATE = '*';

/** Instead of a channel of a sub-plan: what it gives by its `values`, as one object. */
export const PLAN_VALUES = '=';

/** What nodes with a sub-plan share. */
export interface SubPlan {
  readonly plan: Plan;
  /** Channel of the sub-plan -> where it comes from. Absent: same-named channels of this plan, for each input of the sub-plan. */
  readonly inputs?: SubInputs;
  /**
   * Channel of this plan -> channel of the sub-plan's final state, or {@link WHOLE_STATE}. Absent: same-named channels, for each of `writes`. Where the node
   * has an `output`, that is its result, and the others are written in addition.
   */
  readonly outputs?: Readonly<Record<string, string>>;
  /** What the message of a failure inside begins with. */
  readonly errorPrefix?: string;
}

/**
 * How much of a group must succeed: so many of its parts, or `all`. A part that fails cancels no other one. When all have ended and fewer have succeeded,
 * the node fails; otherwise failures degrade the run.
 */
export type Require = number | 'all';

/** A sub-plan as one step. */
export interface CallNode extends NodeBase, SubPlan {
  readonly kind: 'call';
  /** Of the branches of its plan: a branch succeeds when it comes to its end, and its last node has succeeded. Absent: the first failure fails the node. */
  readonly require?: Require;
}

/**
 * A sub-plan for each item of a list, bounded. The results, in item order, are the list `result` channel of each
 * item's final state, stored at `output`. Items get the path `NODE[KEY]`, KEY is the index or the value at `key`.
 */
export interface MapNode extends NodeBase {
  readonly kind: 'map';
  readonly plan: Plan;
  readonly over: ValueRef;
  /** Channel of the sub-plan that takes the item. */
  readonly item: string;
  /** Channels of the sub-plan that take the index of the item, from 0, and what it is called in its path. */
  readonly index?: string;
  readonly itemKey?: string;
  /** Further inputs, the same for all items. */
  readonly inputs?: SubInputs;
  /** Path into the item that names it; must be unique among the items. */
  readonly key?: readonly string[];
  /** Channel of the sub-plan's final state that is the result of an item, or {@link WHOLE_STATE}. */
  readonly result: string;
  /** More items fail the step: fan-out is never unbounded. */
  readonly maxItems: number;
  /** How many items at once. Default: as the run allows. */
  readonly concurrency?: number;
  /** Of the items; a failed one is left out of the list unless `onItemError` says `continue`. */
  readonly require?: Require;
  /** A failed item fails the step (default), gives null, or is left out of the list. */
  readonly onItemError?: 'fail' | 'continue' | 'leaveOut';
}

/**
 * A sub-plan again and again until `until` holds on its final state. Each round starts from the inputs, with the channels in
 * `carry` taken from the round before. Rounds get the path `NODE#ROUND`, from 1.
 */
export interface LoopNode extends NodeBase, SubPlan {
  readonly kind: 'loop';
  /** `code` calls the binding `until:NODE` with (state of the round, round). */
  readonly until: readonly Condition[];
  readonly carry?: readonly string[];
  /** Channel of the sub-plan -> channel of it whose value in the round before it takes. */
  readonly carryAs?: Readonly<Record<string, string>>;
  /** Channel of the sub-plan that takes a list -> channel of it whose values in the rounds so far are the list, from the first on. */
  readonly collect?: Readonly<Record<string, string>>;
  readonly maxRounds: number;
  /** How many rounds at most, from the state: a whole number from 1, or its text. More than `maxRounds` fails the step. */
  readonly rounds?: ValueRef;
  /** When `until` never held: fail (default), or continue with what there is. `degrade`: the run is degraded then. */
  readonly onMaxRounds?: 'fail' | 'continue' | 'degrade';
  /**
   * `before`: when `until` holds, the result is that of the round before. Of the first round it is its own, without the lines that `until` looks for;
   * when nothing is left the step fails with `SKEIN_MODEL_EMPTY`. `beforeMarked`: the first round keeps these lines, for a loop around that looks for them, too.
   */
  readonly keep?: 'before' | 'beforeMarked';
  /** `repeated`: it also ends with the round whose texts are those of the round before. */
  readonly stopWhen?: 'repeated';
}

/** A question to a person. */
export interface AskNode extends NodeBase {
  readonly kind: 'ask';
  readonly question: Template;
  /** Without a schema the answer is one of them. */
  readonly choices?: readonly string[];
  /** Where the choices come from that the state has: a list of texts and numbers. */
  readonly choicesFrom?: ValueRef;
  /** JSON Schema of the answer. */
  readonly schema?: Json;
  /** Milliseconds after which it is too late to answer. Default: never. */
  readonly expiresMs?: number;
  /** What happens then: the step fails with `SKEIN_TIMEOUT` (default), or continues with an answer. */
  readonly onExpire?: 'fail' | { readonly answer: Json };
}

/** Waits for time to pass (`ms`, `until`) or for an outside event (`event`); with `ms` too, the event must come within that time. */
export interface WaitNode extends NodeBase {
  readonly kind: 'wait';
  readonly ms?: number;
  /** A time, in milliseconds since 1970. `code`: the binding `NODE` says it, called with the state: a duration or a time. */
  readonly until?: number | 'code';
  readonly event?: string;
  /** JSON Schema of what comes with the event. */
  readonly schema?: Json;
  /** When the event is overdue: the step fails with `SKEIN_TIMEOUT` (default), or continues with an answer. */
  readonly onExpire?: AskNode['onExpire'];
}

/** Does nothing: a place where paths part (by its routes), meet, or jump. It writes nothing, takes no slot and leaves no record. */
export interface PassNode extends NodeBase {
  readonly kind: 'pass';
}

/** Ends the plan that it stands in, on purpose, as the first exit that wins does (E7): what still runs is cancelled. No `retry` and no `onError` hears of it. */
export interface EndNode extends NodeBase {
  readonly kind: 'end';
  /** How the plan ends. Default `succeeded`; `failed` is an error `SKEIN_ENDED`, whose message is the reason. */
  readonly status?: 'succeeded' | 'failed';
  readonly reason?: Template;
  /** How many of the plans around it end with it: those of the blocks that it stands in. Default 0. */
  readonly out?: number;
}

/** Makes values of what it reads, one object, at its output. It takes no slot and leaves no record: it is done again where a run is. */
export interface SetNode extends NodeBase {
  readonly kind: 'set';
  readonly values: Readonly<Record<string, JsonTemplate>>;
}

/** One vertex of a plan. */
export type PlanNode =
  TaskNode | AgentNode | CallNode | MapNode | LoopNode | AskNode | WaitNode | PassNode | EndNode | SetNode;

/** The kinds of nodes. */
export type NodeKind = PlanNode['kind'];

/**
 * Functions of a plan, by key: `NODE` (body), `when:NODE`, `route:NODE`, `until:NODE`, `retry:NODE`, `channel:NAME` (reducer),
 * `tool:NODE/NAME` (a tool of an agent), `choice:NODE` (what guides an agent), `schema:CHANNEL` (a Standard Schema). Keys of a sub-plan are prefixed with the path of its node: `outer/inner`, `outer/route:inner`.
 */
export type Bindings = Readonly<Record<string, unknown>>;

/** Of plans without functions, as files give them. */
export const NO_BINDINGS: Bindings = Object.freeze({});
