/** Maximum number of line pairs to compare. */
const MOST_PAIRS = 1_000_000;

/** Compares two texts line by line: lines only in the first get `-`, lines only in the second `+`. Common lines are left out. */
export function lineDiff(before: string, after: string): readonly string[] {
  const [one, other] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let same = 0;
  while (same < Math.min(one.length, other.length) - start && one.at(-1 - same) === other.at(-1 - same)) same += 1;
  const gone = one.slice(start, one.length - same);
  const come = other.slice(start, other.length - same);
  if (gone.length * come.length > MOST_PAIRS) return [...gone.map(removed), ...come.map(added)];
  return differences(gone, come);
}

/** Follows the longest common subsequence. */
function differences(gone: readonly string[], come: readonly string[]): readonly string[] {
  const longest = commonLengths(gone, come);
  const width = come.length + 1;
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < gone.length && j < come.length) {
    const at = i * width + j;
    if (gone[i] === come[j]) {
      i += 1;
      j += 1;
    } else if ((longest[at + width] ?? 0) >= (longest[at + 1] ?? 0)) {
      lines.push(removed(gone[i] ?? ''));
      i += 1;
    } else {
      lines.push(added(come[j] ?? ''));
      j += 1;
    }
  }
  return [...lines, ...gone.slice(i).map(removed), ...come.slice(j).map(added)];
}

/** Number of common lines from (i, j) to the ends of both texts, at `i * (come.length + 1) + j`. */
function commonLengths(gone: readonly string[], come: readonly string[]): Uint32Array {
  const width = come.length + 1;
  const longest = new Uint32Array((gone.length + 1) * width);
  for (let i = gone.length - 1; i >= 0; i--) {
    for (let j = come.length - 1; j >= 0; j--) {
      const at = i * width + j;
      const apart = Math.max(longest[at + width] ?? 0, longest[at + 1] ?? 0);
      longest[at] = gone[i] === come[j] ? (longest[at + width + 1] ?? 0) + 1 : apart;
    }
  }
  return longest;
}

function removed(line: string): string {
  return `- ${line}`;
}

function added(line: string): string {
  return `+ ${line}`;
}
