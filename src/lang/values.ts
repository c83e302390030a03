import type { Json } from '../base/json.js';

/**
 * A reference into the state. With a `path`, a text value is first parsed as JSON (also from a code fence); only own keys and indexes are
 * found.
 */
export interface ValueRef {
  readonly channel: string;
  readonly path?: readonly string[];
  /** The reference as its file writes it, for messages: `$text.title`. Has no effect. */
  readonly written?: string;
  /** The value if there is none. */
  readonly absent?: Json;
}

/** How a value is cut before it is put into a prompt. `limit` is in code points, lines or tokens (4 characters each). */
export interface Truncate {
  readonly strategy: 'chars' | 'lines' | 'tokens';
  readonly limit: number;
  /** The end that is kept. Default `first`. */
  readonly keep?: 'first' | 'last';
}

/** An inserted value. A missing channel (a skipped step) yields the empty text; a missing *path* is an error, unless it is optional. */
export interface TemplateRef extends ValueRef {
  readonly truncate?: Truncate;
  /** Replaces `& < > " '` by entities after truncation, so that no value closes a tag. */
  readonly escape?: 'xml';
  /** Makes a missing value, or one that is not text, an error. */
  readonly mustBe?: 'text';
  /** Makes a missing path yield the empty text. */
  readonly optional?: true;
  /** That it is missing is worth a warning: a step in a branch that was not taken. Decides nothing. */
  readonly expected?: true;
}

/**
 * All outputs so far as one block of text: every labelled channel of the plan that holds something, in the order of the channels, and
 * an empty line behind the block. Without any there is no text at all.
 */
export interface OutputsBlock {
  readonly outputs: 'prior';
  /** As elements `<EACH name="LABEL">` in an element `<TAG>`, with escaped texts. Default: lines in a frame. */
  readonly xml?: XmlNames;
  /** Maximum size of the outputs in bytes. The oldest are left out first, and the block says so. */
  readonly budget?: number;
  /** Channels to leave out. */
  readonly except?: readonly string[];
  /** Channels to show; absent: all. */
  readonly only?: readonly string[];
}

/** An expression of the Common Expression Language over the named values, with `json` in addition. */
export interface Computed {
  readonly expression: string;
  readonly vars: Readonly<Record<string, CelVar>>;
  /** How its value is truncated if it is inserted into a text. */
  readonly truncate?: Truncate;
}

/** Names of a block's elements: the outer one, and the one of each value. */
export interface XmlNames {
  readonly tag: string;
  readonly each: string;
}

/** The items of a list as elements `<EACH n="1">`, `<EACH n="2">` ... with escaped texts, and an empty line behind the block. Of an empty list there is no text. */
export interface ItemsBlock {
  readonly items: ValueRef;
  readonly xml: XmlNames;
  /** Maximum size of the items in bytes; the first ones are left out first, and the others keep their numbers. */
  readonly budget?: number;
}

/**
 * A parsed template: literal text, references, and blocks of outputs or items. It is parsed once, by the notation, and rendered in one pass:
 * what is inserted is never looked at again.
 */
export type Template = readonly (string | TemplateRef | OutputsBlock | ItemsBlock | Computed)[];

/**
 * A JSON value that is made when a step starts. A `template` gives text; a reference or an expression that stands alone gives its value with the type that it has; `value`
 * is taken as it is. Where a reference leads to nothing a list has null, and an object lacks the key.
 */
export type JsonTemplate =
  | TemplateRef
  | Computed
  | { readonly value: Json }
  | { readonly template: Template }
  | { readonly list: readonly JsonTemplate[] }
  | { readonly object: Readonly<Record<string, JsonTemplate>> };

/**
 * A condition. Text operators compare the value as text ("" when it is missing); `equals` trims both sides.
 * `matches_json`: the value, read as JSON, contains the operand (objects: every key of the operand; lists: as a subset).
 * `truthy`: the value is `true`, or the text `true`, `1` or `yes`; `text` is the condition as it was written. A path is followed where the value is, or reads
 * as, a JSON object, and leads to false when there is nothing; of any other value the whole text counts, or the JSON in its code fence. A channel that
 * nobody wrote is an error, unless it is `optional`: then it leads to false.
 * `line`: one of the lines of the text is `line`, without the spaces around it. Nothing else counts: neither the words in a sentence nor another case.
 * `cel`: an expression of the Common Expression Language over the named values; `text` is the condition as it was written, where that differs. `code`: a function in the bindings.
 */
export type Condition =
  | { readonly op: 'contains' | 'not_contains' | 'equals'; readonly value: ValueRef; readonly operand: Template }
  | { readonly op: 'matches_json'; readonly value: ValueRef; readonly operand: Json }
  | { readonly op: 'truthy'; readonly value: ValueRef; readonly text: string; readonly optional?: true }
  | { readonly op: 'line'; readonly value: ValueRef; readonly line: string }
  | {
      readonly op: 'cel';
      readonly expression: string;
      readonly vars: Readonly<Record<string, CelVar>>;
      readonly text?: string;
    }
  | { readonly op: 'code' };

/** A variable of a CEL expression: one value, or an object of values by name. */
export type CelVar = ValueRef | { readonly fields: Readonly<Record<string, CelVar>> };

/** Returns a template without the names of its references in messages, which have no effect. */
export function withoutWording(template: Template): Template {
  return template.map((piece) => {
    if (typeof piece === 'string' || 'outputs' in piece || 'expression' in piece) return piece;
    return 'items' in piece ? { ...piece, items: bareRef(piece.items) } : bareRef(piece);
  });
}

/** Returns a reference without its fields for messages. */
export function bareRef<R extends TemplateRef>(ref: R): R {
  if (ref.written === undefined && ref.expected === undefined) return ref;
  const { written: _written, expected: _expected, ...rest } = ref;
  return rest as R;
}
