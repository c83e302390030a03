import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3ToolChoice,
} from '@ai-sdk/provider';
import { isPlainObject, jsonIn, present, type JsonObject } from '../../base/json.js';
import type { ModelSettings } from '../../plan/agent-spec.js';
import type { Message, ModelRequest, ToolCall, ToolResult, ToolSpec } from '../model.js';

/** How the requests of a provider differ. */
export interface CallStyle {
  /** Key of the provider's own options: `openai`, `anthropic`. */
  readonly optionsKey?: string;
  /** Options that go with every call. */
  readonly options?: JsonObject;
  /** Whether the provider accepts a JSON Schema for the answer. */
  readonly structuredOutput: boolean;
  /** The provider has a switch `strictJsonSchema`, and when it is on refuses schemas outside its strict subset. */
  readonly strictSwitch?: boolean;
  /** Tools are sent with `strict: false`, because the provider's default is strict. */
  readonly looseTools?: boolean;
  /** The option that limits the provider to one tool call a turn: a key of provider options, and its value. */
  readonly singleToolCalls?: { readonly key: string; readonly options: JsonObject };
  /** The provider refuses tool calls in the conversation if no tool is defined. */
  readonly definesUsedTools?: boolean;
  /** How a request marks what the provider may cache; absent: the provider decides. */
  readonly cache?: CacheStyle | undefined;
  /** Data on tool calls is not sent back: it refers to answers that the provider was told not to store. */
  readonly dropCallData?: boolean;
}

export function callOptions(request: ModelRequest, style: CallStyle): LanguageModelV3CallOptions {
  const { settings } = request;
  const marked = markedMessages(request, style.cache);
  return {
    prompt: request.messages.map((message) => ({
      ...promptMessage(message, style),
      ...(marked.has(message) ? { providerOptions: markOf(request, style.cache) as Record<string, JsonMutable> } : {}),
    })),
    ...present({ headers: cacheHeaders(request, style.cache) }),
    abortSignal: request.signal,
    ...given({ ...settings, ...present({ maxOutputTokens: settings.maxOutputTokens ?? request.outputLimit }) }),
    ...toolsOf(request, style),
    ...responseFormat(request, style),
    ...providerOptions(request, style),
  };
}

/** Settings that have the same names in the AI SDK. */
const SAMPLING = [
  'temperature',
  'topP',
  'topK',
  'frequencyPenalty',
  'presencePenalty',
  'maxOutputTokens',
  'seed',
] as const satisfies readonly (keyof ModelSettings & keyof LanguageModelV3CallOptions)[];

function given(settings: ModelSettings): Pick<LanguageModelV3CallOptions, (typeof SAMPLING)[number]> {
  return Object.fromEntries(SAMPLING.flatMap((key) => (settings[key] === undefined ? [] : [[key, settings[key]]])));
}

/** Without tools, providers refuse a tool choice. */
function toolsOf(
  { tools, messages, settings: { toolChoice } }: ModelRequest,
  style: CallStyle,
): Pick<LanguageModelV3CallOptions, 'tools' | 'toolChoice'> {
  if (tools.length === 0) {
    const used = style.definesUsedTools === true ? usedTools(messages) : [];
    return used.length === 0 ? {} : { tools: used, toolChoice: { type: 'none' } };
  }
  return {
    tools: tools.map((tool) => functionTool(tool, style)),
    ...(toolChoice === undefined ? {} : { toolChoice: choiceOf(toolChoice) }),
  };
}

/** Tools that were called earlier in the conversation and can no longer be called. */
function usedTools(messages: readonly Message[]): LanguageModelV3FunctionTool[] {
  const names = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls.map(({ name }) => name) : [],
  );
  return [...new Set(names)].map((name) => ({ type: 'function', name, inputSchema: { type: 'object' } }));
}

function choiceOf(choice: NonNullable<ModelSettings['toolChoice']>): LanguageModelV3ToolChoice {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool };
}

function promptMessage(message: Message, style: CallStyle): LanguageModelV3Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.toolCalls.map((call) => toolCallPart(call, style)),
        ],
      };
    case 'tool':
      return { role: 'tool', content: message.results.map(toolResultPart) };
  }
}

function toolCallPart(call: ToolCall, style: CallStyle) {
  const data = style.dropCallData === true ? undefined : call.providerData;
  return {
    type: 'tool-call' as const,
    toolCallId: call.id,
    toolName: call.name,
    input: toolInput(call.input),
    ...(data === undefined ? {} : { providerOptions: data as Record<string, JsonMutable> }),
  };
}

/** The shape of the package's JSON objects, which are not readonly. */
type JsonMutable = { [key: string]: never };

/** Providers want an object back; text that was not a JSON object is wrapped in one. */
function toolInput(text: string): unknown {
  if (text.trim() === '') return {};
  const value = jsonIn(text);
  if (value === undefined) return { unreadable: text };
  return isPlainObject(value) ? value : { value };
}

