import { lazily, madeOnce } from '../base/collections.js';
import { isPlainObject, ownValue } from '../base/json.js';
import { meantOrKnown } from '../base/suggest.js';

/** A problem of a value, or of a part of it. */
export interface Misfit {
  /** Path inside the value: `.nodes[3].id`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
  /** Set if the type is right and only the size is wrong: the accepted range. */
  readonly bound?: string;
  readonly hint?: string;
}

/** All problems of a value; undefined if there are none. */
export type Misfits = readonly Misfit[] | undefined;

/** Paths are built on the way back, so a valid value costs none. */
type Check = (value: unknown) => Misfits;

/** The form of a value of type `T`, as a check of plan data. A form fits exactly its own type, neither wider nor narrower. */
export interface Form<T> extends Check {
  /** Never set at run time. */
  readonly of?: (value: T) => T;
}

/** The name of a key in a table: an optional key ends with `?`. */
export type KeyOf<T, K extends keyof T & string> = Partial<Pick<T, K>> extends Pick<T, K> ? `${K}?` : K;

/** A form for each key of an object. A missing or superfluous key does not compile. */
export type Keys<T> = { readonly [K in keyof T & string as KeyOf<T, K>]-?: Form<Exclude<T[K], undefined>> };

/** Makes a form from a test and a description of the expected value. */
export function is<T>(test: (value: unknown) => boolean, what: string): Form<T> {
  const misfits = misfit(`must be ${what}`);
  return (value) => (test(value) ? undefined : misfits);
}

/** Returns a problem of the value itself. */
export function misfit(message: string, bound?: string): readonly Misfit[] {
  return [{ path: '', message, ...(bound !== undefined && { bound }) }];
}

/** Adds the problems of a part of a value: an item by its index, a property by its key. */
export function withPart(found: Misfit[] | undefined, key: string | number, misfits: Misfits): Misfit[] | undefined {
  if (misfits === undefined) return found;
  const part = typeof key === 'number' ? `[${key}]` : `.${key}`;
  const all = found ?? [];
  for (const each of misfits) all.push({ ...each, path: part + each.path });
  return all;
}

export const TEXT = is<string>((value) => typeof value === 'string', 'text');

export const NUMBER = is<number>((value) => typeof value === 'number', 'a number');

export function integer(least: number, most = Number.MAX_SAFE_INTEGER): Form<number> {
  return bounded(Number.isSafeInteger, 'a whole number', least, most);
}

export function number(least: number, most = Number.MAX_SAFE_INTEGER): Form<number> {
  return bounded(Number.isFinite, 'a number', least, most);
}

