/** What JSON leaves as it is although a terminal may obey it; what it indents with stays. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * A value as indented JSON in which every control character is escaped, so that it may be printed on a terminal and still is the same JSON.
 *
 * @example
 * jsonText({ text: '\u009b' }); // '{\n  "text": "\\u009b"\n}'
 */
export function jsonText(value: unknown): string {
  return escapeJson(JSON.stringify(value, null, 2));
}

/** The same for text that is JSON already. */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}
