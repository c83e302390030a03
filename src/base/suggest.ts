/** Longer names are not compared: the cost grows with the product of the lengths. */
const LONGEST = 64;

/** Returns the candidate closest to a misspelled `word`, or undefined if more than a third of the letters differ. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length === 0 || word.length > LONGEST) return undefined;
  const wanted = fold(word);
  let best: string | undefined;
  let bestDistance = Math.floor(word.length / 3) + 1;
  for (const candidate of candidates) {
    if (candidate.length > LONGEST || candidate === word) continue;
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(wanted, fold(candidate), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** A hint from {@link suggest}: `did you mean "x"?`, or undefined. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const found = suggest(word, candidates);
  return found === undefined ? undefined : `did you mean ${JSON.stringify(found)}?`;
}

/** Number of names that a hint lists at most. */
const MOST_LISTED = 8;

/**
 * A hint about a name that does not exist: the name that was probably meant, or else the names that exist.
 *
 * @param what the plural of what is named, such as `states`
 */
export function meantOrKnown(word: string, known: Iterable<string>, what: string): string {
  const names = [...known];
  if (names.length === 0) return `there are no ${what}`;
  const listed = names.slice(0, MOST_LISTED).join(', ');
  return didYouMean(word, names) ?? `${what} are: ${listed}${names.length > MOST_LISTED ? ', ...' : ''}`;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll('_', '-');
}

/**
 * Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, or `limit` if there are at least as many. A
 * swap takes its cost from two rows above, whose minimum is at most one below that of the row between.
 */
function editDistance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
      if (cost < least) least = cost;
    }
    if (least >= limit) return limit;
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
