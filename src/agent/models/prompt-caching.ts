import type { JsonObject } from '../../base/json.js';
import type { Message, ModelRequest } from '../model.js';

/** How a provider is told which requests begin alike, so that it takes the beginning from its cache. */
export type CacheStyle =
  /** Messages are marked up to which the prompt is kept, by provider options of this key. */
  | { readonly marks: string }
  /** Requests with the same value of this option go to the same cache. */
  | { readonly key: string; readonly option: string }
  /** Likewise, of a header. */
  | { readonly header: string };

/** The provider drops a mark after the fourth: the system prompt, which covers the tools, has one. */
const MARKED_TURNS = 3;

const MARK: JsonObject = { cacheControl: { type: 'ephemeral' } };
const HOUR_MARK: JsonObject = { cacheControl: { type: 'ephemeral', ttl: '1h' } };

/** The messages up to which a prompt is kept. What is kept costs more than what is not, so turns are marked only where another call may follow. */
export function markedMessages(
  { messages, tools, cache }: ModelRequest,
  style: CacheStyle | undefined,
): ReadonlySet<Message> {
  if (cache === undefined || style === undefined || !('marks' in style)) return new Set();
  const goesOn = tools.length > 0 || messages.some(({ role }) => role === 'assistant');
  const turns = messages.filter(({ role }) => role === 'user' || role === 'tool');
  const system = messages.filter(({ role }) => role === 'system').slice(0, 1);
  return new Set([...system, ...(goesOn ? turns.slice(-MARKED_TURNS) : [])]);
}

/** The options of a message that is marked. */
export function markOf({ cache }: ModelRequest, style: CacheStyle | undefined): Readonly<Record<string, JsonObject>> {
  if (style === undefined || !('marks' in style)) return {};
  return { [style.marks]: cache?.forHour === true ? HOUR_MARK : MARK };
}

/** The option of a request that says which others begin alike. */
export function cacheOption(
  { cache }: ModelRequest,
  style: CacheStyle | undefined,
): { readonly key: string; readonly options: Readonly<Record<string, string>> } | undefined {
  if (cache === undefined || style === undefined || !('option' in style)) return undefined;
  return { key: style.key, options: { [style.option]: cache.key() } };
}

/** The header that does. */
export function cacheHeaders(
  { cache }: ModelRequest,
  style: CacheStyle | undefined,
): Record<string, string> | undefined {
  return cache === undefined || style === undefined || !('header' in style)
    ? undefined
    : { [style.header]: cache.key() };
}
