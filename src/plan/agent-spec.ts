import type { Json } from '../base/json.js';
import type { Template } from '../lang/values.js';
import type { AnswerCheck } from './answer-check.js';
import type { NarrowPolicy } from './policy.js';

/** `off`: providers receive no caching hints. `1h`: Anthropic keeps prompts for an hour, at a higher price, instead of five minutes. */
export type CacheUse = 'off' | '1h';

/** An agent as plan data: everything that determines its behaviour, so that it can be hashed (J2). */
export interface AgentSpec {
  readonly name: string;
  readonly description?: string;
  /** The system prompt. */
  readonly instructions: Template;
  /**
   * Models to try in order, `provider/model`. The next one is used if a model is unavailable or stays down. Empty: the environment decides
   * (DESIGN.md section 6).
   */
  readonly models: readonly string[];
  /**
   * Names of built-in tools and aliases, `think`, `todo`, `mcp_SERVER_TOOL`, `SERVER/*`, `*`. Absent: the read-only built-in tools and the
   * agent's MCP tools. Empty: none.
   */
  readonly tools?: readonly string[];
  /** Functions of the program as tools, in addition to `tools`. */
  readonly functions?: readonly FunctionTool[];
  /** Tools whose calls need a person's approval, named as in `tools`. An unknown name fails the step. */
  readonly approve?: readonly string[];
  /** Which calls are refused, allowed, or need approval. Absent: `approve` alone decides. */
  readonly permissions?: Permissions;
  /** Restrictions from a policy next to the agent's file. */
  readonly policy?: NarrowPolicy;
  /** Runs the agent's commands in a sandbox; no run starts if none is available. Absent: commands have the user's rights. */
  readonly sandbox?: SandboxUse;
  /** Tool processes that live as long as the agent's step. */
  readonly mcpServers?: Readonly<Record<string, McpServerSpec>>;
  /** Texts of attached skills. */
  readonly skills?: readonly SkillText[];
  /** Directories that the file tools may read, with the working directory. */
  readonly extraDirs?: readonly string[];
  /** Whether `glob` and `grep` also search `node_modules`. */
  readonly searchesAll?: boolean;
  /** Maximum number of model turns. Default 25; 1 without tools. */
  readonly maxTurns?: number;
  /** Maximum number of tool calls. Default 100. */
  readonly maxToolCalls?: number;
  /** When to end after a round of tool calls. By default the agent ends when it calls no tool. */
  readonly until?: Until;
  readonly output?: StructuredOutput;
  /** Checks on the agent's input and answer. */
  readonly checks?: readonly AnswerCheck[];
  /** Whether the agent may ask a person, with the tool `ask_user`. */
  readonly interactive?: boolean;
  readonly memory?: MemoryUse;
  readonly settings?: ModelSettings;
  /** Overrides for single models, by name with or without provider. The model with which a step begins decides. */
  readonly forModels?: Readonly<Record<string, ModelChanges>>;
  /** Caching hints for providers; absent: what to cache. The answers do not depend on it. */
  readonly cache?: CacheUse;
  /** Accepts an answer without text as an output, the empty text; otherwise it is a failure. */
  readonly allowEmpty?: boolean;
  /** Facts that the system prompt states as of the start of the step: the date (UTC), working directory and system. */
  readonly about?: readonly ('date' | 'environment')[];
  /** The provider and the key with which the models are called; absent: the environment decides. */
  readonly provider?: ProviderSpec;
}

/** A function as a tool, as the model sees it. The function is the binding `tool:NODE/NAME`. */
export interface FunctionTool {
  /** The name that the model sees: letters, digits, `_`, `-`, at most 64. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input: Json;
  /** How a crash during a call is treated (J6). */
  readonly effect: 'read' | 'idempotent' | 'once';
  readonly trust?: 'trusted' | 'untrusted';
  /** Whether each call needs a person's approval; `code`: if the tool's function asks for it (`plan/tool-approval.ts`). */
  readonly approve?: true | 'code';
  /** Set if its function can find out what became of an interrupted `once` call (`plan/probe.ts`). */
  readonly probe?: true;
  /** Converts texts to the numbers and booleans that the schema requires before the input is checked. */
  readonly coerce?: true;
  /** Cost of one call, if the function is an agent or a workflow. */
  readonly calls?: CallBounds;
}

