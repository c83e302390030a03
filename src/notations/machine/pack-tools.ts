import type { JsonObject } from '../../base/json.js';
import type { Problem } from '../../base/problem.js';
import { didYouMean } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import { toolKey, type FunctionTool } from '../../plan/agent-spec.js';
import { madeOf, standInTool, withApproval } from '../../plan/made-of.js';
import type { Bindings } from '../../plan/plan.js';
import { functionTool, toolFunction, type ToolDefinition, type ToolStep } from '../graph/nodes/tool.js';
import { usesOfTools, type Beginning } from './pack-names.js';
import type { Pack, Prompt } from './pack.js';
import { checkBindings, type PackValidators } from './prompt-checks.js';

/** The implementation of a pack's tool: a function of its input, or a tool definition. The pack supplies the description for the model. */
export type PackTool = ((input: never, step: ToolStep) => unknown) | ToolDefinition;

/** Whether a person must allow the calls of a tool: all, or those for which a function of the input does not return `false`. */
export type Approval = boolean | ((input: never) => boolean | Promise<boolean>);

/** What a program supplies for the prompts of a pack. */
export interface PackTools {
  /** Implementations by the name of the tool. */
  readonly tools?: Readonly<Record<string, PackTool>>;
  /** Approvals by the name of the tool. */
  readonly approve?: Readonly<Record<string, Approval>>;
  /** Validators that packs may name, by their types. */
  readonly validators?: PackValidators;
  /** If true, tools without a function return what the script says: for runs without models. */
  readonly standIn?: boolean;
}

interface ToolsOfPrompt {
  readonly functions: readonly FunctionTool[];
  readonly missing: readonly string[];
  /** Returns the implementations and the checks of answers, for the node with this id. */
  bindings(node: string): Bindings;
}

/** Returns the functions that a prompt may call: those it lists and its policy does not forbid. */
export function packTools({ tools: defined = {} }: Pack, prompt: Prompt, given: PackTools): ToolsOfPrompt {
  const blocked = new Set(prompt.tool_policy?.blocklist);
  const found: CalledTool[] = [];
  const missing: string[] = [];
  for (const listed of new Set(prompt.tools)) {
    const tool = packTool(defined, listed, given);
    if (blocked.has(listed) || blocked.has(tool.name)) continue;
    if (tool.call === undefined) missing.push(listed);
    else found.push(tool);
  }
  return {
    functions: found.map(({ tool }) => tool),
    missing,
    bindings: (node) => ({
      ...Object.fromEntries(found.map(({ tool, call }) => [toolKey(node, tool.name), call])),
      ...checkBindings(prompt, given.validators ?? {}, node),
    }),
  };
}

export interface CalledTool {
  readonly tool: FunctionTool;
  readonly call: unknown;
}

/** Finds a tool of a pack by its key or its name. `call` is undefined if it has no implementation. */
export function packTool(
  defined: NonNullable<Pack['tools']>,
  listed: string,
  given: PackTools,
): (CalledTool & { readonly name: string }) | { readonly name: string; readonly call?: undefined } {
  const definition = Object.hasOwn(defined, listed)
    ? defined[listed]
    : Object.values(defined).find(({ name }) => name === listed);
  const name = definition?.name ?? listed;
  const standIn = given.standIn === true ? standInTool(name) : undefined;
  const own = ownOf(given.tools, name) ?? ownOf(given.tools, listed) ?? standIn;
  return own === undefined
    ? { name }
    : { name, ...toolOf(own, { name, approve: ownOf(given.approve, name), definition }) };
}

function ownOf<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

interface Told {
  readonly name: string;
  readonly approve: Approval | undefined;
  readonly definition: { readonly description: string; readonly parameters?: JsonObject } | undefined;
}

function toolOf(own: PackTool, { name, approve, definition }: Told): CalledTool {
  const isFunction = typeof own === 'function';
  const whole: ToolDefinition = isFunction ? { name, inputSchema: ANY_INPUT, execute: own } : { ...own, name };
  const asks = approve ?? whole.approve;
  const { coerce: _coerce, ...tool } = functionTool({ ...whole, ...(asks === undefined ? {} : { approve: asks }) });
  // The program's own function is not modified.
  const call = isFunction ? madeOf((input: never, step: ToolStep) => own(input, step), [own]) : toolFunction(own);
  return {
    tool: {
      ...tool,
      ...(definition && { description: definition.description, input: definition.parameters ?? ANY_INPUT }),
    },
    call: withApproval(call, asks),
  };
}

const ANY_INPUT = { type: 'object' } as const;

type Brought = PackTools & { readonly mcpServers?: object };

/** Returns the reachable tools without an implementation, by name, with the place that names them. */
export function toolsWithoutFunction(pack: Pack, from: Beginning, given: PackTools): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { where, prompt } of usesOfTools(pack, from))
    for (const tool of packTools(pack, prompt, given).missing) if (!found.has(tool)) found.set(tool, where);
  return found;
}

/** Reports tools without an implementation, and approvals of unknown tools. With servers, their tools are unknown until they start. */
export function missingTools(pack: Pack, from: Beginning, given: Brought): readonly Problem[] {
  if (Object.keys(given.mcpServers ?? {}).length > 0) return [];
  const brought = Object.keys(given.tools ?? {});
  const missing = [...toolsWithoutFunction(pack, from, given)].map(([tool, where]): Problem => ({
    code: 'no-function',
    severity: 'error',
    message: `the tool ${quoteShort(tool)} of the ${where} has no function`,
    hint:
      didYouMean(tool, brought) ??
      `bring it along: tools: { ${tool}: (input) => ... }, or --tools MODULE; or try it with --mock`,
  }));
  const names = new Set(Object.entries(pack.tools ?? {}).flatMap(([key, { name }]) => [key, name]));
  for (const { tools = [] } of Object.values(pack.prompts)) for (const tool of tools) names.add(tool);
  const unknown = Object.keys(given.approve ?? {}).filter((name) => !names.has(name));
  return [
    ...missing,
    ...unknown.map((name): Problem => ({
      code: 'unknown-approval',
      severity: 'error',
      message: `approve names ${quoteShort(name)}, which is not a tool of the pack`,
      hint: didYouMean(name, names) ?? 'name a tool of the pack',
    })),
  ];
}
