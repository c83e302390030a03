import { badInput } from './tool-input.js';

/**
 * Compiles a glob pattern over relative paths with `/`: `*` and `?` within a name, `**` for any number of directories, `[a-z]` and `[!a]`,
 * `{a,b}`. Matching takes time linear in the path, whatever the pattern.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED` for a pattern that is too long or has too many alternatives
 */
export async function compileGlob(pattern: string): Promise<(path: string) => boolean> {
  if (pattern === '') throw badInput('the pattern is empty');
  if (pattern.length > MAX_PATTERN) throw badInput(`a pattern of ${pattern.length} characters is too long`);
  const alternatives = expandBraces(pattern).map((text) =>
    text.split('/').filter((part) => part !== '' && part !== '.'),
  );
  if (alternatives.some((parts) => parts.includes('..'))) {
    throw badInput('a pattern must not contain ".."', 'give the directory in "path"');
  }
  const { RE2JS } = await import('re2js');
  const expression = RE2JS.compile(alternatives.map((parts) => parts.map(expressionOf).join('')).join('|'));
  return (path) => expression.matches(`${path}/`);
}

const MAX_PATTERN = 1_000;
const MAX_ALTERNATIVES = 100;

function expandBraces(pattern: string): readonly string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const group = innermostBraces(text);
    if (group === undefined) done.push(text);
    else for (const option of group.options) open.push(text.slice(0, group.from) + option + text.slice(group.to));
    if (done.length + open.length > MAX_ALTERNATIVES) {
      throw badInput(`the pattern has more than ${MAX_ALTERNATIVES} alternatives`);
    }
  }
  return done;
}

/** Returns the first group that contains no other group; braces without a comma inside are ordinary characters. */
function innermostBraces(text: string): { from: number; to: number; options: readonly string[] } | undefined {
  let from = -1;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '{') from = i;
    if (text[i] !== '}' || from < 0) continue;
    const inside = text.slice(from + 1, i);
    if (inside.includes(',')) return { from, to: i + 1, options: inside.split(',') };
    from = -1;
  }
  return undefined;
}

/** Converts a part of a pattern to a regular expression for a name and the slash after it. */
function expressionOf(part: string): string {
  if (part === '**') return '(?:[^/]+/)*';
  const name = part.replaceAll(/\[([^][^\]]*)\]|\*+|[^]/gu, (piece, set?: string) => {
    if (set !== undefined) return setOf(set);
    if (piece.startsWith('*')) return '[^/]*';
    return piece === '?' ? '[^/]' : `\\x{${codeOf(piece).toString(16)}}`;
  });
  return `${name}/`;
}

/** Converts the text between brackets. A reversed range matches nothing, and no range matches the slash. */
function setOf(body: string): string {
  const isNot = /^[!^]/.test(body);
  const ranges = [...(isNot ? body.slice(1) : body).matchAll(/([^])-([^])|[^]/gu)]
    .map(([one, first = one, last = one]) => [codeOf(first), codeOf(last)] as const)
    .flatMap(([first, last]) =>
      first <= SLASH && SLASH <= last
        ? [[first, SLASH - 1] as const, [SLASH + 1, last] as const]
        : [[first, last] as const],
    )
    .filter(([first, last]) => first <= last)
    .map(([first, last]) => `\\x{${first.toString(16)}}-\\x{${last.toString(16)}}`);
  if (isNot) return `[^/${ranges.join('')}]`;
  return ranges.length === 0 ? NOTHING : `[${ranges.join('')}]`;
}

const SLASH = 0x2f;
const NOTHING = String.raw`[^\x{0}-\x{10FFFF}]`;

function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}
