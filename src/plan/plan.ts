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
 * The compiled form of a workflow: plain JSON data (DESIGN.md section 3). Functions of code nodes are in {@link Bindings}, so a workflow
 * written in TypeScript is checked, drawn, compared and hashed like one written in YAML. The order of `nodes` is the *plan order* of the
 * rules E4, E9 and S3.
 */
export interface Plan extends Declarations {
  readonly format: 1;
  readonly name: string;
  readonly description?: string;
  /** The notation in which it was written: `dag`, `graph` ... */
  readonly notation?: string;
  readonly inputs: readonly InputSpec[];
  /** Accepts any other value as an input too: it becomes a channel. */
  readonly openInputs?: boolean;
  /** Allows writes only to inputs and declared channels: any other key in an update fails its step. */
  readonly closedState?: boolean;
  /** Channels that a node writes before they are read: callers can't set them. */
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
   * A node without edges that no route chooses. It runs after all others have ended, in whatever way, but not while the plan waits. It
   * reads the final state, and how the plan ended (`endings.ts`). Its failure degrades a plan that succeeded, and changes nothing else.
   */
  readonly finally?: string;
  /** Whether the first exit reached ends the run (E7). */
  readonly firstExitWins?: boolean;
  /**
   * Channels of the final state that callers see; the others are private. At the end, each is checked by the Standard Schema in the
   * bindings under `output:NAME`, if there is one. Absent: all.
   */
  readonly output?: readonly string[];
  /** The result of the plan, computed from its final state. */
  readonly values?: Readonly<Record<string, JsonTemplate>>;
  readonly limits?: Limits;
  /** What a run may spend. */
  readonly budget?: Budget;
  /** Which models review the calls of the plan's agents. */
  readonly security?: Security;
}

export interface Limits {
  /** Causal depth: how many nodes may run one after another. Default: the longest static path + 100. */
  readonly maxSteps?: number;
  /** Number of leaf steps that run at once (E5). Default: no limit. */
  readonly concurrency?: number;
}

/** A key of the state. Its values can be checked by a Standard Schema in the bindings, under `schema:NAME`. */
export interface ChannelSpec {
  readonly name: string;
  /** How unordered writes are folded (S3); absent: unordered writes are an error. */
  readonly reducer?: ReducerName;
  /** The name of its value in a block of outputs (`OutputsBlock`), which shows only labelled channels. */
  readonly label?: string;
}

/** Built-in reducers, or `code` for a function in {@link Bindings} under `channel:NAME`. */
export type ReducerName = 'append' | 'extend' | 'mergeDict' | 'add' | 'last' | 'code';

/** Options that an author may set on any node. */
export interface NodeOptions extends NodePolicies {
  /** The text that drawings show next to the name. */
  readonly label?: string;
  /** When the node runs, by the tokens on its in-edges. Default `all`. */
  readonly join?: Join;
  /** If `when` does not hold, runs what follows as if the node had no result. Default: its path is not taken. */
  readonly onSkip?: 'continue';
  /** What happens if the node fails. Default: the run fails. */
  readonly onError?: OnError;
  /** Channel that receives how the node ended, whenever the run continues after it: a `StepEnd`. */
  readonly ending?: string;
  /** How often the node may run in one run. */
  readonly maxVisits?: number;
  /** What all visits of the node, and everything below it, may spend. Not on `ask`, `wait`, `pass`. */
  readonly budget?: Budget;
  /** Which models review the calls of the node and everything inside it; never less careful than the surrounding setting. */
  readonly security?: Security;
  /**
   * At the cap: fail the run (default), optionally with a message and a hint, skip the step, or continue at another node, or nowhere with
   * `END`; `degraded` degrades the run.
   */
  readonly onMaxVisits?: 'fail' | 'skip' | OtherWay | { readonly fail: string; readonly hint?: string };
  /** How a crash during the node is treated if the run is recorded (J6). */
  readonly effect?: 'read' | 'idempotent' | 'once';
  /** Changes if a code node's behaviour changes in a way that its source text does not show (J2). */
  readonly version?: string;
}

/** The fields of every node. */
export interface NodeBase extends NodeOptions {
  /** Unique in its plan; letters, digits, `_`, `-`, `.`; no slash. */
  readonly id: string;
  /** Channels that the node may write. Absent for code nodes: not known before it runs. */
  readonly writes?: readonly string[];
  /** Channel that receives the whole result. Absent: the result must be an update, an object of channel values. */
  readonly output?: string;
  /** Id of an earlier node: whenever this node runs, the visit counts of the capped nodes between the two start anew. */
  readonly countsAnewFrom?: string;
  /** Does not report what happens inside the node as graph events. */
  readonly quiet?: true;
  /** Excludes the node and everything inside it from a surrounding supervision. */
  readonly unsupervised?: true;
  /** The node's role in a tree, for display only. */
  readonly role?: Role;
  /** The task of a goal or a convergence, for display only. */
  readonly about?: Template;
  readonly at?: Position;
}

