import { SkeinError } from '../../base/errors.js';
import type { ProviderSpec } from '../../plan/agent-spec.js';
import { envValue, type Env } from './environment.js';
import { probeOllama } from './ollama.js';
import { PROVIDERS, providerById } from '../../plan/providers.js';

/** Variable with the model for everything that names none. */
export const MODEL_VARIABLE = 'SKEIN_MODEL';
/** Variable that stops Skein from probing for a local Ollama, if it is `1` or `true`. */
export const NO_PROBE_VARIABLE = 'SKEIN_NO_PROBE';

/**
 * Returns the models if no flag, step, agent file or workflow names one: the value of `SKEIN_MODEL`; else a model of the provider that the
 * workflow configures; else the default model of the first provider whose key is set, or the first model of a local Ollama.
 *
 * @throws SkeinError `SKEIN_NO_MODEL` if there is none.
 */
export async function defaultModels(env: Env, noProbe: boolean, spec?: ProviderSpec): Promise<readonly string[]> {
  const named = envValue(env, MODEL_VARIABLE);
  if (named !== undefined) return [named];
  if (spec !== undefined) return [await modelOfProvider(env, spec)];
  const keyed = modelOfKeys(env);
  if (keyed !== undefined) return [keyed];
  const probed = isProbed(env, noProbe);
  const local = probed ? await probeOllama(envValue(env, 'OLLAMA_HOST')) : undefined;
  const first = local?.[0];
  if (first !== undefined) return [`ollama/${first}`];
  throw noModel(probed, local !== undefined);
}

/** The error for a missing model, found without probing a local Ollama; `sure` is false if only Ollama could supply one. */
export function missingModel(
  env: Env,
  noProbe: boolean,
): { readonly error: SkeinError; readonly sure: boolean } | undefined {
  if (envValue(env, MODEL_VARIABLE) !== undefined || modelOfKeys(env) !== undefined) return undefined;
  return { error: noModel(false, false), sure: !isProbed(env, noProbe) };
}

/** The default model of the first provider whose key is set. */
function modelOfKeys(env: Env): string | undefined {
  const found = PROVIDERS.find(
    ({ keyEnv, defaultModel }) => defaultModel !== undefined && envValue(env, keyEnv) !== undefined,
  );
  return found === undefined ? undefined : `${found.id}/${found.defaultModel ?? ''}`;
}

function isProbed(env: Env, noProbe: boolean): boolean {
  return !noProbe && !switchedOff(env);
}

/** Reads the models of an Ollama that the workflow configures; that is not a guess, so the switch against probing does not apply. */
async function modelOfProvider(env: Env, spec: ProviderSpec): Promise<string> {
  const id = spec.type.trim().toLowerCase();
  const fixed = providerById(id)?.defaultModel;
  if (fixed !== undefined) return `${id}/${fixed}`;
  const local = id === 'ollama' ? await probeOllama(spec.baseUrl ?? envValue(env, 'OLLAMA_HOST')) : undefined;
  const first = local?.[0];
  if (first !== undefined) return `${id}/${first}`;
  throw new SkeinError('SKEIN_NO_MODEL', `the workflow configures the provider "${spec.type}" and names no model`, {
    hint: `name one in the workflow, with --model or ${MODEL_VARIABLE}, or ${WITHOUT}`,
  });
}

/** Programs and the command line run without a model in ways of their own. */
const WITHOUT = 'try it without a model: --mock, in code models: { mock: true }';

function switchedOff(env: Env): boolean {
  const value = envValue(env, NO_PROBE_VARIABLE)?.toLowerCase();
  return value !== undefined && value !== '0' && value !== 'false';
}

function noModel(probed: boolean, empty: boolean): SkeinError {
  const ollama = !probed ? '' : empty ? ', the local Ollama has no models' : ', no local Ollama answers';
  const keys = PROVIDERS.filter((provider) => provider.defaultModel !== undefined).map((provider) => provider.keyEnv);
  return new SkeinError('SKEIN_NO_MODEL', `no model is configured: no key is set${ollama}`, {
    hint: `${WITHOUT}; or set ${keys.join(' or ')}, or name one with --model or ${MODEL_VARIABLE}`,
  });
}
