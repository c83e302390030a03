import type { Clause, WorkKind } from './statements.js';
import { CLAUSES, STATEMENTS } from './statements.js';

/** Statements of older files. */
export const STALE = ['WORKFLOW', 'VERSION', 'LOOP'] as const;

/** All words that mean something at the beginning of a line. */
export const LINE_WORDS: readonly string[] = [...STATEMENTS, ...STALE, ...CLAUSES];

const KEYWORDS: ReadonlySet<string> = new Set([...LINE_WORDS, 'HUMAN', 'THEN']);

/** Whether a word can't be a name. */
export function isKeyword(word: string): boolean {
  return KEYWORDS.has(word);
}

/** The clauses that a statement may have, in the order in which they are usually written. */
export const CLAUSES_OF: Readonly<Record<WorkKind, readonly (readonly Clause[])[]>> = {
  AGENT: [['text', 'FROM'], ['->'], ['REQUIRES'], ['SUPERVISED', 'UNSUPERVISED']],
  GOAL: [['text', 'FROM'], ['->'], ['USING'], ['SUPERVISED', 'UNSUPERVISED']],
  CONVERGE: [['text', 'FROM'], ['->'], ['USING'], ['WITHIN'], ['SUPERVISED', 'UNSUPERVISED']],
  RUN: [['USING'], ['SUPERVISED', 'UNSUPERVISED']],
};

/** How a clause is written. */
export const SHOWN: Readonly<Record<Clause, string>> = {
  text: '"..."',
  '->': '-> field, field',
  FROM: 'FROM path',
  DEFAULT: 'DEFAULT "value"',
  REQUIRES: 'REQUIRES "profile"',
  USING: 'USING name, name',
  WITHIN: 'WITHIN number or WITHIN $name',
  SUPERVISED: 'SUPERVISED or SUPERVISED HUMAN',
  UNSUPERVISED: 'UNSUPERVISED',
};
