import { present, type Json } from '../base/json.js';
import type { Position } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import { jsonOfList, jsonOfObject, jsonOfText } from '../lang/json-template.js';
import type { JsonTemplate, Template } from '../lang/values.js';
import type { McpServerSpec, Permissions } from '../plan/agent-spec.js';
import { toolFault } from '../plan/check-tools.js';
import { argumentFaults, type ArgumentFault } from '../plan/tool-arguments.js';
import type { TaskNode } from '../plan/plan.js';
import { COMMAND_MS, SHELL, type ToolUse } from '../plan/tool-use.js';
import { programFault } from '../plan/tool-words.js';
import type { Values } from '../text/forms.js';
import type { Findings } from '../text/findings.js';
import { describe, entryOf, type SourceEntry, type SourceNode, type SourceScalar } from '../text/nodes.js';
import { VARIABLE_FORM } from '../text/names.js';
import type { Fields } from '../text/shape.js';
import { jsonTemplate } from './values-key.js';
import { readSchema } from './schema-key.js';
import { CALL_ROWS, CALL_TYPES, type CallType } from './tool-keys.js';

const COMMAND_RESULT: Json = {
  type: 'object',
  properties: { exit_code: { type: 'integer' }, stdout: { type: 'string' }, stderr: { type: 'string' } },
  additionalProperties: false,
};

export interface ToolDef {
  readonly label: string;
  /** The words of a command. Empty if the step calls a tool by name. */
  readonly argv: readonly SourceScalar[];
  readonly tool: SourceScalar | undefined;
  readonly input: readonly SourceEntry[];
  readonly stdin: SourceScalar | undefined;
  readonly env: readonly { readonly name: string; readonly value: SourceScalar }[];
  readonly keys: Values<typeof CALL_ROWS.keys>;
  readonly schema: Json | undefined;
}

/** Describes what a step calls in a few words, for readers of its output. */
export function calledText({ tool }: ToolDef): string {
  return tool === undefined ? 'command' : `tool: ${tool.text}`;
}

export function outputSchema({ keys, schema }: ToolDef): Json | undefined {
  return schema ?? (keys.result === 'all' ? COMMAND_RESULT : undefined);
}

/** The type of a step without a model, and the keys of other kinds of steps beside it, which were reported. */
export interface CallBody {
  readonly type: CallType;
  readonly others: readonly string[];
}

/** Returns the call of a step that has the key `run` or `tool`. `bodies`: other kinds of steps. Problem code: `two-bodies`. */
export function callBody(
  node: SourceNode,
  { label, bodies }: { readonly label: string; readonly bodies: readonly string[] },
  findings: Findings,
): CallBody | undefined {
  const [type, ...also] = CALL_TYPES.filter((key) => entryOf(node, key) !== undefined);
  const written = entryOf(node, 'type')?.value;
  const word =
    written === undefined ? '' : written.kind === 'scalar' ? written.text.trim().toLowerCase() : describe(written);
  const named = CALL_TYPES.find((one) => one === word);
  if (type === undefined) return named === undefined ? undefined : { type: named, others: [] };
  const others = [...also, ...bodies.filter((key) => entryOf(node, key) !== undefined)];
  const [other] = others;
  const hint = 'a step does one thing: put the other one into a step of its own';
  if (other !== undefined) {
    const message = `${label} has both ${type} and ${other}`;
    findings.error('two-bodies', message, entryOf(node, other)?.at ?? node.at, hint);
  } else if (word !== '' && word !== type) {
    findings.error(
      'two-bodies',
      `${label} has ${type} and is of the type ${quoteShort(word)}`,
      written?.at ?? node.at,
      hint,
    );
  }
  return { type, others };
}

/** Reads a call. Problem codes: `not-a-list`, `missing-command`, `missing-tool`, `wrong-type`, `bad-name`, those of {@link readSchema}. */
export function readToolStep(type: CallType, fields: Fields): ToolDef {
  return {
    label: fields.name,
    argv: type === 'run' ? readCommand(fields) : [],
    tool: type === 'tool' ? readName(fields) : undefined,
    input: (type === 'tool' ? fields.entries('input') : undefined) ?? [],
    stdin: type === 'run' ? fields.scalar('stdin') : undefined,
    env: type === 'run' ? readVariables(fields) : [],
    keys: fields.values(CALL_ROWS),
    schema: readSchema(fields),
  };
}

const COMMAND_HINT = 'write the program and its arguments as a list: run: [npm, test]';

function readCommand(fields: Fields): readonly SourceScalar[] {
  const node = fields.node('run');
  if (node === undefined || (node.kind === 'list' && node.items.length === 0)) {
    fields.error('missing-command', 'run', `run of ${fields.name} names no program`, COMMAND_HINT);
    return [];
  }
  if (node.kind !== 'list') {
    const message = `run of ${fields.name} must be a list, not ${describe(node)}: there is no shell that takes a line apart`;
    fields.error('not-a-list', 'run', message, COMMAND_HINT);
    return [];
  }
  const words = node.items.flatMap((item) => {
    if (item.kind === 'scalar' && item.value !== null) return [item];
    const message = `an argument of ${fields.name} must be text, not ${describe(item)}`;
    fields.findings.error('wrong-type', message, item.at, 'put quotes around it: "{{ ... }}"');
    return [];
  });
  if (words[0]?.text.trim() === '')
    fields.error('missing-command', 'run', `run of ${fields.name} names no program`, COMMAND_HINT);
  return words;
}

