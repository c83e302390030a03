import { SkeinError } from '../../base/errors.js';
import { ownValue } from '../../base/json.js';
import { withoutAtEnd } from '../../base/text.js';

/** Milliseconds until the probe of a local Ollama times out. */
export const PROBE_MS = 500;

/**
 * Returns the models of a running Ollama, in its own order; undefined if none answers within {@link PROBE_MS}. Never throws.
 *
 * @param host the value of `OLLAMA_HOST`
 */
export async function probeOllama(host: string | undefined): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(`${ollamaHost(host)}/api/tags`, {
      signal: AbortSignal.timeout(PROBE_MS),
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

/** Ollama's address if `OLLAMA_HOST` is not set. */
const DEFAULT_OLLAMA_HOST = 'http://127.0.0.1:11434';

/** Ollama's address from `OLLAMA_HOST`: `host`, `host:port`, `:port`, a URL, or `0.0.0.0` for one that listens everywhere. */
export function ollamaHost(text: string | undefined): string {
  const value = text?.trim() ?? '';
  if (value === '') return DEFAULT_OLLAMA_HOST;
  const withScheme = /^https?:\/\//i.test(value)
    ? value
    : `http://${value.startsWith(':') ? `127.0.0.1${value}` : value}`;
  if (!URL.canParse(withScheme)) {
    throw new SkeinError('SKEIN_USAGE', `OLLAMA_HOST is not an address: "${value}"`, { hint: 'write it as host:port' });
  }
  const url = new URL(withScheme);
  const host = url.hostname === '0.0.0.0' || url.hostname === '[::]' ? '127.0.0.1' : url.hostname;
  const standard = url.protocol === 'https:' ? '443' : /^https?:\/\//i.test(value) ? '80' : '11434';
  const path = withoutAtEnd(url.pathname, '/').replace(/\/v1$/, '');
  return `${url.protocol}//${host}:${url.port === '' ? standard : url.port}${path}`;
}
