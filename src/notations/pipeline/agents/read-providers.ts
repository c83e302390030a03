import { quoteShort } from '../../../lang/value-text.js';
import type { ProviderSpec } from '../../../plan/agent-spec.js';
import { present } from '../../../base/json.js';
import type { Fields } from '../../../text/shape.js';
import { PROVIDER } from './keys.js';
import { checkVariable } from '../../../text/names.js';
import { readSupported } from '../../../text/unsupported.js';

export interface ProviderDef {
  /** The first part of its models' names. */
  readonly type: string;
  /** Undefined: the program that runs the workflow supplies the provider. */
  readonly spec: ProviderSpec | undefined;
}

/** The keys `base_url` and `token_key`. */
type Address = Pick<ProviderSpec, 'baseUrl' | 'apiKeyEnv'>;

/**
 * Reads the section `providers`: names for addresses of models. A provider without an address must come from the program that runs the
 * workflow. Problem codes: `provider`, `unknown-value`, `not-supported`.
 */
export function readProviders(root: Fields): ReadonlyMap<string, ProviderDef> {
  const providers = new Map<string, ProviderDef>();
  for (const { key, value } of root.entries('providers') ?? []) {
    const fields = readSupported(value, `provider ${quoteShort(key)}`, PROVIDER, root.findings);
    if (fields === undefined) continue;
    const api = fields.word('api_type', PROVIDER.keys.api_type);
    if (api === 'openai_responses') {
      const message = `api_type openai_responses of ${fields.name} is not supported; chat completions are used`;
      fields.warning('not-supported', 'api_type', message, 'write api_type: openai_chatcompletions');
    }
    providers.set(key, providerOf(key, fields, readAddress(fields)));
  }
  return providers;
}

function providerOf(id: string, fields: Fields, address: Address): ProviderDef {
  const like = fields.word('provider', PROVIDER.keys.provider);
  if (like === undefined && address.baseUrl === undefined) {
    if (address.apiKeyEnv !== undefined) {
      const message = `${fields.name} has a token_key and no base_url`;
      fields.findings.error('provider', message, fields.at, 'add base_url: https://...');
    }
    return { type: id, spec: undefined };
  }
  const type = like ?? 'openai-compatible';
  const bare = address.baseUrl === undefined && address.apiKeyEnv === undefined;
  return { type, spec: bare ? undefined : { type, ...address } };
}

/** Reads the keys `base_url` and `token_key` of a provider or a model. Problem code: `provider`. */
export function readAddress(fields: Fields): Address {
  const baseUrl = fields.text('base_url')?.trim();
  const apiKeyEnv = fields.text('token_key')?.trim();
  const isAddress = baseUrl === undefined || (/^https?:\/\//i.test(baseUrl) && URL.canParse(baseUrl));
  if (!isAddress) {
    const message = `base_url of ${fields.name} must be an address that begins with http:// or https://`;
    fields.error('provider', 'base_url', message, 'such as https://api.example.com/v1');
  }
  checkVariable(fields, 'token_key', apiKeyEnv, `token_key of ${fields.name}`);
  return present({ baseUrl: isAddress ? baseUrl : undefined, apiKeyEnv });
}
