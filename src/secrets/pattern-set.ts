import { isCutAt } from './cuts.js';

interface State {
  /** The character that leads on from here, and where to. Almost every state has only one: a map in each would take most of the memory. */
  code: number;
  next: State | undefined;
  /** Where the other characters lead that lead on from here. */
  others: Map<number, State> | undefined;
  /** Number of characters that lead here. */
  readonly depth: number;
  /** The state of the longest proper suffix of this path that begins a pattern. */
  fallback: State | undefined;
  /** Length of the longest pattern that ends here; 0 for none. */
  longest: number;
  /** What a path must measure to be hidden where the text is cut: half of the shortest pattern that continues it. */
  least: number;
  /** Patterns whose end leads here. */
  ends: readonly string[];
}

/** No fewer characters of a pattern are recognised as a part of it. */
const LEAST_PART = 8;
/** That many characters are, however long the pattern is. */
const MOST_NEEDED = 16;
/** The end of a pattern can stand anywhere, so a shorter one could be an ordinary word. */
const LEAST_END = 12;

export interface Replaced {
  readonly text: string;
  /** The suffix to prepend to the next piece, because it may begin a pattern. */
  readonly held: Held;
}

export interface Held {
  readonly text: string;
  /** Number of its first characters that belong to a pattern already replaced. */
  readonly hidden: number;
}

export const NOTHING_HELD: Held = { text: '', hidden: 0 };

/**
 * Finds all patterns of a set at once (Aho and Corasick), in time linear in the text, whatever the patterns share.
 *
 * @example
 * new PatternSet(new Set(['abc', 'bcd'])).replace('xabcdx', '*', true).text; // 'x*x'
 */
export class PatternSet {
  private readonly root: State = stateAt(0);

  /** Parts of the patterns in `whole` are not looked for. */
  constructor(patterns: ReadonlySet<string>, whole: ReadonlySet<string> = new Set()) {
    for (const pattern of patterns) this.add(pattern, !whole.has(pattern));
    this.link();
  }

  /**
   * Replaces each stretch of overlapping patterns with `word`, and what is left of a pattern that was cut: most of its beginning at a cut,
   * its last characters anywhere. Holds back a suffix that may begin a pattern, unless `final`.
   */
  replace(piece: string, word: string, final: boolean, held: Held = NOTHING_HELD): Replaced {
    const text = held.text + piece;
    const found: Stretch[] = held.hidden === 0 ? [] : [{ start: SAID, end: held.hidden }];
    let state = this.root;
    for (let at = 0; at < text.length; at += 1) {
      state = this.step(state, text.charCodeAt(at));
      const end = at + 1;
      if (state.longest > 0) cover(found, { start: end - state.longest, end });
      for (const pattern of state.ends) cover(found, { start: startOfEnd(pattern, text, end, found), end });
      if (state.depth >= state.least && (end < text.length ? isCutAt(text, end) : final))
        cover(found, { start: end - state.depth, end });
    }
    if (final) return { text: without(text, found, word), held: NOTHING_HELD };
    // A state without successors does not begin a longer pattern, but its suffix may.
    while (state.next === undefined && state.fallback !== undefined) state = state.fallback;
    const cut = text.length - state.depth;
    const across = found.find(({ start, end }) => start < cut && end > cut);
    const hidden = across === undefined ? 0 : across.end - cut;
    return { text: without(text.slice(0, cut), found, word), held: { text: text.slice(cut), hidden } };
  }

  private step(from: State, code: number): State {
    let state = from;
    for (;;) {
      const next = nextOf(state, code);
      if (next !== undefined) return next;
      if (state.fallback === undefined) return state;
      state = state.fallback;
    }
  }

  private add(pattern: string, inParts: boolean): void {
    const half = Math.ceil(pattern.length / 2);
    const least = inParts ? Math.max(LEAST_PART, Math.min(MOST_NEEDED, half)) : Infinity;
    const state = this.path(pattern, least);
    state.longest = state.depth;
    const needed = Math.max(LEAST_END, Math.min(MOST_NEEDED, half));
    if (!inParts || pattern.length < MOST_NEEDED) return;
    const end = this.path(pattern.slice(-needed), Infinity);
    end.ends = [...end.ends, pattern];
  }

  private path(word: string, least: number): State {
    let state = this.root;
    for (let at = 0; at < word.length; at += 1) {
      const code = word.charCodeAt(at);
      state = nextOf(state, code) ?? leadOn(state, code);
      state.least = Math.min(state.least, least);
    }
    return state;
  }

  /** Breadth first, so that a fallback, which is less deep, is complete before it is used. */
  private link(): void {
    const queue = [this.root];
    for (const state of queue) {
      for (const [code, next] of successorsOf(state)) {
        next.fallback = state.fallback === undefined ? this.root : this.step(state.fallback, code);
        next.longest = Math.max(next.longest, next.fallback.longest);
        if (next.fallback.ends.length > 0) next.ends = [...next.ends, ...next.fallback.ends];
        queue.push(next);
      }
    }
  }
}

const NONE: readonly string[] = [];

function stateAt(depth: number): State {
  return {
    code: -1,
    next: undefined,
    others: undefined,
    depth,
    fallback: undefined,
    longest: 0,
    least: Infinity,
    ends: NONE,
  };
}

function nextOf({ code: first, next, others }: State, code: number): State | undefined {
  return code === first ? next : others?.get(code);
}

function leadOn(state: State, code: number): State {
  const next = stateAt(state.depth + 1);
  if (state.next === undefined) {
    state.code = code;
    state.next = next;
  } else (state.others ??= new Map()).set(code, next);
  return next;
}

function successorsOf({ code, next, others }: State): Iterable<readonly [number, State]> {
  return next === undefined ? [] : [[code, next], ...(others ?? [])];
}

/** Where the last characters of a pattern begin that end at a place. What was found right before is not compared again. */
function startOfEnd(pattern: string, text: string, end: number, found: readonly Stretch[]): number {
  const before = found.at(-1)?.end ?? 0;
  let length = 0;
  while (
    length < pattern.length &&
    end - length >= Math.max(before, 1) &&
    text.charCodeAt(end - length - 1) === pattern.charCodeAt(pattern.length - length - 1)
  )
    length += 1;
  return end - length;
}

/** Start of a stretch that was replaced in the previous piece. */
const SAID = -1;

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Adds a stretch, and merges it with overlapping ones at the end of the list. */
function cover(found: Stretch[], added: Stretch): void {
  let { start, end } = added;
  for (let before = found.at(-1); before !== undefined && before.end > start; before = found.at(-1)) {
    start = Math.min(start, before.start);
    end = Math.max(end, before.end);
    found.pop();
  }
  found.push({ start, end });
}

function without(text: string, found: readonly Stretch[], word: string): string {
  if (found.length === 0) return text;
  let result = '';
  let copied = 0;
  for (const { start, end } of found) {
    if (start >= text.length) break;
    if (start !== SAID) result += text.slice(copied, start) + word;
    copied = Math.min(end, text.length);
  }
  return result + text.slice(copied);
}
