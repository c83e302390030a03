import type { Findings } from '../../text/findings.js';
import type { Fields } from '../../text/shape.js';
import { DEFAULT_LOOPS, LOOPS, WORKFLOW } from './keys.js';

const KEY = 'max_loop_iterations';

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
  const overrides = workflow.fields('overrides', WORKFLOW.keys.overrides);
  const written = readLimit(workflow, findings);
  const limit = (overrides === undefined ? undefined : readLimit(overrides, findings)) ?? written;
  return limit === undefined || limit > 0 ? limit : DEFAULT_LOOPS;
}

function readLimit(fields: Fields, findings: Findings): number | undefined {
  const limit = fields.integer(KEY, LOOPS[KEY]);
  if (limit !== undefined && limit < 1) {
    const message = `${KEY} ${limit} has no effect: it means the default, ${DEFAULT_LOOPS}`;
    findings.warning('no-effect', message, fields.placeOf(KEY), 'the least is 1; remove the jump to forbid it');
  }
  return limit;
}
