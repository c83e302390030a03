import type { Json } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import type { Template, Truncate, ValueRef } from '../../lang/values.js';
import type { InputType } from '../../plan/input-types.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { NamingKey } from '../named-values.js';
import type { CalledOutput } from '../results.js';
import type { StepDef } from './definition.js';
import type { StepGraph } from './step-graph.js';

/** What a called file gives. */
export interface Called {
  /** Channel of its result; undefined when it has none, or several. */
  readonly result: string | undefined;
  readonly outputs: readonly CalledOutput[];
}

/** What references may point at, and which of it was used. */
export interface References {
  readonly graph: StepGraph;
  readonly inputs: ReadonlySet<string>;
  readonly usedInputs: Set<string>;
  /** What called files give, by the id of the step that calls them. */
  readonly called: ReadonlyMap<string, Called>;
  /** Steps of which somebody reads how they ended, found so far. */
  readonly told: Set<string>;
  /** Those of them that have a channel for it. */
  readonly tells: ReadonlySet<string>;
  /** Parses a text with references, as one step sees it. `owner` is who is named when an input is unknown, `step "a"` by default. */
  template(
    scalar: SourceScalar,
    step: StepDef,
    options?: { truncate?: Truncate | undefined; owner?: string },
  ): Template;
  /** The value that a text names, without braces. */
  value(scalar: SourceScalar, step: StepDef): ValueRef | undefined;
  /** The value that a key of a step names, which must be one, and of `over` and `choices` must not be something else than a list. */
  named(scalar: SourceScalar, step: StepDef, key: NamingKey['key']): ValueRef | undefined;
  /** Counts references; false, and a problem, when the plan would get too large. */
  spend(count: number, at: Position): boolean;
  /** Checks that a step may read another step's output. */
  canRead(id: string, step: StepDef, at: Position): void;
  /** Checks that another step has ended for certain. */
  canTell(id: string, step: StepDef, at: Position): void;
  /** Checks that the output of a step can have something at a path (`no-such-path`). */
  canHave(id: string, path: readonly string[], owner: string, at: Position): void;
  /** Reports what is wrong with a reference. */
  fault(code: string, message: string, at: Position, hint: string): void;
  /** The JSON Schema of what a step gives, where one says. */
  schemaOf(id: string): Json | undefined;
  /** The type that an input declares. */
  typeOf(input: string): InputType | undefined;
  /** Checks that an input exists, and remembers that it is used. */
  canUseInput(name: string, owner: string, at: Position, optional?: boolean): void;
}

/** A reference in a step. */
export interface Use {
  readonly step: StepDef;
  readonly owner: string;
  readonly at: Position;
  readonly truncate: Truncate | undefined;
}
