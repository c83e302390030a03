import { checkOptions } from '../../base/options.js';
import { basename, isAbsolute, resolve as resolvePath } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import { canonicalJson } from '../../base/hash.js';
import { after, isThenable } from '../../base/at-once.js';
import { dataAsGiven } from '../../base/json.js';
import { madeOnce } from '../../base/collections.js';
import type { AgentSpec, ProviderSpec } from '../../plan/agent-spec.js';
import type { Policy } from '../../plan/policy.js';
import { policyDigest } from '../../guard/policy.js';
import type { Model, ModelCaller } from '../model.js';
import type { ScriptBook } from '../script/script-book.js';
import type { ScriptInput } from '../script/script-input.js';
import { scriptModel, echoModel } from '../script/script-model.js';
import { scriptedSteps } from '../script/scripted-steps.js';
import { Counted, keptModel, lazyModel, modelInTurn, ownModel, unusableModel } from './lazy-models.js';
import { MODEL_VARIABLE, defaultModels } from './default-models.js';
import { envValue } from './environment.js';
import { endpointOf } from './endpoints.js';
import { readModelName, type ModelName } from './model-names.js';
import { MODEL_OPTIONS, type ModelRegistry, type ModelRegistryOptions } from './registry-options.js';
import { LOCAL_MODELS, namedModels, providerById, takesSchema } from '../../plan/providers.js';
import { createRecorder, type Recorder } from './recording.js';
import { findSecrets } from '../../secrets/find-secrets.js';
import type { Replayer } from './replaying.js';

/**
 * Creates the registry of a run.
 *
 * @throws SkeinError `SKEIN_USAGE` for options that do not exist
 * @example
 * const models = createModelRegistry({ env: process.env, override: 'openai/gpt-5-mini' });
 * const executor = agentExecutor({ models, tools: noTools });
 * await models.finish();
 */
export function createModelRegistry(options: ModelRegistryOptions): ModelRegistry {
  checkOptions<ModelRegistryOptions>('createModelRegistry', options, MODEL_OPTIONS);
  return openRegistry(options);
}

/** Creates the registry of a run, whose options were checked. */
export function openRegistry(given: ModelRegistryOptions): ModelRegistry {
  const options = withOwnScript(given);
  const replay =
    options.replay === undefined ? undefined : new Counted(() => openedReplay(path(options, options.replay ?? '')));
  const parts: Parts = {
    options,
    books: new Map(),
    made: new Map(),
    named: new WeakMap(),
    fallbacks: new Map(),
    replay,
  };
  const recorder =
    options.record === undefined
      ? undefined
      : createRecorder(path(options, options.record), () =>
          findSecrets({ env: options.env, folder: options.cwd, inputs: options.inputs }),
        );
  let identity: string | undefined;
  /** Questions that were answered from the journal and are not counted yet. */
  const answered: string[] = [];
  return {
    prices: options.prices,
    resolve(spec, caller) {
      const models = modelsFor(parts, spec, caller);
      return recorder === undefined ? models : after(models, (all) => all.map((model) => recorder.wrap(model)));
    },
    identity: () => (identity ??= canonicalJson(flags(options))),
    replayed(spec, call) {
      recorder?.skip();
      replay?.skip(call);
      const file = replay === undefined ? scriptOf(options, spec, call.model) : undefined;
      if (file !== undefined) bookOf(parts, file).skip(call);
    },
    // A script that a workflow names as a model belongs to the workflow, and must not answer for the person.
    async scriptAnswer(question) {
      if (options.script === undefined) return undefined;
      const book = await bookOf(parts, options.script).open();
      for (const before of answered.splice(0)) book.reply(before);
      return book.reply(question);
    },
    async scriptedCalls() {
      return options.script === undefined ? [] : (await bookOf(parts, options.script).open()).calls;
    },
    async scriptedResult(tool, input) {
      return options.script === undefined
        ? undefined
        : (await bookOf(parts, options.script).open()).result(tool, input);
    },
    steps: scriptedSteps(options.script === undefined ? undefined : bookOf(parts, options.script)),
    answered(question) {
      if (options.script !== undefined) answered.push(question);
    },
    finish: () => (recorder === undefined && parts.books.size === 0 ? undefined : finished(parts, recorder)),
  };
}

/** Copies a script in code: it is read when the first model answers, and until then the caller may change its objects. */
function withOwnScript(given: ModelRegistryOptions): ModelRegistryOptions {
  return typeof given.script === 'object' ? { ...given, script: dataAsGiven(given.script) } : given;
}

async function finished({ books }: Parts, recorder: Recorder | undefined): Promise<void> {
  await recorder?.finish();
  // A script that was never opened has nothing to check, such as when the run had already finished.
  for (const book of books.values()) if (book.isOpen) (await book.open()).finish();
}

