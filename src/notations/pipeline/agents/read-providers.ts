import { quoteShort } from '../../../lang/value-text.js';
import type { ProviderSpec } from '../../../plan/agent-spec.js';
import type { Findings } from '../../../text/findings.js';
import { present } from '../../../base/json.js';
import type { Fields } from '../../../text/shape.js';
import { PROVIDER, VARIABLE } from './keys.js';
import { readSupported } from '../../../text/unsupported.js';

/** A provider of the section `providers`. */
export interface ProviderDef {
  /** First part of the names of its models. */
  readonly type: string;
  /** Absent: the program that runs the workflow has it. */
  readonly spec: ProviderSpec | undefined;
}

/**
 * Reads the section `providers`: names for addresses where models are called. One without an address is a provider of the program
 * that runs the workflow. Problem codes: `provider`, `unknown-value`, `not-supported`.
 *
 * @example
 * const providers = readProviders(root, findings);
 */
export function readProviders(root: Fields, findings: Findings): ReadonlyMap<string, ProviderDef> {
  const providers = new Map<string, ProviderDef>();
  for (const entry of root.entries('providers') ?? []) {
    const name = `provider ${quoteShort(entry.key)}`;
    const fields = readSupported(entry.value, name, PROVIDER, findings);
    if (fields === undefined) continue;
    const api = fields.word('api_type', PROVIDER.keys.api_type);
    if (api === 'openai_responses') {
      const message = `api_type openai_responses of ${name} is not supported; chat completions are used`;
      findings.warning('not-supported', message, fields.placeOf('api_type'), 'write api_type: openai_chatcompletions');
    }
    const address = readAddress(fields, name, findings);
    providers.set(entry.key, providerOf(entry.key, fields, address, findings));
  }
  return providers;
}

function providerOf(
  id: string,
  fields: Fields,
  address: Pick<ProviderSpec, 'baseUrl' | 'apiKeyEnv'>,
  findings: Findings,
): ProviderDef {
  const like = fields.word('provider', PROVIDER.keys.provider);
  if (like === undefined && address.baseUrl === undefined) {
    if (address.apiKeyEnv !== undefined) {
      const message = `provider ${quoteShort(id)} has a token_key and no base_url`;
      findings.error('provider', message, fields.at, 'add base_url: https://...');
    }
    return { type: id, spec: undefined };
  }
  const type = like ?? 'openai-compatible';
  const bare = address.baseUrl === undefined && address.apiKeyEnv === undefined;
  return { type, spec: bare ? undefined : { type, ...address } };
}

/**
 * The keys `base_url` and `token_key` of a provider or a model. Problem code: `provider`.
 *
 * @example
 * readAddress(fields, 'model "local"', findings); // { baseUrl: 'http://127.0.0.1:8080/v1' }
 */
export function readAddress(
  fields: Fields,
  name: string,
  findings: Findings,
): Pick<ProviderSpec, 'baseUrl' | 'apiKeyEnv'> {
  const baseUrl = fields.text('base_url')?.trim();
  const apiKeyEnv = fields.text('token_key')?.trim();
  const isAddress = baseUrl === undefined || (/^https?:\/\//i.test(baseUrl) && URL.canParse(baseUrl));
  if (!isAddress) {
    const hint = 'such as https://api.example.com/v1';
    const message = `base_url of ${name} must be an address that begins with http:// or https://`;
    findings.error('provider', message, fields.placeOf('base_url'), hint);
  }
  if (apiKeyEnv !== undefined && !VARIABLE.test(apiKeyEnv)) {
    // The text may be the key itself, so it is not shown.
    const hint = 'write the name, such as OPENAI_API_KEY, and put the key into the environment';
    const message = `token_key of ${name} must be the name of an environment variable`;
    findings.error('provider', message, fields.placeOf('token_key'), hint);
  }
  return present({ baseUrl: isAddress ? baseUrl : undefined, apiKeyEnv });
}
