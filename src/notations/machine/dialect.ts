import { map, text, word, type Form, type Keys } from '../../text/forms.js';

/** Constants used throughout the key tables of packs. */
export const MANY = Number.MAX_SAFE_INTEGER;
export const NEEDED = { needed: true } as const;
export const WRITTEN = { needed: true, blank: false } as const;
export const IDENTIFIER = '^[a-zA-Z_][a-zA-Z0-9_]*$';
export const VERSION =
  '^v?(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$';

/** A version of the schema of packs. */
export type PackSchema = '1.4' | '1.5';

/** The differences between versions: keys in only one of them, and words that 1.5 lists where 1.4 accepts any text. */
export interface Dialect {
  /** Undefined: whatever either version accepts. */
  readonly schema: PackSchema | undefined;
  readonly is15: boolean;
  /** Keys that only 1.4 has. */
  readonly older: (keys: Keys) => Keys;
  /** Keys that only 1.5 has. */
  readonly newer: (keys: Keys) => Keys;
  /** Creates a row for words that only 1.5 restricts. */
  readonly words: (words: readonly string[], about: string, more?: { readonly needed?: boolean }) => Form;
}

export function dialectOf(schema: PackSchema | undefined): Dialect {
  const is15 = schema === '1.5';
  return {
    schema,
    is15,
    older: (keys) => (is15 ? {} : keys),
    newer: (keys) => (schema === '1.4' ? {} : keys),
    words: (words, about, more = {}) => (is15 ? word(words, about, { exact: true, ...more }) : text(about, more)),
  };
}

export const anyMap = (about: string): Form => map({}, about, { open: true });
