import type { ErrorData } from '../../../base/errors.js';
import type { NodePolicies } from '../../../plan/node-policies.js';
import type { PlanNode } from '../../../plan/plan.js';
import type { Bound, Given, PolicedStep, Policy, PolicyMaker } from './policy.js';
import { endorse } from './endorse.js';
import { retry } from './retry.js';
import { supervise } from './supervise.js';
import { timeout } from './timeout.js';
import { when } from './when.js';

/** The makers of a node's policies, outermost first. Their order is defined only here. */
const MAKERS: { readonly [Name in keyof NodePolicies]-?: PolicyMaker } = {
  when,
  endorse,
  supervise,
  retry,
  timeoutMs: timeout,
};
const IN_ORDER = Object.values(MAKERS);

/** A step as its policies pass it on. */
interface Inside extends PolicedStep {
  /** All policies let the step in. */
  entered(): void;
  /** The attempt starts. */
  begun(): void;
  /** All policies accept the result. */
  accepted(result: Given): void;
  /** No policy handles the failure. */
  givenUp(error: ErrorData): void;
}

/** All policies of a node, combined. */
export interface Policies {
  readonly enter: (step: Inside) => void;
  readonly begin: (step: Inside) => void;
  readonly failed: (step: Inside, error: ErrorData) => void;
  /** Undefined if the result of the body counts at once. */
  readonly gave: ((step: Inside, result: Given) => void) | undefined;
  /** Undefined if no policy handles failed calls inside the step. */
  readonly again: Policy['again'];
}

/** The step itself, behind the last policy. */
const ENDS: Policies = {
  enter: (step) => step.entered(),
  begin: (step) => step.begun(),
  failed: (step, error) => step.givenUp(error),
  gave: undefined,
  again: undefined,
};

const accepted = (step: Inside, result: Given): void => step.accepted(result);

/** The policies of a node; undefined if it has none, so that its steps pay for none. */
export function policiesOf(node: PlanNode, bound: Bound): Policies | undefined {
  const policies = IN_ORDER.flatMap((make) => make(node, bound) ?? []);
  if (policies.length === 0) return undefined;
  let { enter, begin, failed, gave, again } = ENDS;
  for (const policy of policies.toReversed()) {
    enter = entering(policy, enter);
    begin = beginning(policy, begin);
  }
  for (const policy of policies) {
    failed = failing(policy, failed);
    gave = giving(policy, gave);
    again ??= policy.again;
  }
  return { enter, begin, failed, gave, again };
}

function entering(policy: Policy, inner: Policies['enter']): Policies['enter'] {
  return policy.enter === undefined ? inner : (step) => policy.enter?.(step, () => inner(step));
}

function beginning(policy: Policy, inner: Policies['begin']): Policies['begin'] {
  return policy.begin === undefined ? inner : (step) => policy.begin?.(step, () => inner(step));
}

function failing(policy: Policy, outer: Policies['failed']): Policies['failed'] {
  if (policy.failed === undefined) return outer;
  return (step, error) => policy.failed?.(step, error, (left) => outer(step, left));
}

function giving(policy: Policy, outer: Policies['gave']): Policies['gave'] {
  if (policy.gave === undefined) return outer;
  const out = outer ?? accepted;
  return (step, result) => policy.gave?.(step, result, () => out(step, result));
}
