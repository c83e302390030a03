import type { Json } from '../base/json.js';
import type { Template } from '../lang/values.js';
import type { AnswerCheck } from './answer-check.js';
import type { NarrowPolicy } from './policy.js';

/** `off`: providers are not told what they may take from a cache. `1h`: Anthropic keeps prompts for an hour, at a higher price, instead of five minutes. */
export type CacheUse = 'off' | '1h';

/** An agent as plan data: everything that decides what it does, so that it can be hashed (J2). */
export interface AgentSpec {
  readonly name: string;
  readonly description?: string;
  /** The system prompt. */
  readonly instructions: Template;
  /**
   * Models to try in order, `provider/model`. The first is used; the next when it is unavailable or stays down.
   * Empty: the environment decides (DESIGN.md section 6).
   */
  readonly models: readonly string[];
  /**
   * Names of built-in tools and aliases, `think`, `todo`, `mcp_SERVER_TOOL`, `SERVER/*`, `*`. Absent: the read-only built-in tools and the
   * agent's MCP tools. Empty: none.
   */
  readonly tools?: readonly string[];
  /** Functions of the program as tools, in addition to `tools`. */
  readonly functions?: readonly FunctionTool[];
  /** Tools whose calls a person must allow, named as in `tools`. A name that nothing answers to fails the step. */
  readonly approve?: readonly string[];
  /** Which calls are refused, allowed, or asked about. Absent: `approve` alone decides. */
  readonly permissions?: Permissions;
  /** What a policy beside its file keeps it from. */
  readonly policy?: NarrowPolicy;
  /** Its commands run in a sandbox, and no run starts where there is none. Absent: they may do what the user may. */
  readonly sandbox?: SandboxUse;
  /** Tool processes that live as long as the agent's step. */
  readonly mcpServers?: Readonly<Record<string, McpServerSpec>>;
  /** Texts of attached skills. */
  readonly skills?: readonly SkillText[];
  /** Directories in addition to the working directory that the file tools may read. */
  readonly extraDirs?: readonly string[];
  /** `glob` and `grep` look into `node_modules` too, which they leave out otherwise. */
  readonly searchesAll?: boolean;
  /** Model turns at most. Default 25; 1 without tools. */
  readonly maxTurns?: number;
  /** Tool calls at most. Default 100. */
  readonly maxToolCalls?: number;
  /** Ends it after a round of tool calls. Default: it ends when it calls no tool. */
  readonly until?: Until;
  readonly output?: StructuredOutput;
  /** What must hold for what it is asked and for what it answers. */
  readonly checks?: readonly AnswerCheck[];
  /** The agent may ask the person: the tool `ask_user`. */
  readonly interactive?: boolean;
  readonly memory?: MemoryUse;
  readonly settings?: ModelSettings;
  /** What is different for single models, by their names with or without provider. The model with which a step begins decides. */
  readonly forModels?: Readonly<Record<string, ModelChanges>>;
  /** What providers are told of their caches; absent: what they may take from them. What an agent answers does not depend on it. */
  readonly cache?: CacheUse;
  /** An answer without text is an output too, the empty text; otherwise it is a failure. */
  readonly allowEmpty?: boolean;
  /** What the system prompt tells of the outside, as it is when the step starts: the date (UTC), working directory and system. */
  readonly about?: readonly ('date' | 'environment')[];
  /** Where and with which key the models are called; absent: by the environment. */
  readonly provider?: ProviderSpec;
}

/** A function as a tool, as the model sees it. The function is the binding `tool:NODE/NAME`. */
export interface FunctionTool {
  /** What the model sees: letters, digits, `_`, `-`, at most 64. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input: Json;
  /** How a crash in the middle of a call is treated (J6). */
  readonly effect: 'read' | 'idempotent' | 'once';
  readonly trust?: 'trusted' | 'untrusted';
  /** A person must allow each call; `code`: those of which the function says so (`plan/tool-approval.ts`). */
  readonly approve?: true | 'code';
  /** Texts are turned into the numbers and booleans that the schema asks for before they are checked. */
  readonly coerce?: true;
  /** What one call of it can cost, when it is an agent or a workflow. */
  readonly calls?: CallBounds;
}

