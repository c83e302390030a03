import type { Position } from '../../base/problem.js';

/** A word or a text of an Agentfile, and where it begins. */
export interface Written {
  readonly text: string;
  readonly at: Position;
}

/** Words with which a statement begins. */
export const STATEMENTS = ['NAME', 'INPUT', 'AGENT', 'GOAL', 'CONVERGE', 'RUN', 'SUPERVISED', 'SECURITY'] as const;

/** Words with which a clause of a statement begins; `->` is one too. */
export const CLAUSES = ['FROM', 'DEFAULT', 'REQUIRES', 'USING', 'WITHIN', 'SUPERVISED', 'UNSUPERVISED'] as const;

/** A clause, by the word or sign with which it begins. `text` is the text between quotes. */
export type Clause = (typeof CLAUSES)[number] | 'text' | '->';

/** Who judges what a step did, as a file says it. */
export interface WrittenSupervision {
  readonly mode: 'model' | 'human' | 'off';
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
export interface SecurityStatement {
  readonly kind: 'SECURITY';
  readonly mode: 'default' | 'paranoid' | 'research';
  readonly scope?: Written;
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
  readonly security?: SecurityStatement;
  /** Names that statements have which were refused: who uses them is not told once more. */
  readonly refused: ReadonlySet<string>;
}
