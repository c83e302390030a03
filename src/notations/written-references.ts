import { madeOnce } from '../base/collections.js';
import type { Position } from '../base/problem.js';
import type { Findings } from '../text/findings.js';
import type { SourceScalar } from '../text/nodes.js';
import { locate } from '../text/places.js';
import type { ParsedYaml } from '../text/yaml.js';

/** Bounds the size of the plan: a reference in the prompt of an agent is there once for each of its steps. */
const MAX_REFERENCES = 50_000;

/** A reference as it was written, and where. */
export interface Written {
  readonly written: string;
  readonly at: Position;
}

/** Splits a text into literal pieces and references. */
type Split<T> = (text: string) => readonly (string | (T & Pick<Written, 'written'>))[];

/** Splits the texts of a file and gives every reference its place. A text is split once, however many steps use it. */
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

/** Adds to a template; literal text that follows literal text becomes one piece. */
export function append<T>(pieces: (string | T)[], piece: string | T): void {
  const last = pieces.at(-1);
  if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece;
  else if (piece !== '') pieces.push(piece);
}

/** Counts references; false, and a problem (`too-many-references`), when the plan would get too large. */
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
