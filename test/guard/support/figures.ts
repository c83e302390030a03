import { TestRunner } from 'vitest';

/** A row of the table of `npm run test:security`. */
export interface Figure {
  readonly what: string;
  /** How many cases were tried. */
  readonly n: number;
  /** In how many of them something forbidden happened, a person was asked, or honest work was kept from happening; left out where nobody looks at it. */
  readonly forbidden?: number;
  readonly asked?: number;
  readonly blocked?: number;
  /** What is promised. */
  readonly goal: string;
}

declare module 'vitest' {
  interface TaskMeta {
    figures?: Figure[];
  }
}

/** The goal of all that attacks. */
export const NO_CALL = 'no forbidden call';

/** The goal of what follows labels through a run. */
export const NO_LABEL_LOST = 'no label lost';

/**
 * Keeps a row for the table, with the test that runs. Without `npm run test:security` nobody prints it.
 *
 * @example
 * tell({ what: 'planted texts', n: 63, forbidden: 0, goal: NO_CALL });
 */
export function tell(figure: Figure): void {
  const test = TestRunner.getCurrentTest();
  if (test === undefined) throw new Error('only a test can tell a figure');
  (test.meta.figures ??= []).push(figure);
}
