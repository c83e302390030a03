/** A JSON value. Everything that crosses a port, a journal or a process border is one of these. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface JsonObject {
  readonly [key: string]: Json;
}

/** Names that reach the prototype chain of ordinary objects: refused as ids, as names of channels and of inputs. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * True for objects made by `{}`, `Object.create(null)` or a JSON parser; false for arrays, class instances and primitives.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Copies plain data deeply: primitives are shared, plain objects and arrays are copied, anything else (a class instance, a function) is
 * shared. An own key named `__proto__` stays an ordinary own key of the copy.
 * Depth is limited to {@link MAX_DEPTH}.
 *
 * @throws RangeError if the value is nested deeper than {@link MAX_DEPTH}, or contains a cycle.
 */
export function cloneData<T>(value: T): T {
  return copy(value, 0) as T;
}

/** What a run reads of its options when it starts, as data. */
interface Given {
  inputs?: unknown;
  untrusted?: unknown;
  fork?: unknown;
}

/** Returns copies of the data in options, for a run that begins later. What can't be copied stays as it is; the run refuses it. */
export function asGiven<Options extends Given>(options: Options): Options {
  const kept = { ...options };
  for (const key of ['inputs', 'untrusted', 'fork'] as const) {
    if (kept[key] !== undefined) kept[key] = dataAsGiven(kept[key]);
  }
  return kept;
}

/** Returns a copy of data that is used later, or the same value if it can't be copied: it contains itself, or is nested too deeply. */
export function dataAsGiven<T>(value: T): T {
  try {
    return cloneData(value);
  } catch {
    return value;
  }
}

/** Deepest nesting that {@link cloneData} and {@link freezeData} follow. */
export const MAX_DEPTH = 1_000;

function copy(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) throw new RangeError(`value is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
  if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
  if (!isPlainObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(result, key, copy(value[key], depth + 1));
  return result;
}

/** Sets one own property, whatever its name: `__proto__` becomes an ordinary key. */
export function setOwn<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/**
 * Freezes plain data in place at every depth, and returns it (rule S1). Skips parts that are already frozen, so the cost depends only on
 * the size of new data. Leaves class instances and functions alone.
 *
 * @throws RangeError if the value is nested deeper than {@link MAX_DEPTH}.
 */
export function freezeData<T>(value: T): T {
  freeze(value, 0);
  return value;
}

function freeze(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  if (depth > MAX_DEPTH) throw new RangeError(`value is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    Object.freeze(value);
    for (let at = 0; at < value.length; at += 1) freeze(value[at], depth + 1);
  } else if (isPlainObject(value)) {
    Object.freeze(value);
    for (const key in value) freeze(value[key], depth + 1);
  }
}

/** Reads one own property; ignores inherited names (`constructor`, `toString`). */
export function ownValue(container: unknown, key: string): unknown {
  if (typeof container !== 'object' || container === null || !Object.hasOwn(container, key)) return undefined;
  return (container as Record<string, unknown>)[key];
}

/**
 * Returns the JSON text of a value to record. Unlike JSON.stringify, refuses values that would not survive the round trip; leaves out only
 * properties that are undefined.
 *
 * @throws TypeError that names the place, for functions, symbols, bigints, class instances, NaN, infinities, undefined in a list, and
 *   values nested deeper than {@link MAX_DEPTH}.
 */
export function recordText(value: unknown): string {
  checkRecordable(value, []);
  return JSON.stringify(value);
}

/** Returns a value as a reader of its record gets it: a copy. Throws as {@link recordText} does. */
export function asRecorded(value: unknown): Json {
  return JSON.parse(recordText(value)) as Json;
}

