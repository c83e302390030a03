import type {
  DividedForm,
  EitherForm,
  ForeignKey,
  Form,
  Keys,
  MapForm,
  NamesForm,
  TextForm,
  VariantsForm,
  Wanted,
  WordForm,
} from './forms.js';

/** A JSON Schema as plain data. */
export type SchemaData = { readonly [keyword: string]: unknown };

export interface SchemaOptions {
  readonly title: string;
  readonly about: string;
  /** Forms used in several places, by name. */
  readonly named: Readonly<Record<string, Form>>;
  /** True if a key without a value, or with an empty text, counts as absent. */
  readonly lenient: boolean;
  /** True if numbers and booleans are not accepted as texts. */
  readonly typed?: boolean;
}

/** The draft that all editors support. */
const DRAFT = 'http://json-schema.org/draft-07/schema#';
const BLANK = '^\\s*$';

/**
 * Builds the JSON Schema of a file from its form. The schema checks keys, types, words and bounds. It does not check what names refer to.
 */
export function schemaOf(form: Form, { title, about, named, lenient, typed = false }: SchemaOptions): SchemaData {
  const writer = new SchemaWriter(lenient, typed);
  const definitions = Object.entries(named).map(([name, one]) => [name, writer.write(one)] as const);
  return {
    $schema: DRAFT,
    title,
    ...writer.write({ ...form, needed: true }),
    description: about,
    ...(definitions.length === 0 ? {} : { definitions: Object.fromEntries(definitions) }),
  };
}

class SchemaWriter {
  constructor(
    private readonly lenient: boolean,
    private readonly isTyped: boolean,
  ) {}

  write(form: Form): SchemaData {
    const { about, default: fallback } = form;
    return {
      ...(about === undefined || about === '' ? {} : { description: about }),
      ...(fallback === undefined ? {} : { default: fallback }),
      ...this.body(form),
    };
  }

  private body(form: Form): SchemaData {
    switch (form.kind) {
      case 'text':
        return this.text(form);
      case 'word':
        return this.word(form);
      case 'integer':
        return this.typed(form, 'integer', { minimum: form.min, maximum: form.max });
      case 'number':
        return this.typed({ ...form, blank: false }, 'number', { minimum: form.min, maximum: form.max });
      case 'flag':
        return this.typed(form, 'boolean', { not: form.only === undefined ? undefined : { const: !form.only } });
      case 'list':
        return this.typed(form, 'array', { items: this.write(form.items), minItems: form.min, maxItems: form.max });
      case 'map':
        return this.map(form);
      case 'names':
        return this.names(form);
      case 'any':
        return form.needed === true || form.filled === true ? { not: { type: 'null' } } : {};
      case 'either':
        return this.either(form);
      case 'variants':
        return this.variants(form);
      case 'divided':
        return this.divided(form);
      case 'named':
        return { $ref: `#/definitions/${form.name}` };
    }
  }

  /** Builds a schema for one type, or for no value. Each keyword concerns one type, so all keywords can stand side by side. */
  private typed(form: Pick<Form, 'needed' | 'filled' | 'blank'>, type: string, keywords: SchemaData): SchemaData {
    const nothing = this.nothing(form);
    const types = [type, ...nothing];
    return present({
      type: types.length === 1 ? type : types,
      ...keywords,
      pattern: nothing.includes('string') ? BLANK : undefined,
    });
  }

  /** Returns the types that count as no value. */
  private nothing(form: Pick<Form, 'needed' | 'filled' | 'blank'>): readonly string[] {
    if (!this.lenient) return this.isTyped && form.blank === true ? ['null'] : [];
    const filled = form.needed === true || form.filled === true;
    return [...((form.blank ?? !filled) ? ['string'] : []), ...(filled ? [] : ['null'])];
  }

  private text(form: TextForm): SchemaData {
    const { needed = false, pattern, from } = form;
    const types = {
      name: ['string', 'integer', 'boolean'],
      string: ['string'],
      pattern: typesOf(new RegExp(pattern ?? '', 'u')),
    }[this.isTyped ? 'string' : (from ?? 'pattern')];
    const blank = form.blank ?? (!needed && pattern === undefined);
    const all = [...types, ...(this.lenient && !needed ? ['null'] : [])];
    const filled = blank || !this.lenient ? undefined : '\\S';
    return present({
      type: all.length === 1 ? all[0] : all,
      pattern: pattern === undefined ? filled : blank ? `${BLANK}|${pattern}` : pattern,
      minLength: this.isTyped && form.blank === false ? 1 : undefined,
      maxLength: form.longest,
      minimum: from === 'name' ? 0 : undefined,
      not: form.except === undefined ? undefined : { enum: form.except },
    });
  }

  /** Offers words as the docs write them. Other letter case is not an error. */
  private word(form: WordForm): SchemaData {
    if (form.exact === true) return { enum: form.words };
    const blanks = this.nothing(form);
    const anyCase = form.words.map(inAnyCase).join('|');
    const pattern = blanks.includes('string') ? `^(?:${anyCase}|\\s*)$` : `^(?:${anyCase})$`;
    const type = blanks.includes('null') ? ['string', 'null'] : ['string'];
    const hint = `write one of: ${form.words.join(', ')}`;
    const other = form.open === true ? { type: ['string', 'number', 'boolean', 'null'] } : { type, pattern };
    return { anyOf: [{ enum: form.words }, { ...other, patternErrorMessage: hint }] };
  }

  private map(form: MapForm): SchemaData {
    return unlessOff(form.off, this.typed(form, 'object', this.contents(form)));
  }

