import { madeOnce } from '../../base/collections.js';
import { handsOnTo, madeFrom } from '../../plan/made-of.js';

/** Earlier answers by function. */
const known = new WeakMap<object, boolean>();

/**
 * Whether a function passes on the whole state, to be printed, cloned or taken apart: it then gets plain data. All others only read
 * properties by name, and can't tell a view from plain data. Judged from the source: a false positive only costs time.
 */
export function givesStateAway(fn: unknown): boolean {
  if (typeof fn !== 'function' || fn.length === 0) return false;
  if (madeFrom(fn) !== undefined) return handsOnTo(fn).some(givesStateAway);
  return madeOnce(known, fn, () => findsUse(Function.prototype.toString.call(fn)));
}

/** Matches `({ state, nodeCount }) =>`, and nothing less plain. */
const PLAIN_PATTERN = /^\(\s*\{([^{}()]*)\}\s*\)\s*=>/;

/** Whether a function, or one it is made from, passes on one whole property of its argument. Counts as true in doubt. */
export function givesPropertyAway(fn: unknown, property: string): boolean {
  if (typeof fn !== 'function') return false;
  const parts = madeFrom(fn);
  if (parts !== undefined) return parts.some((part) => givesPropertyAway(part, property));
  const source = Function.prototype.toString.call(fn);
  const [head, names = ''] = PLAIN_PATTERN.exec(source) ?? [];
  if (head === undefined) return true;
  const listed = names.split(',').map((name) => name.trim());
  if (listed.some((name) => !/^[\w$]*$/.test(name))) return true;
  return listed.includes(property) && isUsed(property, source.slice(head.length));
}

const BARE = /^(?:async\s+)?([A-Za-z_$][\w$]*)\s*=>/;
const LISTED = /^(?:async\b\s*)?(?:function\b\s*\*?\s*)?(?:[\w$]+\s*)?\(\s*([A-Za-z_$][\w$]*|\{)/;

function findsUse(source: string): boolean {
  if (/\barguments\b/.test(source)) return true;
  const head = BARE.exec(source) ?? LISTED.exec(source);
  const [read = '', name] = head ?? [];
  if (name === undefined) return true;
  return name === '{' ? takesRest(source.slice(read.length)) : isUsed(name, source.slice(read.length));
}

/** Whether a pattern has `...rest`; its first brace is already consumed. */
function takesRest(pattern: string): boolean {
  let depth = 1;
  for (let at = 0; at < pattern.length && depth > 0; at++) {
    const char = pattern.charAt(at);
    if (depth === 1 && pattern.startsWith('...', at)) return true;
    if ('{[('.includes(char)) depth += 1;
    else if ('}])'.includes(char)) depth -= 1;
  }
  return false;
}

/** Whether a name occurs without a property after it. Excludes names that are properties, and tests for a key. */
function isUsed(name: string, body: string): boolean {
  const escaped = name.replaceAll('$', String.raw`\$`);
  const alone = String.raw`(?<![\w$])(?<!(?<!\.\.)\.)(?<!Object\.hasOwn\(\s*|['"]\s*in\s+)${escaped}(?![\w$])(?!\s*(?:\?\.|\.|\[))`;
  return new RegExp(alone).test(body);
}
