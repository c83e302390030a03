import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { ProviderSpec } from '../../plan/agent-spec.js';
import { LOCAL_MODELS, PROVIDERS, PROVIDER_NAMES } from '../../plan/providers.js';

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

/** Short names of models in the agent files of other systems. */
const SHORT: ReadonlyMap<string, string> = new Map(
  PROVIDERS.flatMap(({ shortNames = {} }) => Object.entries(shortNames)),
);

/** Prefixes before the slash of a model's name, apart from custom providers. */
const KNOWN: readonly string[] = [...PROVIDER_NAMES, ...LOCAL_MODELS];

/**
 * Resolves a model name. `provider/model` stays as it is; a bare name gets the provider of the workflow's configuration, or the provider
 * with such model names: `GPT-4.1 (copilot)` is `openai/gpt-4.1`, `Claude Sonnet 4` is `anthropic/claude-sonnet-4`.
 *
 * @param extra names of further providers that are known here
 * @throws SkeinError `SKEIN_MODEL_UNKNOWN` if no provider has the name.
 */
export function readModelName(text: string, spec?: ProviderSpec, extra: readonly string[] = []): ModelName {
  const name = text.trim();
  const slash = name.indexOf('/');
  const prefix = slash > 0 ? name.slice(0, slash).toLowerCase() : '';
  const rest = name.slice(slash + 1);
  if (prefix !== '' && rest !== '' && isProvider(prefix, extra)) return { provider: prefix, model: rest };
  if (name.toLowerCase() === 'mock') return { provider: 'mock', model: 'echo' };
  if (spec !== undefined) return { provider: providerOf(spec, extra), model: name };
  if (slash >= 0) throw unknownProvider(name, prefix, extra);
  const bare = normalise(name);
  const found = PROVIDERS.find(({ models }) => models?.test(bare));
  if (found === undefined) throw unknownModel(name);
  return { provider: found.id, model: found.namesWithoutDots === true ? bare.replaceAll('.', '-') : bare };
}

function isProvider(id: string, extra: readonly string[]): boolean {
  return KNOWN.includes(id) || extra.includes(id);
}

function providerOf(spec: ProviderSpec, extra: readonly string[]): string {
  const id = spec.type.trim().toLowerCase();
  if (isProvider(id, extra)) return id;
  throw unknownProvider(spec.type, id, extra);
}

/** `Claude Sonnet 4.5 (Preview) (copilot)` -> `claude-sonnet-4.5`. */
function normalise(name: string): string {
  const plain = name
    .replaceAll(/\([^()]*\)/g, ' ')
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '-');
  return SHORT.get(plain) ?? plain;
}

function unknownProvider(name: string, prefix: string, extra: readonly string[]): SkeinError {
  const known = [...KNOWN, ...extra];
  const nearest = didYouMean(prefix, known);
  return new SkeinError(
    'SKEIN_MODEL_UNKNOWN',
    `no provider is called "${prefix === '' ? name : prefix}" (model "${name}")`,
    {
      hint: `${nearest === undefined ? '' : `${nearest} `}known providers: ${known.join(', ')}`,
    },
  );
}

function unknownModel(name: string): SkeinError {
  const nearest = didYouMean(normalise(name), [...SHORT.keys(), 'mock']);
  return new SkeinError('SKEIN_MODEL_UNKNOWN', `it is not known which provider has the model "${name}"`, {
    hint:
      `${nearest === undefined ? '' : `${nearest} `}write it as provider/model, such as ollama/${name}; ` +
      `known providers: ${KNOWN.join(', ')}`,
  });
}
