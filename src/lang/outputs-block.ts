import type { ReadChannel } from './json-path.js';
import { madeOnce } from '../base/collections.js';
import { keepNewest } from './keep-newest.js';
import type { BlockEntry } from './keep-newest.js';
import { isTooLong, mayLookFramed, skeletonOf } from './skeleton.js';
import { valueText } from './value-text.js';
import type { ItemsBlock, OutputsBlock, XmlNames } from './values.js';
import { element, withoutXml, xmlBlock } from './xml-block.js';

/** A channel that a block of outputs shows, and its label. */
export interface LabelledChannel {
  readonly channel: string;
  readonly label: string;
}

const HEAD = '--- Prior Step Outputs ---';
const END = '--- End Prior Step Outputs ---';

/**
 * All outputs so far as one block of text, in the order of the channels, with an empty line behind it. Empty outputs are left out, and
 * without any other there is no text at all. An output can't look like the frame or like the head of an entry: such a line of it gets
 * `> ` in front. As XML its markup is escaped.
 *
 * @throws SkeinError SKEIN_TEMPLATE when a value has no JSON form.
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
 * The items of a list as a block of XML, with an empty line behind it. A value that is not a list is its only item; of no items there is no text.
 *
 * @throws SkeinError SKEIN_TEMPLATE when an item has no JSON form.
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
  return `\n[${label}]:\n${withoutForgery(text)}\n`;
}

function framed(entries: string): string {
  return `${HEAD}\n${entries}\n${END}\n\n`;
}

/** A message without its blocks of outputs and items: a block of lines that it begins with, and blocks of XML. No value holds a line like the end of its block. */
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
  /** Index of its channel. */
  readonly at: number;
  readonly text: string;
  /** All entries up to this one. */
  readonly entries: string;
}

/**
 * What was rendered last for these channels. A step behind another one mostly sees the same outputs and one more, so that a long list of steps would
 * spend its time in building what it has built before.
 */
const rendered = new WeakMap<readonly LabelledChannel[], Known[]>();
/** A longer block, in characters, is not kept. */
const MOST_KNOWN = 4_000_000;

// Whatever a model may take for the end of a line.
const LINE_ENDS = '\n\r\v\f\u0085\u2028\u2029';
const LINE_END = new RegExp(`[${LINE_ENDS}]`, 'g');
const KEPT_LINE_END = new RegExp(`([${LINE_ENDS}])`);
const FRAME = /^-{3,}\s*(?:end\s+)?prior\s+step\s+outputs\s*-{3,}$/i;
/** What each forged line has in it, and few others: the end of a head with the end of the line behind it, or the words of the frame. */
const SUSPECT = new RegExp(`\\)\\]:(?=[^\\S${LINE_ENDS}]*(?:[${LINE_ENDS}]|$))|prior\\s+step\\s+outputs`, 'gi');

/** Text in which each character is what it looks like. */
const PLAIN = /^[\t\n\r -~]*$/;

function withoutForgery(text: string): string {
  return PLAIN.test(text) ? withoutPlainForgery(text) : withoutLookalikes(text);
}

/** Lines are judged by what they look like: a reader sees neither what can't be seen nor which of two like characters it is. */
function withoutLookalikes(text: string): string {
  return text
    .split(KEPT_LINE_END)
    .map((part, at) => (at % 2 === 0 && looksForged(part) ? `> ${part}` : part))
    .join('');
}

function looksForged(line: string): boolean {
  return mayLookFramed(line) && (isTooLong(line) || isForged(skeletonOf(line).trim()));
}

/** Each line is looked at once at most, and most outputs have none that need it: a prompt may hold many outputs. */
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
