import { digestText } from './hash.js';
import { escapeKey, unescapeKey } from './item-key.js';

/**
 * Addresses of steps, and keys of their effects: the one place that formats and parses them.
 *
 * ```
 * review~2/scan[a@b.ts]/ask#2~3@model#1
 * ```
 *
 * A place on the path consists of the id of a node, the visit from the second on (`#2`), the attempt from the second on (`~3`), and the
 * part that contains the next place: a round of a loop (`#1`) or the item of a map (`[key]`). After `@` follows what the step does in
 * addition to its body. Ids consist of letters, digits, `_`, `-` and `.`, so the marks are unambiguous. Keys of items are literal except
 * for `]`, characters without width or that break a line, and `%` before two hex digits, which are escaped as in URLs.
 */

export interface Place {
  readonly id: string;
  /** Number of the node's execution, from 1. */
  readonly visit: number;
  /** Counts from 1. */
  readonly attempt: number;
  /** Round of a loop that contains the next place. */
  readonly round?: number;
  /** Key of the map item that contains the next place. */
  readonly item?: string;
}

export interface Address {
  /** Outermost first. */
  readonly places: readonly Place[];
  /** What the step does in addition to its body: the part after `@`. */
  readonly effect?: string;
}

/**
 * Parses an address; undefined for other text. `x#2/y` alone may mean the second round of `x` or its second visit: without `isLoop`, which
 * gets only ids, it is a visit unless it is `#1`.
 * `parseAddress('loop#2/b', (ids) => ids === 'loop')` gives `{ places: [{ id: 'loop', visit: 1, attempt: 1, round: 2 }, { id: 'b', ... }] }`.
 */
export function parseAddress(text: string, isLoop?: (ids: string) => boolean): Address | undefined {
  const places: Place[] = [];
  let ids = '';
  for (let at = 0; ; at += 1) {
    PLACE.lastIndex = at;
    const found = PLACE.exec(text);
    if (found === null) return undefined;
    at = PLACE.lastIndex;
    ids += ids === '' ? found[1] : `/${found[1]}`;
    const place = placeOf(found);
    const { id, visit, round, item } = place;
    const mayBeRound = text[at] === '/' && found[2] !== undefined && found[3] === undefined;
    const isRound = mayBeRound && round === undefined && item === undefined && (isLoop?.(ids) ?? visit === 1);
    places.push(isRound ? { id, visit: 1, attempt: 1, round: visit } : place);
    if (text[at] === '@') return { places, effect: text.slice(at + 1) };
    if (text[at] === undefined) return { places };
  }
}

function placeOf([, id = '', visit, attempt, round, item]: RegExpExecArray): Place {
  return {
    id,
    visit: Number(visit ?? 1),
    attempt: Number(attempt ?? 1),
    ...(round === undefined ? {} : { round: Number(round) }),
    ...(item === undefined ? {} : { item: unescapeKey(item) }),
  };
}