/** Upper bounds of numbers of calls; `unbounded` if there is no bound. */
export interface CallBounds {
  readonly modelCalls: { readonly typical: number; readonly worst: number | 'unbounded' };
  readonly toolCalls: { readonly typical: number; readonly worst: number | 'unbounded' };
}

export function toolKey(node: string, tool: string): string {
  return `tool:${node}/${tool}`;
}

/**
 * Rules for tool calls, tried in this order: `deny` refuses with an error result, `allow` permits the call, `ask` waits for a person. Other
 * calls also wait for a person, unless the tool only reads. A rule is `TOOL` or `TOOL:ARG=PATTERN:...`; `*` stands for any text.
 */
export interface Permissions {
  readonly deny?: readonly string[];
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
}

/** A tool server: a child process over stdio (`command`), or streamable HTTP (`url`). */
export interface McpServerSpec {
  /** As written in the file: `local`, `stdio`, `http` ...; only `sse` has an effect: it is not supported. */
  readonly type?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of the tools that may be used; absent or `*`: all. */
  readonly tools?: readonly string[];
  /** Runs the server's program in a sandbox. */
  readonly sandbox?: SandboxUse;
}

/** A sandbox for programs; `offline`: without network. */
export type SandboxUse = 'on' | 'offline';

/** A skill file that is added to the instructions. */
export interface SkillText {
  readonly name: string;
  readonly text: string;
}

/** When an agent that still calls tools ends: its last text is the answer as soon as one condition holds after a round of calls. */
export interface Until {
  /** Number of completed rounds of calls. */
  readonly rounds?: number;
  /** Name of a tool of which a call has succeeded. */
  readonly tool?: string;
}

/** The answer must be JSON that matches a JSON Schema. After one repair round: fail, or warn and keep the text. */
export interface StructuredOutput {
  readonly name?: string;
  readonly schema: Json;
  readonly onInvalid?: 'fail' | 'warn';
}

/** Shared memory of a run: tools to read and write it, and optionally its text in front of the prompt. */
export interface MemoryUse {
  readonly inject: boolean;
}

/** Settings that are passed to the provider. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly maxOutputTokens?: number;
  readonly seed?: number;
  /** Runs tool calls one after another, and asks providers that support it for one call a turn. */
  readonly singleToolCalls?: boolean;
  /**
   * `none`: the model sees its tools but may not call any. `required`, or `{ tool }`: it must begin with a call, or with a call of this
   * tool; after the first results it is free to answer. Default `auto`.
   */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly tool: string };
}

/** Overrides for one model. */
export interface ModelChanges {
  readonly instructions?: Template;
  /** Replaces the agent's settings. */
  readonly settings?: ModelSettings;
}

/** A provider given by the workflow. The key itself is never part of a plan, only the name of its variable. */
export interface ProviderSpec {
  readonly type: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
}

/**
 * A conversation that agents share: a channel with the reducer `extend`, a list of messages. A step sends the earlier messages after its
 * own system prompt and writes what it adds: its prompt, answers, calls and results. With an empty prompt the last message is answered.
 */
export interface Conversation {
  readonly channel: string;
  /** Sends only about this many of the last messages, starting with a user's message. Default: all. */
  readonly recent?: number;
  /** Sends no earlier messages and drops them. */
  readonly afresh?: true;
  /** Fields to add to each message that the step writes. */
  readonly mark?: Readonly<Record<string, string>>;
}

/**
 * A tool by which an agent chooses the next node: only a call of it, never the agent's text or a tool's result. The other calls of the turn
 * end first; then the step ends without another turn. If a step ends without the call, `otherwise` of the route is taken.
 */
export interface Choice {
  /** The name that the model sees: letters, digits, `_`, `-`, at most 64. Default `choose`. */
  readonly tool?: string;
  /** The description that the model sees. */
  readonly description?: string;
  /** The possible answers of the model: the node of each, and its description for the model. */
  readonly answers: Readonly<Record<string, { readonly to: string; readonly about?: string }>>;
}
