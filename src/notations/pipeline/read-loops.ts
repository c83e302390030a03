import type { Findings } from '../source/findings.js';
import type { Fields } from '../source/shape.js';

/** The key that says how often each jump back may be made. */
const LOOPS = 'max_loop_iterations';

/** Keys of a workflow that is written as a map. */
export const WORKFLOW_KEYS = ['steps', LOOPS, 'overrides'];

/** How often each jump back may be made when the file does not say. */
export const DEFAULT_LOOPS = 100;

/** The bound of visits in plans. */
const MOST_LOOPS = 1_000_000;

/** The forms of a workflow. */
export const SHAPE = "expected a list of steps or a map with 'steps' and optional 'max_loop_iterations'";

/**
 * How often each jump back of a workflow may be made; undefined when it does not say. Values of zero and below mean the default, in both places.
 * Problem codes: `no-effect`, and those of the types.
 *
 * @example
 * readLoops(fields, findings); // 5
 */
export function readLoops(workflow: Fields, findings: Findings): number | undefined {
  const overrides = workflow.fields('overrides', [LOOPS]);
  const written = readLimit(workflow, findings);
  const limit = (overrides === undefined ? undefined : readLimit(overrides, findings)) ?? written;
  return limit === undefined || limit > 0 ? limit : DEFAULT_LOOPS;
}

function readLimit(fields: Fields, findings: Findings): number | undefined {
  const limit = fields.integer(LOOPS, { max: MOST_LOOPS });
  if (limit !== undefined && limit < 1) {
    const message = `${LOOPS} ${limit} has no effect: it means the default, ${DEFAULT_LOOPS}`;
    findings.warning('no-effect', message, fields.placeOf(LOOPS), 'the least is 1; remove the jump to forbid it');
  }
  return limit;
}
