import { quoteShort } from '../../lang/value-text.js';
import { isEmptyText, type Fields } from '../../text/shape.js';
import { around, type Block, type Placed } from './blocks.js';
import type { SequenceStep, StepDef } from './definition.js';
import { NO_POLICIES } from './read-policies.js';
import { readBlock } from './read-steps.js';

export const LAST_ID = 'finally';

/** Reads the steps under `finally` as one step without in-edges. Their failure changes no outcome. Problem code: `duplicate-step`. */
export function readLast(root: Fields, steps: readonly StepDef[]): readonly SequenceStep[] {
  const node = root.node(LAST_ID);
  if (node === undefined || isEmptyText(node)) return [];
  const inner = readBlock(node, { path: LAST_ID, depth: 1 }, root.findings);
  if (inner.length === 0) {
    const hint = 'add a list: finally: [{type: agent, name: AGENT}]';
    if (node.kind === 'list') root.error('empty-block', LAST_ID, 'finally has no steps', hint);
    return [];
  }
  const other = steps.find(({ id }) => id === LAST_ID);
  if (other !== undefined) {
    const message = `${other.label} has the id ${quoteShort(LAST_ID)}, as the steps under finally do`;
    root.findings.error('duplicate-step', message, other.idAt, 'give it another id');
    return [];
  }
  const base = { id: LAST_ID, idAt: node.at, at: node.at, label: LAST_ID };
  const policies = { ...NO_POLICIES, onError: 'continue' as const };
  const rest = { maxLoopIterations: undefined, isLast: true, context: undefined };
  return [{ type: 'sequence', ...base, ...policies, steps: inner, ...rest }];
}

/** Whether a step runs after all others, or is inside one that does. */
export function isAtEnd(placed: Placed): boolean {
  return [...around(placed)].some(({ step }) => isLast(step));
}

/** Whether a step runs after all others. */
export function isLast(step: StepDef): boolean {
  return step.type === 'sequence' && step.isLast;
}

/** Returns the index of that step in a block. -1 if there is none. */
export function lastIn(block: Block): number {
  const placed = block.steps.at(-1);
  return placed !== undefined && isLast(placed.step) ? placed.at : -1;
}