interface Parts {
  readonly options: ModelRegistryOptions;
  /** Scripts in use: files by their absolute paths, the script of the run by itself. */
  readonly books: Map<string | ScriptInput, Counted<ScriptBook>>;
  readonly made: Map<string, Model>;
  /** The resolved models of agents that have only one. */
  readonly named: WeakMap<AgentSpec, readonly Model[]>;
  /** The environment's models, by provider configuration; each is looked up once. */
  readonly fallbacks: Map<string, Promise<readonly string[]>>;
  readonly replay: Counted<Replayer> | undefined;
}

function flags({ replay, script, mock, override }: ModelRegistryOptions): Readonly<Record<string, unknown>> {
  if (replay !== undefined) return { replay };
  if (script !== undefined) return { script: typeof script === 'string' ? script : 'given in code' };
  if (mock === true) return { mock };
  return override === undefined ? {} : { override: [override].flat() };
}

/** Returns the script whose model has this name: the option's, or one that the agent names. */
function scriptOf(options: ModelRegistryOptions, spec: AgentSpec, model: string): string | ScriptInput | undefined {
  if (!model.startsWith('script/')) return undefined;
  const named = [...wanted(options, spec), envValue(options.env, MODEL_VARIABLE) ?? ''].map((name) => name.trim());
  const scripts = options.script === undefined ? named.map((name) => name.replace(/^script\//i, '')) : [options.script];
  return scripts.find((script) => scriptId(script) === model);
}

function modelsFor(
  parts: Parts,
  spec: AgentSpec,
  { path: step, policies }: ModelCaller,
): readonly Model[] | Promise<readonly Model[]> {
  const { replay, named } = parts;
  if (replay !== undefined) return recordedModels(parts, replay, spec, step);
  const known = policies === undefined ? named.get(spec) : undefined;
  if (known !== undefined) return known;
  return after(lookedUp(parts, spec, policies), (models) => {
    // An unusable model of several may become usable later, so only single models are kept.
    if (models.length === 1 && policies === undefined) named.set(spec, models);
    return models;
  });
}

function lookedUp(
  parts: Parts,
  spec: AgentSpec,
  policies = parts.options.policies ?? [],
): readonly Model[] | Promise<readonly Model[]> {
  const { script, mock } = parts.options;
  if (script !== undefined)
    return after(scriptedModel(parts, script), (model) => [{ ...model, inPlaceOf: modelOf(parts, spec) }]);
  if (mock === true) return [{ ...echoModel(), inPlaceOf: modelOf(parts, spec) }];
  const asked = wanted(parts.options, spec);
  const { provider, policy } = spec;
  const addressed = { provider, policies: policy === undefined ? policies : [...policies, policy] };
  return after(asked.length > 0 ? asked : environmentModels(parts, spec.provider), (names) => {
    const models = names.map((name) => modelOrError(parts, name, addressed, names.length === 1));
    const made = models.filter((model): model is Model => !isThenable(model));
    return made.length === models.length ? made : Promise.all(models.map((model) => Promise.resolve(model)));
  });
}

/** The names from the flag or the agent; empty if the environment decides. */
function wanted(options: ModelRegistryOptions, spec: AgentSpec): readonly string[] {
  const flag = options.override === undefined ? [] : [options.override].flat();
  return namedModels(flag.length > 0 ? flag : spec.models);
}

/** The model that would answer an agent, `provider/model`; empty if the agent names none or an unknown one. */
function modelOf({ options }: Parts, spec: AgentSpec): string {
  const [name = ''] = wanted(options, spec);
  try {
    const { provider, model } = readModelName(name, spec.provider, Object.keys(options.providers ?? {}));
    return LOCAL_MODELS.includes(provider) ? '' : `${provider}/${model}`;
  } catch {
    return '';
  }
}

function environmentModels(parts: Parts, spec: ProviderSpec | undefined): Promise<readonly string[]> {
  const { env, noProbe } = parts.options;
  const key = `${spec?.type ?? ''} ${spec?.baseUrl ?? ''}`;
  return madeOnce(parts.fallbacks, key, () => defaultModels(env, noProbe === true, spec));
}

/** The parts of an agent that decide where its models are called. */
interface Addressing {
  readonly provider: ProviderSpec | undefined;
  readonly policies: readonly Policy[];
}

/** An unusable name in a list must not prevent trying the others; a single one fails at once. */
function modelOrError(parts: Parts, name: string, spec: Addressing, only: boolean): Model | Promise<Model> {
  try {
    const extra = Object.keys(parts.options.providers ?? {});
    return modelByName(parts, readModelName(name, spec.provider, extra), spec);
  } catch (error) {
    const elsewhere =
      SkeinError.isInstance(error) && (error.code === 'SKEIN_MODEL_UNKNOWN' || error.code === 'SKEIN_NO_KEY');
    if (only || !elsewhere) throw error;
    return unusableModel(name, error);
  }
}

function modelByName(parts: Parts, name: ModelName, spec: Addressing): Model | Promise<Model> {
  if (name.provider === 'script') return scriptedModel(parts, name.model);
  const id = `${name.provider}/${name.model}`;
  const { provider, policies } = spec;
  const held = provider?.baseUrl === undefined ? '' : policyDigest(policies);
  const key = JSON.stringify([id, provider?.type, provider?.baseUrl, provider?.apiKeyEnv, held]);
  return madeOnce(parts.made, key, () => makeModel(parts, name, id, spec));
}

async function scriptedModel(parts: Parts, script: string | ScriptInput): Promise<Model> {
  return scriptModel(scriptId(script), await bookOf(parts, script).open());
}

/** `script/FILE` as given; for an absolute path only the name of the file. A script in code has the name `script/code`. */
function scriptId(script: string | ScriptInput): string {
  if (typeof script !== 'string') return 'script/code';
  return `script/${isAbsolute(script) ? basename(script) : script}`;
}

function makeModel(parts: Parts, name: ModelName, id: string, { provider: spec, policies }: Addressing): Model {
  const { providers = {}, env, importPackage, limits: { [name.provider]: asked } = {} } = parts.options;
  const factory = Object.hasOwn(providers, name.provider) ? providers[name.provider] : undefined;
  if (factory !== undefined) {
    const own = ownModel(id, () => factory(name.model));
    return modelInTurn(own, factory, asked);
  }
  if (name.provider === 'mock') return mockModel(name.model, id);
  const provider = providerById(name.provider);
  if (provider === undefined) throw new SkeinError('SKEIN_MODEL_UNKNOWN', `no provider is called "${name.provider}"`);
  const endpoint = endpointOf(provider, name.model, env, spec, policies);
  const make = (): Model =>
    lazyModel(id, takesSchema(provider), async () => {
      const [{ fromLanguageModel }, { loadModel }] = await Promise.all([
        import('./language-model.js'),
        import('./provider-packages.js'),
      ]);
      const { model, style } = await loadModel(provider, name.model, endpoint, importPackage);
      const secrets = endpoint.key === undefined ? [] : [endpoint.key];
      return fromLanguageModel(model, { ...style, id, secrets, keyEnv: endpoint.keyEnv, withheld: endpoint.withheld });
    });
  const { baseUrl, key, keyEnv, withheld } = endpoint;
  // A model that the caller's own import makes is not shared.
  const model =
    importPackage === undefined ? keptModel(JSON.stringify([id, baseUrl, key, keyEnv, withheld]), make) : make();
  return modelInTurn(model, JSON.stringify([provider.id, baseUrl, key]), asked);
}

async function openedReplay(file: string): Promise<Replayer> {
  return await (await import('./replaying.js')).openReplay(file);
}

function mockModel(name: string, id: string): Model {
  if (name === 'echo') return echoModel(id);
  throw new SkeinError('SKEIN_MODEL_UNKNOWN', `there is no mock model "${name}"`, {
    hint: 'there is mock/echo, and script/FILE',
  });
}

function bookOf(parts: Parts, script: string | ScriptInput): Counted<ScriptBook> {
  const full = typeof script === 'string' ? path(parts.options, script) : '';
  const open = async () => (await import('../script/script-book.js')).openScript(script, full);
  return madeOnce(parts.books, typeof script === 'string' ? full : script, () => new Counted(open));
}

/** Returns only recorded models; without a name, those that answered in the recorded run. */
async function recordedModels(
  parts: Parts,
  file: Counted<Replayer>,
  spec: AgentSpec,
  step: string,
): Promise<readonly Model[]> {
  const replay = await file.open();
  const recordedNames = replay.models(step);
  const extra = Object.keys(parts.options.providers ?? {});
  const asked = wanted(parts.options, spec).map((name) => {
    const { provider, model } = readModelName(name, spec.provider, extra);
    return `${provider}/${model}`;
  });
  const usable = asked.filter((id) => recordedNames.includes(id));
  const names = usable.length > 0 ? usable : asked.length > 0 ? asked : recordedNames;
  if (names.length > 0) return names.map((id) => replay.model(id));
  // The recorded run asked no model, so this one need not ask one either. If it does, the call says that it was not recorded.
  return [{ ...replay.model('recording'), inPlaceOf: '' }];
}

function path(options: ModelRegistryOptions, file: string): string {
  return options.cwd === undefined ? resolvePath(file) : resolvePath(options.cwd, file);
}
