import { lazily } from './collections.js';

/** Matches `]`, which ends a key; invisible characters and those that move others; and `%` where it would look like an escape. */
const ESCAPED = lazily(
  () => /[\]\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]|%(?=[\da-f]{2})/giu,
);

/** A character as its bytes in UTF-8, or half of a surrogate pair as the bytes that it would have. */
const CODED =
  /%ED%[AB][\dA-F]%[89AB][\dA-F]|%F[0-4](?:%[89AB][\dA-F]){3}|%E[\dA-F](?:%[89AB][\dA-F]){2}|%[CD][\dA-F]%[89AB][\dA-F]|%[0-7][\dA-F]/gi;

/** Escapes the key of a map item for use in brackets. */
export function escapeKey(key: string): string {
  return key.replaceAll(ESCAPED(), (char) => {
    const code = char.charCodeAt(0);
    return isHalf(code) && char.length === 1 ? coded(code) : encodeURIComponent(char);
  });
}

/** Restores a key from {@link escapeKey}. Text that was not escaped stays as it is. */
export function unescapeKey(text: string): string {
  return text.includes('%') ? text.replaceAll(CODED, decoded) : text;
}

function isHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}

function coded(half: number): string {
  const bytes = [0xed, 0x80 | ((half >> 6) & 0x3f), 0x80 | (half & 0x3f)];
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase()}`).join('');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    const [, high = 0, low = 0] = text
      .slice(1)
      .split('%')
      .map((byte) => Number.parseInt(byte, 16));
    const code = 0xd000 | ((high & 0x3f) << 6) | (low & 0x3f);
    return isHalf(code) ? String.fromCharCode(code) : text;
  }
}
