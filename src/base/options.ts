import { madeOnce } from './collections.js';
import { SkeinError } from './errors.js';
import { didYouMean } from './suggest.js';

/** The kinds of values that options have, in the words of messages. */
const KINDS = {
  text: (value: unknown) => typeof value === 'string',
  'a number': (value: unknown) => typeof value === 'number',
  'true or false': (value: unknown) => typeof value === 'boolean',
  null: (value: unknown) => value === null,
  'a list of texts': (value: unknown) => isListOf(value, (item) => typeof item === 'string'),
  'a list of lists': (value: unknown) => isListOf(value, Array.isArray),
  'a list': (value: unknown) => isListOf(value, (item) => item !== undefined && item !== null),
  'a function': (value: unknown) => typeof value === 'function',
  'an object': (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

type KindOf<T> = T extends null
  ? 'null'
  : T extends string
    ? 'text'
    : T extends number
      ? 'a number'
      : T extends boolean
        ? 'true or false'
        : T extends readonly (infer Item)[]
          ? ListOf<Item>
          : T extends (...given: never) => unknown
            ? 'a function'
            : 'an object';

type ListOf<Item> = [Item] extends [string]
  ? 'a list of texts'
  : [Item] extends [readonly unknown[]]
    ? 'a list of lists'
    : 'a list';

/** The kinds in any order: `text, or a list`. */
type Said<Kind extends string, Each = Kind> = Each extends Kind
  ? [Exclude<Kind, Each>] extends [never]
    ? Each
    : `${Each}, or ${Said<Exclude<Kind, Each>>}`
  : never;

type FormOf<T> = 'any' | (unknown extends T ? never : Said<KindOf<Exclude<T, undefined>>>);

type ValueOf<Options, Name> = Options extends unknown ? (Name extends keyof Options ? Options[Name] : never) : never;

/** The names of all options, also of those that only some forms have. */
type NameOf<Options> = Options extends unknown ? keyof Options : never;

/** The kinds of values that each option takes: `text, or a list`. `any`: another check decides, and says more about it. */
export type OptionForms<Options> = { readonly [Name in NameOf<Options>]: FormOf<ValueOf<Options, Name>> };

/**
 * Refuses what is not an object of options, an option that does not exist, and one of another kind than its type says: untyped code, and
 * values from elsewhere, are not checked by a compiler.
 *
 * @param what whose options they are: the function that takes them
 * @throws SkeinError `SKEIN_USAGE`
 */
export function checkOptions<Options>(what: string, given: unknown, forms: OptionForms<Options>): void {
  const names = Object.keys(forms);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new SkeinError('SKEIN_USAGE', `${what} takes its options as an object`, {
      hint: `options are: ${names.join(', ')}`,
    });
  refuseUnknown(what, given, names);
  checkKinds(what, given, forms);
}

/**
 * Refuses an object with a key that means nothing: whoever misspells an option would never know.
 *
 * @param what whose options they are, such as `a run`
 * @throws SkeinError `SKEIN_USAGE`
 */
export function refuseUnknown(what: string, given: object, names: readonly string[]): void {
  const strange = Object.keys(given).find((name) => !names.includes(name));
  if (strange === undefined) return;
  const hint = didYouMean(strange, names) ?? `options are: ${names.join(', ')}`;
  throw new SkeinError('SKEIN_USAGE', `${what} has no option ${JSON.stringify(strange)}`, { hint });
}

/**
 * Refuses an object that lacks the method for which it is given.
 *
 * @param what what it should be, such as `a store`
 * @throws SkeinError `SKEIN_USAGE`
 */
export function checkMethod(name: string, value: object | undefined, method: string, what: string): void {
  if (value === undefined || typeof (value as Readonly<Record<string, unknown>>)[method] === 'function') return;
  throw new SkeinError('SKEIN_USAGE', `the option ${JSON.stringify(name)} must be ${what}`, {
    hint: `it has no method ${method}${'then' in value ? ': put await before what makes it' : ''}`,
  });
}

/**
 * Refuses options of another kind than `forms` say. An option that is undefined is as good as missing.
 *
 * @throws SkeinError `SKEIN_USAGE`
 */
export function checkKinds(what: string, given: object, forms: Readonly<Record<string, string>>): void {
  const values = given as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(values)) {
    const form = forms[name];
    const value = values[name];
    if (form === undefined || form === 'any' || value === undefined || kindsIn(form).some((is) => is(value))) continue;
    throw new SkeinError('SKEIN_USAGE', `the option ${JSON.stringify(name)} of ${what} must be ${form}`, {
      hint: value === null ? 'leave it out instead of giving null' : undefined,
    });
  }
}

/** Each run checks its options: a form is taken apart once. */
const known = new Map<string, readonly ((value: unknown) => boolean)[]>();

function kindsIn(form: string): readonly ((value: unknown) => boolean)[] {
  return madeOnce(known, form, () => form.split(', or ').map((kind) => KINDS[kind as keyof typeof KINDS]));
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}
