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

/**
 * The readable text of an HTML page: tags, comments and what is not shown are left out, blocks begin a line, the title comes
 * first. One pass over the text; it does not try to be a browser.
 *
 * @example
 * htmlToText('<p>a &amp; <b>b</b></p>'); // 'a & b'
 */
export function htmlToText(html: string): string {
  // Only ASCII: elsewhere the lower case of a character may be longer than the character.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const title = titleOf(html, lower);
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    parts.push(html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    const { end, name } = tagAt(html, lower, open);
    if (name === undefined) parts.push(html.slice(open, end));
    else if (BLOCKS.has(name)) parts.push('\n');
    at = end;
  }
  const text = decodeEntities(parts.join(''))
    .split('\n')
    .map((line) => line.split(/\s/).filter(Boolean).join(' '))
    .filter((line) => line !== '');
  return [...(title === '' ? [] : [title]), ...text].join('\n');
}

/** Where the markup that begins at `open` ends; without a name it is no markup, only a `<`. */
function tagAt(html: string, lower: string, open: number): { end: number; name?: string } {
  if (html.startsWith('<!--', open)) return { end: after(html, '-->', open + 4), name: '!' };
  const name = /^<\/?([a-z][a-z0-9]{0,20}|!|\?)/.exec(lower.slice(open, open + 24))?.[1];
  if (name === undefined) return { end: open + 1 };
  if (HIDDEN.has(name) && html[open + 1] !== '/') return { end: after(html, '>', endTag(lower, name, open)), name };
  return { end: after(html, '>', open), name };
}

function endTag(lower: string, name: string, from: number): number {
  const found = lower.indexOf(`</${name}`, from);
  return found < 0 ? lower.length : found;
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

function titleOf(html: string, lower: string): string {
  const open = lower.indexOf('<title');
  if (open < 0) return '';
  const from = after(html, '>', open);
  return decodeEntities(html.slice(from, endTag(lower, 'title', from)))
    .split(/\s/)
    .filter(Boolean)
    .join(' ');
}

function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{1,8});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return ENTITIES.get(name.toLowerCase()) ?? whole;
    const code = name[1] === 'x' || name[1] === 'X' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
