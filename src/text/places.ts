import type { Position } from '../base/problem.js';
import type { SourceScalar } from './nodes.js';

export interface Places {
  /** Returns the place of an offset (UTF-16 units from the start of the text). */
  at(offset: number): Position;
}

/**
 * Indexes the lines of a text, for {@link Places.at}. `firstLine` is the line of the file on which the text begins, for a text that was cut
 * out of a file. Columns count UTF-16 units from 1.
 */
export function placesOf(text: string, file: string, firstLine = 1): Places {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  // Most successive look-ups are on the same line.
  let row = 0;
  return {
    at(offset) {
      const from = Math.max(offset, 0);
      const isHere = from >= (starts[row] ?? 0) && from < (starts[row + 1] ?? 0);
      if (!isHere) row = lastAtMost(starts, Math.min(from, text.length));
      return { file, line: firstLine + row, column: from - (starts[row] ?? 0) + 1 };
    },
  };
}

/** Returns the index of the last number in an ascending list that is at most `value`. */
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

/** Finds a piece of a value's text in the file, from an offset on; the place of the value if the file spells it differently. */
export function locate(
  yaml: { readonly text: string; readonly places: Places },
  scalar: SourceScalar,
  written: string,
  from: number,
): { readonly at: Position; readonly next: number } {
  const [start, end] = scalar.range;
  const found = yaml.text.slice(start, end).indexOf(written, from);
  // After a piece spelt with escapes the rest is not searched: each search would read the whole value again.
  if (found === -1) return { at: scalar.at, next: end - start };
  return { at: yaml.places.at(start + found), next: found + written.length };
}
