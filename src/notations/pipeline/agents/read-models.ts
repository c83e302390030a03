import { quoteShort } from '../../../lang/value-text.js';
import type { Position } from '../../../base/problem.js';
import type { ModelSettings, ProviderSpec } from '../../../plan/agent-spec.js';
import { FOREIGN_PROVIDERS } from '../../../plan/providers.js';
import type { Findings } from '../../../text/findings.js';
import type { SourceEntry } from '../../../text/nodes.js';
import { present } from '../../../base/json.js';
import type { Fields } from '../../../text/shape.js';
import { KNOWN_PROVIDERS, tellNearProvider } from '../../model-call-keys.js';
import { MODEL } from './keys.js';
import { readAddress, type ProviderDef } from './read-providers.js';
import { readSupported } from '../../../text/unsupported.js';

export interface ModelDef {
  /** `provider/model`. */
  readonly name: string;
  readonly settings: ModelSettings;
  readonly provider: ProviderSpec | undefined;
}

/** Reads `models`. Codes: `missing-model`, `unknown-model`, `unknown-provider`, `not-supported`, and those of the shape readers. */
export function readModels(
  root: Fields,
  providers: ReadonlyMap<string, ProviderDef>,
): ReadonlyMap<string, ModelDef | undefined> {
  const entries = root.entries('models') ?? [];
  return new Map(entries.map((entry) => [entry.key, readModel(entry, providers, root.findings)]));
}

function readModel(
  entry: SourceEntry,
  providers: ReadonlyMap<string, ProviderDef>,
  findings: Findings,
): ModelDef | undefined {
  const fields = readSupported(entry.value, `model ${quoteShort(entry.key)}`, MODEL, findings);
  if (fields === undefined) return undefined;
  const settings = readSettings(fields);
  const address = readAddress(fields);
  const model = fields.text('model')?.trim() ?? '';
  const provider = fields.text('provider')?.trim() ?? '';
  if (model === '' || (provider === '' && !model.includes('/'))) {
    const message = `${fields.name} needs a ${model === '' ? 'model' : 'provider'}`;
    findings.error('missing-model', message, entry.at, 'add provider: openai and model: NAME');
    return undefined;
  }
  const at = fields.placeOf(provider === '' ? 'model' : 'provider');
  const whole = provider === '' ? model : `${provider}/${model}`;
  const found = modelNamed(whole, { providers, at, hasAddress: address.baseUrl !== undefined }, findings);
  if (found === undefined) return undefined;
  const isElsewhere = address.baseUrl !== undefined || address.apiKeyEnv !== undefined;
  return { ...(isElsewhere ? ownAddress(found, address) : found), settings };
}

/** Gives a model its own address. If Skein does not know the provider, an address is enough. */
function ownAddress(
  found: Pick<ModelDef, 'name' | 'provider'>,
  address: Pick<ProviderSpec, 'baseUrl' | 'apiKeyEnv'>,
): Pick<ModelDef, 'name' | 'provider'> {
  const slash = found.name.indexOf('/');
  const id = found.name.slice(0, slash);
  const known = KNOWN_PROVIDERS.includes(id);
  const type = known ? id : 'openai-compatible';
  const name = known ? found.name : `${type}${found.name.slice(slash)}`;
  return { name, provider: { ...found.provider, type, ...address } };
}

function readSettings(fields: Fields): ModelSettings {
  const keys = fields.values(MODEL);
  return present({
    temperature: keys.temperature,
    topP: keys.top_p,
    frequencyPenalty: keys.frequency_penalty,
    presencePenalty: keys.presence_penalty,
    maxOutputTokens: keys.max_tokens,
    seed: keys.seed,
    // Several calls in one turn are the default.
    singleToolCalls: keys.parallel_tool_calls === false ? true : undefined,
  });
}

interface Place {
  readonly providers: ReadonlyMap<string, ProviderDef>;
  readonly at: Position;
  readonly hasAddress?: boolean;
}

/** Resolves `provider/model`. A provider neither Skein nor the section `providers` has must come from the program that runs the file. */
export function modelNamed(
  text: string,
  { providers, at, hasAddress = false }: Place,
  findings: Findings,
): Pick<ModelDef, 'name' | 'provider'> | undefined {
  const slash = text.indexOf('/');
  const id = text.slice(0, slash).trim();
  const model = text.slice(slash + 1).trim();
  if (id === '' || model === '') {
    findings.error('unknown-model', `there is no model ${quoteShort(text)}`, at, 'write provider/model');
    return undefined;
  }
  const own = providers.get(id);
  if (own !== undefined) return { name: `${own.type}/${model}`, provider: own.spec };
  if (KNOWN_PROVIDERS.includes(id.toLowerCase())) return { name: `${id.toLowerCase()}/${model}`, provider: undefined };
  if (FOREIGN_PROVIDERS.has(id)) {
    const hint = 'declare it under providers with its base_url, or run with --model';
    if (!hasAddress) findings.warning('not-supported', `the provider ${quoteShort(id)} is not supported`, at, hint);
    return { name: `${id}/${model}`, provider: undefined };
  }
  if (!hasAddress) tellNearProvider(text, { at, own: providers.keys() }, findings);
  return { name: `${id}/${model}`, provider: undefined };
}
