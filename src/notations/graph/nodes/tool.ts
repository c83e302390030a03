import { SkeinError } from '../../../base/errors.js';
import type { JsonObject } from '../../../base/json.js';
import { coerceInput, requiredNames } from '../../../lang/coerce.js';
import { schemaFindings } from '../../../lang/schema-check.js';
import type { CallBounds, FunctionTool } from '../../../plan/agent-spec.js';
import type { StateOf, TaskQuestion, TextQuestion } from '../../../plan/builder-input.js';
import { madeOf, mustApprove, partsOf, withApproval } from '../../../plan/made-of.js';
import { cleared } from '../../../plan/tool-use.js';
import { refusal } from '../../../base/problem.js';
import { jsonSchemaOf, validated } from './json-schema.js';
import type { SchemaInput } from './json-schema.js';

/**
 * What a tool gets in addition to its input. `State` is the type of the state that it reads.
 *
 * @example
 * const refund = tool({
 *   name: 'refund',
 *   inputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
 *   async execute({ sum }, io: ToolStep<{ customer: string }>) {
 *     const may = await io.ask({ text: `Refund ${sum} to ${io.state.customer}?`, choices: ['yes', 'no'] });
 *     return may === 'yes' ? 'refunded' : 'a person refused it';
 *   },
 * });
 */
export interface ToolStep<State extends object = StateOf> {
  /** Aborted when the call is not wanted any more. */
  readonly signal: AbortSignal;
  /** The same on every execution of this call, also after a crash. */
  readonly idempotencyKey: string;
  /** Tells whoever listens something; it is not recorded. */
  emit(event: JsonObject): void;
  /** Options for an agent that the tool calls: the models are those of this run. */
  readonly runOptions: object;
  /**
   * Asks a person and gives the answer: text, or what the schema asks for. Each question of a call has a name of its own; without one it is its
   * number. When nobody can answer for now the call ends here and the step is paused. When there is an answer, the call is made again from its
   * beginning, with the same input, and is given the answer; what the model said before is not asked for again.
   */
  ask<const C extends string = string>(question: TextQuestion<C>, name?: string): Promise<C>;
  ask(question: TaskQuestion, name?: string): Promise<unknown>;
  /** What the node sees of the state, the agent's or that of the tool, read-only. A recorded result holds as long as what was read of it is the same. */
  readonly state: Readonly<State>;
}

/** A function as a tool: of an agent, or as a node of its own. */
export interface ToolDefinition<Input = never, Result = unknown> {
  /** What the model sees: letters, digits, `_`, `-`, at most 64. */
  readonly name: string;
  readonly description?: string;
  /** What it takes: a JSON Schema of an object, or a schema of zod, Valibot or ArkType. */
  readonly inputSchema: SchemaInput;
  /**
   * How a crash in the middle of a call is treated when the run is recorded: `read` and `idempotent` calls are made again; `once`, the default,
   * asks a person what became of it.
   */
  readonly effect?: 'read' | 'idempotent' | 'once';
  /** Whether its results are the user's own data. Default `untrusted`. */
  readonly trust?: 'trusted' | 'untrusted';
  /** Whether a person must allow a call, of an agent or of a node: each, or those of which a function of the checked input says so, as long as it does not say `false`. */
  readonly approve?: boolean | ((input: Input) => boolean | Promise<boolean>);
  /** Whether texts are turned into the numbers and booleans that the schema asks for. Default true. */
  readonly coerce?: boolean;
  /** What one call of it can cost in calls of models and tools, when it is an agent. */
  readonly calls?: CallBounds;
  /** Does the work. What it gives that is not text reaches a model as JSON. */
  execute(input: Input, step: ToolStep): Result;
}

/** The type of what a schema gives. */
type InputOf<Schema> = Schema extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : Readonly<Record<string, unknown>>;

/**
 * A tool with the types of its input: `execute` gets what the schema says.
 *
 * @example
 * const add = tool({
 *   name: 'add',
 *   inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
 *   effect: 'read',
 *   execute: ({ a, b }) => Number(a) + Number(b),
 * });
 */
