import type { Position } from '../../base/problem.js';
import { splitExpressions } from '../../lang/computed-text.js';
import { parseTemplate } from '../../lang/template.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Computed, OutputsBlock, Template, TemplateRef, ValueRef } from '../../lang/values.js';
import type { Findings } from '../../text/findings.js';
import type { SourceScalar } from '../../text/nodes.js';
import { locate } from '../../text/places.js';
import type { ParsedYaml } from '../../text/yaml.js';
import type { NamingKey } from '../named-values.js';
import { append, reportOpen, spending, splitOnce, type Written } from '../written-references.js';
import { around, findMap, itemsOf, type Block, type Placed } from './blocks.js';
import type { PipelineDef } from './definition.js';
import { splitBraces } from './expressions.js';
import { listed } from './flow.js';
import type { ContextDef } from './keys.js';
import { isAtEnd } from './last-steps.js';
import { namedValue, optionally, refOf, type Optionally } from './one-reference.js';
import type { Names } from './order.js';
import { PROMPT, noteUse, reportFault, resolve } from './references.js';
import { translate } from './translate.js';

/** Parses texts with references once, and resolves them for each step that uses them. */
export interface Texts {
  /** Parses a prompt or a question. Anything that begins like a reference must be one. */
  template(scalar: SourceScalar, reader: Placed): Template;
  /** Parses the instructions of an agent. Only `$steps`, `$prompt`, `$inputs`, items and, at the end, `$run` are references; other braces are text. */
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

/** Creates the parser of texts. Inserted values are never parsed again. Problem codes: `too-many-references`, those of references. */
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
  const placeIn = (scalar: SourceScalar) => (written: string) => locate(yaml, scalar, written, 0).at;
  const checked = (scalar: SourceScalar, reader: Placed, isReference: (piece: Piece) => boolean): Template => {
    for (const piece of pieces(scalar))
      if (typeof piece === 'string') reportOpen(piece, BEGINS, placeIn(scalar), names.findings);
    return fill(scalar, reader, isReference);
  };
  const template: Texts['template'] = (scalar, reader) => {
    const filled = checked(scalar, reader, () => true);
    if (!filled.some((piece) => typeof piece === 'string' && piece.includes('{{'))) return filled;
    const placeOf = placeIn(scalar);
    return filled.map((piece) => (typeof piece === 'string' ? textBetween(piece, reader, names, placeOf) : piece));
  };
  return {
    template,
    instructions: (scalar, reader) => checked(scalar, reader, (piece) => isMeant(piece.written, reader)),
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

/** The beginning of a reference, which may not end like one. */
const BEGINS = /(?<!\\)\{\{\s*\$(?:steps|inputs|item|prompt)\b[\w.-]*\??\s*/g;

const MEANT = /^\{\{\s*\$([A-Za-z_]\w*)/;

function isMeant(written: string, reader: Placed): boolean {
  return isRoot(MEANT.exec(written)?.[1] ?? '', reader);
}

/** Whether a word starts a reference of the step if preceded by `$`. */
function isRoot(root: string, reader: Placed): boolean {
  if (root === 'index' || root === 'key') return itemsOf(reader).length > 0;
  if (root === 'run' && isAtEnd(reader)) return true;
  return ROOTS.has(root) || findMap(root, reader) !== undefined;
}

/** Words that start a reference of any step if preceded by `$`. */
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

/** Returns a function for the blocks of outputs that a step shows. Ids are looked up around the step; an unknown id is reported once. */
function createContexts(
  ofFile: ContextDef | undefined,
  findings: Findings,
): (reader: Placed) => readonly OutputsBlock[] {
  const reported = new Set<SourceScalar>();
  return (reader) => {
    const context = contextOf(reader, ofFile) ?? 'all';
    if (context === 'all') return [{ outputs: 'prior' }];
    if (context === 'none') return [];
    const blocks = [...around(reader)].map(({ block }) => block);
    const only = context.flatMap((id) => {
      const found = blocks.map((block) => block.byId.get(id.text)).find((placed) => placed !== undefined);
      if (found === undefined && !reported.has(id)) reportUnknown(id, reader, blocks, findings);
      if (found === undefined) reported.add(id);
      return (found?.outputs ?? []).map(({ channel }) => channel);
    });
    return [{ outputs: 'prior', only: [...new Set(only)] }];
  };
}

function contextOf(reader: Placed, ofFile: ContextDef | undefined): ContextDef | undefined {
  for (const { step } of around(reader))
    if ((step.type === 'agent' || step.type === 'sequence') && step.context !== undefined) return step.context;
  return ofFile;
}

function reportUnknown(id: SourceScalar, reader: Placed, blocks: readonly Block[], findings: Findings): void {
  const ids = blocks.flatMap((block) => [...block.byId.keys()]);
  const hint = findings.near(id.text, ids) ?? `steps are: ${listed(ids)}`;
  const message = `context of ${reader.step.label} names the step ${quoteShort(id.text)}, which does not exist`;
  findings.error('unknown-step', message, id.at, hint);
}

/**
 * Returns the text of a prompt between its references. A name in braces that is a step or a value is an error (`bad-reference`), because
 * the `$` is missing. Any other name is kept, with a warning (`not-a-reference`). A backslash before the braces marks them as text.
 */
function textBetween(text: string, reader: Placed, names: Names, placeOf: (written: string) => Position): string {
  const { findings } = names;
  return parseTemplate(text)
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      const written = text.slice(piece.offset, text.indexOf('}}', piece.offset) + 2);
      const [root = ''] = piece.expression.split('.');
      const meant = isRoot(root, reader) ? `$${piece.expression}` : referenceTo(root, reader, names);
      const what = quoteShort(written);
      if (meant === undefined) {
        const hint =
          'references are {{ $steps.ID.output }}, {{ $inputs.NAME }}, {{ $prompt }} and {{ $item }}; a backslash before the braces says that they are text';
        findings.warning('not-a-reference', `${what} is not a reference and is left as it is`, placeOf(written), hint);
      } else {
        const hint = `did you mean {{ ${meant} }}? A backslash before the braces writes them as text`;
        findings.error('bad-reference', `${reader.step.label}: ${what} names no value`, placeOf(written), hint);
      }
      return written;
    })
    .join('');
}

function referenceTo(name: string, reader: Placed, { inputs }: Names): string | undefined {
  const found = [...around(reader)].some((here) => here.block.byId.has(name));
  return found ? `$steps.${name}.output` : inputs.has(name) ? `$inputs.${name}` : undefined;
}
