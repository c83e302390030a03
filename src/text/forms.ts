/**
 * What may stand in a YAML file, as tables: keys, types, words, bounds, defaults, descriptions. The readers of files take their keys, words and bounds
 * from these tables, and the JSON Schemas for editors are made of them.
 */
export type Form =
  | TextForm
  | WordForm
  | IntegerForm
  | NumberForm
  | FlagForm
  | ListForm
  | MapForm
  | NamesForm
  | AnyForm
  | EitherForm
  | VariantsForm
  | DividedForm
  | NamedForm;

/** The keys of a map, each with what may stand under it. */
export type Keys = Readonly<Record<string, Form>>;

interface Common {
  /** What it is for, as an editor shows it. */
  readonly about?: string;
  /** The key must be there, with a value. */
  readonly needed?: boolean;
  /** The key may be absent, but not without a value. */
  readonly filled?: boolean;
  /** What counts when the key is absent. */
  readonly default?: string | number | boolean;
  /** An empty text is not an error. By default so unless there must be a value, and never for numbers and texts with a pattern. */
  readonly blank?: boolean;
}

/** A text. A number or a truth value is one too, where the pattern fits what it looks like. */
export interface TextForm extends Common {
  readonly kind: 'text';
  /** Of all that it may be: the source of a regular expression. */
  readonly pattern?: string;
  /** What it can't be although the pattern fits. */
  readonly except?: readonly string[];
  readonly longest?: number;
  /** What may stand for a text whatever the pattern: all but fractions, or a text alone. */
  readonly from?: 'name' | 'string';
}

/** One of some words, whatever their case. */
export interface WordForm<T extends string = string> extends Common {
  readonly kind: 'word';
  readonly words: readonly T[];
  /** Another word is a warning, no error. */
  readonly open?: boolean;
  /** Case counts. */
  readonly exact?: boolean;
}

/** A whole number. */
export interface IntegerForm extends Common {
  readonly kind: 'integer';
  readonly min?: number;
  readonly max: number;
}

/** A number with a fraction. */
export interface NumberForm extends Common {
  readonly kind: 'number';
  readonly min: number;
  readonly max: number;
}

/** `true` or `false`. */
export interface FlagForm extends Common {
  readonly kind: 'flag';
  /** The other value is an error. */
  readonly only?: boolean;
}

/** A list. */
export interface ListForm extends Common {
  readonly kind: 'list';
  readonly items: Form;
  /** Entries, at least and at most. */
  readonly min?: number;
  readonly max?: number;
}

/** A key that only another system understands. */
export interface ForeignKey {
  /** What a file loses when it is left out. */
  readonly loses: 'meaning' | 'safety' | 'nothing';
  /** What to do instead. */
  readonly hint: string;
}

/** What a key must have: a truth value, a text that fits, or a map with entries. */
export type Wanted = boolean | RegExp | 'entries';

/** A map with keys that are known. */
export interface MapForm<T extends Keys = Keys> extends Common {
  readonly kind: 'map';
  readonly keys: T;
  /** Keys of another system: what loses meaning or safety may not ask for anything. */
  readonly foreign?: ReadonlyMap<string, ForeignKey>;
  /** Keys that are not in the table mean nothing and are left alone. */
  readonly open?: boolean;
  /** One of these must be there; a pair counts when the key has the value, a text that fits, or a map with entries. */
  readonly some?: readonly (string | readonly [key: string, value: Wanted])[];
  /** Exactly one of these must be there. */
  readonly one?: readonly string[];
  /** Keys of which only one may be there. */
  readonly apart?: readonly (readonly [string, string])[];
  /** Where a key has the value the map is switched off, and nothing else in it counts. */
  readonly off?: Readonly<Record<string, boolean>>;
}

/** A map with names of the user's choice. */
export interface NamesForm extends Common {
  readonly kind: 'names';
  readonly values: Form;
  /** Of the names. */
  readonly pattern?: string;
  readonly min?: number;
}

/** Any value. */
export interface AnyForm extends Common {
  readonly kind: 'any';
}

/** One of several forms, which are told apart by the type of the value. */
export interface EitherForm extends Common {
  readonly kind: 'either';
  readonly forms: readonly Form[];
}

