/**
 * The one place that takes keys apart: `review~2/scan[a@b.ts]/ask#2~3@model#1`. Ids of nodes have letters, digits, `_`, `-` and `.` alone,
 * so `#` (visit of a node, round of a loop), `~` (attempt), `@` (what a step does besides its body) mean what they say. In brackets stands
 * the key of a map item, which may have anything but `/`, brackets and white space.
 */

/** What a key says. */
export interface Address {
  /** The step without attempts, its own and those of the steps around it: what people see. */
  readonly path: string;
  /** Which attempt of the step, from 1. */
  readonly attempt: number;
  /** What the step did besides its body: what follows the `@`. */
  readonly name: string | undefined;
}

/** A step, or one around it: what was tried, and which attempt this is. */
export interface Try {
  /** The key without the attempt. */
  readonly of: string;
  readonly attempt: number;
  /** Whether it is a loop of which this is inside. From `x#2/y` alone it can't be told: a round of `x`, or a call at its second visit. */
  readonly loop: 'yes' | 'no' | 'maybe';
}

/** The step of a key, with its attempt and those of the steps around it: what comes before the `@`. */
export function stepOf(key: string): string {
  let at = key.indexOf('@');
  let open = key.indexOf('[');
  while (at >= 0 && open >= 0 && open < at) {
    const close = closingBracket(key, open);
    if (close > at) at = key.indexOf('@', close);
    open = key.indexOf('[', close);
  }
  return at < 0 ? key : key.slice(0, at);
}

/**
 * Takes a key apart.
 *
 * @example
 * parseKey('call~2/send~3@tool#1'); // { path: 'call/send', attempt: 3, name: 'tool#1' }
 */
export function parseKey(key: string): Address {
  const step = stepOf(key);
  return {
    path: pathOf(step),
    attempt: triesOf(step).at(-1)?.attempt ?? 1,
    name: step.length === key.length ? undefined : key.slice(step.length + 1),
  };
}

/** A step without attempts. */
export function pathOf(step: string): string {
  return step.includes('~') ? step.replaceAll(BRACKETS_OR_ATTEMPT, (part) => (part.startsWith('[') ? part : '')) : step;
}

const BRACKETS_OR_ATTEMPT = /\[[^\]]*\]|~\d+/g;

/**
 * True when a path is that of a step, of one of its visits, or of a step inside of it.
 *
 * @example
 * isInside('scan[a.ts]/read', 'scan'); // true
 */
export function isInside(path: string, step: string): boolean {
  if (!path.startsWith(step)) return false;
  const next = path[step.length];
  return next === undefined || next === '/' || next === '[' || next === '#';
}

/** A step and those around it, outermost first; one that may be two things is there as both. */
export function triesOf(step: string): readonly Try[] {
  const tries: Try[] = [];
  let start = 0;
  for (let at = 0; at <= step.length; at++) {
    const char = step[at];
    if (char !== undefined && char !== '/' && char !== '[') continue;
    if (at > start) addTries(tries, step.slice(0, start), step.slice(start, at), char === '/');
    if (char === '[') at = closingBracket(step, at);
    start = at + 1;
  }
  return tries;
}

/** Id, visit or round, attempt, round. */
const SEGMENT = /^([^#~]*)(?:#(\d+))?(?:~(\d+))?(?:#(\d+))?/;

function addTries(tries: Try[], before: string, segment: string, inside: boolean): void {
  const [, id = '', number, attempt, round] = SEGMENT.exec(segment) ?? [];
  const first = before + id;
  const numbered = number === undefined ? first : `${first}#${number}`;
  if (number === undefined || attempt !== undefined || round !== undefined || !inside) {
    tries.push({ of: numbered, attempt: Number(attempt ?? 1), loop: round === undefined ? 'no' : 'yes' });
    return;
  }
  // Visits are counted from the second on, rounds from the first.
  if (number !== '1') tries.push({ of: numbered, attempt: 1, loop: 'no' });
  tries.push({ of: first, attempt: 1, loop: number === '1' ? 'yes' : 'maybe' });
}

function closingBracket(text: string, open: number): number {
  const close = text.indexOf(']', open);
  return close < 0 ? text.length : close;
}
