import { entityOf } from './xml-block.js';

/** A text of a block, and its label. */
export interface BlockEntry {
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
export function keepNewest(
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