/** A map whose keys depend on the word under one of them. */
export interface VariantsForm extends Common {
  readonly kind: 'variants';
  readonly by: string;
  readonly of: Readonly<Record<string, MapForm>>;
  /** What it is when the key is absent. Absent: the key is needed. */
  readonly without?: MapForm;
  /** Where a key has the value the map is switched off, and nothing else in it counts. */
  readonly off?: Readonly<Record<string, boolean>>;
  /** Case counts. */
  readonly exact?: boolean;
}

/** A map of one form when it has one of some keys, and of another when it has none of them. */
export interface DividedForm extends Common {
  readonly kind: 'divided';
  readonly by: readonly string[];
  readonly with: Form;
  readonly without: Form;
}

/** A form that has a name, because it stands in itself or in several places. */
export interface NamedForm extends Common {
  readonly kind: 'named';
  readonly name: string;
}

/** The type of the value that a row asks for; of a row with parts of its own: never. */
type ValueOf<F> =
  F extends WordForm<infer T> ? T : F extends IntegerForm | NumberForm ? number : F extends FlagForm ? boolean : never;

/** The values of the rows of a map that hold one word, number or truth value, by key. What is absent, or wrong, is undefined. */
export type Values<K extends Keys> = {
  readonly [P in keyof K as ValueOf<K[P]> extends never ? never : P]: ValueOf<K[P]> | undefined;
};

type More<T> = Omit<T, 'kind' | 'about'>;

/** A row for a text. */
export const text = (about: string, more: More<TextForm> = {}): TextForm => ({ kind: 'text', about, ...more });

/** A row for one of some words. */
export const word = <const T extends string>(
  words: readonly T[],
  about: string,
  more: Omit<More<WordForm>, 'words'> = {},
): WordForm<T> => ({ kind: 'word', about, words, ...more });

/** A row for a whole number. */
export const integer = (about: string, more: More<IntegerForm>): IntegerForm => ({ kind: 'integer', about, ...more });

/** A row for a number. */
export const number = (about: string, more: More<NumberForm>): NumberForm => ({ kind: 'number', about, ...more });

/** A row for `true` or `false`. */
export const flag = (about: string, more: More<FlagForm> = {}): FlagForm => ({ kind: 'flag', about, ...more });

/** A row for a list. */
export const list = (items: Form, about: string, more: Omit<More<ListForm>, 'items'> = {}): ListForm => ({
  kind: 'list',
  about,
  items,
  ...more,
});

/** A row for a list of texts. */
export const texts = (about: string, more: Omit<More<ListForm>, 'items'> = {}): ListForm =>
  list({ kind: 'text', needed: true, blank: true }, about, more);

/** A row for a map with known keys. */
export const map = <const T extends Keys>(
  keys: T,
  about: string,
  more: Omit<More<MapForm>, 'keys'> = {},
): MapForm<T> => ({
  kind: 'map',
  about,
  keys,
  ...more,
});

/** A row for a map with names of the user's choice. */
export const names = (values: Form, about: string, more: Omit<More<NamesForm>, 'values'> = {}): NamesForm => ({
  kind: 'names',
  about,
  values,
  ...more,
});

/** A row for any value. */
export const any = (about: string, more: More<AnyForm> = {}): AnyForm => ({ kind: 'any', about, ...more });

/** A row for one of several forms. */
export const either = (
  forms: readonly Form[],
  about: string,
  more: Omit<More<EitherForm>, 'forms'> = {},
): EitherForm => ({
  kind: 'either',
  about,
  forms,
  ...more,
});

/** A row for a map whose form depends on whether it has one of some keys. */
export const divided = (by: readonly string[], forms: Pick<DividedForm, 'with' | 'without'>): DividedForm => ({
  kind: 'divided',
  by,
  ...forms,
});

/** A form by its name. */
export const named = (name: string): NamedForm => ({ kind: 'named', name });

/** A row for a map whose keys depend on the word under one of them. */
export const variants = (
  by: string,
  of: VariantsForm['of'],
  more: Pick<VariantsForm, 'without' | 'off' | 'exact' | 'about' | 'blank'> = {},
): VariantsForm => ({ kind: 'variants', by, of, ...more });
