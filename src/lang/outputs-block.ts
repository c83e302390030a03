import type { ReadChannel } from './json-path.js';
import { valueText } from './value-text.js';

/** A channel that a block of outputs shows, and what it is called there. */
export interface LabelledChannel {
  readonly channel: string;
  readonly label: string;
}

const HEAD = '--- Prior Step Outputs ---';
const END = '--- End Prior Step Outputs ---';

/**
 * All outputs so far as one block of text, in the order of the channels, with an empty line behind it. Empty outputs are left out, and
 * without any other there is no text at all. An output can't look like the frame or like the head of an entry: such a line of it gets
 * `> ` in front.
 *
 * @throws SkeinError SKEIN_TEMPLATE when a value has no JSON form.
 * @example
 * renderOutputs([{ channel: 'text', label: 'gen (agent: writer)' }], (channel) => state[channel]);
 */
export function renderOutputs(labelled: readonly LabelledChannel[], read: ReadChannel): string {
  let entries = '';
  for (const { channel, label } of labelled) {
    const text = valueText(read(channel));
    if (text !== '') entries += `\n[${label}]:\n${withoutForgery(text)}\n`;
  }
  return entries === '' ? '' : `${HEAD}\n${entries}\n${END}\n\n`;
}

// Whatever a model may take for the end of a line.
const LINE_END = /(\r\n|[\n\r\v\f\u0085\u2028\u2029])/;
const FRAME = /^-{3,}\s*(?:end\s+)?prior\s+step\s+outputs\s*-{3,}$/i;

function withoutForgery(text: string): string {
  // Two searches for a fixed text: most outputs need no more.
  if (!text.includes('---') && !text.includes(')]:')) return text;
  return text
    .split(LINE_END)
    .map((line) => (isForged(line.trim()) ? `> ${line}` : line))
    .join('');
}

function isForged(line: string): boolean {
  if (line.startsWith('[') && line.endsWith(')]:')) return line.includes('(');
  return FRAME.test(line);
}
