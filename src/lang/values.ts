import type { Json } from '../base/json.js';

/**
 * A reference into the state. With a `path`, a text value is first parsed as JSON (also from a code fence). Only own keys and indexes are
 * found.
 */
export interface ValueRef {
  readonly channel: string;
  readonly path?: readonly string[];
  /** The reference as written in its file, for messages: `$text.title`. Has no effect. */
  readonly written?: string;
  /** The value if there is none. */
  readonly absent?: Json;
}

/** How a value is truncated before insertion into a prompt. `limit` is in code points, lines or tokens (4 characters each). */
export interface Truncate {
  readonly strategy: 'chars' | 'lines' | 'tokens';
  readonly limit: number;
  /** The part that is kept. Default `first`. */
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
  /** Warns if the value is missing: a step in a branch that was not taken. No other effect. */
  readonly expected?: true;
}

/**
 * All outputs so far as one block of text: every labelled channel of the plan that has a value, in the order of the channels, then
 * an empty line. Empty if no channel has a value.
 */
export interface OutputsBlock {
  readonly outputs: 'prior';
  /** Renders elements `<EACH name="LABEL">` in `<TAG>`, with escaped texts. Default: lines in a frame. */
  readonly xml?: XmlNames;
  /** Maximum size of the outputs in bytes. The oldest are omitted first, with a note. */
  readonly budget?: number;
  /** Channels to omit. */
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

/** The items of a list as elements `<EACH n="1">`, `<EACH n="2">` ... with escaped texts, then an empty line. Empty for an empty list. */
export interface ItemsBlock {
  readonly items: ValueRef;
  readonly xml: XmlNames;
  /** Maximum size of the items in bytes. The first ones are omitted first; the others keep their numbers. */
  readonly budget?: number;
}

/**
 * A parsed template: literal text, references, and blocks of outputs or items. The notation parses it once. It is rendered in one pass:
 * inserted values are not scanned again.
 */
export type Template = readonly (string | TemplateRef | OutputsBlock | ItemsBlock | Computed)[];

/**
 * A JSON value that is built when a step starts. A `template` gives text; a reference or an expression on its own keeps the type of its
 * value; `value` is used unchanged. For a reference without a value, a list has null, and an object lacks the key.
 */
export type JsonTemplate =
  | TemplateRef
  | Computed
  | { readonly value: Json }
  | { readonly template: Template }
  | { readonly list: readonly JsonTemplate[] }
  | { readonly object: Readonly<Record<string, JsonTemplate>> };

/**
 * A condition. Text operators compare the value as text ("" if it is missing); `equals` trims both sides.
 * `matches_json`: the value, parsed as JSON, contains the operand (objects: every key of the operand; lists: as a subset).
 * `truthy`: the value is `true`, or the text `true`, `1` or `yes` in any case; `text` is the condition as written. A path applies if the value
 * is a JSON object or parses as one; a missing value is false. For other values the whole text counts, or the JSON in its code fence. An
 * unwritten channel is an error, or false if it is `optional`.
 * `line`: a line of the text equals `line`, ignoring spaces around it but not case.
 * `cel`: an expression of the Common Expression Language over the named values; `text` is the condition as written, if different. `code`: a function in the bindings.
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
