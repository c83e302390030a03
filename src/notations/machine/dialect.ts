import type { Form, Keys } from '../../text/forms.js';
import { map, text, word } from '../../text/forms.js';

/** Rows of the tables of packs say these often. */
export const MANY = Number.MAX_SAFE_INTEGER;
export const NEEDED = { needed: true } as const;
export const WRITTEN = { needed: true, blank: false } as const;
export const IDENTIFIER = '^[a-zA-Z_][a-zA-Z0-9_]*$';
export const VERSION =
  '^v?(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$';

/** A version of the schema of packs. */
export type PackSchema = '1.4' | '1.5';

/** How the versions differ: keys that one of them has alone, and words that the newer one lists where the older takes any text. */
export interface Dialect {
  /** Absent: what either of them takes. */
  readonly schema: PackSchema | undefined;
  readonly is15: boolean;
  /** Keys of 1.4 alone. */
  readonly older: (keys: Keys) => Keys;
  /** Keys of 1.5 alone. */
  readonly newer: (keys: Keys) => Keys;
  /** A row for words of 1.5. */
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

/** A map with any keys. */
export const anyMap = (about: string): Form => map({}, about, { open: true });
