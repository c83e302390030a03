import type { Json, JsonObject } from '../base/json.js';
import type { JsonTemplate, Template } from '../lang/values.js';
import type { McpServerSpec, Permissions, SandboxUse } from './agent-spec.js';
import { builtInOf } from './tool-names.js';

/**
 * A tool that a step calls by itself, without a model. It goes through the same door as a call of an agent. What is put in from the state is an argument,
 * standard input or the value of a variable: never program text.
 */
export interface ToolUse {
  /** A built-in tool by its own name, or `SERVER/TOOL`. */
  readonly name: string;
  /** What it is called with: an object. */
  readonly input: JsonTemplate;
  /** Standard input of a command. Absent: it is empty. */
  readonly stdin?: Template;
  /**
   * Variables of a command, in addition to the short list that commands get. `${NAME}` in what the author wrote stands for a variable of the environment;
   * in a value that is put in it is text.
   */
  readonly env?: Readonly<Record<string, Template>>;
  /**
   * What a command gives: `text` its standard output, and another exit code than 0 fails the step; `all` an object with `exit_code`, `stdout` and `stderr`.
   * Default `text`.
   */
  readonly result?: 'text' | 'all';
  /** JSON Schema of what it gives: a text is read as JSON first, and the value is the output. */
  readonly schema?: Json;
  /** A person must allow the call. */
  readonly approve?: true;
  /** Rules for calls of the file. What none of them speaks of is allowed: the author of the step wants it. */
  readonly permissions?: Permissions;
  /** Where the command runs. Absent: it may do what the user may. */
  readonly sandbox?: SandboxUse;
  /** The server that has the tool, by its name. */
  readonly mcpServers?: Readonly<Record<string, McpServerSpec>>;
}

/** How long a command may take where its step does not say, in milliseconds. */
export const COMMAND_MS = 600_000;

/** The built-in tool that runs a command. */
export const SHELL = 'shell';

/** The command of a tool step word by word; undefined: it runs none. */
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

/** Whether nothing of a call is put in when it is made: its author alone says what it is. */
export function isFixed({ input, stdin = [], env = {} }: ToolUse): boolean {
  return (
    'value' in input && [stdin, ...Object.values(env)].every((text) => text.every((piece) => typeof piece === 'string'))
  );
}

/** A piece of a call as the file has it: references in braces. */
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

/** The words as one line, in quotes where a shell would need them. */
export function lineOf(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}

/** What a step does, for people: `runs npm test`, `calls github/update_issue`. */
export function toolText(tool: ToolUse): string {
  const command = commandOf(tool);
  return command === undefined ? `calls ${tool.name}` : `runs ${lineOf(command.map(writtenText))}`;
}

/** A call of a tool that a step makes by itself: no model wanted it, but others may have had a say in its input. */
export interface NodeCall {
  readonly tool: string;
  readonly effect: 'read' | 'idempotent' | 'once';
  readonly input: JsonObject;
  /** What it gives is the user's own. */
  readonly isTrusted?: boolean;
}

/** Arguments of a call that a person left free: others like it may be made with other values of these, all else as it was. */
export interface FreedArguments {
  readonly tool: string;
  /** The arguments that stay, as text. */
  readonly fixed: string;
  readonly free: readonly string[];
}

/** A call that may be made. */
export interface ClearedCall {
  /** As it is made: a reviewer may have changed its arguments. */
  readonly input: JsonObject;
  /** A person has allowed it. */
  readonly isAllowed: boolean;
  readonly freed?: FreedArguments;
}

/** Under this name the second argument of a function decides about such a call. It is not for programs. */
export const CLEAR: unique symbol = Symbol('clear');

/** What has it. */
export interface ClearsCalls {
  /**
   * Gives the call as it may be made.
   *
   * @throws SkeinError `SKEIN_TOOL_REFUSED` when a policy, a guard, a model that looks at calls or a person refuses it
   */
  [CLEAR](call: NodeCall): Promise<ClearedCall>;
}

/** Decides about a call before it is made, where there is something that decides. */
export async function cleared(step: object, call: NodeCall): Promise<ClearedCall> {
  return CLEAR in step ? await (step as ClearsCalls)[CLEAR](call) : { input: call.input, isAllowed: false };
}