function readName(fields: Fields): SourceScalar | undefined {
  const name = fields.scalar('tool');
  if (name !== undefined && name.text.trim() !== '') return name;
  fields.error('missing-tool', 'tool', `tool of ${fields.name} names no tool`, 'write a built-in tool, or SERVER/TOOL');
  return undefined;
}

function readVariables(fields: Fields): ToolDef['env'] {
  return (fields.entries('env') ?? []).flatMap(({ key: name, value, at }) => {
    if (!new RegExp(VARIABLE_FORM).test(name)) {
      const message = `${quoteShort(name)} in env of ${fields.name} is not the name of a variable`;
      fields.findings.error('bad-name', message, at, 'use letters, digits and _, no digit in front');
      return [];
    }
    if (value.kind === 'scalar') return [{ name, value }];
    const message = `env.${name} of ${fields.name} must be text, not ${describe(value)}`;
    fields.findings.error('wrong-type', message, value.at, 'write one text, in quotes where it is needed');
    return [];
  });
}

export interface ToolParts {
  readonly template: (scalar: SourceScalar) => Template;
  readonly servers: Readonly<Record<string, McpServerSpec>>;
  readonly permissions?: Permissions | undefined;
  readonly findings: Findings;
}

/**
 * Builds the node of a call, without the fields that all nodes have. Problem codes: `unknown-tool`, `unknown-argument`, `missing-argument`,
 * `bad-argument`, `shell-template`, those of references.
 */
export function toolNode(
  def: ToolDef,
  timeoutMs: number | undefined,
  parts: ToolParts,
): Pick<TaskNode, 'kind' | 'tool' | 'effect' | 'timeoutMs'> {
  const tool = toolUse(def, parts);
  const isCommand = def.tool === undefined;
  return present({
    kind: 'task' as const,
    tool,
    effect: def.keys.effect,
    timeoutMs: timeoutMs ?? (isCommand ? COMMAND_MS : undefined),
  });
}

function toolUse(def: ToolDef, { template, servers, permissions, findings }: ToolParts): ToolUse {
  const { label, argv, tool, stdin, env, keys, schema } = def;
  const { deny, ask } = permissions ?? {};
  const rules = present({ deny, ask });
  const use = present({
    name: tool === undefined ? SHELL : tool.text.trim(),
    input: tool === undefined ? commandInput(argv, template) : inputOf(def.input, template),
    stdin: stdin && template(stdin),
    env: env.length === 0 ? undefined : Object.fromEntries(env.map(({ name, value }) => [name, template(value)])),
    result: keys.result,
    schema,
    approve: keys.approve === true ? (true as const) : undefined,
    permissions: Object.keys(rules).length === 0 ? undefined : rules,
    sandbox: keys.sandbox,
    mcpServers: serverOf(tool, servers),
  });
  if (tool !== undefined) {
    checkTool(tool, { label, servers, findings });
    for (const fault of argumentFaults(use))
      findings.error(fault.code, `${label} ${fault.what}`, placeIn(def, fault) ?? tool.at, fault.hint);
  }
  checkProgram(use, def, findings);
  return use;
}

/** Reports a reference that would run as a program, at its place. */
function checkProgram(use: ToolUse, { label, argv, tool, stdin, env }: ToolDef, findings: Findings): void {
  const fault = programFault(use);
  if (fault === undefined) return;
  const variable = env.find(({ name }) => name === fault.variable)?.value;
  const at = fault.word === undefined ? (variable ?? stdin)?.at : argv[fault.word]?.at;
  findings.error('shell-template', `${label} ${fault.what}`, at ?? tool?.at, fault.hint);
}

/** Builds the arguments of a command. Each item is one argument, whatever values are inserted into it. */
function commandInput(argv: readonly SourceScalar[], template: ToolParts['template']): JsonTemplate {
  const words = argv.map((word) => {
    const text = jsonOfText(template(word));
    return 'channel' in text ? { template: [text] } : text;
  });
  return jsonOfObject([['argv', jsonOfList(words)]]);
}

function inputOf(entries: readonly SourceEntry[], template: ToolParts['template']): JsonTemplate {
  return jsonOfObject(entries.map(({ key, value }) => [key, jsonTemplate(value, template)] as const));
}

function serverOf(tool: SourceScalar | undefined, servers: ToolParts['servers']): ToolUse['mcpServers'] {
  const name = Object.keys(servers).find((server) => tool?.text.trim().startsWith(`${server}/`) === true);
  const spec = name === undefined ? undefined : servers[name];
  return name === undefined || spec === undefined ? undefined : { [name]: spec };
}

/** Returns the place of an argument: its own entry, or the closest entry around it. */
function placeIn({ input }: ToolDef, { path: [name, ...rest] }: ArgumentFault): Position | undefined {
  const first = input.find(({ key }) => key === name);
  let at = first?.at;
  let here = first?.value;
  for (const part of rest) {
    const inner = here?.kind === 'map' ? here.entries.find(({ key }) => key === part) : undefined;
    here = here?.kind === 'list' ? here.items[Number(part)] : inner?.value;
    at = inner?.at ?? here?.at ?? at;
  }
  return at;
}

function checkTool(
  tool: SourceScalar,
  { label, servers, findings }: Pick<ToolParts, 'servers' | 'findings'> & { readonly label: string },
): void {
  const fault = toolFault(tool.text.trim(), Object.keys(servers));
  if (fault === undefined) return;
  findings.error('unknown-tool', `${label} calls ${quoteShort(tool.text)}, ${fault.what}`, tool.at, fault.hint);
}
