const MARKUP = /[&<>"']/;
const EVERY_MARKUP = /[&<>"']/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text that is neither a tag nor the end of an attribute, wherever it stands. `escapeXml('</goal>')` gives `&lt;/goal&gt;`. */
export function escapeXml(text: string): string {
  return MARKUP.test(text) ? text.replace(EVERY_MARKUP, entityOf) : text;
}

/** What a character is in an escaped text. */
export function entityOf(char: string): string {
  return ENTITIES[char] ?? char;
}

/** An element with one attribute around a text, each tag on a line of its own. */
export function element(tag: string, attribute: string, value: string, text: string): string {
  return `<${tag} ${attribute}="${escapeXml(value)}">\n${escapeXml(text)}\n</${tag}>`;
}

/** Elements in an element, and an empty line behind it. */
export function xmlBlock(tag: string, lines: readonly string[]): string {
  return `<${tag}>\n${lines.join('\n')}\n</${tag}>\n\n`;
}

/** A prompt, and behind it what a supervisor or a person said of the attempt before. */
export function withCorrection(prompt: string, correction: string | undefined): string {
  if (correction === undefined) return prompt;
  const block = element('correction', 'source', 'supervisor', correction);
  return prompt === '' ? block : `${prompt}\n\n${block}`;
}

/** Where a block begins: an element around elements with a name or a number. */
const BLOCK = /<([A-Za-z_][\w.-]*)>\n(?:\.\.\. \[.*\]\n)?<[A-Za-z_][\w.-]* (?:name|n)="[^"\n]*">\n/g;

/** A text without its blocks. */
export function withoutXml(text: string): string {
  let result = '';
  let done = 0;
  BLOCK.lastIndex = 0;
  for (let found = BLOCK.exec(text); found !== null; found = BLOCK.exec(text)) {
    const end = `\n</${found[1] ?? ''}>\n\n`;
    const at = text.indexOf(end, BLOCK.lastIndex);
    if (at === -1) break;
    result += text.slice(done, found.index);
    done = at + end.length;
    BLOCK.lastIndex = done;
  }
  return result + text.slice(done);
}
