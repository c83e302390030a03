const HIDDEN = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head']);
const BLOCKS = new Set(
  'p div br li tr h1 h2 h3 h4 h5 h6 section article header footer main nav ul ol table pre blockquote hr dt dd form'.split(
    ' ',
  ),
);
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['ndash', '\u2013'],
  ['mdash', '\u2014'],
  ['hellip', '\u2026'],
  ['copy', '\u00a9'],
]);

/** The readable text of a page; `cut` if it is only a part. */
export interface PageText {
  readonly text: string;
  readonly cut: boolean;
}

/**
 * Returns the readable text of an HTML page: without tags, comments and hidden elements, each block on a new line, the title first. Uses
 * one pass over the text, and does not try to be a browser.
 *
 * @param most approximate limit in characters: reading stops after it
 */
export function htmlToText(html: string, most: number): PageText {
  const lines: string[] = [];
  const title = titleOf(html, most);
  if (title !== '') lines.push(title);
  let size = title.length;
  for (const [raw] of withoutTags(html).matchAll(/\S[^\n]*/g)) {
    if (size > most) return { text: lines.join('\n'), cut: true };
    const line = plainLine(raw, most);
    if (line === '') continue;
    lines.push(line);
    size += line.length + 1;
  }
  return { text: lines.join('\n'), cut: false };
}

function withoutTags(html: string): string {
  const parts: string[] = [];
  let shown = 0;
  for (let open = html.indexOf('<'); open >= 0;) {
    const tag = tagAt(html, open);
    if (tag !== undefined) {
      if (open > shown) parts.push(html.slice(shown, open));
      if (BLOCKS.has(tag.name) && parts.at(-1) !== '\n') parts.push('\n');
      shown = tag.end;
    }
    open = html.indexOf('<', tag?.end ?? open + 1);
  }
  parts.push(html.slice(shown));
  return parts.join('');
}

/** An entity has at most ten characters, so this many are enough for `most` of them. */
const LONGEST_ENTITY = 10;

function plainLine(raw: string, most: number): string {
  const line = raw.length > LONGEST_ENTITY * most ? raw.slice(0, LONGEST_ENTITY * most) : raw;
  return decodeEntities(line).replaceAll(/\s+/g, ' ').trim();
}

const TAG = /<\/?([a-z][a-z0-9]{0,20}|!|\?)/iy;

/** Returns the end and name of the markup that begins at `open`; undefined if it is only a `<`. */
function tagAt(html: string, open: number): { end: number; name: string } | undefined {
  if (html.startsWith('<!--', open)) return { end: after(html, '-->', open + 4), name: '!' };
  TAG.lastIndex = open;
  const name = TAG.exec(html)?.[1]?.toLowerCase();
  if (name === undefined) return undefined;
  if (HIDDEN.has(name) && html[open + 1] !== '/') return { end: after(html, '>', endTag(html, name, open)), name };
  return { end: after(html, '>', open), name };
}

function endTag(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}`, 'gi');
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

function titleOf(html: string, most: number): string {
  const open = /<title/i.exec(html)?.index;
  if (open === undefined) return '';
  const from = after(html, '>', open);
  return plainLine(html.slice(from, endTag(html, 'title', from)), most);
}

function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{1,8});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return ENTITIES.get(name.toLowerCase()) ?? whole;
    const code = name[1] === 'x' || name[1] === 'X' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