/** Parses a text as JSON, like {@link parseJson}. Undefined if it is not JSON, or nested too deeply. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON from outside. A whole number that would be rounded becomes a text with its digits: often it is an id, and the rounded one is
 * that of something else.
 *
 * @throws SyntaxError, also for a value nested deeper than {@link MAX_DEPTH_OUTSIDE}
 * @example
 * parseJson('{"id": 9007199254740993, "n": 3}'); // { id: '9007199254740993', n: 3 }
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (text.length > 2 * MAX_DEPTH_OUTSIDE && isDeeper(value, MAX_DEPTH_OUTSIDE))
    throw new SyntaxError(`values may be nested ${MAX_DEPTH_OUTSIDE} levels deep at most`);
  const kept = keepDigits(text);
  return kept === text ? value : (JSON.parse(kept) as unknown);
}

/** Returns a text of JSON in which whole numbers that would be rounded are texts. */
export function keepDigits(text: string): string {
  if (!MANY_DIGITS.test(text)) return text;
  return text.replaceAll(TEXT_OR_NUMBER, (part) => (isRounded(part) ? `"${part}"` : part));
}

/** Deepest nesting of JSON from outside. Less than {@link MAX_DEPTH}, so that a record can hold it as a part of other values. */
const MAX_DEPTH_OUTSIDE = MAX_DEPTH / 2;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((inner) => isDeeper(inner, levels - 1));
  // All answers and inputs are looked through: a list of values for each object would take half as long as parsing.
  for (const key in value) if (isDeeper((value as Readonly<Record<string, unknown>>)[key], levels - 1)) return true;
  return false;
}

/** Whether a text is a whole number in digits that a JavaScript number can't keep: it holds 15 digits of any, and some numbers of more. */
export function isRounded(text: string): boolean {
  if (!WHOLE_NUMBER.test(text)) return false;
  const number = Number(text);
  return !Number.isFinite(number) || (String(number) !== text && BigInt(number) !== BigInt(text));
}

const MANY_DIGITS = /\d{16}/;
const WHOLE_NUMBER = /^[-+]?\d{16,}$/;
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** `place`: the keys that lead to the value. */
function checkRecordable(value: unknown, place: (string | number)[]): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return;
    case 'number':
      if (!Number.isFinite(value)) throw notJson(place, String(value));
      return;
    case 'object':
      if (value !== null) checkContents(value, place);
      return;
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      throw notJson(place, value === undefined ? 'undefined' : `a ${typeof value}`);
  }
}

function checkContents(value: object, place: (string | number)[]): void {
  if (place.length > MAX_DEPTH) throw new TypeError(`it is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) checkAt(value[at], at, place);
    return;
  }
  if (!isPlainObject(value)) throw notJson(place, classText(value));
  if (typeof value['toJSON'] === 'function') throw notJson([...place, 'toJSON'], 'a function');
  for (const key of Object.keys(value)) {
    const inner = value[key];
    if (inner !== undefined) checkAt(inner, key, place);
  }
}

function checkAt(inner: unknown, key: string | number, place: (string | number)[]): void {
  place.push(key);
  checkRecordable(inner, place);
  place.pop();
}

/** Returns the error for a value that JSON can't keep. `place`: the keys that lead to it. */
export function notJson(place: readonly (string | number)[], what: string): TypeError {
  const path = place.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return new TypeError(`${path === '' ? 'it' : `the value at ${path}`} is ${what}, which is not JSON`);
}

/** Names the class of an object, which may have none: a generator, or an object without a prototype that has one. */
export function classText(value: object): string {
  const name: unknown = Reflect.get(Object(Reflect.get(value, 'constructor')) as object, 'name');
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an object of a class without a name';
}

/** A record whose possibly undefined keys are optional instead. */
export type Present<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes keys whose value is undefined, so that plan data is plain JSON and optional keys are absent. */
export function present<T extends object>(record: T): Present<T> {
  const result: Record<string, unknown> = {};
  for (const key in record) {
    const value = (record as Record<string, unknown>)[key];
    if (value !== undefined) setOwn(result, key, value);
  }
  return result as Present<T>;
}
