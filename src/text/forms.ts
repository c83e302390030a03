/** The content of a YAML file as tables. Readers of files and the JSON Schemas for editors are built from them. */
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

export type Keys = Readonly<Record<string, Form>>;

interface Common {
  /** The purpose, as an editor shows it. */
  readonly about?: string;
  /** True if the key must be present, with a value. */
  readonly needed?: boolean;
  /** True if the key may be absent, but must have a value. */
  readonly filled?: boolean;
  /** The value if the key is absent. */
  readonly default?: string | number | boolean;
  /** Whether an empty text is allowed. Default: true if a value is optional; false for numbers and texts with a pattern. */
  readonly blank?: boolean;
}

/** A text. A number or a boolean counts as a text if the pattern matches its spelling. */
export interface TextForm extends Common {
  readonly kind: 'text';
  /** The source of a regular expression that the whole text must match. */
  readonly pattern?: string;
  /** Texts that are not allowed although the pattern matches. */
  readonly except?: readonly string[];
  readonly longest?: number;
  /** What counts as a text whatever the pattern: anything but fractions (`name`), or only texts (`string`). */
  readonly from?: 'name' | 'string';
}

/** One of several words, in any letter case. */
export interface WordForm<T extends string = string> extends Common {
  readonly kind: 'word';
  readonly words: readonly T[];
  /** True if another word is a warning, not an error. */
  readonly open?: boolean;
  /** True if letter case matters. */
  readonly exact?: boolean;
}

export interface IntegerForm extends Common {
  readonly kind: 'integer';
  readonly min?: number;
  readonly max: number;
}

export interface NumberForm extends Common {
  readonly kind: 'number';
  readonly min: number;
  readonly max: number;
}

export interface FlagForm extends Common {
  readonly kind: 'flag';
  /** The only allowed value. */
  readonly only?: boolean;
}

export interface ListForm extends Common {
  readonly kind: 'list';
  readonly items: Form;
  /** The minimum and maximum number of entries. */
  readonly min?: number;
  readonly max?: number;
}

/** A key that only another system supports. */
export interface ForeignKey {
  /** What the file loses if the key is ignored. */
  readonly loses: 'meaning' | 'safety' | 'nothing';
  readonly hint: string;
}

/** The required value of a key: a boolean, a text that matches, or a map with entries. */
export type Wanted = boolean | RegExp | 'entries';

export interface MapForm<T extends Keys = Keys> extends Common {
  readonly kind: 'map';
  readonly keys: T;
  /** Keys of another system. If ignoring a key loses meaning or safety, its value may not request anything. */
  readonly foreign?: ReadonlyMap<string, ForeignKey>;
  /** True if unknown keys are ignored. */
  readonly open?: boolean;
  /** At least one must be present. A pair counts if the key has the value, a text that matches, or a map with entries. */
  readonly some?: readonly (string | readonly [key: string, value: Wanted])[];
  /** Exactly one of these must be present. */
  readonly one?: readonly string[];
  /** Pairs of keys of which only one may be present. */
  readonly apart?: readonly (readonly [string, string])[];
  /** The keys that switch the map off, each with the value that does so. Nothing else in the map counts then. */
  readonly off?: Readonly<Record<string, boolean>>;
  readonly insteadOfText?: string;
}

/** A map with names the user chooses. */
export interface NamesForm extends Common {
  readonly kind: 'names';
  readonly values: Form;
  readonly pattern?: string;
  readonly min?: number;
}

export interface AnyForm extends Common {
  readonly kind: 'any';
}

export interface EitherForm extends Common {
  readonly kind: 'either';
  readonly forms: readonly Form[];
}

/** A map whose keys depend on the value of one of them. */
export interface VariantsForm extends Common {
  readonly kind: 'variants';
  readonly by: string;
  readonly of: Readonly<Record<string, MapForm>>;
  /** The form if the key is absent. Undefined if the key is required. */
  readonly without?: MapForm;
  /** The keys that switch the map off, each with the value that does so. Nothing else in the map counts then. */
  readonly off?: Readonly<Record<string, boolean>>;
  /** True if letter case matters. */
  readonly exact?: boolean;
}

/** A map with one form if it has any of some keys, and another form otherwise. */
export interface DividedForm extends Common {
  readonly kind: 'divided';
  readonly by: readonly string[];
  readonly with: Form;
  readonly without: Form;
}

/** A form with a name, because it contains itself or is used in several places. */
export interface NamedForm extends Common {
  readonly kind: 'named';
  readonly name: string;
}

/** The type of a row's value. `never` for rows with parts of their own. */
type ValueOf<F> =
  F extends WordForm<infer T> ? T : F extends IntegerForm | NumberForm ? number : F extends FlagForm ? boolean : never;

/** The values of a map's rows that hold one word, number or boolean, by key. Undefined if absent or wrong. */
export type Values<K extends Keys> = {
  readonly [P in keyof K as ValueOf<K[P]> extends never ? never : P]: ValueOf<K[P]> | undefined;
};

type More<T> = Omit<T, 'kind' | 'about'>;

export const text = (about: string, more: More<TextForm> = {}): TextForm => ({ kind: 'text', about, ...more });

export const word = <const T extends string>(
  words: readonly T[],
  about: string,
  more: Omit<More<WordForm>, 'words'> = {},
): WordForm<T> => ({ kind: 'word', about, words, ...more });

export const integer = (about: string, more: More<IntegerForm>): IntegerForm => ({ kind: 'integer', about, ...more });

export const number = (about: string, more: More<NumberForm>): NumberForm => ({ kind: 'number', about, ...more });

export const flag = (about: string, more: More<FlagForm> = {}): FlagForm => ({ kind: 'flag', about, ...more });

export const list = (items: Form, about: string, more: Omit<More<ListForm>, 'items'> = {}): ListForm => ({
  kind: 'list',
  about,
  items,
  ...more,
});

export const texts = (about: string, more: Omit<More<ListForm>, 'items'> = {}): ListForm =>
  list({ kind: 'text', needed: true, blank: true }, about, more);

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

/** Creates a row for a map with names the user chooses. */
export const names = (values: Form, about: string, more: Omit<More<NamesForm>, 'values'> = {}): NamesForm => ({
  kind: 'names',
  about,
  values,
  ...more,
});

export const any = (about: string, more: More<AnyForm> = {}): AnyForm => ({ kind: 'any', about, ...more });

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

/** Creates a row for a map whose form depends on whether it has any of some keys. */
export const divided = (by: readonly string[], forms: Pick<DividedForm, 'with' | 'without'>): DividedForm => ({
  kind: 'divided',
  by,
  ...forms,
});

export const named = (name: string): NamedForm => ({ kind: 'named', name });

/** Creates a row for a map whose keys depend on the value of one of them. */
export const variants = (
  by: string,
  of: VariantsForm['of'],
  more: Pick<VariantsForm, 'without' | 'off' | 'exact' | 'about' | 'blank'> = {},
): VariantsForm => ({ kind: 'variants', by, of, ...more });
