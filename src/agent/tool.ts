import type { JsonObject } from '../base/json.js';
import type { AskAround, Parts, Question, Reserve } from '../engine/ports/durable.js';
import type { Label } from '../guard/label.js';
import type { AgentSpec, FunctionTool } from '../plan/agent-spec.js';
import type { LostCall, Probed } from '../plan/probe.js';
import type { ToolSpec } from './model.js';
import type { CommandEnd, CommandSettings } from './tools/process-group.js';

/**
 * A tool that an agent may call. Names are what the model sees: letters, digits, `_`, `-`, at most 64.
 *
 * - `effect`: `read` has none, `idempotent` may be repeated with the same key, `once` must not be repeated (J6).
 * - `trust`: `trusted` results are the user's own data and program output of Skein itself; everything else is `untrusted`.
 */
export interface Tool extends ToolSpec, Pick<FunctionTool, 'effect' | 'approve' | 'coerce'> {
  readonly trust: 'trusted' | 'untrusted';
  /** With `approve: 'code'`: whether a person must allow a call with this input, which has been checked. */
  readonly mustApprove?: (input: JsonObject) => Promise<boolean>;
  /** Finds out what became of an interrupted call with this input; the result as the model receives it. */
  readonly probe?: (input: JsonObject, lost: LostCall) => Promise<Probed<string>>;
  /** Renames alternative parameter names to the tool's own, before the input is checked. */
  readonly rename?: (input: JsonObject) => JsonObject;
  /** Digest of its source, if it is a function of the program: a result stays valid only while the digest is the same. */
  readonly code?: string;
  /** The tool's origin, if it belongs to an MCP server. */
  readonly origin?: ToolOrigin;
  /** Set if it stands in for a tool that would start or reach something: its calls have no effect. */
  readonly pretended?: true;
  /** For the tool that runs commands: a direct call of a step. */
  readonly command?: (input: JsonObject, settings: CommandSettings, io: ToolIo) => Promise<CommandEnd>;
  /** Finds the file that a writing call would replace. A thrown error is an error of the call. */
  readonly look?: (input: JsonObject) => Promise<FoundFile>;
  /**
   * Runs the tool. `input` has been checked against the schema. The model receives the text, or a thrown error as an error result. Must end
   * soon after `io.signal` is aborted and leave no child process.
   */
  execute(input: JsonObject, io: ToolIo): Promise<string> | string;
}

/** The origin of a tool of an MCP server. */
export interface ToolOrigin {
  /** The server's name in the agent. */
  readonly server: string;
  /** The tool's name on the server. */
  readonly tool: string;
  /** The server's hint that the tool only reads. */
  readonly readOnly?: true;
  /** Set if the server is reached over the network. */
  readonly isRemote?: true;
  /** Set if the tool is new, or has changed since the user last accepted it: the server's hints about it are then ignored. */
  readonly isChanged?: true;
  /** Digest of the server's definition of the tool. */
  readonly pin?: string;
}

/** The file that a writing call would find; the path as it is shown. */
export interface FoundFile {
  readonly path: string;
  readonly isNew: boolean;
}

/** Records which files a call is about; paths as they are shown. */
export interface FilesOfCall {
  /** Records that the result shows the file's name or content. `isForeign`: it does not belong to the project. */
  shows(path: string, isForeign: boolean): void;
  /** Records that the call is about to give a file this text: from now on, others may read it. */
  writes(path: string, text: string): void;
  wrote(path: string): void;
}

/** What a tool receives in addition to its input. */
export interface ToolIo {
  readonly files?: FilesOfCall | undefined;
  readonly signal: AbortSignal;
  /** The same for every execution of this call, even after a crash or in a retry. */
  readonly idempotencyKey: string;
  /** Whether the call may follow a redirect to an address. Absent: to any. */
  readonly follows?: ((this: void, url: URL) => boolean) | undefined;
}

/** What a function tool of the program receives in addition. */
export interface CallIo extends ToolIo {
  /** Asks a person; `name` is unique in the call. See `StepIo`. */
  ask: AskAround;
  /** Where the call is: unlike the idempotency key, it differs between attempts. */
  readonly place: string;
  /** Reserves what the call is about to spend, if a budget applies. */
  readonly reserve: Reserve | undefined;
  /** Records what runs that the call starts do. Absent if nothing is recorded. */
  readonly parts: Parts | undefined;
  /**
   * The label of what influenced the call, as it was when its turn made it: other calls of the turn may end first, or be known from the
   * record. Runs that the call has started so far add theirs.
   */
  label(this: void): Label;
  /** Adds the label of what influenced the results of runs that the call starts. */
  hear(this: void, label: Label): void;
  /** Adds a file that such a run wrote after something untrusted. */
  wrote(this: void, path: string): void;
  /** The state that the agent's step sees, read-only. */
  readonly state: Readonly<Record<string, unknown>>;
}

/** Tools with the lifetime of an agent's step, such as those of MCP servers. */
export interface ToolSource {
  readonly tools: readonly Tool[];
  /** Releases everything; called once, however the step ends. */
  close(): Promise<void>;
}

/**
 * A tool of the step itself: it runs outside effects, so a replay runs it again, with the input in the recorded turn of the model. It is
 * deterministic and uses only the doors of the step (J1).
 */
export interface StepTool extends ToolSpec {
  /** Why it cannot be called inside a model call, which a replay does not run; absent if it can. */
  readonly onlyBetweenTurns?: string;
  /** `ask` asks a person, once. */
  run(input: JsonObject, ask: (question: Question) => Promise<string>): Promise<string> | string;
}

/**
 * Supplies an agent's tools. A provider is created once for a run; `open` is called at the start of each agent step and returns tools for
 * that step alone, so that no state passes from one step to another. Implemented by `agent/tools`.
 */
export interface ToolProvider {
  /**
   * Opens the tools that `spec` requires: the built-in ones of its allow-list, and those of its MCP servers. An unknown name is an error or
   * a warning, as the implementation documents; it is never ignored silently. Returns {@link NO_TOOLS} if there is nothing to open.
   *
   * @throws SkeinError with the code `SKEIN_MCP` if a server cannot be started. Nothing stays open after a throw.
   */
  open(spec: AgentSpec, session: ToolSession): ToolSource | Promise<ToolSource>;
}

/** The step's data for its tools. */
export interface ToolSession {
  readonly runId: string;
  /** Address of the step. */
  readonly path: string;
  /** Name of the agent; for a step that calls a tool directly, its id. */
  readonly agent: string;
  /** Whether the step calls a tool directly, without a model. */
  readonly isAlone?: boolean;
  /** Aborted when the step is cancelled or times out while the tools are being opened. */
  readonly signal: AbortSignal;
  /** Emits a warning about something unusual that is not a failure. */
  warn(code: string, message: string): void;
}

/** For agents without tools, which most agents of a pipeline are: allocates nothing, and needs no closing. */
export const NO_TOOLS: ToolSource = Object.freeze({ tools: [], close: () => Promise.resolve() });

/**
 * A provider without tools, for agents that only answer.
 *
 * @example
 * agentExecutor({ models: createModelRegistry({ env: process.env }), tools: noTools });
 */
export const noTools: ToolProvider = {
  open: () => NO_TOOLS,
};
