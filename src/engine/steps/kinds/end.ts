import type { ErrorData } from '../../../base/errors.js';
import type { Body, Step } from '../step.js';
import { noTicket } from './call.js';

/** Ends the plan that the step belongs to, and those around it that end with it. */
export const endBody: Body = { start: startEnd, take: noTicket };

function startEnd(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'end') return;
  const reason = node.reason === undefined ? '' : step.render(node.reason).trim();
  const error = node.status === 'failed' ? endedAs(reason, node.id) : undefined;
  step.endPlan({ path: step.path, error, out: node.out ?? 0 }, { reason: reason === '' ? undefined : reason });
}

/** It was meant, so no other attempt changes it. */
function endedAs(reason: string, id: string): ErrorData {
  const message = reason === '' ? `the workflow ended at '${id}'` : reason;
  return { code: 'SKEIN_ENDED', message, retryable: false };
}
