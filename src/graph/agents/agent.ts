import { PLANNED, type PlannedAgent } from '../../notations/graph/nodes/planned.js';
import { present } from '../../base/json.js';
import { jsonSchemaOf, type SchemaInput } from '../../plan/given-schema.js';
import { functionTool, toolFunction, type ToolDefinition } from '../../notations/graph/nodes/tool.js';
import { refusal } from '../../base/problem.js';
import { checksOf, type CheckInput } from '../../plan/answer-check.js';
import { checkOptions, type OptionForms } from '../../base/options.js';
import { didYouMean } from '../../base/suggest.js';
import { BUILT_IN_TOOLS } from '../../plan/built-in-tools.js';
import { selectTools } from '../../plan/tool-names.js';
import type { AgentSpec, ModelSettings, StructuredOutput } from '../../plan/agent-spec.js';
import { agentOf, type Agent } from './planned-agent.js';

/** Settings that agents of all notations share. */
type Shared = Pick<
  AgentSpec,
  | 'description'
  | 'permissions'
  | 'sandbox'
  | 'mcpServers'
  | 'skills'
  | 'extraDirs'
  | 'maxTurns'
  | 'maxToolCalls'
  | 'interactive'
  | 'until'
  | 'allowEmpty'
  | 'cache'
  | 'about'
  | 'provider'
>;

/** Options of {@link agent}. */
export interface AgentOptions<Output extends SchemaInput = SchemaInput> extends Shared {
  /** Letters, digits, `_`, `-`, `.`. */
  readonly name: string;
  /** `provider/model`, or several to try in order. Defaults to the environment's choice. */
  readonly model?: string | readonly string[];
  /** The system prompt. It is used verbatim: braces have no meaning. */
  readonly instructions?: string;
  /** Names of built-in tools, of tools of `mcpServers`, and functions. Default: none. */
  readonly tools?: readonly (string | ToolDefinition)[];
  /** Tools whose calls a person must allow. */
  readonly approve?: readonly string[];
  /** The form of the answer: JSON Schema, or a schema of zod, Valibot or ArkType. Without it, the answer is text. */
  readonly output?: Output;
  /** What happens if the answer still does not match after one repair round. Default `fail`. */
  readonly onInvalid?: StructuredOutput['onInvalid'];
  /** Checks on the agent's input and answer: rules as data, and functions. */
  readonly checks?: readonly CheckInput[];
  readonly settings?: ModelSettings;
}

const OPTIONS: OptionForms<AgentOptions> = {
  name: 'text',
  model: 'text, or a list of texts',
  instructions: 'text',
  tools: 'a list',
  approve: 'a list of texts',
  output: 'any',
  onInvalid: 'text',
  checks: 'a list',
  settings: 'an object',
  description: 'text',
  permissions: 'an object',
  sandbox: 'text',
  mcpServers: 'an object',
  skills: 'a list',
  extraDirs: 'a list of texts',
  maxTurns: 'a number',
  maxToolCalls: 'a number',
  interactive: 'true or false',
  until: 'an object',
  allowEmpty: 'true or false',
  cache: 'text',
  about: 'a list of texts',
  provider: 'an object',
};

/** The answer type of an agent with an output schema. */
type AnswerOf<Output> = Output extends {
  readonly '~standard': { readonly types?: { readonly output: infer Value } | undefined };
}
  ? Value
  : Readonly<Record<string, unknown>>;

/**
 * Makes an agent: a language model with instructions and tools, on the loop that all agents of Skein share. Use it alone, as a node
 * ({@link agentNode}), as a tool of another agent ({@link agentAsTool}), or in a team.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for invalid settings, `SKEIN_USAGE` for options that do not exist
 * @example
 * const poet = agent({ name: 'poet', model: 'mock/echo', instructions: 'You write one line.' });
 * console.log((await poet.run('Rain')).answer); // Rain
 */
