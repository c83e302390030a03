import type { JsonObject, Json } from '../base/json.js';
import type { ModelSettings, AgentSpec } from '../plan/agent-spec.js';
import type { PriceTable } from '../budget/prices.js';
import type { Cost, Usage } from '../events/event.js';
import type { Phase } from '../events/supervision.js';
import type { Label } from '../guard/label.js';
import type { Policy } from '../plan/policy.js';

/**
 * The model port: one streaming call. Implementations send one request, retry nothing, and throw SkeinErrors whose code says
 * whether the engine should try again (`retryable`, `retryAfterMs`).
 *
 * A back end that runs its own tool loop implements the same interface: it calls `request.dispatch` for each tool call, and its
 * stream ends with a `finish` part and without open `tool-call` parts.
 */
export interface Model {
  /** `provider/model`, as it is recorded. */
  readonly id: string;
  /** True when `request.output` reaches the provider; else the loop puts the schema into the instructions. */
  readonly structuredOutput?: boolean;
  /** It bills nobody: the model in whose place it answers, `provider/model`; empty for none. What that one would have cost is told. */
  readonly inPlaceOf?: string;
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
}

/** One call of a model. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** Answer with JSON that matches this schema, where the provider supports it. */
  readonly output?: { readonly name: string; readonly schema: JsonObject };
  readonly settings: ModelSettings;
  /** The most tokens of the answer, where the settings don't say. Nothing that is recorded depends on it. */
  readonly outputLimit?: number | undefined;
  /** The provider may keep the prompt for later requests that begin alike; absent: it is told nothing of that. */
  readonly cache?: PromptCache | undefined;
  readonly signal: AbortSignal;
  /** Who calls: scripts choose by it, and recordings name it. Providers don't see it. */
  readonly caller: Caller;
  /** Runs a tool call, for back ends with a loop of their own. */
  dispatch(call: ToolCall): Promise<ToolResult>;
  /** For providers that take only so many calls: who waits for its turn. */
  readonly turn?: Waiting;
  /** Hears the status and the headers with which the server answers. */
  heard?(answer: { readonly status: number; readonly headers: unknown }): void;
}

/** A call that may have to wait until its provider takes it. */
export interface Waiting {
  /** Calls of different runs take turns. */
  readonly run: string;
  /** It was refused before, and goes ahead of the others of its run. */
  readonly again: boolean;
  /** It waits: the clocks of the step stand still until the function that this gives is called. */
  waits(): () => void;
  /** It waits for longer than a moment, behind so many other calls. */
  queued(ahead: number): void;
  /** It has waited for so many milliseconds, and is made. */
  admitted(waitedMs: number): void;
}

/** What a provider may be told of requests that begin alike. */
export interface PromptCache {
  /** It is to be kept for an hour, where the provider can. */
  readonly forHour?: true;
  /** Equal for those with the same agent, tools and system prompt; letters, digits, `-` and `_`, at most 64. */
  key(): string;
}

/** Who calls a model. */
export interface Caller {
  readonly path: string;
  readonly agent: string;
  readonly turn: number;
  /** The supervision of the step calls. */
  readonly phase?: Phase;
  /** What its answer must have as JSON: `fields` of its node. */
  readonly fields?: readonly string[];
}

/** A message of a conversation. */
export type Message =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly ToolCall[];
      /** The agent that said it, in a conversation that several share. */
      readonly by?: string;
    }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

/** A tool call of a model. `input` is what the model sent, as text: it may be no JSON at all. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  /** Opaque data that the provider wants back with the conversation, such as a signature. */
  readonly providerData?: JsonObject;
}

/** The answer to a tool call. */
export interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly output: string;
  readonly isError: boolean;
}

/** What a model sees of a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** A piece of a model's answer. A stream has exactly one `finish`, at the end. */
export type ModelPart =
  /** The provider has taken the call: from here on it may bill it. Any other part says so, too. */
  | { readonly type: 'begun' }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool-call'; readonly call: ToolCall }
  /** What the provider does not do as the settings ask. */
  | { readonly type: 'warning'; readonly message: string }
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      /** Absent: the provider does not say. */
      readonly usage?: Usage | undefined;
      /** Where the provider says what it billed: no table of prices is asked. */
      readonly cost?: Cost;
    };

/** Why a model stopped. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other';

/** A finished turn, in the form that is recorded. */
export interface ModelTurn {
  /** The model that really answered. */
  readonly model: string;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly reason: FinishReason;
  readonly usage: Usage;
  /** What the call cost by the prices of that day. Absent: unknown. */
  readonly cost?: Cost;
  /** Tool calls that a back end with a loop of its own made. */
  readonly dispatched?: number;
  /** What had a say in the conversation after these. */
  readonly heard?: Label;
  /** It was cut at this limit, which nobody had set. */
  readonly cutAt?: number;
  readonly raw?: Json;
}

/** Whose models are looked for. */
export interface ModelCaller {
  readonly path: string;
  readonly agent: string;
  /** What holds for the run of the agent; absent: what holds for the run that the models were opened for. */
  readonly policies?: readonly Policy[];
}

/** Finds the models of an agent. Implemented by the model registry. */
export interface ModelSource {
  /**
   * The models to try, in order; at least one. Nothing is loaded yet.
   *
   * @throws SkeinError `SKEIN_NO_MODEL` when there is none.
   */
  resolve(spec: AgentSpec, caller: ModelCaller): readonly Model[] | Promise<readonly Model[]>;
  /** Prices that win over those that come with Skein. */
  readonly prices?: PriceTable | undefined;
  /** What decides about the models apart from the agent, such as flags. With another text, a recorded choice does not count. */
  identity?(): string;
  /** A call was answered from the record of the run: sources that count calls count it. Must not throw. */
  replayed?(spec: AgentSpec, call: ReplayedCall): void;
}

/** A model call that was answered from the record of the run. */
export interface ReplayedCall {
  /** Name of the model, as it is recorded. */
  readonly model: string;
  readonly caller: Caller;
  /** The conversation that was sent. */
  messages(): readonly Message[];
}
