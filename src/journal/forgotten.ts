import { nodePathOf, pathOf, segmentsOf } from '../base/address.js';
import { addTo } from '../base/collections.js';

/**
 * Returns a function that tells which steps a fork forgets. An entry is one of
 *
 * - a path: the step, all its visits unless the path names one, and everything inside;
 * - a path that ends with `+`: `b#2+` is that visit and all later ones, `loop#1#3+` the third round of the first visit of a loop and
 *   everything after it there, `loop#1#0+` that visit from its start. In front, `scan+/` stands for any execution of a node.
 *
 * `forgetting(['b#2+'])('b#3/inner')` returns `true`.
 */
export function forgetting(entries: readonly string[]): (step: string) => boolean {
  if (entries.length === 0) return () => false;
  const paths = new Set<string>();
  const ranges = new Map<string, Range[]>();
  for (const entry of entries) {
    const range = entry.endsWith('+') ? rangeOf(entry) : undefined;
    if (range === undefined) paths.add(pathOf(entry));
    else addTo(ranges, range.node, range);
  }
  return (step) => {
    const segments = segmentsOf(pathOf(step));
    let before = '';
    let node = '';
    for (const [at, segment] of segments.entries()) {
      for (const part of partsOf(segment)) if (paths.has(before + part)) return true;
      node += nodePathOf(segment);
      if (ranges.get(node)?.some((range) => covers(range, segments, at)) === true) return true;
      before += `${segment}/`;
      node += '/';
    }
    return false;
  };
}

/** The executions of a node from a given one on. */
interface Range {
  /** Path of ids only. */
  readonly node: string;
  /** The surrounding places as text; those with a `+` as id only. */
  readonly scope: readonly string[];
  readonly visit: number;
  /** The round of a loop; 0 is the step itself. */
  readonly round?: number;
}

const RANGE = /^([\w.-]+)(?:#(\d+))?(?:#(\d+))?\+$/;

function rangeOf(entry: string): Range | undefined {
  const segments = segmentsOf(entry);
  const [, id, visit, round] = RANGE.exec(segments.at(-1) ?? '') ?? [];
  if (id === undefined) return undefined;
  const scope = segments.slice(0, -1);
  return {
    node: [...scope.map((segment) => nodePathOf(segment).replace('+', '')), id].join('/'),
    scope,
    visit: Number(visit ?? 1),
    ...(round === undefined ? {} : { round: Number(round) }),
  };
}

function covers({ scope, visit, round }: Range, segments: readonly string[], at: number): boolean {
  const isAround = scope.every((place, i) => place === segments[i] || place === `${nodePathOf(segments[i] ?? '')}+`);
  if (!isAround) return false;
  const [, first, second] = NUMBERS.exec(segments[at] ?? '') ?? [];
  if (round === undefined) return Number(first ?? 1) >= visit;
  // A node inside a loop belongs to one of its rounds: a single number is that of the round.
  const isInside = at < segments.length - 1 || second !== undefined;
  const [ofVisit, ofRound] = isInside && second === undefined ? [1, first] : [first ?? 1, second ?? 0];
  return Number(ofVisit) > visit || (Number(ofVisit) === visit && Number(ofRound ?? 0) >= round);
}

const NUMBERS = /^[\w.-]+(?:#(\d+))?(?:#(\d+))?/;

/** Returns the forms of a place, such as `loop#2#1`, `loop#2` and `loop`: in full, and without each part behind its id. */
function partsOf(segment: string): readonly string[] {
  const parts = [segment];
  const open = segment.indexOf('[');
  const numbered = open < 0 ? segment : segment.slice(0, open);
  for (let at = numbered.length; at > 0; at = numbered.lastIndexOf('#', at - 1)) parts.push(numbered.slice(0, at));
  return parts;
}