const PLACE = /([\w.-]+)(?:#([1-9]\d*))?(?:~([1-9]\d*))?(?:#([1-9]\d*)|\[([^\]]*)\])?(?=$|[/@])/y;

/**
 * The text of an address.
 * `formatAddress({ places: [{ id: 'scan', visit: 1, attempt: 2, item: 'a.ts' }, { id: 'read', visit: 1, attempt: 1 }] })` gives `'scan~2[a.ts]/read'`.
 */
export function formatAddress({ places, effect }: Address): string {
  let text = '';
  places.forEach(({ id, visit, attempt, round, item }, at) => {
    const step = attemptAddress(visitAddress(at === 0 ? '' : `${text}/`, id, visit), attempt);
    text = round !== undefined ? roundAddress(step, round) : item !== undefined ? itemAddress(step, item) : step;
  });
  return effect === undefined ? text : `${text}@${effect}`;
}

/**
 * The step that contains another one, without the round or item; empty at the top.
 * `parentOf('review/loop#3/critic', (ids) => ids === 'review/loop')` gives `'review/loop'`.
 */
export function parentOf(path: string, isLoop?: (ids: string) => boolean): string {
  const around = parseAddress(path, isLoop)?.places.slice(0, -1) ?? [];
  const last = around.pop();
  if (last === undefined) return '';
  const { id, visit, attempt } = last;
  return formatAddress({ places: [...around, { id, visit, attempt }] });
}

/** The address of a visit: with a number from the second visit on. `prefix` is empty or ends in a slash. */
export function visitAddress(prefix: string, id: string, visit: number): string {
  return visit > 1 ? `${prefix}${id}#${visit}` : prefix + id;
}

/** The address of an attempt: with a number from the second attempt on. */
export function attemptAddress(step: string, attempt: number): string {
  return attempt > 1 ? `${step}~${attempt}` : step;
}

export function roundAddress(step: string, round: number): string {
  return `${step}#${round}`;
}

export function itemAddress(step: string, key: string): string {
  return `${step}[${escapeKey(key)}]`;
}

/** The path of a step by ids of nodes alone: `nodePathOf('review~2/loop#3/critic')` gives `'review/loop/critic'`. */
export function nodePathOf(step: string): string {
  return step.replaceAll(ITEM_OR_NUMBER, '');
}

const ITEM_OR_NUMBER = /\[[^\]]*\]|[#~]\d+/g;

export function nodeIdOf(step: string): string {
  const ids = nodePathOf(step);
  return ids.slice(ids.lastIndexOf('/') + 1);
}

export function isInItem(step: string): boolean {
  return step.includes('[');
}

export interface Key {
  /** The step without attempts, its own and those of the steps around it: what people see. */
  readonly path: string;
  /** Number of the step's attempt, from 1. */
  readonly attempt: number;
  /** What the step did in addition to its body: the part after `@`. */
  readonly name: string | undefined;
}

/** A step, or one around it, with the number of its attempt. */
export interface Try {
  /** The key without the attempt. */
  readonly of: string;
  readonly attempt: number;
  /** Whether it is a loop around the step. `x#2/y` alone is ambiguous: a round of `x`, or a call at its second visit. */
  readonly loop: 'yes' | 'no' | 'maybe';
}

/** The step of a key, with its attempt and those of the steps around it: the part before `@`. */
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
 * The path of a key's step in events and reports: with the attempts of the steps around it, without its own.
 * `reportedPath('call~2/gate~3@ask:1')` gives `'call~2/gate'`.
 */
export function reportedPath(key: string): string {
  return stepOf(key).replace(OWN_ATTEMPT, '');
}

const OWN_ATTEMPT = /~\d+$/;

/** Parses a key. `parseKey('call~2/send~3@tool#1')` gives `{ path: 'call/send', attempt: 3, name: 'tool#1' }`. */
export function parseKey(key: string): Key {
  const step = stepOf(key);
  return {
    path: pathOf(step),
    attempt: triesOf(step).at(-1)?.attempt ?? 1,
    name: step.length === key.length ? undefined : key.slice(step.length + 1),
  };
}

/**
 * The step or effect that asks the question with this key; undefined for other keys.
 * `askerOf('a@tool#1.2.ask:size')` gives `'a@tool#1.2'`. `askerOf('t@ask:1')` gives `'t'`.
 */
export function askerOf(key: string): string | undefined {
  const step = stepOf(key);
  const name = key.slice(step.length);
  if (name.startsWith('@ask:')) return step;
  const at = name.indexOf('.ask:');
  return at < 0 ? undefined : step + name.slice(0, at);
}

/** Returns a step without attempts. */
export function pathOf(step: string): string {
  return step.includes('~') ? step.replaceAll(BRACKETS_OR_ATTEMPT, (part) => (part.startsWith('[') ? part : '')) : step;
}

const BRACKETS_OR_ATTEMPT = /\[[^\]]*\]|~\d+/g;

/** True if a path is that of a step, of one of its visits, or of a step inside it. */
export function isInside(path: string, step: string): boolean {
  if (!path.startsWith(step)) return false;
  const next = path[step.length];
  return next === undefined || next === '/' || next === '[' || next === '#';
}

