const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])$/u;

/**
 * Terminal cells that a character takes. Wide ones, such as Chinese ones and emoji, take two; marks that stand on another one, none.
 */
export function cellsOf(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (ZERO.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}

/** The same for a text on one line. */
export function cellsOfText(text: string): number {
  let cells = 0;
  for (const char of text) cells += cellsOf(char);
  return cells;
}

/**
 * A text without those of the given characters that stand at its end. An expression such as `/[. ]+$/` tries each place of a text anew, so that a
 * long one stops the process.
 */
export function withoutAtEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
