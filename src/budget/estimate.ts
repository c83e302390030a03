import type { Usage } from '../events/event.js';

/** What is known of a call before it is made. Bytes are those of UTF-8, of messages as JSON. */
export interface CallSize {
  /** Of all messages. */
  readonly bytes: number;
  /** Of the descriptions and schemas of the tools. */
  readonly toolBytes: number;
  /** What the last turn of the same conversation with the same model was billed; absent: there was none. */
  readonly last?: Usage | undefined;
  /** Of the messages that the last turn had neither read nor written. */
  readonly newBytes: number;
  /** The limit that is sent with the call. */
  readonly maxOutputTokens: number;
  /** Every byte may be a token. */
  readonly strict?: boolean | undefined;
}

/** Tokens that a call takes at most. */
export interface CallEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a provider puts around messages and tools, in tokens. */
const FRAME_TOKENS = 1_000;
/** Text has about 4 bytes a token, other writing systems 2 to 3, base64 1.6; no tokenizer makes more than one of a byte. */
const BYTES_PER_TOKEN = 2;

/**
 * What a call is reserved at: what the last turn was billed and what is new; without one, all that is sent. No tokenizer is asked.
 * A usage that can't be true, as some servers send it, counts as none.
 *
 * @example
 * estimateCall({ bytes: 8_000, toolBytes: 600, newBytes: 8_000, maxOutputTokens: 16_384 }); // { inputTokens: 5_300, outputTokens: 16_384 }
 */
export function estimateCall(size: CallSize): CallEstimate {
  const { last, maxOutputTokens, strict } = size;
  const tokens = (bytes: number): number => Math.ceil(bytes / (strict === true ? 1 : BYTES_PER_TOKEN));
  // Only what is needed is read: to count all bytes of a long conversation takes longer than all the rest.
  const inputTokens =
    last !== undefined && isCredible(last)
      ? last.inputTokens + last.outputTokens + tokens(size.newBytes)
      : tokens(size.bytes) + tokens(size.toolBytes) + FRAME_TOKENS;
  return { inputTokens, outputTokens: maxOutputTokens };
}

function isCredible({ inputTokens, outputTokens }: Usage): boolean {
  return (
    Number.isSafeInteger(inputTokens) && Number.isSafeInteger(outputTokens) && inputTokens > 0 && outputTokens >= 0
  );
}
