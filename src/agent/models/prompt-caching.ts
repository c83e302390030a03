import type { JsonObject } from '../../base/json.js';
import type { Message, ModelRequest } from '../model.js';

/** How requests with the same beginning are marked, so that the provider reads the beginning from its cache. */
export type CacheStyle =
  /** Marks the messages up to which the prompt is kept, with provider options of this key. */
  | { readonly marks: string }
  /** Requests with the same value of this option share a cache. */
  | { readonly key: string; readonly option: string }
  /** Requests with the same value of this header share a cache. */
  | { readonly header: string };

/** The provider ignores marks after the fourth: one goes to the system prompt, which covers the tools. */
const MARKED_TURNS = 3;

const MARK: JsonObject = { cacheControl: { type: 'ephemeral' } };
const HOUR_MARK: JsonObject = { cacheControl: { type: 'ephemeral', ttl: '1h' } };

/** Returns the messages to mark. Keeping a prompt costs extra, so turns are marked only if another call may follow. */
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

/** The options of a marked message. */
export function markOf({ cache }: ModelRequest, style: CacheStyle | undefined): Readonly<Record<string, JsonObject>> {
  if (style === undefined || !('marks' in style)) return {};
  return { [style.marks]: cache?.forHour === true ? HOUR_MARK : MARK };
}

/** The cache option of a request. */
export function cacheOption(
  { cache }: ModelRequest,
  style: CacheStyle | undefined,
): { readonly key: string; readonly options: Readonly<Record<string, string>> } | undefined {
  if (cache === undefined || style === undefined || !('option' in style)) return undefined;
  return { key: style.key, options: { [style.option]: cache.key() } };
}

/** The cache header of a request. */
export function cacheHeaders(
  { cache }: ModelRequest,
  style: CacheStyle | undefined,
): Record<string, string> | undefined {
  return cache === undefined || style === undefined || !('header' in style)
    ? undefined
    : { [style.header]: cache.key() };
}