function toolResultPart(result: ToolResult) {
  return {
    type: 'tool-result' as const,
    toolCallId: result.id,
    toolName: result.name,
    output: { type: result.isError ? ('error-text' as const) : ('text' as const), value: result.output },
  };
}

function functionTool(tool: ToolSpec, style: CallStyle): LanguageModelV3FunctionTool {
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(style.looseTools === true ? { strict: false } : {}),
  };
}

function responseFormat(request: ModelRequest, style: CallStyle): Pick<LanguageModelV3CallOptions, 'responseFormat'> {
  if (request.output === undefined || !style.structuredOutput) return {};
  return { responseFormat: { type: 'json', name: request.output.name, schema: request.output.schema } };
}

function providerOptions(request: ModelRequest, style: CallStyle): Pick<LanguageModelV3CallOptions, 'providerOptions'> {
  // Without tools, providers refuse options about tool calls.
  const single =
    request.settings.singleToolCalls === true && request.tools.length > 0 ? style.singleToolCalls : undefined;
  const groups: Record<string, Record<string, never>> = {};
  const own = ownOptions(request, style);
  if (style.optionsKey !== undefined && Object.keys(own).length > 0) groups[style.optionsKey] = own;
  for (const more of [single, cacheOption(request, style.cache)])
    if (more !== undefined) groups[more.key] = { ...groups[more.key], ...(more.options as Record<string, never>) };
  return Object.keys(groups).length === 0 ? {} : { providerOptions: groups };
}

function ownOptions(request: ModelRequest, style: CallStyle): Record<string, never> {
  const strict =
    request.output !== undefined && style.strictSwitch === true
      ? { strictJsonSchema: isStrictSchema(request.output.schema) }
      : {};
  return { ...style.options, ...strict } as Record<string, never>;
}

/** True if every object of a schema closes its properties and requires all of them, as OpenAI's strict mode demands. */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  if (!isPlainObject(schema)) return true;
  const properties = schema['properties'];
  if (schema['type'] === 'object' || isPlainObject(properties)) {
    const names = isPlainObject(properties) ? Object.keys(properties) : [];
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    if (schema['additionalProperties'] !== false || !names.every((name) => required.includes(name))) return false;
    if (isPlainObject(properties) && !Object.values(properties).every(isStrictSchema)) return false;
  }
  return ['items', 'anyOf', '$defs'].every((key) => {
    const part = schema[key];
    return key === '$defs' && isPlainObject(part) ? Object.values(part).every(isStrictSchema) : isStrictSchema(part);
  });
}

/** How requests with the same beginning are marked, so that the provider reads the beginning from its cache. */
type CacheStyle =
  /** Marks the messages up to which the prompt is kept, with provider options of this key. */
  | { readonly marks: string }
  /** Requests with the same value of this option share a cache. */
  | { readonly key: string; readonly option: string }
  /** Requests with the same value of this header share a cache. */
  | { readonly header: string };

/** The provider ignores marks after the fourth: one goes to the system prompt, which covers the tools. */
const MARKED_TURNS = 3;

const MARK: JsonObject = { cacheControl: { type: 'ephemeral' } };
const HOUR_MARK: JsonObject = { cacheControl: { type: 'ephemeral', ttl: '1h' } };

/** Returns the messages to mark. Keeping a prompt costs extra, so turns are marked only if another call may follow. */
function markedMessages({ messages, tools, cache }: ModelRequest, style: CacheStyle | undefined): ReadonlySet<Message> {
  if (cache === undefined || style === undefined || !('marks' in style)) return new Set();
  const goesOn = tools.length > 0 || messages.some(({ role }) => role === 'assistant');
  const turns = messages.filter(({ role }) => role === 'user' || role === 'tool');
  const system = messages.filter(({ role }) => role === 'system').slice(0, 1);
  return new Set([...system, ...(goesOn ? turns.slice(-MARKED_TURNS) : [])]);
}

function markOf({ cache }: ModelRequest, style: CacheStyle | undefined): Readonly<Record<string, JsonObject>> {
  if (style === undefined || !('marks' in style)) return {};
  return { [style.marks]: cache?.forHour === true ? HOUR_MARK : MARK };
}

function cacheOption(
  { cache }: ModelRequest,
  style: CacheStyle | undefined,
): { readonly key: string; readonly options: Readonly<Record<string, string>> } | undefined {
  if (cache === undefined || style === undefined || !('option' in style)) return undefined;
  return { key: style.key, options: { [style.option]: cache.key() } };
}

function cacheHeaders({ cache }: ModelRequest, style: CacheStyle | undefined): Record<string, string> | undefined {
  return cache === undefined || style === undefined || !('header' in style)
    ? undefined
    : { [style.header]: cache.key() };
}
