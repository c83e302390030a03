import type { Model } from '../agent/model.js';
import type { LanguageModel } from '../agent/models/language-model.js';
import { SkeinError } from '../base/errors.js';
import { cloneData, present } from '../base/json.js';
import { refusal } from '../base/problem.js';
import { checkOptions, type OptionForms } from '../base/options.js';
import { kindText } from '../lang/value-text.js';
import type { TreeOverride } from '../notations/tree/definition.js';
import { functionTool, toolFunction, type ToolDefinition } from '../notations/graph/nodes/tool.js';
import type {
  CacheUse,
  FunctionTool,
  McpServerSpec,
  ModelSettings,
  Permissions,
  SandboxUse,
  SkillText,
} from '../plan/agent-spec.js';
import { providerById } from '../plan/providers.js';

/** A model: its name `provider/model`, or an object of the AI SDK. */
export type ModelChoice = string | LanguageModel | Model;

/** What a step and everything in it uses instead of the runtime's settings. An absent field keeps the surrounding setting. */
export interface Override {
  readonly model?: ModelChoice;
  /** Names of built-in tools, and functions. They replace all surrounding ones. */
  readonly tools?: readonly (string | ToolDefinition)[];
  /** Tool servers by name. They replace all surrounding ones. */
  readonly mcp?: Readonly<Record<string, McpServerSpec>>;
  /** Which tool calls are refused, allowed, or need approval. */
  readonly policy?: Permissions;
  /** Added to the system prompts, after the text of surrounding steps. */
  readonly systemContext?: string;
  readonly skills?: readonly SkillText[];
  /** Folders the file tools may read, in addition to the working directory. */
  readonly extraDirs?: readonly string[];
  /** Settings of the model. */
  readonly settings?: ModelSettings;
  /** What providers may cache. Undefined: whatever can be cached. */
  readonly cache?: CacheUse;
  /** Where programs started by agents run. */
  readonly sandbox?: SandboxUse;
}

const FORMS: OptionForms<Override> = {
  model: 'text, or an object',
  tools: 'any',
  mcp: 'an object',
  policy: 'an object',
  systemContext: 'text',
  skills: 'a list',
  extraDirs: 'a list of texts',
  settings: 'an object',
  cache: 'text',
  sandbox: 'text',
};

/** A model object, with its name in plans. */
export interface NamedModel {
  readonly name: string;
  readonly object: LanguageModel | Model;
}

/** Infrastructure that data can't hold, shared by copies of a tree. */
const objects = new WeakMap<TreeOverride, NamedModel>();
const functions = new WeakMap<FunctionTool, unknown>();

export function modelOf(override: TreeOverride | undefined): NamedModel | undefined {
  return override === undefined ? undefined : objects.get(override);
}

export function functionOf(tool: FunctionTool): unknown {
  return functions.get(tool);
}

/**
 * Converts an override to data, independent of later changes by the caller. Model objects and functions are shared.
 *
 * @throws SkeinError `SKEIN_USAGE` for options that do not exist, `SKEIN_DEFINITION` for a model or a tool that can't be used
 */
export function overrideOf(given: Override): TreeOverride {
  checkOptions<Override>('customize', given, FORMS);
  const { model, tools, mcp, policy, ...rest } = given;
  const named = model === undefined || typeof model === 'string' ? undefined : namedModel(model);
  const override: TreeOverride = present({
    ...cloneData(rest),
    model: typeof model === 'string' ? model : named?.name,
    mcpServers: cloneData(mcp),
    permissions: cloneData(policy),
    ...(tools === undefined ? {} : toolsOf(tools)),
  });
  if (named !== undefined) objects.set(override, named);
  return override;
}

/** @throws SkeinError `SKEIN_USAGE` for anything but a list, `SKEIN_DEFINITION` for a function that can't be a tool */
function toolsOf(tools: unknown): Pick<TreeOverride, 'tools' | 'functions'> {
  if (!areTools(tools)) {
    const hint = "tools: ['read_file', search]";
    throw new SkeinError('SKEIN_USAGE', `tools are a list of names and functions, not ${kindText(tools)}`, { hint });
  }
  const own = tools.filter((each) => typeof each !== 'string');
  return {
    tools: tools.filter((each) => typeof each === 'string'),
    functions: own.map((definition) => {
      const made = cloneData(functionTool(definition));
      functions.set(made, toolFunction(definition));
      return made;
    }),
  };
}

function areTools(tools: unknown): tools is readonly (string | ToolDefinition)[] {
  return Array.isArray(tools) && tools.every((each) => each !== null && ['string', 'object'].includes(typeof each));
}

/** Names a model object after its own provider and model. The name never equals that of a model Skein would make. */
function namedModel(object: LanguageModel | Model): NamedModel {
  const { provider, model } = saidOf(object);
  if (provider === '' || model === '')
    throw refusal(
      'bad-model',
      'this is not a model',
      "give its name, 'provider/model', or a model object of the AI SDK",
    );
  const own = providerById(provider) === undefined ? provider : `${provider}.model`;
  return { name: `${own}/${model}`, object };
}

function saidOf(object: unknown): { readonly provider: string; readonly model: string } {
  const none = { provider: '', model: '' };
  if (typeof object !== 'object' || object === null) return none;
  const { provider, modelId, id } = object as Readonly<Record<string, unknown>>;
  if (typeof provider === 'string' && typeof modelId === 'string')
    return { provider: provider.toLowerCase(), model: modelId };
  if (typeof id !== 'string' || !('stream' in object)) return none;
  const slash = id.indexOf('/');
  return { provider: id.slice(0, Math.max(slash, 0)).toLowerCase(), model: id.slice(slash + 1) };
}
