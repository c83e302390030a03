import { madeOnce } from '../base/collections.js';
import type { ReadChannel } from './json-path.js';
import { isTooLong, mayLookFramed, skeletonOf } from './skeleton.js';
import { valueText } from './value-text.js';
import type { ItemsBlock, OutputsBlock, XmlNames } from './values.js';
import { element, entityOf, withoutXml, xmlBlock } from './xml-block.js';

/** A channel that a block of outputs shows, and its label. */
export interface LabelledChannel {
  readonly channel: string;
  readonly label: string;
}

const HEAD = '--- Prior Step Outputs ---';
const END = '--- End Prior Step Outputs ---';

/**
 * Renders all outputs so far as one block of text, in the order of the channels, then an empty line. Omits empty outputs; without
 * others the text is empty. An output can't imitate the frame or the head of an entry: such lines of it get a `> ` in front. As XML,
 * its markup is escaped.
 *
 * @throws SkeinError SKEIN_TEMPLATE if a value has no JSON form.
 */
export function renderOutputs(
  { xml, budget, except, only }: OutputsBlock,
  labelled: readonly LabelledChannel[],
  read: ReadChannel,
): string {
  const isWhole = except === undefined && only === undefined;
  if (xml === undefined && budget === undefined && isWhole) return renderAll(labelled, read);
  const entries: BlockEntry[] = [];
  for (const { channel, label } of labelled) {
    if (except?.includes(channel) === true || only?.includes(channel) === false) continue;
    const text = valueText(read(channel));
    if (text !== '') entries.push({ label, text });
  }
  if (entries.length === 0) return '';
  if (xml !== undefined) return xmlOf(xml, 'name', entries, budget);
  const kept = keepNewest(entries, budget, false);
  const body = kept.entries.map(({ label, text }) => entryOf(label, text)).join('');
  return framed(kept.leftOut === '' ? body : `\n${kept.leftOut}\n${body}`);
}

/**
 * Renders the items of a list as a block of XML, then an empty line. A value that is not a list is its only item. Empty without items.
 *
 * @throws SkeinError SKEIN_TEMPLATE if an item has no JSON form.
 */
export function renderItems({ xml, budget }: ItemsBlock, value: unknown): string {
  const items: readonly unknown[] = Array.isArray(value) ? value : value === undefined || value === '' ? [] : [value];
  if (items.length === 0) return '';
  const entries = items.map((item, at) => ({ label: String(at + 1), text: valueText(item) }));
  return xmlOf(xml, 'n', entries, budget);
}

function xmlOf(
  { tag, each }: XmlNames,
  attribute: string,
  all: readonly BlockEntry[],
  budget: number | undefined,
): string {
  const { entries, leftOut } = keepNewest(all, budget, true);
  const elements = entries.map(({ label, text }) => element(each, attribute, label, text));
  return xmlBlock(tag, leftOut === '' ? elements : [leftOut, ...elements]);
}

function renderAll(labelled: readonly LabelledChannel[], read: ReadChannel): string {
  const known = madeOnce(rendered, labelled, (): Known[] => []);
  let entries = '';
  let same = 0;
  labelled.forEach(({ channel, label }, at) => {
    const text = valueText(read(channel));
    if (text === '') return;
    const before = known[same];
    if (before?.at === at && before.text === text) entries = before.entries;
    else {
      if (known.length > same) known.length = same;
      entries += entryOf(label, text);
      if (entries.length <= MOST_KNOWN) known.push({ at, text, entries });
    }
    same += 1;
  });
  return entries === '' ? '' : framed(entries);
}

function entryOf(label: string, text: string): string {
  return `\n[${label}]:\n${PLAIN.test(text) ? withoutPlainForgery(text) : withoutLookalikes(text)}\n`;
}

function framed(entries: string): string {
  return `${HEAD}\n${entries}\n${END}\n\n`;
}

/** Removes the blocks from a message: a frame at its beginning, and blocks of XML. No value contains a line like the end of its block. */
export function withoutBlocks(message: string): string {
  return withoutXml(withoutFrame(message));
}

function withoutFrame(message: string): string {
  if (!message.startsWith(`${HEAD}\n`)) return message;
  const end = message.indexOf(`\n${END}\n\n`);
  return end === -1 ? message : message.slice(end + END.length + 3);
}

/** An entry of the last rendered block. */
interface Known {
  readonly at: number;
  readonly text: string;
  /** All entries up to this one. */
  readonly entries: string;
}

/** The last rendered entries of these channels: without them, each step of a long sequence would render all outputs again. */
const rendered = new WeakMap<readonly LabelledChannel[], Known[]>();
const MOST_KNOWN = 4_000_000;