export function tool<const Schema extends SchemaInput, Result>(
  definition: Omit<ToolDefinition<InputOf<Schema>, Result>, 'inputSchema' | 'execute'> & {
    readonly inputSchema: Schema;
    execute(input: InputOf<Schema>, step: ToolStep): Result;
  },
): ToolDefinition<InputOf<Schema>, Result> {
  functionTool(definition);
  return definition;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A tool as plan data.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for one that can't be used
 */
export function functionTool(definition: ToolDefinition): FunctionTool {
  const { name, description = '', effect = 'once', trust, approve, coerce = true, calls } = definition;
  if (typeof name !== 'string' || !NAME.test(name)) {
    const hint = 'letters, digits, _ and -, at most 64';
    throw refusal('bad-tool', `a tool can't be named ${JSON.stringify(name)}`, hint);
  }
  if (typeof Reflect.get(definition, 'execute') !== 'function')
    throw refusal('bad-tool', `the tool "${name}" has no execute function`, 'execute: (input) => ...');
  return {
    name,
    description,
    input: jsonSchemaOf(schemaOf(definition), `the input of the tool "${name}"`),
    effect,
    ...(trust === undefined ? {} : { trust }),
    ...(approve === true ? { approve } : typeof approve === 'function' ? { approve: 'code' } : {}),
    ...(coerce ? { coerce } : {}),
    ...(calls === undefined ? {} : { calls }),
  };
}

/** What a tool says it takes. A type says so where there are types. */
function schemaOf(definition: ToolDefinition): unknown {
  if (definition.inputSchema === undefined && Reflect.has(definition, 'input')) {
    throw refusal('bad-tool', `the tool "${definition.name}" has no option "input"`, 'did you mean "inputSchema"?');
  }
  return definition.inputSchema;
}

/** The function of a tool as it is bound: a schema that is more than JSON Schema has the last word on the input. */
export function toolFunction(definition: ToolDefinition): (input: never, step: ToolStep) => Promise<unknown> {
  const run = async (input: never, step: ToolStep): Promise<unknown> => {
    const checked = await validated(definition.inputSchema, input);
    if ('value' in checked) return await definition.execute(checked.value as never, step);
    throw badInput(definition.name, checked.findings);
  };
  const parts = typeof definition.approve === 'function' ? ['execute', 'approve'] : ['execute'];
  return withApproval(madeOf(run, partsOf(definition, parts)), definition.approve);
}

/**
 * Calls a tool with arguments by name: missing and unknown ones are refused, texts are turned into what the schema asks for, and the schema is
 * checked. Where the tool says so a person is asked first.
 *
 * @throws SkeinError `SKEIN_INPUT`, `SKEIN_TOOL_REFUSED` when a person said no
 */
export async function callTool(
  definition: ToolDefinition,
  schema: JsonObject,
  input: Readonly<Record<string, unknown>>,
  step: ToolStep,
): Promise<unknown> {
  const { name, coerce = true } = definition;
  const missing = requiredNames(schema).find((each) => input[each] === undefined);
  if (missing !== undefined) throw new SkeinError('SKEIN_INPUT', `${name}: missing required argument "${missing}"`);
  const wanted = coerce ? coerceInput(name, schema, input) : input;
  checkInput(name, schema, wanted);
  const call = toolFunction(definition);
  const { approve, effect = 'once', trust } = definition;
  const isTrusted = trust === 'trusted';
  const { input: given, isAllowed } = await cleared(step, {
    tool: name,
    effect,
    isTrusted,
    input: wanted as JsonObject,
  });
  if (given !== wanted) checkInput(name, schema, given);
  if (isAllowed) return await call(given as never, step);
  if (approve === true || (typeof approve === 'function' && (await mustApprove(call, given))))
    await allowed(name, given, step);
  return await call(given as never, step);
}

/** @throws SkeinError `SKEIN_INPUT` */
function checkInput(name: string, schema: JsonObject, input: Readonly<Record<string, unknown>>): void {
  const findings = schemaFindings(schema, input);
  if (findings.length > 0) throw badInput(name, findings);
}

/** The input is part of the question, so an answer counts for this call alone. */
async function allowed(name: string, input: unknown, step: ToolStep): Promise<void> {
  const text = `May ${name} be called with ${JSON.stringify(input)}?`;
  if ((await step.ask({ text, choices: ['allow', 'deny'] }, 'approve')) === 'allow') return;
  throw new SkeinError('SKEIN_TOOL_REFUSED', `a person refused this call of ${name}`);
}

function badInput(name: string, findings: readonly string[]): SkeinError {
  return new SkeinError('SKEIN_INPUT', `the input of ${name} does not match its schema: ${findings.join('; ')}`);
}
