import type { Position } from '../../base/problem.js';
import type { Budget } from '../../plan/budget.js';
import type { Security } from '../../plan/security.js';

/** A word or a text of an Agentfile, and where it begins. */
export interface Written {
  readonly text: string;
  readonly at: Position;
}

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

/** Words that begin a clause of a statement. `->` also begins one. */
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

/** A clause, by the word or sign that begins it. `text` is the quoted text. */
export type Clause = (typeof CLAUSES)[number] | 'text' | '->';

/** Who judges a step's result, as written. */
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

/** `AGENT`, `GOAL`, `CONVERGE` or `RUN` with their clauses. The parser checks which clauses are allowed. */
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
  /** True if a person endorses the output. */
  readonly endorsed?: true;
  readonly supervision?: WrittenSupervision;
}

/** An Agentfile as parsed. Refused statements are left out, apart from the names of loops. */
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
  /** Names of refused statements. References to them are not reported again. */
  readonly refused: ReadonlySet<string>;
}

/** Statements of an older language version. */
const STALE = ['WORKFLOW', 'VERSION', 'LOOP'] as const;

export const LINE_WORDS: readonly string[] = [...STATEMENTS, ...STALE, ...CLAUSES];

const KEYWORDS: ReadonlySet<string> = new Set([...LINE_WORDS, 'HUMAN', 'THEN']);

export function isKeyword(word: string): boolean {
  return KEYWORDS.has(word);
}

/** The clauses of each statement, in their usual order. */
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