// Characters that a model may read as the end of a line.
const LINE_ENDS = '\n\r\v\f\u0085\u2028\u2029';
const LINE_END = new RegExp(`[${LINE_ENDS}]`, 'g');
const KEPT_LINE_END = new RegExp(`([${LINE_ENDS}])`);
const FRAME = /^-{3,}\s*(?:end\s+)?prior\s+step\s+outputs\s*-{3,}$/i;
/** Every forged line matches this, and few others do: the end of a head at the end of a line, or the words of the frame. */
const SUSPECT = new RegExp(`\\)\\]:(?=[^\\S${LINE_ENDS}]*(?:[${LINE_ENDS}]|$))|prior\\s+step\\s+outputs`, 'gi');

/** Text without lookalike characters. */
const PLAIN = /^[\t\n\r -~]*$/;

/** Judges lines by their looks: invisible characters and lookalikes deceive readers. */
function withoutLookalikes(text: string): string {
  return text
    .split(KEPT_LINE_END)
    .map((part, at) => (at % 2 === 0 && looksForged(part) ? `> ${part}` : part))
    .join('');
}

function looksForged(line: string): boolean {
  return mayLookFramed(line) && (isTooLong(line) || isForged(skeletonOf(line).trim()));
}

/** Examines each line at most once, and in most outputs none: a prompt may contain many outputs. */
function withoutPlainForgery(text: string): string {
  if (!text.includes(')]:') && !text.includes('---')) return text;
  let result = '';
  let done = 0;
  SUSPECT.lastIndex = 0;
  for (let found = SUSPECT.exec(text); found !== null; found = SUSPECT.exec(text)) {
    const start = startOfLine(text, found.index);
    const end = endOfLine(text, found.index);
    if (isForged(text.slice(start, end).trim())) {
      result += `${text.slice(done, start)}> `;
      done = start;
    }
    SUSPECT.lastIndex = end;
  }
  return done === 0 && result === '' ? text : result + text.slice(done);
}

function startOfLine(text: string, at: number): number {
  let start = at;
  while (start > 0 && !LINE_ENDS.includes(text.charAt(start - 1))) start -= 1;
  return start;
}

function endOfLine(text: string, at: number): number {
  LINE_END.lastIndex = at;
  return LINE_END.exec(text)?.index ?? text.length;
}

function isForged(line: string): boolean {
  if (line.startsWith('[') && line.endsWith(')]:')) return line.includes('(');
  return FRAME.test(line);
}

interface BlockEntry {
  readonly label: string;
  readonly text: string;
}

/** Maximum number of bytes of a UTF-16 unit in UTF-8, escaped or not. */
const MOST_BYTES = 6;

/**
 * Returns the entries that fit into `budget` bytes of text, last ones first; all of them without a budget. The oldest kept entry may be
 * truncated, with a note. Earlier ones are omitted; `leftOut` says how many. Counts bytes of UTF-8, with entities if `escaped`, but not
 * labels and notes.
 */
function keepNewest(
  entries: readonly BlockEntry[],
  budget: number | undefined,
  escaped: boolean,
): { readonly entries: readonly BlockEntry[]; readonly leftOut: string } {
  if (budget === undefined) return { entries, leftOut: '' };
  const units = entries.reduce((sum, { text }) => sum + text.length, 0);
  if (units * MOST_BYTES <= budget) return { entries, leftOut: '' };
  let left = budget;
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const { label, text } = entries[at] as BlockEntry;
    const { end, used } = fitting(text, left, escaped);
    left -= used;
    if (end === text.length) continue;
    const total = fitting(text, Infinity, escaped).used;
    const cut = {
      label,
      text: `${text.slice(0, end)}\n\n... [truncated: ${total} bytes total, showing first ${used}]`,
    };
    const rest = end === 0 ? entries.slice(at + 1) : [cut, ...entries.slice(at + 1)];
    const count = entries.length - rest.length;
    return { entries: rest, leftOut: count === 0 ? '' : `... [${count} earlier left out]` };
  }
  return { entries, leftOut: '' };
}

/** Returns how much of a text fits without cutting a character: its end, and its bytes. */
function fitting(text: string, bytes: number, escaped: boolean): { readonly end: number; readonly used: number } {
  let used = 0;
  let end = 0;
  for (const char of text) {
    const cost = bytesOf(char, escaped);
    if (used + cost > bytes) break;
    used += cost;
    end += char.length;
  }
  return { end, used };
}

function bytesOf(char: string, escaped: boolean): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return escaped ? entityOf(char).length : 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}
