import { ownValue } from '../../base/json.js';
import { ollamaHost } from './endpoints.js';

/** How long a local Ollama has to answer, in milliseconds. */
export const PROBE_MS = 500;

/**
 * The models of a running Ollama, in its own order; undefined when none answers within {@link PROBE_MS}. Never throws.
 *
 * @param host the value of `OLLAMA_HOST`
 * @example
 * await probeOllama(undefined); // ['llama3.2:latest']
 */
export async function probeOllama(
  host: string | undefined,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const limit = AbortSignal.timeout(PROBE_MS);
    const response = await fetch(`${ollamaHost(host)}/api/tags`, {
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      redirect: 'error',
    });
    if (!response.ok) return undefined;
    const models = ownValue(await response.json(), 'models');
    if (!Array.isArray(models)) return undefined;
    return models.map((model) => ownValue(model, 'name')).filter((name) => typeof name === 'string');
  } catch {
    return undefined;
  }
}
