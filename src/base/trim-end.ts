/**
 * A text without those of the given characters that stand at its end. An expression such as `/[. ]+$/` tries each place of a text anew, so that a
 * long one stops the process.
 *
 * @example
 * withoutAtEnd('name. .', '. '); // 'name'
 */
export function withoutAtEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
