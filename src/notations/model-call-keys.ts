import type { Position } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import { FOREIGN_PROVIDERS, LOCAL_MODELS, PROVIDER_NAMES } from '../plan/providers.js';
import type { Findings } from '../text/findings.js';
import { present } from '../base/json.js';
import type { CacheUse } from '../plan/agent-spec.js';
import type { Conversation } from '../plan/plan.js';
import { flag, integer, map, text, word } from '../text/forms.js';
import { checkName, NAME_FORM } from '../text/names.js';
import type { Fields } from '../text/shape.js';

export const CACHE = word(
  ['on', 'off', '1h'],
  'off: providers are not told what they may take from a cache; 1h: Anthropic keeps prompts for an hour',
  {
    default: 'on',
  },
);

/** Reads the key `cache`. Undefined: providers learn what they may cache. */
export function readCache(fields: Fields): CacheUse | undefined {
  const cache = fields.word('cache', CACHE);
  return cache === 'on' ? undefined : cache;
}

export const SANDBOX = word(
  ['on', 'offline'],
  'where its programs run: in a sandbox, or in one without network; by default in none',
);

export const TOKENS = { min: 1, max: 10_000_000 } as const;

/** The keys of a step whose agent takes part in a conversation. */
export const CONVERSATION = {
  conversation: text('the name of a conversation that steps share: each sends the history and adds to it', {
    ...NAME_FORM,
    blank: true,
  }),
  recent: integer('how many of the last messages of the conversation are sent; by default all', {
    min: 1,
    max: 1_000_000,
  }),
  afresh: flag('whether the conversation starts over with this step', { default: false }),
} as const;

const CONVERSATION_FORM = map(CONVERSATION, '');

/** Reads the conversation of a step. Problem codes: `no-effect`, and those of {@link checkName}. */
export function readConversation(fields: Fields): Conversation | undefined {
  const { recent, afresh } = fields.values(CONVERSATION_FORM);
  for (const key of ['recent', 'afresh']) {
    if (!fields.has(key) || fields.names('conversation')) continue;
    const message = `${key} of ${fields.name} has no effect without a conversation`;
    fields.warning('no-effect', key, message, 'add "conversation: NAME", or remove it');
  }
  const name = fields.given('conversation');
  if (name === undefined || name.value === null) return undefined;
  if (!checkName(name.text, 'name of a conversation', name.at, fields.findings)) return undefined;
  return { channel: `conversations.${name.text}`, ...present({ recent }), ...(afresh === true ? { afresh } : {}) };
}

/** The providers a file may name before the slash of a model, in addition to those of the program that runs it. */
export const KNOWN_PROVIDERS: readonly string[] = [...PROVIDER_NAMES, ...LOCAL_MODELS];

/** Warns (`unknown-provider`) about a model whose provider looks misspelt. Only the program that runs the file knows them all. */
export function tellNearProvider(
  model: string,
  { at, own = [] }: { readonly at: Position; readonly own?: Iterable<string> },
  findings: Findings,
): void {
  const id = model.slice(0, Math.max(0, model.indexOf('/'))).trim();
  const known = [...own, ...KNOWN_PROVIDERS];
  if (known.includes(id) || known.includes(id.toLowerCase()) || FOREIGN_PROVIDERS.has(id)) return;
  const hint = findings.near(id, known);
  if (hint === undefined) return;
  const message = `${quoteShort(id)} is not a provider of Skein: the program that runs the file must have it`;
  findings.warning('unknown-provider', message, at, hint);
}