export function agent<const Output extends SchemaInput>(
  options: AgentOptions<Output> & { readonly output: Output },
): Agent<AnswerOf<Output>>;
export function agent(options: AgentOptions & { readonly output?: never }): Agent;
export function agent(options: AgentOptions): unknown {
  checkOptions<AgentOptions>('an agent', options, OPTIONS);
  return agentOf(plannedAgent(options), options.name);
}

export function plannedAgent(options: AgentOptions): PlannedAgent {
  const {
    name,
    model = [],
    instructions = '',
    tools = [],
    approve = [],
    output,
    onInvalid,
    checks,
    settings,
    ...shared
  } = options;
  if (typeof name !== 'string' || name.trim() === '')
    throw refusal('empty-name', 'an agent needs a name', "agent({ name: 'writer', ... })");
  const own = tools.filter((each) => typeof each !== 'string');
  const names = tools.filter((each) => typeof each === 'string');
  const ownNames = new Set(own.map((each) => each.name));
  const others = approve.filter((each) => !ownNames.has(each));
  const planned = withTools(
    { kind: 'agent', spec: { name, instructions: [], models: [], tools: names }, tools: {} },
    own,
    approve,
  );
  checkNames(name, names, Object.keys(shared.mcpServers ?? {}));
  const checking = checks === undefined ? undefined : checksOf(checks);
  const spec: AgentSpec = {
    ...shared,
    ...planned.spec,
    instructions: instructions === '' ? [] : [instructions],
    models: typeof model === 'string' ? [model] : model,
    ...(others.length === 0 ? {} : { approve: others }),
    ...(output === undefined
      ? {}
      : { output: present({ schema: jsonSchemaOf(output, `the output of the agent "${name}"`), onInvalid }) }),
    ...(settings === undefined ? {} : { settings }),
    ...(checking === undefined ? {} : { checks: checking.checks }),
  };
  return { ...planned, spec, ...(checking === undefined ? {} : { checks: checking.functions }) };
}

/** @throws SkeinError `SKEIN_DEFINITION` for a name that no tool can have */
function checkNames(name: string, tools: readonly string[], servers: readonly string[]): void {
  const [unknown] = selectTools(tools, servers).unknown;
  if (unknown === undefined) return;
  const near = didYouMean(unknown, [...BUILT_IN_TOOLS, ...servers.map((server) => `${server}/*`)]);
  const hint =
    near ?? 'name a built-in tool, or SERVER/TOOL of one of its mcpServers, or give a function: tool({ ... })';
  throw refusal('bad-tool', `the agent "${name}" has no tool "${unknown}"`, hint);
}

/** @throws SkeinError `SKEIN_DEFINITION` if two tools have the same name */
export function withTools(
  { spec, tools, ...rest }: PlannedAgent,
  more: readonly ToolDefinition[],
  approve: readonly string[] = [],
): PlannedAgent {
  const functions = [...(spec.functions ?? [])];
  const bound: Record<string, unknown> = { ...tools };
  for (const each of more) {
    const made = functionTool(each);
    const { name } = made;
    if (functions.some((one) => one.name === name) || spec.tools?.includes(name) === true) {
      throw refusal(
        'duplicate-tool',
        `the agent "${spec.name}" has two tools named "${name}"`,
        'rename one of the two',
      );
    }
    functions.push(approve.includes(name) || approve.includes('*') ? { ...made, approve: true } : made);
    bound[name] = toolFunction(each);
  }
  return { ...rest, spec: functions.length === 0 ? spec : { ...spec, functions }, tools: bound };
}

/** Returns the internal form of an agent if it is a language model made by {@link agent}. */
export function modelAgentOf(candidate: unknown): PlannedAgent | undefined {
  if (typeof candidate !== 'object' || candidate === null || !(PLANNED in candidate)) return undefined;
  const planned = candidate[PLANNED] as Agent[typeof PLANNED];
  return planned.kind === 'agent' ? planned : undefined;
}
