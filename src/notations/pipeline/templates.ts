import type { Position } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import { splitExpressions } from '../../lang/computed-text.js';
import type { Computed, Template, TemplateRef, ValueRef } from '../../lang/values.js';
import { locate } from '../../text/places.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { ParsedYaml } from '../../text/yaml.js';
import type { NamingKey } from '../named-values.js';
import { append, spending, splitOnce } from '../written-references.js';
import type { Written } from '../written-references.js';
import { createContexts } from './context.js';
import { textBetween } from './bare-names.js';
import type { Placed } from './blocks.js';
import type { PipelineDef } from './definition.js';
import { splitBraces } from './expressions.js';
import { findMap, itemsOf } from './blocks.js';
import { namedValue, optionally, refOf } from './one-reference.js';
import type { Optionally } from './one-reference.js';
import { noteUse, PROMPT, reportFault, resolve } from './references.js';
import type { Names } from './order.js';
import { translate } from './translate.js';

/** Parses texts with references once, and resolves them for each step that uses them. */
export interface Texts {
  /** Parses a prompt or a question. Anything that begins like a reference must be one. */
  template(scalar: SourceScalar, reader: Placed): Template;
  /** Parses the instructions of an agent. Only `$steps`, `$prompt` and items are references; other braces are text. */
  instructions(scalar: SourceScalar, reader: Placed): Template;
  /** Builds the user message of a step: the outputs so far, then its own prompt or that of the workflow. */
  message(prompt: SourceScalar | undefined, reader: Placed): Template;
  /** Resolves the reference under a key, in braces or not. For `over` and `choices`, its schema must not exclude a list. */
  value(scalar: SourceScalar, reader: Placed, key: NamingKey['key']): ValueRef | undefined;
}

/** A reference in a text. Without `dotted`, it is not valid. With a trailing `?`, the value may be missing. */
type Piece = Written &
  Optionally & {
    /** Set for an expression, `{{= EXPRESSION }}`. `expression` is undefined if it is not closed. */
    readonly computed?: { readonly expression: string | undefined };
  };

/**
 * Creates the parser of texts. Inserted values are never parsed again.
 *
 * Problem codes: those of {@link resolve}, `bad-reference`, `bad-expression`, `unknown-member`, `too-many-references`.
 */
export function createTexts(yaml: ParsedYaml, names: Names, context: PipelineDef['context']): Texts {
  const outputsAbove = createContexts(context, names.findings);
  const pieces = splitOnce(yaml, splitText);
  const spend = spending(names.findings, 'references in instructions count once for each step of their agent');
  const fill = (scalar: SourceScalar, reader: Placed, isReference: (piece: Piece) => boolean): Template => {
    const parsed = pieces(scalar);
    // A text without references is the same for all steps.
    if (parsed.every((piece) => typeof piece === 'string')) return parsed;
    const template: (string | TemplateRef | Computed)[] = [];
    for (const piece of parsed) {
      if (typeof piece === 'string') append(template, piece);
      else if (piece.computed !== undefined) append(template, computedOf(piece, piece.computed, reader, names));
      else if (!isReference(piece)) append(template, piece.written);
      else if (spend(1, piece.at)) append(template, insert(piece, reader, names));
    }
    return template;
  };
  const template: Texts['template'] = (scalar, reader) => {
    const placeOf = (written: string): Position => locate(yaml, scalar, written, 0).at;
    const filled = fill(scalar, reader, () => true);
    if (!filled.some((piece) => typeof piece === 'string' && piece.includes('{{'))) return filled;
    return filled.map((piece) => (typeof piece === 'string' ? textBetween(piece, reader, names, placeOf) : piece));
  };
  return {
    template,
    instructions: (scalar, reader) => fill(scalar, reader, (piece) => isMeant(piece.written, reader)),
    message: (prompt, reader) => {
      const above = outputsAbove(reader);
      if (prompt !== undefined) return [...above, ...template(prompt, reader)];
      const [item] = itemsOf(reader);
      const behind = item === undefined ? [] : ['\n\n', { channel: item.channel }];
      return [...above, { channel: PROMPT }, ...behind];
    },
    value: (scalar, reader, key) => namedValue(scalar, { key, reader, yaml, names }),
  };
}

/** Compiles an expression. Problem codes: `bad-expression`, `unknown-member`, those of references. */
function computedOf(
  { written, at }: Piece,
  { expression }: NonNullable<Piece['computed']>,
  reader: Placed,
  names: Names,
): string | Computed {
  const { findings } = names;
  const owner = `${reader.step.label}: ${quoteShort(written)}`;
  if (expression === undefined) {
    findings.error(
      'bad-expression',
      `${owner} has no end`,
      at,
      'end it with }}; a backslash before the braces says that they are text',
    );
    return written;
  }
  const translated = translate(expression, reader, {
    names,
    placeOf: () => at,
    isTold: (fault) => {
      if (fault.code !== 'missing-output') return false;
      findings.error('unknown-member', fault.message, at, fault.hint);
      return true;
    },
  });
  if (translated === undefined) return written;
  const { computed, problem, isKnown } = translated;
  if (problem !== undefined)
    findings.error('bad-expression', `${owner} is not a valid expression: ${problem.message}`, at, problem.hint);
  else if (!isKnown)
    findings.error('unknown-member', `${owner} reads something that can't be there`, at, 'write $steps.ID.output');
  return computed;
}

function insert(piece: Piece, reader: Placed, names: Names): string | TemplateRef {
  const { dotted, optional, written, at } = piece;
  if (dotted === undefined) {
    const message = `${reader.step.label}: ${quoteShort(written)} is not a valid reference`;
    const hint = 'references are {{ $steps.ID.output }}, {{ $inputs.NAME }}, {{ $prompt }} and {{ $item }}';
    names.findings.error('bad-reference', message, at, hint);
    return written;
  }
  const found = resolve(dotted, reader, names);
  if (!reportFault(found, at, names.findings)) return written;
  noteUse(found, names, optional);
  return refOf(found, { dotted, optional, text: written.slice(2, -2).trim() }) ?? found.text ?? '';
}

const MEANT = /^\{\{\s*\$([A-Za-z_]\w*)/;

function isMeant(written: string, reader: Placed): boolean {
  const root = MEANT.exec(written)?.[1] ?? '';
  if (root === 'index' || root === 'key') return itemsOf(reader).length > 0;
  return ROOTS.has(root) || findMap(root, reader) !== undefined;
}

const ROOTS: ReadonlySet<string> = new Set(['steps', 'inputs', 'item', PROMPT]);

function splitText(text: string): readonly (string | Omit<Piece, 'at'>)[] {
  return splitExpressions(text).flatMap((part): readonly (string | Omit<Piece, 'at'>)[] => {
    if (typeof part !== 'string')
      return [{ dotted: undefined, optional: false, written: part.written, computed: part }];
    return splitBraces(part).map((piece) =>
      typeof piece === 'string' ? piece : { ...optionally(piece.inside), written: piece.written },
    );
  });
}