function bounded(isOne: (value: number) => boolean, kind: string, least: number, most: number): Form<number> {
  const wanted = `${kind} ${most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`}`;
  return (value) => {
    if (typeof value !== 'number') return misfit('must be a number');
    const fits = isOne(value) && value >= least && value <= most;
    return fits ? undefined : misfit(`is ${value}, not ${wanted}`, `give ${wanted}`);
  };
}

export function flag<T extends boolean = boolean>(): Form<T> {
  return is((value) => typeof value === 'boolean', 'true or false');
}

export function any<T>(): Form<T> {
  return () => undefined;
}

/** An object that is checked elsewhere. */
export function someObject<T>(): Form<T> {
  return is(isPlainObject, 'an object');
}

export function word<const W extends string | number>(...words: readonly W[]): Form<W> {
  const known: readonly unknown[] = words;
  return is((value) => known.includes(value), `one of ${words.map((each) => JSON.stringify(each)).join(', ')}`);
}

/** One of some words; values other than text must match the other form. */
export function wordOr<const W extends string, T>(words: readonly W[], form: Form<T>): Form<W | T> {
  const one = word(...words);
  return (value) => (typeof value === 'string' ? one(value) : form(value));
}

export function list<T>(item: Form<T>): Form<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return misfit('must be a list');
    let found: Misfit[] | undefined;
    for (let at = 0; at < value.length; at += 1) found = withPart(found, at, item(value[at]));
    return found;
  };
}

/** An object with keys chosen by the user. */
export function names<T>(item: Form<T>): Form<Readonly<Record<string, T>>> {
  return (value) => {
    if (!isPlainObject(value)) return misfit('must be an object');
    let found: Misfit[] | undefined;
    for (const key of Object.keys(value)) found = withPart(found, key, item(value[key]));
    return found;
  };
}

/** An object of options that people write. Other keys are refused: a misspelt option would be none. */
export function options<T extends object>(keys: Keys<T>): Form<T> {
  const form = object(keys);
  const known = lazily(() => Object.keys(keys).map((key) => keyName(key).name));
  return (value) => {
    const strange = isPlainObject(value) ? Object.keys(value).find((key) => !known().includes(key)) : undefined;
    if (strange === undefined) return form(value);
    const hint = meantOrKnown(strange, known(), 'options');
    return [{ path: '', message: `has no option ${JSON.stringify(strange)}`, hint }, ...(form(value) ?? [])];
  };
}

/** An object with known keys. Other keys are ignored. */
export function object<T extends object>(keys: Keys<T>): Form<T> {
  // An import makes all forms, and checks nothing.
  const table = lazily(() => tableOf(keys));
  return (value) => {
    if (!isPlainObject(value)) return misfit('must be an object');
    const { fields, needed } = table();
    let wrong: [string, Misfits][] | undefined;
    let given = 0;
    // Most known keys are absent, so only existing keys are visited. Such objects inherit no enumerable keys.
    for (const key in value) {
      const field = fields.get(key);
      const part = value[key];
      if (field === undefined || part === undefined) continue;
      if (!field.optional) given += 1;
      const misfits = field.form(part);
      if (misfits !== undefined) (wrong ??= []).push([key, misfits]);
    }
    if (given < needed.length)
      for (const { name } of needed)
        if (ownValue(value, name) === undefined) (wrong ??= []).push([name, misfit('is missing')]);
    return wrong && inOrder(wrong, fields.keys());
  };
}

interface Field {
  readonly name: string;
  readonly optional: boolean;
  readonly form: Check;
}

function tableOf(keys: Readonly<Record<string, Check>>): {
  readonly fields: ReadonlyMap<string, Field>;
  readonly needed: readonly Field[];
} {
  const fields = Object.entries(keys).map(([key, form]) => ({ ...keyName(key), form }));
  return {
    fields: new Map(fields.map((field) => [field.name, field])),
    needed: fields.filter(({ optional }) => !optional),
  };
}

/** Returns the problems of an object's parts, in the order of the known keys. */
function inOrder(wrong: readonly [string, Misfits][], known: Iterable<string>): Misfits {
  const byName = new Map(wrong);
  let found: Misfit[] | undefined;
  for (const name of known) found = withPart(found, name, byName.get(name));
  return found;
}

export function keyName(key: string): { readonly name: string; readonly optional: boolean } {
  return { name: key.replace(/\?$/, ''), optional: key.endsWith('?') };
}

/** One form for objects that have a key, another for everything else. */
export function withKey<A, B>(key: string, form: Form<A>, other: Form<B>): Form<A | B> {
  return (value) => (isPlainObject(value) && Object.hasOwn(value, key) ? form(value) : other(value));
}

/** An object whose form depends on one of its keys. The form of each of its values is made when the first object has that value. */
export function variants<T, K extends string>(key: string, values: readonly K[], formOf: (value: K) => Check): Form<T> {
  const forms = new Map<K, Check>();
  return (whole) => {
    if (!isPlainObject(whole)) return misfit('must be an object');
    const given = ownValue(whole, key);
    const known = values.find((value) => value === given);
    if (known !== undefined) return madeOnce(forms, known, () => formOf(known))(whole);
    return withPart(undefined, key, misfit(`must be one of ${values.join(', ')}`));
  };
}
