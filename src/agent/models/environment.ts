import { PROVIDERS, type ProviderEntry } from '../../plan/providers.js';

/** The variable that names the host of a key: `OPENAI_BASE_URL` for `OPENAI_API_KEY`, `TEAM_BASE_URL` for `TEAM_TOKEN`. */
export function hostVariable(keyEnv: string): string {
  return `${keyEnv.replace(/_(?:API_KEY|API_TOKEN|KEY|TOKEN)$/i, '')}_BASE_URL`;
}

/**
 * Whether a key may be sent to an address that a workflow file names; the file alone does not make the address trustworthy. The key may go
 * to its provider's own host, and to the host that the environment names for it. A key of an unknown provider may go to any known provider,
 * and to the address that the environment names for the model's provider.
 */
export function mayReceive(url: string, keyEnv: string, provider: ProviderEntry, env: Env): boolean {
  const origin = originOf(url);
  if (origin === undefined) return false;
  const isNamedBy = (variable: string | undefined): boolean => originOf(envValue(env, variable)) === origin;
  if (isNamedBy(hostVariable(keyEnv))) return true;
  const owner = ownerOf(keyEnv);
  if (owner !== undefined) return homeOf(owner) === origin || isNamedBy(owner.baseUrlEnv);
  return PROVIDERS.some((known) => homeOf(known) === origin) || isNamedBy(provider.baseUrlEnv);
}

/** The provider whose key variable this is; undefined if unknown. */
export function ownerOf(keyEnv: string): ProviderEntry | undefined {
  return PROVIDERS.find((provider) => provider.keyEnv === keyEnv);
}

function homeOf(provider: ProviderEntry): string | undefined {
  return originOf(provider.home ?? provider.baseUrl);
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>;

/** A variable's value without white space around it; undefined if it is empty. */
export function envValue(env: Env, name: string | undefined): string | undefined {
  const value = name === undefined || !Object.hasOwn(env, name) ? undefined : env[name]?.trim();
  return value === '' ? undefined : value;
}
