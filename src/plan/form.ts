import { isPlainObject } from '../base/json.js';

/** Reports what is wrong with a value at a path. `bound` is given where the type is right and only the size is not: what to give instead. */
export type Report = (path: string, message: string, bound?: string) => void;
type Check = (value: unknown, path: string, report: Report) => void;

/** What a value of the type `T` looks like, as a check of plan data. A form fits its own type alone: neither a wider nor a narrower one. */
export interface Form<T> extends Check {
  /** Never there when the program runs. */
  readonly of?: (value: T) => T;
}

/** The name of a key in a table: of one that may be absent it ends with `?`. */
export type KeyOf<T, K extends keyof T & string> = Partial<Pick<T, K>> extends Pick<T, K> ? `${K}?` : K;

/** A form for each key of an object. What is missing here, or too much, does not compile. */
export type Keys<T> = { readonly [K in keyof T & string as KeyOf<T, K>]-?: Form<Exclude<T[K], undefined>> };

/** A form from a test, and the words for what is wanted. */
export function is<T>(test: (value: unknown) => boolean, what: string): Form<T> {
  return (value, path, report) => {
    if (!test(value)) report(path, `must be ${what}`);
  };
}

/** Any text. */
export const TEXT = is<string>((value) => typeof value === 'string', 'text');

/** Any number. */
export const NUMBER = is<number>((value) => typeof value === 'number', 'a number');

/** A whole number within bounds. */
export function integer(least: number, most = Number.MAX_SAFE_INTEGER): Form<number> {
  return bounded(Number.isSafeInteger, 'a whole number', least, most);
}

/** A number within bounds. */
export function number(least: number, most = Number.MAX_SAFE_INTEGER): Form<number> {
  return bounded(Number.isFinite, 'a number', least, most);
}

function bounded(isOne: (value: number) => boolean, kind: string, least: number, most: number): Form<number> {
  const wanted = `${kind} ${most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`}`;
  return (value, path, report) => {
    if (typeof value !== 'number') report(path, 'must be a number');
    else if (!isOne(value) || value < least || value > most)
      report(path, `is ${value}, not ${wanted}`, `give ${wanted}`);
  };
}

/** `true` or `false`. */
export function flag<T extends boolean = boolean>(): Form<T> {
  return is((value) => typeof value === 'boolean', 'true or false');
}

/** Any value. */
export function any<T>(): Form<T> {
  return () => {};
}

/** An object that is looked into elsewhere. */
export function someObject<T>(): Form<T> {
  return is(isPlainObject, 'an object');
}

/** One of some words, or of some numbers. */
export function word<const W extends string | number>(...words: readonly W[]): Form<W> {
  const known: readonly unknown[] = words;
  return is((value) => known.includes(value), `one of ${words.map((each) => JSON.stringify(each)).join(', ')}`);
}

/** One of some words, or what is no text. */
export function wordOr<const W extends string, T>(words: readonly W[], form: Form<T>): Form<W | T> {
  const one = word(...words);
  return (value, path, report) => {
    if (typeof value === 'string') one(value, path, report);
    else form(value, path, report);
  };
}

/** A list. */
export function list<T>(item: Form<T>): Form<readonly T[]> {
  return (value, path, report) => {
    if (!Array.isArray(value)) report(path, 'must be a list');
    else value.forEach((each, at) => item(each, `${path}[${at}]`, report));
  };
}

/** An object with names of the user's choice. */
export function names<T>(item: Form<T>): Form<Readonly<Record<string, T>>> {
  return (value, path, report) => {
    if (!isPlainObject(value)) report(path, 'must be an object');
    else for (const key of Object.keys(value)) item(value[key], `${path}.${key}`, report);
  };
}

/** An object with known keys. Other keys are left alone. */
export function object<T extends object>(keys: Keys<T>): Form<T> {
  const fields = Object.entries<Check>(keys).map(([key, form]) => ({ ...keyName(key), form }));
  return (value, path, report) => {
    if (!isPlainObject(value)) {
      report(path, 'must be an object');
      return;
    }
    for (const { name, optional, form } of fields) {
      const field = ownValue(value, name);
      if (field === undefined && optional) continue;
      const at = path === '' ? name : `${path}.${name}`;
      if (field === undefined) report(at, 'is missing');
      else form(field, at, report);
    }
  };
}

/** The name of a key in a table, without the mark that it may be absent. */
export function keyName(key: string): { readonly name: string; readonly optional: boolean } {
  return { name: key.replace(/\?$/, ''), optional: key.endsWith('?') };
}

/** One form for an object that has a key, another for everything else. */
export function withKey<A, B>(key: string, form: Form<A>, other: Form<B>): Form<A | B> {
  return (value, path, report) => {
    if (isPlainObject(value) && Object.hasOwn(value, key)) form(value, path, report);
    else other(value, path, report);
  };
}

/** An object whose form follows from one of its keys. */
export function variants<T>(key: string, forms: ReadonlyMap<unknown, Check>): Form<T> {
  return (value, path, report) => {
    if (!isPlainObject(value)) {
      report(path, 'must be an object');
      return;
    }
    const form = forms.get(ownValue(value, key));
    if (form === undefined) report(`${path}.${key}`, `must be one of ${[...forms.keys()].map(String).join(', ')}`);
    else form(value, path, report);
  };
}

function ownValue(value: Readonly<Record<string, unknown>>, key: string): unknown {
  // Most keys that a form knows are absent, and reading one is cheaper than asking whose it is.
  const found = value[key];
  return found !== undefined && Object.hasOwn(value, key) ? found : undefined;
}
