import type { JsonObject } from '../base/json.js';
import type { Question, Reserve } from '../engine/ports/durable.js';
import type { Label } from '../guard/label.js';
import type { AgentSpec, FunctionTool } from '../plan/agent-spec.js';
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
  /** Turns other names of its parameters into its own, before the input is checked. */
  readonly rename?: (input: JsonObject) => JsonObject;
  /** Digest of its source, when it is a function of the program: a result counts only as long as it stays the same. */
  readonly code?: string;
  /** Where it is from, when it is one of an MCP server. */
  readonly origin?: ToolOrigin;
  /** It stands in for a tool that would start or reach something: a call of it does nothing. */
  readonly pretended?: true;
  /** Of the tool that runs commands: a call as a step makes it by itself. */
  readonly command?: (input: JsonObject, settings: CommandSettings, io: ToolIo) => Promise<CommandEnd>;
  /** What a call that writes a file would find there. A thrown error is one of the call. */
  readonly look?: (input: JsonObject) => Promise<FoundFile>;
  /**
   * Runs the tool. `input` has been checked against the schema. The text is given to the model; a thrown error is given to the model
   * as an error result. Must end soon after `io.signal` is aborted and leave no child process.
   */
  execute(input: JsonObject, io: ToolIo): Promise<string> | string;
}

/** Where a tool of an MCP server is from. */
export interface ToolOrigin {
  /** Name of the server in the agent. */
  readonly server: string;
  /** What the server calls the tool. */
  readonly tool: string;
  /** The server says that it does nothing but read. */
  readonly readOnly?: true;
  /** The server is reached over the network. */
  readonly isRemote?: true;
  /** It is new, or not what it was when the user last said yes: what the server says of it is not believed. */
  readonly isChanged?: true;
  /** Digest of what the server said of it. */
  readonly pin?: string;
}

/** What a call that writes would find; the path as it is shown. */
export interface FoundFile {
  readonly path: string;
  readonly isNew: boolean;
}

/** Hears which files a call is about; paths as they are shown. */
export interface FilesOfCall {
  /** The result shows its name or what is in it. `isForeign`: it does not belong to the project. */
  shows(path: string, isForeign: boolean): void;
  wrote(path: string): void;
}

/** What a tool gets in addition to its input. */
export interface ToolIo {
  readonly files?: FilesOfCall | undefined;
  readonly signal: AbortSignal;
  /** The same on every execution of this call, also after a crash. */
  readonly idempotencyKey: string;
}

/** What a tool gets in addition when it is a function of the program. */
export interface CallIo extends ToolIo {
  /** Asks a person; `name` is unique in the call. See `StepIo`. */
  ask(name: string, question: Question): Promise<unknown>;
  /** Holds what the call is about to spend, where a budget holds. */
  readonly reserve?: Reserve | undefined;
  /** Hears what had a say in the results of runs that the call starts. */
  hear(this: void, label: Label): void;
  /** What the step of the agent sees, read-only. */
  readonly state: Readonly<Record<string, unknown>>;
}

/** Tools that live as long as an agent's step, such as those of MCP servers. */
export interface ToolSource {
  readonly tools: readonly Tool[];
  /** Frees everything; called once, on every way out. */
  close(): Promise<void>;
}

/**
 * A tool of the step itself: it runs outside of effects, so a replay runs it again, with the input that the recorded turn of the model
 * has. It is deterministic and uses the doors of the step alone (J1).
 */
export interface StepTool extends ToolSpec {
  /** Why it can't be called from inside of a model call, which a replay does not run; absent: it can. */
  readonly onlyBetweenTurns?: string;
  /** `ask` asks a person, once. */
  run(input: JsonObject, ask: (question: Question) => Promise<string>): Promise<string> | string;
}

/**
 * Gives an agent its tools. A provider is made once for a run; `open` is called at the start of each agent step and gives that
 * step tools of its own, so that no state crosses from one step to another. Implemented by `agent/tools`.
 */
export interface ToolProvider {
  /**
   * Opens the tools that `spec` asks for: the built-in ones that its allow-list names, and those of its MCP servers.
   * A name that nothing answers to is an error or a warning, as the implementation documents; it is never silent.
   * Where there is nothing to open, it gives {@link NO_TOOLS}.
   *
   * @throws SkeinError with the code `SKEIN_MCP` when a server can't be started. Nothing stays open after a throw.
   */
  open(spec: AgentSpec, session: ToolSession): ToolSource | Promise<ToolSource>;
}

/** What the tools of a step know about the step. */
export interface ToolSession {
  readonly runId: string;
  /** Address of the step. */
  readonly path: string;
  /** Name of the agent; of a step that calls a tool by itself its id. */
  readonly agent: string;
  /** The step calls a tool by itself: no model does. */
  readonly isAlone?: boolean;
  /** Aborted when the step is cancelled or times out while the tools are being opened. */
  readonly signal: AbortSignal;
  /** Tells observers about something that is odd but no failure. */
  warn(code: string, message: string): void;
}

/** Most agents of a pipeline have no tools: nothing is made for them, and nothing need be closed. */
export const NO_TOOLS: ToolSource = Object.freeze({ tools: [], close: () => Promise.resolve() });

/**
 * A provider without tools, for agents that only talk.
 *
 * @example
 * agentExecutor({ models: createModelRegistry({ env: process.env }), tools: noTools });
 */
export const noTools: ToolProvider = {
  open: () => NO_TOOLS,
};
