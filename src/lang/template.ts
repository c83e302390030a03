import { SkeinError } from '../base/errors.js';
import { evaluateComputed } from './computed.js';
import { readPath, readRef, refText, JsonTexts, type ReadChannel, type TextReader } from './json-path.js';
import { renderItems, renderOutputs, type LabelledChannel } from './outputs-block.js';
import { truncateText } from './truncate.js';
import { kindText, quoteShort, valueText } from './value-text.js';
import type { Computed, Template, TemplateRef } from './values.js';
import { copyingWork, type WorkMeter } from './work-meter.js';
import { escapeXml } from './xml-block.js';

/** A reference as written, `{{ expression }}`; `offset` is the index of its first brace in the text. */
export interface RawReference {
  readonly expression: string;
  readonly offset: number;
}

/**
 * Splits a text into literal pieces and references, in one pass. A reference is a dotted name between double braces, such as
 * `{{ steps.scan.output }}`; anything else between braces is literal text, and so is a name after a backslash: `\{{ name }}`. With
 * `optional`, the name may end with a `?`.
 * `parseTemplate('Hi {{ inputs.name }}!')` gives `['Hi ', { expression: 'inputs.name', offset: 3 }, '!']`.
 */
export function parseTemplate(text: string, optional = false): readonly (string | RawReference)[] {
  const pieces: (string | RawReference)[] = [];
  let literal = 0;
  let from = text.indexOf('{{');
  while (from !== -1) {
    const name = skipSpaces(text, from + 2);
    const behind = skipName(text, name);
    const nameEnd = optional && behind > name && text[behind] === '?' ? behind + 1 : behind;
    const close = skipSpaces(text, nameEnd);
    if (nameEnd > name && text.startsWith('}}', close)) {
      if (text[from - 1] === '\\' && from > literal) {
        // The backslash is removed, the braces are text.
        if (from - 1 > literal) pieces.push(text.slice(literal, from - 1));
        literal = from;
        from = text.indexOf('{{', close + 2);
        continue;
      }
      if (from > literal) pieces.push(text.slice(literal, from));
      pieces.push({ expression: text.slice(name, nameEnd), offset: from });
      literal = close + 2;
      from = text.indexOf('{{', literal);
    } else {
      // The skipped text has no brace, so the search continues after it; of three braces the last two may open.
      from = text.indexOf('{{', close === from + 2 ? from + 1 : close);
    }
  }
  if (literal < text.length) pieces.push(text.slice(literal));
  return pieces;
}

/**
 * Renders a template in one pass. Inserted values are not scanned again, so braces in a value stay braces.
 * A missing channel gives the empty text. Text is inserted unchanged, other values as JSON. `truncate`, then `escape`, apply to each value.
 * A block of outputs shows the channels `labelled`; `meter` counts the work.
 *
 * @throws SkeinError SKEIN_TEMPLATE if a path does not resolve, or a value has no JSON form.
 */
export function renderTemplate(
  template: Template,
  read: ReadChannel,
  labelled: readonly LabelledChannel[] = [],
  meter?: WorkMeter,
): string {
  return renderAll(meter, (from) => from.text(template), { read, labelled });
}

export interface Filling {
  readonly read: ReadChannel;
  /** The channels that a block of outputs shows. */
  readonly labelled?: readonly LabelledChannel[];
}

export function renderAll<T>(meter: WorkMeter | undefined, render: (from: Insertions) => T, filling: Filling): T {
  const from = new Insertions(filling, new JsonTexts(meter), meter);
  try {
    return render(from);
  } finally {
    meter?.spend(from.work);
  }
}

/** Maximum number of inserted characters, before truncation: a template may insert a long value often. */
const MAX_INSERTED = 50_000_000;

/** The values inserted into the texts of one value. */
export class Insertions {
  private left = MAX_INSERTED;
  private pieces = 0;

  constructor(
    private readonly filling: Filling,
    private readonly texts: TextReader,
    private readonly meter?: WorkMeter,
  ) {}

  /** The work so far (`work-meter.ts`). */
  get work(): number {
    return this.pieces + copyingWork(MAX_INSERTED - this.left);
  }

  /** @throws SkeinError SKEIN_TEMPLATE */
  text(template: Template): string {
    const { read, labelled = [] } = this.filling;
    this.pieces += template.length;
    let result = '';
    for (const piece of template) {
      if (typeof piece === 'string') result += piece;
      else if ('outputs' in piece) result += this.charged(renderOutputs(piece, labelled, read));
      else if ('items' in piece) result += this.charged(renderItems(piece, readRef(piece.items, read, this.texts)));
      else if ('expression' in piece)
        result += truncateText(this.charged(valueText(this.computed(piece))), piece.truncate);
      else {
        const text = truncateText(this.charged(valueText(this.value(piece))), piece.truncate);
        result += piece.escape === undefined ? text : escapeXml(text);
      }
    }
    return result;
  }

  /**
   * Returns the value of a reference unchanged; undefined if there is none.
   *
   * @throws SkeinError SKEIN_TEMPLATE if its path does not resolve and is not optional
   */
  value(ref: TemplateRef): unknown {
    const value = this.filling.read(ref.channel);
    if (ref.mustBe === 'text') return checkedText(ref, value);
    if (ref.path === undefined) return value;
    // A step that was skipped or failed leaves an empty text, which has no paths.
    if (value === undefined || value === '') return ref.absent;
    const found = readPath(value, ref.path, this.texts);
    if (found !== undefined) return found;
    if (ref.optional === true) return ref.absent;
    throw new SkeinError(
      'SKEIN_TEMPLATE',
      `${refText(ref)} does not resolve: ${ref.written === undefined ? ref.channel : 'the value'} is ${describe(value)}`,
      {
        hint: 'check the path, or have the step before answer with JSON that has it',
      },
    );
  }

  /** @throws SkeinError SKEIN_TEMPLATE */
  computed(piece: Computed): unknown {
    const { read } = this.filling;
    return evaluateComputed(piece, { read, texts: this.texts, meter: this.meter });
  }

  private charged(text: string): string {
    this.left -= text.length;
    if (this.left >= 0) return text;
    throw new SkeinError('SKEIN_TEMPLATE', `a text would take more than ${MAX_INSERTED} characters of values`, {
      hint: 'insert fewer or shorter values',
    });
  }
}

function checkedText(ref: TemplateRef, value: unknown): string {
  if (typeof value === 'string') return value;
  const what = value === undefined ? 'is missing' : `must be text, and is ${kindText(value)}`;
  throw new SkeinError('SKEIN_INPUT', `${refText(ref)} ${what}`);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `the text ${quoteShort(value)}` : quoteShort(valueText(value));
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

/** Returns the end of the dotted name at `from`; `from` itself if there is none. */
function skipName(text: string, from: number): number {
  let at = from;
  for (;;) {
    const part = at;
    while (isNameCode(text.charCodeAt(at))) at += 1;
    if (at === part) return from;
    if (text[at] !== '.') return at;
    at += 1;
  }
}

function isNameCode(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2d
  );
}

/** Returns a message for each expected value of a template that no node has written. */
export function missingIn(template: Template, read: ReadChannel): readonly string[] {
  const missing: string[] = [];
  for (const piece of template) {
    if (typeof piece === 'string' || !('expected' in piece) || read(piece.channel) !== undefined) continue;
    missing.push(`${refText(piece)} has no value: that step has not run, or left no such value`);
  }
  return missing;
}
