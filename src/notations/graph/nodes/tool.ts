import { refusedByPerson, unmadeCall } from '../../../base/decided.js';
import type { SkeinError } from '../../../base/errors.js';
import { isPlainObject, type JsonObject } from '../../../base/json.js';
import { didYouMean } from '../../../base/suggest.js';
import { coerceInput, requiredNames } from '../../../lang/coerce.js';
import { schemaFindings } from '../../../lang/schema-check.js';
import type { CallBounds, FunctionTool } from '../../../plan/agent-spec.js';
import type { StateOf, TaskQuestion, TextQuestion, TypedQuestion } from '../../../plan/builder-input.js';
import { madeOf, mustApprove, partsOf, withApproval } from '../../../plan/made-of.js';
import { withProbe, type LostCall, type Probed } from '../../../plan/probe.js';
import { cleared } from '../../../plan/tool-use.js';
import { refusal } from '../../../base/problem.js';
import {
  jsonSchemaOf,
  validated,
  type AcceptedBy,
  type SchemaInput,
  type TypedSchema,
} from '../../../plan/given-schema.js';

/**
 * What a tool gets in addition to its input. `State` is the type of the state it reads.
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
  /** Aborted when the call's result is not needed any more. */
  readonly signal: AbortSignal;
  /** The same for every execution of this call, even after a crash or in a retry. */
  readonly idempotencyKey: string;
  /** Emits an event to listeners. It is not recorded. */
  emit(event: JsonObject): void;
  /** Options for agents that the tool calls, so that they use the models of this run. */
  readonly runOptions: object;
  /**
   * Asks a person and returns the answer: text, or what the schema requires. Each question of a call has its own name, by default its
   * number. If nobody can answer yet, the call ends here and the step pauses. Once there is an answer, the call is made again from its
   * beginning, with the same input, and gets the answer. Earlier model answers are not requested again.
   */
  ask<const C extends string = string>(question: TextQuestion<C>, name?: string): Promise<C>;
  ask<Schema extends TypedSchema>(question: TypedQuestion<Schema>, name?: string): Promise<AcceptedBy<Schema>>;
  ask(question: TaskQuestion, name?: string): Promise<unknown>;
  /** The state visible to the agent's or tool's node, read-only. A recorded result holds as long as the values read are the same. */
  readonly state: Readonly<State>;
}

/** A function as a tool: of an agent, or as a node of its own. */
export interface ToolDefinition<Input = never, Result = unknown> {
  /** The name shown to the model: letters, digits, `_`, `-`, at most 64. */
  readonly name: string;
  readonly description?: string;
  /** The schema of the input: a JSON Schema of an object, or a schema of zod, Valibot or ArkType. */
  readonly inputSchema: SchemaInput;
  /**
   * What a resume does with a recorded call that was interrupted by a crash: `read` and `idempotent` calls are made again; for `once`, the
   * default, a person is asked what happened.
   */
  readonly effect?: 'read' | 'idempotent' | 'once';
  /**
   * For `once`: finds out what became of a call that a crash interrupted, before a person is asked. Returns `{ done: true, result }`, `{ done:
   * false }`, or undefined if it can't tell.
   */
  readonly probe?: (input: Input, lost: LostCall) => Probed | Promise<Probed>;
  /** Whether its results count as the user's own data. Default `untrusted`. */
  readonly trust?: 'trusted' | 'untrusted';
  /** Whether a person must allow a call from an agent or a node: true, or a function of the checked input that does not return `false`. */
  readonly approve?: boolean | ((input: Input) => boolean | Promise<boolean>);
  /** Whether texts are converted to the numbers and booleans that the schema requires. Default true. */
  readonly coerce?: boolean;
  /** The maximum number of model and tool calls that one call can make, if the tool is an agent. */
  readonly calls?: CallBounds;
  /** Does the work. A result that is not text is sent to a model as JSON. */
  execute(input: Input, step: ToolStep): Result;
}

/** The type of a schema's output. */
type InputOf<Schema> = Schema extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : Readonly<Record<string, unknown>>;

/**
 * Defines a tool with a typed input: `execute` gets what the schema declares.
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

/** The options of a tool with the form of their values. A wrong one is refused, so that a misspelt approval is not the lack of one. */
const FORMS: Readonly<Record<keyof ToolDefinition, (value: unknown) => string | undefined>> = {
  name: (value) => (typeof value === 'string' && NAME.test(value) ? undefined : 'letters, digits, _ and -, at most 64'),
  description: kindOf('text', 'string'),
  inputSchema: () => undefined,
  effect: oneOf('read', 'idempotent', 'once'),
  probe: kindOf('a function of the input', 'function'),
  trust: oneOf('trusted', 'untrusted'),
  approve: kindOf('true, false or a function of the input', 'boolean', 'function'),
  coerce: kindOf('true or false', 'boolean'),
  calls: () => undefined,
  execute: () => undefined,
};

function kindOf(what: string, ...kinds: readonly string[]): (value: unknown) => string | undefined {
  return (value) => (kinds.includes(typeof value) ? undefined : what);
}

function oneOf(...words: readonly string[]): (value: unknown) => string | undefined {
  return (value) =>
    words.includes(value as string) ? undefined : words.map((word) => JSON.stringify(word)).join(', ');
}

