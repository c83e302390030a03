/** One write to a reducer channel. Contributions are folded in the order of (round, place, visit). */
export interface Written {
  readonly value: unknown;
  /** Number of cycles closed before it. */
  readonly round: number;
  /** Position of the writer in the topological order. */
  readonly place: number;
  readonly visit: number;
  /** Digest of the value; computed on demand. */
  own: string | undefined;
}

/**
 * A contribution with those before it, back to the start of the epoch: a chain, newest first, sorted in plan order (S3). Chains share their
 * beginnings.
 *
 * Each link also has a reference further back (`jump`), determined by its depth alone. So finding the link at a depth, the newest shared
 * link of two chains, or the position of a contribution takes a logarithmic number of steps.
 */
export interface Contribution {
  readonly written: Written;
  readonly before: Contribution | undefined;
  readonly jump: Contribution | undefined;
  /** Number of links up to this one. */
  readonly depth: number;
  /** Number of links directly after this one, at most 2. */
  followers: number;
  /** Digest of the accumulator and all contributions up to this one; computed on demand. */
  chain: string | undefined;
  /** Folded value of the accumulator and all contributions up to this one, if kept. */
  sum: Sum | undefined;
}

/** An accumulator, wrapped so that an undefined one differs from none. */
export interface Sum {
  readonly accumulator: unknown;
}

/** Returns a chain with one more contribution, which comes after all others in it. */
export function linkAfter(before: Contribution | undefined, written: Written): Contribution {
  if (before === undefined) {
    return { written, before, jump: undefined, depth: 1, followers: 0, chain: undefined, sum: undefined };
  }
  if (before.followers < 2) before.followers += 1;
  const { depth, jump } = before;
  const isEven = jump !== undefined && depth - jump.depth === jump.depth - depthOf(jump.jump);
  return {
    written,
    before,
    jump: isEven ? jump.jump : before,
    depth: depth + 1,
    followers: 0,
    chain: undefined,
    sum: undefined,
  };
}

/** Compares contributions by plan order. Only a contribution and itself are equal: a node contributes once a visit. */
function compareWritten(a: Written, b: Written): number {
  return a.round - b.round || a.place - b.place || a.visit - b.visit;
}

export function holdsAll(chain: Contribution | undefined, other: Contribution | undefined): boolean {
  const common = commonLink(chain, other);
  for (let one = other; one !== undefined && one !== common; one = one.before)
    if (!holds(chain, one.written)) return false;
  return true;
}

function holds(chain: Contribution | undefined, written: Written): boolean {
  const place = lastUpTo(chain, written);
  return place !== undefined && compareWritten(place.written, written) === 0;
}

/** Returns a chain with the contributions of all chains, each once. Reuses the longest chain up to the first inserted contribution. */
export function mergeChains(chains: readonly (Contribution | undefined)[]): Contribution | undefined {
  let longest: Contribution | undefined;
  for (const chain of chains) if (depthOf(chain) > depthOf(longest)) longest = chain;
  const added: Written[] = [];
  const seen = new Set<Contribution>();
  for (const chain of chains) {
    if (chain === longest) continue;
    const common = commonLink(longest, chain);
    for (let one = chain; one !== undefined && one !== common && !seen.has(one); one = one.before) {
      seen.add(one);
      if (!holds(longest, one.written)) added.push(one.written);
    }
  }
  added.sort(compareWritten);
  const [first] = added;
  if (first === undefined) return longest;
  const kept = lastUpTo(longest, first);
  const behind: Contribution[] = [];
  for (let one = longest; one !== undefined && one !== kept; one = one.before) behind.push(one);
  return append(kept, behind.toReversed(), added);
}

/** Appends two sorted lists to a chain, in order and without duplicates. */
function append(
  kept: Contribution | undefined,
  behind: readonly Contribution[],
  added: readonly Written[],
): Contribution | undefined {
  let chain = kept;
  let at = 0;
  const put = (written: Written): void => {
    if (chain === undefined || compareWritten(chain.written, written) < 0) chain = linkAfter(chain, written);
  };
  for (const written of added) {
    for (let next = behind[at]; next !== undefined && compareWritten(next.written, written) <= 0; next = behind[++at])
      put(next.written);
    put(written);
  }
  for (let next = behind[at]; next !== undefined; next = behind[++at]) put(next.written);
  return chain;
}

function depthOf(chain: Contribution | undefined): number {
  return chain === undefined ? 0 : chain.depth;
}

/** The newest link that two chains share. */
function commonLink(a: Contribution | undefined, b: Contribution | undefined): Contribution | undefined {
  let one = atDepth(a, depthOf(b));
  let other = atDepth(b, depthOf(a));
  while (one !== undefined && other !== undefined && one !== other) {
    const jumps = one.jump !== other.jump;
    one = jumps ? one.jump : one.before;
    other = jumps ? other.jump : other.before;
  }
  return one;
}

function atDepth(chain: Contribution | undefined, depth: number): Contribution | undefined {
  let one = chain;
  while (one !== undefined && one.depth > depth) one = depthOf(one.jump) >= depth ? one.jump : one.before;
  return one;
}

/** The last link that does not come after a contribution in plan order. */
function lastUpTo(chain: Contribution | undefined, written: Written): Contribution | undefined {
  let one = chain;
  while (one !== undefined && compareWritten(one.written, written) > 0) {
    const { jump } = one;
    one = jump !== undefined && compareWritten(jump.written, written) > 0 ? jump : one.before;
  }
  return one;
}