/** The role of a node in a tree: a goal, a convergence, one of the agents of a goal, or the node that combines their answers. */
export type Role = 'goal' | 'convergence' | 'subagent' | 'synthesis';

/** A function: binding `NODE`, called with (state, step); or, as data, a tool that is called without a model. */
export interface TaskNode extends NodeBase {
  readonly kind: 'task';
  /** The tool, instead of a function. */
  readonly tool?: ToolUse;
  /** Set if the binding `probe:NODE` finds out what became of an interrupted execution with `effect: 'once'`. */
  readonly probe?: 'code';
  /** Name of the program's tool that its function calls. */
  readonly callsTool?: string;
  /** The results of that tool are the user's own. */
  readonly trustsTool?: true;
  /** The task of an agent that does not run on Skein: what it promises if it is supervised. */
  readonly asked?: Template;
}

/** A language-model agent with tools. */
export interface AgentNode extends NodeBase {
  readonly kind: 'agent';
  readonly agent: AgentSpec;
  readonly prompt: Template;
  /** The conversation that the agent continues. */
  readonly conversation?: Conversation;
  /**
   * Channels that receive fields of the answer: channel -> field. The answer must contain one JSON object with all of them, as structured
   * output or in its text; else the model is asked once more, then a warning is emitted. The output channel receives its field instead of
   * the answer.
   */
  readonly fields?: Readonly<Record<string, string>>;
  /** Fails the step, instead of a warning, if the answer lacks its fields. */
  readonly fieldsStrict?: true;
  /** Skips the search for fields if the answer has this line and `after` is not empty: the model has nothing to add. */
  readonly fieldsUnless?: { readonly line: string; readonly after: ValueRef };
  /** Lets the agent choose the next node; its route has `choose: 'result'`. `code`: the binding `choice:NODE` makes the guide. */
  readonly choice?: Choice | 'code';
}

/** The sources of a sub-plan's inputs. */
export type SubInputs = Readonly<Record<string, JsonTemplate>>;

/** Used instead of a channel of a sub-plan: its whole final state, as one object. */
export const WHOLE_STATE = '*';

/** Used instead of a channel of a sub-plan: the result of its `values`, as one object. */
export const PLAN_VALUES = '=';

/** What nodes with a sub-plan share. */
export interface SubPlan {
  readonly plan: Plan;
  /** Channel of the sub-plan -> its source. Absent: same-named channels of this plan, for each input of the sub-plan. */
  readonly inputs?: SubInputs;
  /**
   * Channel of this plan -> channel of the sub-plan's final state, or {@link WHOLE_STATE}. Absent: same-named channels, for each of
   * `writes`. If the node has an `output`, that is its result, and the others are written in addition.
   */
  readonly outputs?: Readonly<Record<string, string>>;
  /** The prefix of the message of a failure inside. */
  readonly errorPrefix?: string;
}

/**
 * How many parts of a group must succeed: a number, or `all`. A failed part cancels no other. Once all have ended, the node fails if fewer
 * have succeeded; otherwise failures degrade the run.
 */
export type Require = number | 'all';

export interface CallNode extends NodeBase, SubPlan {
  readonly kind: 'call';
  /** Number of branches that must succeed: a branch succeeds if it ends and its last node has succeeded. Absent: the first failure fails the node. */
  readonly require?: Require;
}

/**
 * A sub-plan for each item of a list, bounded. The results, in item order, are the list of the `result` channels of the items' final
 * states, stored at `output`. Items get the path `NODE[KEY]`; KEY is the index or the value at `key`.
 */
export interface MapNode extends NodeBase {
  readonly kind: 'map';
  readonly plan: Plan;
  readonly over: ValueRef;
  /** Channel of the sub-plan that receives the item. */
  readonly item: string;
  /** Channels of the sub-plan that receive the item's index, from 0, and its name in the path. */
  readonly index?: string;
  readonly itemKey?: string;
  /** Further inputs, the same for all items. */
  readonly inputs?: SubInputs;
  /** Path inside the item to its name, which must be unique among the items. */
  readonly key?: readonly string[];
  /** Channel of the sub-plan's final state that holds the result of an item, or {@link WHOLE_STATE}. */
  readonly result: string;
  /** More items fail the step: fan-out is never unbounded. */
  readonly maxItems: number;
  /** Number of items that run at once. Default: as the run allows. */
  readonly concurrency?: number;
  /** Number of items that must succeed; a failed one is left out of the list unless `onItemError` is `continue`. */
  readonly require?: Require;
  /** A failed item fails the step (default), yields null, or is left out of the list. */
  readonly onItemError?: 'fail' | 'continue' | 'leaveOut';
}

