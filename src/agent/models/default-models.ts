import { SkeinError } from '../../base/errors.js';
import type { Env } from './endpoints.js';
import { envValue } from './endpoints.js';
import { probeOllama } from './ollama-probe.js';
import { PROVIDERS } from './provider-catalog.js';

/** Variable that names the model for everything that names none. */
export const MODEL_VARIABLE = 'SKEIN_MODEL';
/** Variable that keeps Skein from looking for a local Ollama, when it is `1` or `true`. */
export const NO_PROBE_VARIABLE = 'SKEIN_NO_PROBE';

/**
 * The model when neither flag, step, agent file nor workflow names one: what `SKEIN_MODEL` names, the default model of the first
 * provider whose key is set, the first model of a local Ollama.
 *
 * @throws SkeinError `SKEIN_NO_MODEL` when there is none.
 */
export async function defaultModels(env: Env, noProbe: boolean): Promise<readonly string[]> {
  const named = envValue(env, MODEL_VARIABLE);
  if (named !== undefined) return [named];
  for (const { id, keyEnv, defaultModel } of PROVIDERS) {
    if (defaultModel !== undefined && envValue(env, keyEnv) !== undefined) return [`${id}/${defaultModel}`];
  }
  const probed = !noProbe && !switchedOff(env);
  const local = probed ? await probeOllama(envValue(env, 'OLLAMA_HOST')) : undefined;
  const first = local?.[0];
  if (first !== undefined) return [`ollama/${first}`];
  throw noModel(probed, local !== undefined);
}

function switchedOff(env: Env): boolean {
  const value = envValue(env, NO_PROBE_VARIABLE)?.toLowerCase();
  return value !== undefined && value !== '0' && value !== 'false';
}

function noModel(probed: boolean, empty: boolean): SkeinError {
  const ollama = !probed ? '' : empty ? ', the local Ollama has no models' : ', no local Ollama answers';
  const keys = PROVIDERS.filter((provider) => provider.defaultModel !== undefined).map((provider) => provider.keyEnv);
  return new SkeinError('SKEIN_NO_MODEL', `no model is configured: no key is set${ollama}`, {
    hint: `try it without a model: --mock; or set ${keys.join(' or ')}, or name one with --model or ${MODEL_VARIABLE}`,
  });
}
