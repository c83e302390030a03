import type { Position } from '../../base/problem.js';
import type { Budget } from '../../plan/budget.js';
import type { Security } from '../../plan/security.js';

/** A word or a text of an Agentfile, and where it begins. */
export interface Written {
  readonly text: string;
  readonly at: Position;
}

/** Words with which a statement begins. */
export const STATEMENTS = [
  'NAME',
  'INPUT',
  'AGENT',
  'GOAL',
  'CONVERGE',
  'RUN',
  'SUPERVISED',
  'BUDGET',
  'SECURITY',
] as const;

/** Words with which a clause of a statement begins; `->` is one too. */
export const CLAUSES = [
  'FROM',
  'DEFAULT',
  'REQUIRES',
  'USING',
  'WITHIN',
  'BUDGET',
  'SECURITY',
  'ENDORSED',
  'SUPERVISED',
  'UNSUPERVISED',
] as const;

/** A clause, by the word or sign with which it begins. `text` is the text between quotes. */
export type Clause = (typeof CLAUSES)[number] | 'text' | '->';

/** Who judges what a step did, as a file says it. */
export interface WrittenSupervision {
  readonly mode: 'model' | 'human' | 'off';
  readonly at: Position;
}

/** `BUDGET amount, amount`. */
export interface WrittenBudget {
  readonly budget: Budget;
  readonly at: Position;
}

/** `NAME id`. */
export interface NameStatement {
  readonly kind: 'NAME';
  readonly name: Written;
}

/** `INPUT id [DEFAULT value]`. */
export interface InputStatement {
  readonly kind: 'INPUT';
  readonly name: Written;
  readonly value?: Written;
}

/** `SECURITY mode ["scope"]`. */
export interface WrittenSecurity {
  readonly security: Security;
  readonly at: Position;
}

/** The kinds of statements that have a name and clauses. */
export type WorkKind = 'AGENT' | 'GOAL' | 'CONVERGE' | 'RUN';

/** `AGENT`, `GOAL`, `CONVERGE` or `RUN` with their clauses; which of them it may have is decided where it is read. */
export interface WorkStatement {
  readonly kind: WorkKind;
  readonly name: Written;
  readonly at: Position;
  readonly text?: Written;
  readonly from?: Written;
  readonly outputs: readonly Written[];
  readonly requires?: Written;
  readonly using: readonly Written[];
  /** A whole number, or the name of a variable. */
  readonly within?:
    { readonly number: number; readonly at: Position } | { readonly variable: string; readonly at: Position };
  readonly budget?: WrittenBudget;
  readonly security?: WrittenSecurity;
  /** By a person. */
  readonly endorsed?: true;
  readonly supervision?: WrittenSupervision;
}

/** An Agentfile as it was read. Statements that were refused are not in it, apart from the names of loops. */
export interface Agentfile {
  readonly name?: Written;
  readonly inputs: readonly InputStatement[];
  readonly agents: readonly WorkStatement[];
  /** Goals and convergences, in the order of the file. */
  readonly goals: readonly WorkStatement[];
  readonly runs: readonly WorkStatement[];
  readonly supervision?: WrittenSupervision;
  readonly budget?: WrittenBudget;
  readonly security?: WrittenSecurity;
  /** Names that statements have which were refused: who uses them is not told once more. */
  readonly refused: ReadonlySet<string>;
}

/** Statements of older files. */
const STALE = ['WORKFLOW', 'VERSION', 'LOOP'] as const;

/** All words that mean something at the beginning of a line. */
export const LINE_WORDS: readonly string[] = [...STATEMENTS, ...STALE, ...CLAUSES];

const KEYWORDS: ReadonlySet<string> = new Set([...LINE_WORDS, 'HUMAN', 'THEN']);

/** Whether a word can't be a name. */
export function isKeyword(word: string): boolean {
  return KEYWORDS.has(word);
}

/** The clauses that a statement may have, in the order in which they are usually written. */
export const CLAUSES_OF: Readonly<Record<WorkKind, readonly (readonly Clause[])[]>> = {
  AGENT: [
    ['text', 'FROM'],
    ['->'],
    ['REQUIRES'],
    ['BUDGET'],
    ['SECURITY'],
    ['ENDORSED'],
    ['SUPERVISED', 'UNSUPERVISED'],
  ],
  GOAL: [['text', 'FROM'], ['->'], ['USING'], ['BUDGET'], ['SECURITY'], ['ENDORSED'], ['SUPERVISED', 'UNSUPERVISED']],
  CONVERGE: [
    ['text', 'FROM'],
    ['->'],
    ['USING'],
    ['WITHIN'],
    ['BUDGET'],
    ['SECURITY'],
    ['ENDORSED'],
    ['SUPERVISED', 'UNSUPERVISED'],
  ],
  RUN: [['USING'], ['SECURITY'], ['SUPERVISED', 'UNSUPERVISED']],
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
  BUDGET: 'BUDGET 0.50, 20-calls',
  SECURITY: 'SECURITY paranoid or SECURITY research "scope"',
  ENDORSED: 'ENDORSED',
  SUPERVISED: 'SUPERVISED or SUPERVISED HUMAN',
  UNSUPERVISED: 'UNSUPERVISED',
};
