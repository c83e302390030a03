import type { Json, JsonObject } from '../base/json.js';
import type { JsonTemplate, Template } from '../lang/values.js';
import type { McpServerSpec, Permissions, SandboxUse } from './agent-spec.js';
import { builtInOf } from './tool-names.js';

/**
 * A tool that a step calls directly, without a model. It goes through the same door as an agent's call. Inserted state becomes an argument,
 * standard input or the value of a variable, never program text.
 */
export interface ToolUse {
  /** A built-in tool by its own name, or `SERVER/TOOL`. */
  readonly name: string;
  /** Its input: an object. */
  readonly input: JsonTemplate;
  /** Standard input of a command. Absent: empty. */
  readonly stdin?: Template;
  /**
   * Variables of a command, in addition to the short list that all commands have. `${NAME}` in the author's text stands for an environment
   * variable; in an inserted value it is literal text.
   */
  readonly env?: Readonly<Record<string, Template>>;
  /**
   * The output of a command: `text` is its standard output, and an exit code other than 0 fails the step; `all` is an object with
   * `exit_code`, `stdout` and `stderr`. Default `text`.
   */
  readonly result?: 'text' | 'all';
  /** JSON Schema of the result: a text is first parsed as JSON, and the value is the output. */
  readonly schema?: Json;
  /** Whether a person must approve the call. */
  readonly approve?: true;
  /** The file's rules for calls. A call that no rule covers is allowed: the author of the step wants it. */
  readonly permissions?: Permissions;
  /** The sandbox of the command. Absent: it has the user's rights. */
  readonly sandbox?: SandboxUse;
  /** The server of the tool, by name. */
  readonly mcpServers?: Readonly<Record<string, McpServerSpec>>;
}

/** Default time limit of a command, in milliseconds. */
export const COMMAND_MS = 600_000;

export const SHELL = 'shell';

/** Returns the words of a tool step's command; undefined if it runs none. */
export function commandOf({ name, input }: ToolUse): readonly JsonTemplate[] | undefined {
  if (builtInOf(name) !== SHELL) return undefined;
  if ('value' in input) return wordsOf((input.value as { readonly argv?: Json } | null)?.argv);
  const argv = 'object' in input ? input.object['argv'] : undefined;
  if (argv === undefined) return undefined;
  return 'list' in argv ? argv.list : 'value' in argv ? wordsOf(argv.value) : undefined;
}

function wordsOf(argv: Json | undefined): readonly JsonTemplate[] | undefined {
  return Array.isArray(argv) ? argv.map((value: Json) => ({ value })) : undefined;
}

/** Returns whether nothing is inserted into a call: only its author determines it. */
export function isFixed({ input, stdin = [], env = {} }: ToolUse): boolean {
  return (
    'value' in input && [stdin, ...Object.values(env)].every((text) => text.every((piece) => typeof piece === 'string'))
  );
}

/** Returns a part of a call as the file has it, with references in braces. */
export function writtenText(source: JsonTemplate): string {
  if ('value' in source) return typeof source.value === 'string' ? source.value : JSON.stringify(source.value);
  return [...writtenPieces(source)].join('');
}

function* writtenPieces(source: JsonTemplate): Generator<string> {
  const template: Template = 'template' in source ? source.template : 'channel' in source ? [source] : [];
  for (const piece of template) {
    if (typeof piece === 'string') yield piece;
    else if ('channel' in piece) yield `{{${piece.written ?? [piece.channel, ...(piece.path ?? [])].join('.')}}}`;
    else yield '{{...}}';
  }
  if ('list' in source || 'object' in source) yield '{...}';
}

/** Returns the words as one line, quoted where a shell would need it. */
export function lineOf(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}

/** Describes what a step does: `runs npm test`, `calls github/update_issue`. */
export function toolText(tool: ToolUse): string {
  const command = commandOf(tool);
  return command === undefined ? `calls ${tool.name}` : `runs ${lineOf(command.map(writtenText))}`;
}

/** A tool call that a step makes directly: no model requested it, but its input may be influenced from outside. */
export interface NodeCall {
  readonly tool: string;
  readonly effect: 'read' | 'idempotent' | 'once';
  readonly input: JsonObject;
  /** Whether its result is the user's own. */
  readonly isTrusted?: boolean;
}

/** Arguments of a call that a person left free: similar calls may have other values for these, and only for these. */
export interface FreedArguments {
  readonly tool: string;
  /** The fixed arguments, as text. */
  readonly fixed: string;
  readonly free: readonly string[];
}

/** A permitted call. */
export interface ClearedCall {
  /** The input to use: a reviewer may have changed its arguments. */
  readonly input: JsonObject;
  /** Whether a person has approved it. */
  readonly isAllowed: boolean;
  readonly freed?: FreedArguments;
}

/** The property of a function's second argument that decides about such a call. Not for programs. */
export const CLEAR: unique symbol = Symbol('clear');

/** An object with this property. */
export interface ClearsCalls {
  /**
   * Returns the call as it may be made.
   *
   * @throws SkeinError `SKEIN_TOOL_REFUSED` if a policy, a guard, a reviewing model or a person refuses it
   */
  [CLEAR](call: NodeCall): Promise<ClearedCall>;
}

/** The property of a function's second argument with the place of the call: unlike the idempotency key, it differs between attempts. Not for programs. */
export const PLACE: unique symbol = Symbol('place');

/** An object with this property. */
export interface HasPlace {
  readonly [PLACE]?: string;
}

/** Returns the place of a call, or else its idempotency key. */
export function placeOf(step: { readonly idempotencyKey: string } & HasPlace): string {
  return step[PLACE] ?? step.idempotencyKey;
}

/** Decides about a call before it is made, if the step has a decider. */
export async function cleared(step: object, call: NodeCall): Promise<ClearedCall> {
  return CLEAR in step ? await (step as ClearsCalls)[CLEAR](call) : { input: call.input, isAllowed: false };
}
