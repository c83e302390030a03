import type { JsonObject, Json } from '../base/json.js';
import type { ModelSettings, AgentSpec } from '../plan/agent-spec.js';
import type { PriceTable } from '../budget/prices.js';
import type { Cost, Usage } from '../events/event.js';
import type { Phase } from '../events/supervision.js';
import type { Policy } from '../plan/policy.js';

/**
 * The model port: one streaming call. Implementations send one request, retry nothing, and throw SkeinErrors that tell the engine whether
 * to retry (`retryable`, `retryAfterMs`).
 *
 * A back end that runs its own tool loop implements the same interface: it calls `request.dispatch` for each tool call, and its stream ends
 * with a `finish` part and without open `tool-call` parts.
 */
export interface Model {
  /** `provider/model`, as it is recorded. */
  readonly id: string;
  /** True if `request.output` reaches the provider; otherwise the loop puts the schema into the instructions. */
  readonly structuredOutput?: boolean;
  /** For a model that bills nothing: the one in whose place it answers, `provider/model`; empty for none. That one's cost is reported. */
  readonly inPlaceOf?: string;
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
}

/** One call of a model. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** The schema of the answer's JSON, for providers that support one. */
  readonly output?: { readonly name: string; readonly schema: JsonObject };
  readonly settings: ModelSettings;
  /** Output limit in tokens if the settings set none. Nothing that is recorded depends on it. */
  readonly outputLimit?: number | undefined;
  /** Lets the provider keep the prompt for later requests with the same beginning; absent: no cache options are sent. */
  readonly cache?: PromptCache | undefined;
  readonly signal: AbortSignal;
  /** The caller: scripts choose by it, and recordings name it. Providers do not see it. */
  readonly caller: Caller;
  /** Runs a tool call, for back ends with a loop of their own. */
  dispatch(call: ToolCall): Promise<ToolResult>;
  /** The place of the call in line, for providers that accept a limited number of calls. */
  readonly turn?: Waiting;
  /** Receives the status and the headers of the server's answer. */
  heard?(answer: { readonly status: number; readonly headers: unknown }): void;
}

/** A call that may have to wait until its provider accepts it. */
export interface Waiting {
  /** Calls of different runs take turns. */
  readonly run: string;
  /** Whether the call is a retry of a refused one, which goes ahead of the other calls of its run. */
  readonly again: boolean;
  /** Stops the clocks of the step while the call waits; the returned function starts them again. */
  waits(): () => void;
  /** Reports a wait that is not brief, behind this many calls. */
  queued(ahead: number): void;
  /** Reports that the call is made after a wait of this many milliseconds. */
  admitted(waitedMs: number): void;
}

/** The cache options of requests with the same beginning. */
export interface PromptCache {
  /** Keeps the prompt for an hour, if the provider can. */
  readonly forHour?: true;
  /** The same for requests with the same agent, tools and system prompt; letters, digits, `-` and `_`, at most 64. */
  key(): string;
}

export interface Caller {
  readonly path: string;
  readonly agent: string;
  readonly turn: number;
  /** The phase, if the supervision of the step makes the call. */
  readonly phase?: Phase;
  /** The JSON fields that the answer must have: `fields` of its node. */
  readonly fields?: readonly string[];
}

/** A message of a conversation. */
export type Message =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly ToolCall[];
      /** The agent that wrote it, in a conversation that several share. */
      readonly by?: string;
    }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

/** A tool call of a model. `input` is the text that the model sent, which may not be JSON. */
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
  /** The provider has accepted the call, and may bill it from then on. Any other part implies the same. */
  | { readonly type: 'begun' }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool-call'; readonly call: ToolCall }
  /** The provider searched, or ran a tool of its own: the answer is made of texts that no message shows. */
  | { readonly type: 'searched' }
  /** A setting that the provider does not follow. */
  | { readonly type: 'warning'; readonly message: string }
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      /** Absent if the provider reports none. */
      readonly usage?: Usage | undefined;
      /** The amount that the provider reports as billed: it replaces the price table. */
      readonly cost?: Cost;
    };

/**
 * Why a model stopped. `window`: prompt and answer fill its context window. `length`: its output limit, or its window where a provider does
 * not tell the two apart.
 */
export type FinishReason = 'stop' | 'length' | 'window' | 'tool-calls' | 'content-filter' | 'error' | 'other';

/** A finished turn, in the form that is recorded. */
export interface ModelTurn {
  /** The model that actually answered. */
  readonly model: string;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly reason: FinishReason;
  readonly usage: Usage;
  /** The cost of the call at the prices of that day. Absent if unknown. */
  readonly cost?: Cost;
  /** Number of tool calls that a back end with a loop of its own made. */
  readonly dispatched?: number;
  /** Whether the provider searched, or ran a tool of its own. */
  readonly searched?: true;
  /** The default limit at which the answer was cut. */
  readonly cutAt?: number;
  readonly raw?: Json;
}

/** The agent whose models are resolved. */
export interface ModelCaller {
  readonly path: string;
  readonly agent: string;
  /** The policies of the agent's run; absent: those of the run that the models were opened for. */
  readonly policies?: readonly Policy[];
}

/** Finds the models of an agent. Implemented by the model registry. */
export interface ModelSource {
  /**
   * Returns the models to try, in order; at least one. Loads nothing yet.
   *
   * @throws SkeinError `SKEIN_NO_MODEL` if there is none.
   */
  resolve(spec: AgentSpec, caller: ModelCaller): readonly Model[] | Promise<readonly Model[]>;
  /** Prices that override those that come with Skein. */
  readonly prices?: PriceTable | undefined;
  /** What the choice of models depends on apart from the agent, such as flags. With another text, a recorded choice does not count. */
  identity?(): string;
  /** Reports a call that was answered from the record of the run, for sources that count calls. Must not throw. */
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
