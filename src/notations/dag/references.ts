import type { Json } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import type { Template, Truncate, ValueRef } from '../../lang/values.js';
import type { InputType } from '../../plan/input-types.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { NamingKey } from '../named-values.js';
import type { CalledOutput } from '../results.js';
import type { StepDef } from './definition.js';
import type { StepGraph } from './step-graph.js';

export interface Called {
  /** Channel of its result. Undefined if it has none, or several. */
  readonly result: string | undefined;
  readonly outputs: readonly CalledOutput[];
}

/** Where a step is read: a reference in a text may end with a `?`, one in a condition or an expression may not. */
export type Reader = 'text' | 'condition';

export interface References {
  readonly graph: StepGraph;
  readonly inputs: ReadonlySet<string>;
  readonly usedInputs: Set<string>;
  /** Outputs of called files, by the id of the calling step. */
  readonly called: ReadonlyMap<string, Called>;
  /** Steps whose ending is read, found so far. */
  readonly told: Set<string>;
  /** Steps that have a channel for their ending. */
  readonly tells: ReadonlySet<string>;
  /** Parses a text with references in a step's scope. Messages about unknown inputs name `owner`, default `step "a"`. */
  template(
    scalar: SourceScalar,
    step: StepDef,
    options?: { truncate?: Truncate | undefined; owner?: string },
  ): Template;
  /** Resolves a reference without braces. */
  value(scalar: SourceScalar, step: StepDef): ValueRef | undefined;
  /** Resolves the required reference under a key of a step. For `over` and `choices` its schema must not exclude a list. */
  named(scalar: SourceScalar, step: StepDef, key: NamingKey['key']): ValueRef | undefined;
  /** Counts references. Returns false, and reports a problem, if the plan would become too large. */
  spend(count: number, at: Position): boolean;
  /** Checks that a step may read another step's output, or that of a step inside it. Only a text can read that of the round before. */
  canRead(id: string, step: StepDef, at: Position, from: Reader, inner?: string): void;
  /** Checks that another step has certainly ended. */
  canTell(id: string, step: StepDef, at: Position, from: Reader): void;
  /** Checks that a step's output can have a value at a path (`no-such-path`). */
  canHave(id: string, path: readonly string[], owner: string, at: Position): void;
  fault(code: string, message: string, at: Position, hint: string): void;
  schemaOf(id: string): Json | undefined;
  typeOf(input: string): InputType | undefined;
  /** Checks that an input exists, and marks it as used. */
  canUseInput(name: string, owner: string, at: Position, optional?: boolean): void;
}

export interface Use {
  readonly step: StepDef;
  readonly owner: string;
  readonly at: Position;
  readonly truncate: Truncate | undefined;
}
