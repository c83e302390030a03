import { present } from '../../base/json.js';
import type { NodeBase, Plan } from '../../plan/plan.js';
import type { CallDef } from '../step-keys.js';
import type { Block, Placed } from './blocks.js';
import { buildCondition, type ConditionParts } from './conditions.js';
import type { RetryDef, StepDef } from './definition.js';
import { retriedBy } from './keys.js';
import { securityOf, supervising, type SupervisionParts } from './supervising.js';

export interface NodeParts extends SupervisionParts, ConditionParts {
  readonly planOf: (block: Block) => Plan;
  readonly calls: ReadonlyMap<CallDef, Plan>;
  /** Maps whose item index or item key is read. */
  readonly counted: ReadonlySet<StepDef>;
}

export function writing(placed: Placed): Pick<NodeBase, 'writes' | 'output'> {
  const channel = placed.outputs[0]?.channel;
  return channel === undefined ? { writes: [] } : { writes: [channel], output: channel };
}

export function policies(placed: Placed, parts: NodeParts): NodeBase {
  const { step } = placed;
  const { id, timeoutMs, at } = step;
  const when = step.when && buildCondition(step.when, placed, parts);
  return present({
    id,
    when: when && [when],
    onSkip: when && ('continue' as const),
    ending: placed.ending?.channel,
    retry: step.retry === undefined ? undefined : retryPolicy(step.retry),
    timeoutMs,
    budget: step.budget,
    security: securityOf(step.security, parts),
    endorse: step.endorse,
    onError: step.onError === 'continue' ? ('ignore' as const) : undefined,
    at,
    ...supervising(placed, parts),
  });
}

function retryPolicy(retry: RetryDef): NodeBase['retry'] {
  const { retries, backoff, delayMs, jitter, on } = retry;
  if (retries === 0) return undefined;
  const policy = {
    retries,
    backoff,
    delayMs,
    ...(on === undefined ? {} : { on: [...new Set(on.flatMap(retriedBy))] }),
  };
  return jitter === 0 ? policy : { ...policy, jitter };
}
