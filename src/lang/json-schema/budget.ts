/** A schema that can't be used, or that takes more than it may to check a value. */
export class SchemaError extends Error {}

/** Steps that one value may take; worth well under a second. A list of 100,000 numbers takes 700,000. */
const MAX_STEPS = 1_000_000;
/** Schemas and values may be nested so deep, together. */
const MAX_NESTING = 600;

/** What is left of the steps of one check: schemas and values come from outside, and some are made to take for ever. */
export class Budget {
  left: number;
  private depth = 0;

  constructor(private readonly most = MAX_STEPS) {
    this.left = most;
  }

  /** @throws SchemaError when there are not so many steps left */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new SchemaError(`checking takes more than ${this.most} steps`);
  }

  /** @throws SchemaError when it is too deep */
  enter(): void {
    this.depth += 1;
    if (this.depth > MAX_NESTING)
      throw new SchemaError(`it is nested deeper than ${MAX_NESTING} levels, or refers to itself`);
  }

  leave(): void {
    this.depth -= 1;
  }
}
