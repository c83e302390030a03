import type { Usage } from '../events/event.js';

/** The size of a call before it is made. Bytes are UTF-8, with messages as JSON. */
export interface CallSize {
  /** Bytes of all messages. */
  readonly bytes: number;
  readonly toolBytes: number;
  /** The billed usage of the last turn in the same conversation with the same model. Absent if there was none. */
  readonly last?: Usage | undefined;
  /** Bytes of the messages that the last turn neither read nor wrote. */
  readonly newBytes: number;
  /** The output limit sent with the call. */
  readonly maxOutputTokens: number;
  /** True to count every byte as a token. */
  readonly strict?: boolean | undefined;
}

export interface CallEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Tokens that a provider adds around messages and tools. */
const FRAME_TOKENS = 1_000;
/** Text has about 4 bytes per token, other writing systems 2 to 3, base64 1.6. No tokenizer makes more than one token of a byte. */
const BYTES_PER_TOKEN = 2;

/**
 * Estimates the tokens to reserve for a call: the usage of the last turn plus the new messages, or, for a first turn, everything that is
 * sent. Uses no tokenizer. An implausible usage, as some servers report it, is ignored.
 *
 * @example
 * estimateCall({ bytes: 8_000, toolBytes: 600, newBytes: 8_000, maxOutputTokens: 16_384 }); // { inputTokens: 5_300, outputTokens: 16_384 }
 */
export function estimateCall(size: CallSize): CallEstimate {
  const { last, maxOutputTokens, strict } = size;
  const tokens = (bytes: number): number => Math.ceil(bytes / (strict === true ? 1 : BYTES_PER_TOKEN));
  // Reads only the fields it needs: counting all bytes of a long conversation takes longer than everything else.
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