  private contents(form: MapForm, by?: string): SchemaData {
    const needed = Object.entries(form.keys).filter(([, { needed: isNeeded }]) => isNeeded === true);
    return present({
      properties: { ...this.properties(form.keys, by), ...foreign(form.foreign) },
      required: needed.length === 0 ? undefined : needed.map(([key]) => key),
      additionalProperties: form.open === true ? undefined : false,
      anyOf: form.some?.map((key) => (typeof key === 'string' ? this.has(key) : hasValue(...key))),
      oneOf: form.one?.map((key) => this.has(key)),
      not: form.apart === undefined ? undefined : { anyOf: form.apart.map((pair) => ({ required: pair })) },
    });
  }

  private has(key: string): SchemaData {
    return { required: [key], ...(this.lenient ? { properties: { [key]: { not: { type: 'null' } } } } : {}) };
  }

  private properties(keys: Keys, by?: string): SchemaData {
    return Object.fromEntries(Object.entries(keys).map(([key, form]) => [key, key === by ? {} : this.write(form)]));
  }

  private names(form: NamesForm): SchemaData {
    return this.typed(form, 'object', {
      additionalProperties: this.write(form.values),
      propertyNames: form.pattern === undefined ? undefined : { pattern: form.pattern },
      minProperties: form.min,
    });
  }

  private either(form: EitherForm): SchemaData {
    const { about: _, ...more } = form;
    const schemas = form.forms.map((one) =>
      this.body({ ...one, needed: true, ...(this.isTyped ? {} : { blank: one.blank ?? false }) }),
    );
    const types = schemas.flatMap((schema) => schema['type'] as string | readonly string[]);
    const all = [...types, ...this.nothing({ ...more, blank: false })];
    const { oneOf, ...merged } = Object.assign({}, ...schemas, { type: [...new Set(all)] }) as SchemaData;
    // Keys belong to maps only: a value of another type would match every alternative.
    return oneOf === undefined ? merged : { ...merged, ...conditional({ type: 'object' }, { oneOf }) };
  }

  private divided({ by, with: having, without, ...more }: DividedForm): SchemaData {
    const some = { anyOf: by.map((key) => ({ required: [key] })) };
    const whole = conditional(some, this.write(having), this.write(without));
    return { ...this.typed(more, 'object', {}), ...conditional({ type: 'object' }, whole) };
  }

  private variants({ by, of, without, exact = false, off, blank = false }: VariantsForm): SchemaData {
    const cases = [...new Set(Object.values(of))].map((variant) => {
      const words = Object.keys(of).filter((value) => of[value] === variant);
      const any = exact ? { enum: words } : { type: 'string', pattern: `^(?:${words.map(inAnyCase).join('|')})$` };
      return conditional({ properties: { [by]: any }, required: [by] }, this.contents(variant, by));
    });
    const about = Object.values(of).find(({ keys }) => Object.hasOwn(keys, by))?.keys[by]?.about;
    const type = this.word({
      kind: 'word',
      words: Object.keys(of),
      exact,
      needed: without === undefined,
      blank,
    });
    const absent = { properties: { [by]: this.typed({ blank }, 'null', {}) } };
    const whole = this.typed({ needed: true }, 'object', {
      properties: { [by]: { ...(about === undefined ? {} : { description: about }), ...type } },
      required: without === undefined ? [by] : undefined,
      allOf: [...cases, ...(without === undefined ? [] : [conditional(absent, this.contents(without, by))])],
    });
    return unlessOff(off, whole);
  }
}

/** Builds rows for another system's keys. Editors hide them. A key whose loss matters may only have a value that requests nothing. */
function foreign(keys: ReadonlyMap<string, ForeignKey> = new Map()): SchemaData {
  const rows = [...keys].map(([key, { loses, hint }]): [string, SchemaData] => {
    const about = `not supported: ${hint}`;
    if (loses === 'nothing') return [key, { description: about, doNotSuggest: true }];
    const nothing = { enum: [null, false, [], {}], errorMessage: about };
    return [key, { description: about, doNotSuggest: true, ...nothing }];
  });
  return Object.fromEntries(rows);
}

const CONDITIONAL = ['if', 'then', 'else'];

/** Builds a schema that applies if a condition holds and, optionally, another one if it does not. */
function conditional(...schemas: readonly SchemaData[]): SchemaData {
  return Object.fromEntries(schemas.map((schema, i) => [CONDITIONAL[i] ?? '', schema]));
}

function unlessOff(off: Readonly<Record<string, boolean>> | undefined, whole: SchemaData): SchemaData {
  if (off === undefined) return whole;
  const switched = Object.entries(off).map(([key, value]) => hasValue(key, value));
  return conditional({ type: 'object', anyOf: switched }, {}, whole);
}

function hasValue(key: string, value: Wanted): SchemaData {
  return { required: [key], properties: { [key]: wanted(value) } };
}

function wanted(value: Wanted): SchemaData {
  if (typeof value === 'boolean') return { const: value };
  return value === 'entries' ? { type: 'object', minProperties: 1 } : { type: typesOf(value), pattern: value.source };
}

/** Returns the types a text may be written as: numbers and booleans count if the pattern matches their spelling. */
function typesOf(pattern: RegExp): readonly string[] {
  const looks = { string: '', number: '0', boolean: 'true' };
  return Object.entries(looks).flatMap(([type, text]) => (type === 'string' || pattern.test(text) ? [type] : []));
}

function inAnyCase(text: string): string {
  return text.replaceAll(/[a-z]|[\\^$.*+?()[\]{}|/]/gi, (char) =>
    /[a-z]/i.test(char) ? `[${char.toUpperCase()}${char.toLowerCase()}]` : `\\${char}`,
  );
}

function present(schema: SchemaData): SchemaData {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}
