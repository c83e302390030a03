/**
 * What the classes of `retry.on` stand for: codes of errors, and parts of messages. Providers are told apart by the status that the message of a
 * failed call names.
 */
const CLASSES: ReadonlyMap<string, readonly string[]> = new Map([
  ['timeout', ['SKEIN_TIMEOUT', 'answered 408', 'timeout']],
  ['rate_limit', ['SKEIN_MODEL_OVERLOADED', 'rate_limit']],
  ['overloaded', ['answered 503', 'answered 529', 'overloaded']],
  ['network', ['SKEIN_NETWORK', 'network']],
  ['server', ['SKEIN_MODEL_FAILED']],
  ['tool', ['SKEIN_TOOL_FAILED', 'SKEIN_MCP']],
]);

/** The classes of errors by name. */
export const RETRY_CLASSES: readonly string[] = [...CLASSES.keys()];

/**
 * What a word of `retry.on` is compared with: that of its class, or the word itself as part of a message.
 *
 * @example
 * retriedBy('server'); // ['SKEIN_MODEL_FAILED']
 */
export function retriedBy(word: string): readonly string[] {
  return CLASSES.get(word.toLowerCase()) ?? [word];
}
