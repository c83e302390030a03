import { lazily } from './collections.js';

const ZERO = lazily(() => /^[\p{Mn}\p{Me}\p{Cf}]$/u);
const WIDE = lazily(
  () =>
    /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])$/u,
);

/** Number of terminal cells of a character. Wide characters, such as Chinese ones and emoji, have two; combining marks have none. */
export function cellsOf(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (ZERO().test(char)) return 0;
  return WIDE().test(char) ? 2 : 1;
}

/** The same for a text on one line. */
export function cellsOfText(text: string): number {
  let cells = 0;
  for (const char of text) cells += cellsOf(char);
  return cells;
}

/** `1 step`, `2 steps`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Removes the given characters from the end of a text, in linear time, unlike an expression such as `/[. ]+$/`. */
export function withoutAtEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Whether a version such as `3.51.3` is `oldest` or newer. Avoids locale-aware comparison, whose data Node first loads for 7 ms. */
export function isAtLeast(version: string, oldest: string): boolean {
  const has = partsOf(version);
  const needed = partsOf(oldest);
  const at = needed.findIndex((part, place) => part !== (has[place] ?? 0));
  return at < 0 || (has[at] ?? 0) > (needed[at] ?? 0);
}

function partsOf(version: string): readonly number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10));
}

/** References to environment variables in a text: `$NAME`, `${NAME}`, `${NAME:-default}`, and GitHub's `${{ secrets.NAME }}`. */
export const VARIABLE_REFERENCE =
  /\$\{\{(?<expression>[^{}]{0,200})\}\}|\$\{(?<braced>[A-Za-z_][A-Za-z0-9_]*)(?::-(?<fallback>[^{}]*))?\}|\$(?<plain>[A-Za-z_][A-Za-z0-9_]*)|\$\{/g;

/** The bare name of a secret, which Copilot's files may use for a server's variable. */
export const BARE_SECRET = /^COPILOT_MCP_[A-Z0-9_]+$/;

/** The variable in a GitHub expression; undefined for others. */
export function expressionVariable(expression: string): string | undefined {
  return /^(?:secrets|vars|env)\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(expression.trim())?.[1];
}

export function variablesIn(text: string): readonly string[] {
  if (BARE_SECRET.test(text)) return [text];
  return [...text.matchAll(VARIABLE_REFERENCE)].flatMap(({ groups = {} }) => {
    const { expression, braced, plain } = groups;
    return (expression === undefined ? (braced ?? plain) : expressionVariable(expression)) ?? [];
  });
}