/** Returns a step and those around it, outermost first; an ambiguous one appears as both. */
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
  // Visits are numbered from the second on, rounds from the first.
  if (number !== '1') tries.push({ of: numbered, attempt: 1, loop: 'no' });
  tries.push({ of: first, attempt: 1, loop: number === '1' ? 'yes' : 'maybe' });
}

function closingBracket(text: string, open: number): number {
  const close = text.indexOf(']', open);
  return close < 0 ? text.length : close;
}

/** The places of a step as text, outermost first. */
export function segmentsOf(step: string): readonly string[] {
  return step.match(SEGMENTS) ?? [];
}

const SEGMENTS = /(?:\[[^\]]*\]|[^/[])+/g;

const DELIVERED = /^@event\/(.*)\/\d+$/s;

/** Key of an event that arrived before any step waited for it; keys of steps never begin like this. */
export function deliveredKey(name: string, number: number): string {
  return `@event/${name}/${number}`;
}

/** The event's name in such a key. */
export function deliveredName(key: string): string | undefined {
  return DELIVERED.exec(key)?.[1];
}

const BUDGET = /^@budget\/(\d+)$/;

/** Key of a change to a run's budget, which is stored beside the run's records; keys of steps never begin like this. */
export function budgetKey(number: number): string {
  return `@budget/${number}`;
}

/** The number in such a key. */
export function budgetNumber(key: string): number | undefined {
  const found = BUDGET.exec(key)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Key of the note of a session that takes no more answers; keys of steps never begin like this. */
export function leavingKey(fence: number): string {
  return `@leaving/${fence}`;
}

/** Name of a model call in a turn of an agent, or of a judge of a step. `call` counts from 1. */
export function modelCallName(turn: number, call: number, judging: string | undefined): string {
  const name = judging ?? `model#${turn}`;
  return call === 1 ? name : `${name}.${call}`;
}

const MODEL_CALL = /^(?:model#|(commit|post|supervise)(?:\.\d+)?$|(screen|review)#[\d.]+\+?(?:\.\d+)?$)/;

/** Name of a model call that examines a tool call: `screen#1.2`. `again`: after its arguments changed. */
export function stageName(stage: string, call: string, again: boolean): string {
  return `${stage}#${call}${again ? '+' : ''}`;
}

/** Parses the name of a model call's effect; `phase` is set if the call judges a step. Undefined for other names. */
export function asModelCall(name: string): { readonly phase: string | undefined } | undefined {
  const found = MODEL_CALL.exec(name);
  return found === null ? undefined : { phase: found[1] ?? found[2] };
}

/** Key of an effect inside an effect or step: `t@outcome`, `a@tool#1.1.outcome`. */
export function innerKey(effect: string, name: string): string {
  return `${effect}${stepOf(effect) === effect ? '@' : '.'}${name}`;
}

/** Key of a question that an effect asks: `t@ask:sure`, `a@tool#1.1.ask:sure`. */
export function askKey(effect: string, name: string): string {
  return innerKey(effect, `ask:${name}`);
}

/** Whether a question is the guard's. Only a person answers it, in this run: never a flag, a script, or the run that was forked. */
export function isGuardQuestion(key: string): boolean {
  return /^(?:.*[.:])?guard#[\d.]+$/.test(parseKey(key).name ?? '');
}

const MORE = /[.@]ask:budget:(.+):(\w+)$/;

/** Name of the question about raising a limit of a measure. */
export function moreName(limit: string, measure: string): string {
  return `budget:${limit}:${measure}`;
}

/** The limit and the measure of such a question, from its key; undefined for other keys. */
export function moreOf(key: string): readonly [limit: string, measure: string] | undefined {
  // Fast path, because every key of a record is tested: the pattern takes longer to fail.
  if (!key.includes('ask:budget:')) return undefined;
  const [, limit, measure] = MORE.exec(key) ?? [];
  return limit === undefined || measure === undefined ? undefined : [limit, measure];
}

/**
 * An idempotency key as other programs and hosts receive it: 22 letters, digits, `-` and `_`, which any receiver accepts. It is a digest,
 * since a key contains names of items, which may be private.
 */
export function sentKey(key: string): string {
  return digestText(key);
}
