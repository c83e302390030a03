import { present } from '../../base/json.js';
import { envValue, type Env } from './environment.js';
import { ollamaHost, probeOllama } from './ollama.js';
import { PROVIDERS, installCommand, type ProviderEntry } from '../../plan/providers.js';
import { NO_PROBE_VARIABLE } from './default-models.js';

/** Whether a provider can be used here. Never contains a key. */
export interface ProviderReport {
  readonly id: string;
  readonly title: string;
  readonly usable: boolean;
  /** The provider's package, and whether it is installed. */
  readonly package: { readonly name: string; readonly installed: boolean; readonly install: string };
  /** The variable with the key, and whether it is set. */
  readonly key?: { readonly variable: string; readonly set: boolean; readonly needed: boolean };
  readonly baseUrl?: string;
  /** Models of a local Ollama. */
  readonly models?: readonly string[];
  /** What to do to make it usable. */
  readonly hint?: string;
}

/**
 * Returns what each provider needs and has here, for `skein doctor`. Reads the models of a local Ollama unless that is switched off; calls
 * nothing else.
 *
 * @example
 * for (const provider of await describeProviders(process.env)) console.log(provider.id, provider.usable);
 */
export async function describeProviders(env: Env, isInstalled = packageInstalled): Promise<readonly ProviderReport[]> {
  return Promise.all(PROVIDERS.map((provider) => describe(provider, env, isInstalled)));
}

async function describe(
  provider: ProviderEntry,
  env: Env,
  isInstalled: (name: string) => boolean,
): Promise<ProviderReport> {
  const name = provider.package;
  const installed = isInstalled(name);
  const install = installCommand(provider);
  const given = envValue(env, provider.baseUrlEnv);
  const set = envValue(env, provider.keyEnv) !== undefined;
  const baseUrl = provider.id === 'ollama' ? safeHost(given) : (given ?? provider.baseUrl);
  const models =
    provider.id === 'ollama' && envValue(env, NO_PROBE_VARIABLE) === undefined ? await probeOllama(given) : undefined;
  const hint = missing(provider, { installed, install, set, given, running: models !== undefined });
  const { id, title, keyEnv: variable, keyNeeded: needed } = provider;
  return present({
    id,
    title,
    usable: hint === undefined,
    package: { name, installed, install },
    key: variable === undefined ? undefined : { variable, set, needed },
    baseUrl: baseUrl === undefined ? undefined : withoutSecrets(baseUrl),
    models,
    hint,
  });
}

interface Found {
  readonly installed: boolean;
  readonly install: string;
  readonly set: boolean;
  readonly given: string | undefined;
  readonly running: boolean;
}

function missing(provider: ProviderEntry, found: Found): string | undefined {
  if (!found.installed) return found.install;
  if (provider.keyNeeded && !found.set && found.given === undefined) return `set ${provider.keyEnv ?? 'its key'}`;
  if (provider.baseUrlNeeded === true && found.given === undefined)
    return `set ${provider.baseUrlEnv ?? 'its base URL'}`;
  if (provider.id === 'ollama' && !found.running) return 'start Ollama, or set OLLAMA_HOST';
  return undefined;
}

/** A URL may contain a user and a password. */
function withoutSecrets(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  url.search = '';
  return url.href.replace(/\/$/, '');
}

function safeHost(given: string | undefined): string | undefined {
  try {
    return ollamaHost(given);
  } catch {
    return undefined;
  }
}

/** Resolves the package without loading it. */
function packageInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
