import { madeOnce } from '../base/collections.js';
import type { Position } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import type { Findings } from '../text/findings.js';
import type { SourceScalar } from '../text/nodes.js';
import { locate } from '../text/places.js';
import type { ParsedYaml } from '../text/yaml.js';

/** Bounds the size of the plan: a reference in an agent's prompt is copied into each of the agent's steps. */
const MAX_REFERENCES = 50_000;

export interface Written {
  readonly written: string;
  readonly at: Position;
}

type Split<T> = (text: string) => readonly (string | (T & Pick<Written, 'written'>))[];

/** Returns a function that splits the texts of a file and places each reference. Each text is split once, however many steps use it. */
export function splitOnce<T>(
  yaml: ParsedYaml,
  split: Split<T>,
): (scalar: SourceScalar) => readonly (string | (T & Written))[] {
  const known = new Map<SourceScalar, readonly (string | (T & Written))[]>();
  const pieces = (scalar: SourceScalar): readonly (string | (T & Written))[] => {
    let from = 0;
    return split(scalar.text).map((piece) => {
      if (typeof piece === 'string') return piece;
      const { at, next } = locate(yaml, scalar, piece.written, from);
      from = next;
      return { ...piece, at };
    });
  };
  return (scalar) => madeOnce(known, scalar, () => pieces(scalar));
}

/**
 * Warns of a text that begins like a reference and is not closed, such as `{{steps.a.output}`: it is left as it is.
 *
 * @param begins matches such a beginning up to its name, with the spaces behind it
 */
export function reportOpen(
  text: string,
  begins: RegExp,
  placeOf: (written: string) => Position,
  findings: Findings,
): void {
  for (const { 0: begun, index } of text.matchAll(begins)) {
    if (text.includes('}}', index + begun.length)) continue;
    const written = begun.trimEnd();
    const hint = 'end it with }} behind the name; a backslash before the braces says that they are text';
    const message = `${quoteShort(written)} is not a reference and is left as it is`;
    findings.warning('not-a-reference', message, placeOf(written), hint);
  }
}

/** Appends a piece to a template. Adjacent literal pieces are merged. */
export function append<T>(pieces: (string | T)[], piece: string | T): void {
  const last = pieces.at(-1);
  if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece;
  else if (piece !== '') pieces.push(piece);
}

/** Returns a counter of references. It returns false and reports `too-many-references` once the plan would become too large. */
export function spending(findings: Findings, hint: string): (count: number, at: Position) => boolean {
  let spent = 0;
  return (count, at) => {
    const before = spent;
    spent += count;
    if (spent <= MAX_REFERENCES) return true;
    const message = `the workflow has more than ${MAX_REFERENCES} references`;
    if (before <= MAX_REFERENCES) findings.error('too-many-references', message, at, hint);
    return false;
  };
}
