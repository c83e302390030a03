import type { Position } from '../base/problem.js';
import type { SourceScalar } from './nodes.js';

/** Turns offsets into a text into lines and columns. */
export interface Places {
  readonly file: string;
  /** The place of an offset (UTF-16 units from the start of the text). */
  at(offset: number): Position;
}

/**
 * The lines of a text, for {@link Places.at}. `firstLine` is the line of the file on which the text begins, for a text that was
 * cut out of a file; columns count UTF-16 units from 1.
 */
export function placesOf(text: string, file: string, firstLine = 1): Places {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  // Places are mostly asked for line by line.
  let row = 0;
  return {
    file,
    at(offset) {
      const from = Math.max(offset, 0);
      const isHere = from >= (starts[row] ?? 0) && from < (starts[row + 1] ?? 0);
      if (!isHere) row = lastAtMost(starts, Math.min(from, text.length));
      return { file, line: firstLine + row, column: from - (starts[row] ?? 0) + 1 };
    },
  };
}

/** Index of the last number of an ascending list that is at most `value`. */
function lastAtMost(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((ascending[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Where a piece of a value's text stands in the file, looked for from an offset into the written value on: in the written text of the value, or, when
 * that spells it differently, the value itself.
 */
export function locate(
  yaml: { readonly text: string; readonly places: Places },
  scalar: SourceScalar,
  written: string,
  from: number,
): { readonly at: Position; readonly next: number } {
  const [start, end] = scalar.range;
  const found = yaml.text.slice(start, end).indexOf(written, from);
  // After one that is spelt with escapes the rest is not searched: each search would read the whole value again.
  if (found === -1) return { at: scalar.at, next: end - start };
  return { at: yaml.places.at(start + found), next: found + written.length };
}