/** @throws SkeinError `SKEIN_DEFINITION` for an option that does not exist, or has a value of another form */
function checkForm(definition: ToolDefinition): void {
  const { name } = definition;
  const wrongName = FORMS.name(name);
  if (wrongName !== undefined) throw refusal('bad-tool', `a tool can't be named ${JSON.stringify(name)}`, wrongName);
  const names = Object.keys(FORMS);
  // An instance of a class has fields of its own.
  const strange = isPlainObject(definition) ? Object.keys(definition).find((key) => !names.includes(key)) : undefined;
  if (strange !== undefined) {
    // The schema is `input` or `parameters` elsewhere.
    const meant = /^(?:input|parameters)$/.test(strange) ? 'did you mean "inputSchema"?' : didYouMean(strange, names);
    const hint = meant ?? `options are: ${names.join(', ')}`;
    throw refusal('bad-tool', `the tool "${name}" has no option ${JSON.stringify(strange)}`, hint);
  }
  for (const [key, form] of Object.entries(FORMS)) {
    const value: unknown = Reflect.get(definition, key);
    const wanted = value === undefined ? undefined : form(value);
    if (wanted !== undefined) throw refusal('bad-tool', `${key} of the tool "${name}" is not valid`, `give ${wanted}`);
  }
  if (typeof Reflect.get(definition, 'execute') !== 'function')
    throw refusal('bad-tool', `the tool "${name}" has no execute function`, 'execute: (input) => ...');
}

/** @throws SkeinError `SKEIN_DEFINITION` for a tool that can't be used */
export function functionTool(definition: ToolDefinition): FunctionTool {
  checkForm(definition);
  const {
    name,
    description = '',
    effect = 'once',
    trust,
    approve,
    coerce = true,
    calls,
    inputSchema,
    probe,
  } = definition;
  if (probe !== undefined && effect !== 'once')
    throw refusal(
      'bad-tool',
      `the tool "${name}" has a probe, but its calls may be repeated`,
      "effect: 'once', or no probe",
    );
  return {
    name,
    description,
    input: jsonSchemaOf(inputSchema, `the input of the tool "${name}"`),
    effect,
    ...(trust === undefined ? {} : { trust }),
    ...(approve === true ? { approve } : typeof approve === 'function' ? { approve: 'code' } : {}),
    ...(coerce ? { coerce } : {}),
    ...(calls === undefined ? {} : { calls }),
    ...(probe === undefined ? {} : { probe: true }),
  };
}

/** Returns the function of a tool as it is bound. A schema that is more than JSON Schema has the final decision on the input. */
export function toolFunction(definition: ToolDefinition): (input: never, step: ToolStep) => Promise<unknown> {
  const run = async (input: never, step: ToolStep): Promise<unknown> => {
    const checked = await validated(definition.inputSchema, input);
    if ('value' in checked) return await definition.execute(checked.value as never, step);
    throw badInput(definition.name, checked.findings);
  };
  const parts = typeof definition.approve === 'function' ? ['execute', 'approve'] : ['execute'];
  const call = withApproval(madeOf(run, partsOf(definition, parts)), definition.approve);
  const { probe } = definition;
  return probe === undefined
    ? call
    : withProbe(call, (input: never, lost: LostCall) => probed(definition, input, lost));
}

/** Asks a tool's probe what became of an interrupted call with these arguments, as {@link callTool} makes it. */
export function probeTool(
  definition: ToolDefinition,
  schema: JsonObject,
  input: StateOf,
  lost: LostCall,
): Promise<unknown> {
  const { name, coerce = true } = definition;
  return probed(definition, coerce ? coerceInput(name, schema, input) : input, lost);
}

async function probed(definition: ToolDefinition, input: unknown, lost: LostCall): Promise<unknown> {
  const checked = await validated(definition.inputSchema, input);
  return 'value' in checked ? await definition.probe?.(checked.value as never, lost) : undefined;
}

/**
 * Calls a tool with named arguments. Missing and unknown ones are refused, texts are converted to what the schema requires, and the schema
 * is checked. If the tool requires approval, a person is asked first.
 *
 * @throws SkeinError `SKEIN_INPUT`, `SKEIN_TOOL_REFUSED` if a person refused
 */
export async function callTool(
  definition: ToolDefinition,
  schema: JsonObject,
  input: Readonly<Record<string, unknown>>,
  step: ToolStep,
): Promise<unknown> {
  const { name, coerce = true } = definition;
  const missing = requiredNames(schema).find((each) => input[each] === undefined);
  if (missing !== undefined) throw unmadeCall('SKEIN_INPUT', `${name}: missing required argument "${missing}"`);
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

/** Asks for approval. The question includes the input, so an answer applies only to this call. */
async function allowed(name: string, input: unknown, step: ToolStep): Promise<void> {
  const text = `May ${name} be called with ${JSON.stringify(input)}?`;
  if ((await step.ask({ text, choices: ['allow', 'deny'] }, 'approve')) === 'allow') return;
  throw refusedByPerson(`this call of ${name}`);
}

function badInput(name: string, findings: readonly string[]): SkeinError {
  return unmadeCall('SKEIN_INPUT', `the input of ${name} does not match its schema: ${findings.join('; ')}`);
}