/**
 * A sub-plan that repeats until `until` holds on its final state. Each round starts from the inputs, with the channels in `carry` taken
 * from the previous round. Rounds get the path `NODE#ROUND`, from 1.
 */
export interface LoopNode extends NodeBase, SubPlan {
  readonly kind: 'loop';
  /** `code` calls the binding `until:NODE` with (state of the round, round). */
  readonly until: readonly Condition[];
  readonly carry?: readonly string[];
  /** Channel of the sub-plan -> its channel whose value in the previous round it receives. */
  readonly carryAs?: Readonly<Record<string, string>>;
  /** Channel of the sub-plan that receives a list -> its channel whose values in all rounds so far form the list, in order. */
  readonly collect?: Readonly<Record<string, string>>;
  readonly maxRounds: number;
  /** Maximum number of rounds, from the state: a whole number from 1, or its text. More than `maxRounds` fails the step. */
  readonly rounds?: ValueRef;
  /** If `until` never held: fail (default), or continue with the last state. `degrade` continues and degrades the run. */
  readonly onMaxRounds?: 'fail' | 'continue' | 'degrade';
  /**
   * `before`: when `until` holds, the result is that of the previous round; in the first round its own, without the lines that `until`
   * looks for (`SKEIN_MODEL_EMPTY` if nothing is left). `beforeMarked`: the first round keeps them, for an outer loop that looks for them.
   */
  readonly keep?: 'before' | 'beforeMarked';
  /** `repeated`: the loop also ends with a round whose texts equal those of the previous round. */
  readonly stopWhen?: 'repeated';
}

/** A question to a person. */
export interface AskNode extends NodeBase {
  readonly kind: 'ask';
  readonly question: Template;
  /** Without a schema the answer is one of these. */
  readonly choices?: readonly string[];
  /** Source of the choices in the state: a list of texts and numbers. */
  readonly choicesFrom?: ValueRef;
  /** JSON Schema of the answer. */
  readonly schema?: Json;
  /** Milliseconds until the question expires. Default: never. */
  readonly expiresMs?: number;
  /** On expiry: the step fails with `SKEIN_TIMEOUT` (default), or continues with an answer. */
  readonly onExpire?: 'fail' | { readonly answer: Json };
}

/** Waits for time to pass (`ms`, `until`) or for an outside event (`event`); with `ms` too, the event must come within that time. */
export interface WaitNode extends NodeBase {
  readonly kind: 'wait';
  readonly ms?: number;
  /** A time, in milliseconds since 1970. `code`: the binding `NODE`, called with the state, returns a duration or a time. */
  readonly until?: number | 'code';
  readonly event?: string;
  /** JSON Schema of the event's data. */
  readonly schema?: Json;
  /** If the event is overdue: the step fails with `SKEIN_TIMEOUT` (default), or continues with an answer. */
  readonly onExpire?: AskNode['onExpire'];
}

/** Does nothing: a point where paths part (by its routes), meet, or jump. It writes nothing, uses no slot and leaves no record. */
export interface PassNode extends NodeBase {
  readonly kind: 'pass';
}

/** Ends its plan on purpose, as the first exit that wins does (E7): steps in progress are cancelled. No `retry` and no `onError` applies. */
export interface EndNode extends NodeBase {
  readonly kind: 'end';
  /** How the plan ends. Default `succeeded`; `failed` is an error `SKEIN_ENDED`, whose message is the reason. */
  readonly status?: 'succeeded' | 'failed';
  readonly reason?: Template;
  /** Number of surrounding plans that end with it: those of the enclosing blocks. Default 0. */
  readonly out?: number;
}

/** Computes values from what it reads, as one object at its output. It uses no slot and leaves no record: a resumed run repeats it. */
export interface SetNode extends NodeBase {
  readonly kind: 'set';
  readonly values: Readonly<Record<string, JsonTemplate>>;
}

/** One vertex of a plan. */
export type PlanNode =
  TaskNode | AgentNode | CallNode | MapNode | LoopNode | AskNode | WaitNode | PassNode | EndNode | SetNode;

export type NodeKind = PlanNode['kind'];

/**
 * Functions of a plan, by key: `NODE` (body), `when:NODE`, `route:NODE`, `until:NODE`, `retry:NODE`, `channel:NAME` (reducer),
 * `choice:NODE` (guide), `tool:NODE/NAME`, `schema:CHANNEL` (a Standard Schema). In a sub-plan the path of its node is a prefix:
 * `outer/inner`, `outer/route:inner`.
 */
export type Bindings = Readonly<Record<string, unknown>>;

/** The bindings of plans without functions, such as those from files. */
export const NO_BINDINGS: Bindings = Object.freeze({});