/** Numbers of calls from above; `unbounded` where nothing bounds them. */
export interface CallBounds {
  readonly modelCalls: { readonly typical: number; readonly worst: number | 'unbounded' };
  readonly toolCalls: { readonly typical: number; readonly worst: number | 'unbounded' };
}

/** Where the function of a tool stands among the bindings of a plan. */
export function toolKey(node: string, tool: string): string {
  return `tool:${node}/${tool}`;
}

/**
 * Rules for tool calls, tried in this order: `deny` refuses with an error result, `allow` lets the call happen, `ask` waits for a person, and so does
 * every other call of a tool that is not just reading. A rule is `TOOL` or `TOOL:ARG=PATTERN:...`; `*` stands for any text.
 */
export interface Permissions {
  readonly deny?: readonly string[];
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
}

/** A tool server: a child process over stdio (`command`), or streamable HTTP (`url`). */
export interface McpServerSpec {
  /** As the file gives it: `local`, `stdio`, `http` ...; only `sse`, which is not supported, changes anything. */
  readonly type?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of its tools that may be used; absent or `*`: all. */
  readonly tools?: readonly string[];
  /** Its program runs in a sandbox. */
  readonly sandbox?: SandboxUse;
}

/** A sandbox for programs; `offline`: without network. */
export type SandboxUse = 'on' | 'offline';

/** A skill file that goes with the instructions. */
export interface SkillText {
  readonly name: string;
  readonly text: string;
}

/** When an agent has an answer although it still calls tools: what it said last, as soon as one of them holds at the end of a round of calls. */
export interface Until {
  /** So many rounds of calls are over. */
  readonly rounds?: number;
  /** A call of the tool with this name has succeeded. */
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
  /** Tool calls happen one after the other, and providers that can be told so give one a turn. */
  readonly singleToolCalls?: boolean;
  /**
   * `none`: the model sees its tools and may call none. `required`, or `{ tool }`: it must begin with a call, or with one of this tool; after the first
   * results it chooses, or it could never answer. Default `auto`.
   */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly tool: string };
}

/** What an agent is like for one model. */
export interface ModelChanges {
  readonly instructions?: Template;
  /** In place of the agent's own. */
  readonly settings?: ModelSettings;
}

/** A provider given by the workflow. The key itself is never part of a plan, only the name of its variable. */
export interface ProviderSpec {
  readonly type: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
}

/**
 * A conversation that agents share: a channel with the reducer `extend`, a list of messages. A step sends what was said before behind its own system
 * prompt, and writes what it adds: its prompt, its answers, its calls with their results. The prompt may be empty: then what was said last is answered.
 */
export interface Conversation {
  readonly channel: string;
  /** Only about so many of the last messages are sent, from one of a user on. Default: all. */
  readonly recent?: number;
  /** Nothing of what was said before is sent, and it is forgotten. */
  readonly afresh?: true;
  /** What each message that the step adds has in addition. */
  readonly mark?: Readonly<Record<string, string>>;
}

/**
 * A tool by which an agent chooses the next node. Only its call does: never what the agent writes, and never what a tool gives. The other calls of the
 * same turn end first; then the step ends, without another turn. A step that ends without the call leaves the choice to `otherwise` of the route.
 */
export interface Choice {
  /** What the model sees: letters, digits, `_`, `-`, at most 64. Default `choose`. */
  readonly tool?: string;
  /** What the model is told about it. */
  readonly description?: string;
  /** By what the model may answer: the node, and what the model is told about the answer. */
  readonly answers: Readonly<Record<string, { readonly to: string; readonly about?: string }>>;
}
