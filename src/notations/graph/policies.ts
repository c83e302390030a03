import type { StateOf } from '../../plan/builder-input.js';
import type { Condition } from '../../lang/values.js';
import type { NodeBase } from '../../plan/plan.js';
import { retryParts } from '../../plan/retry-input.js';
import type { NodePolicies, WhenInput } from './options.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The options of a node as plan data. What was not said is absent. */
export function policiesOf(options: NodePolicies): Partial<NodeBase> {
  const { label, join, timeoutMs, onError, maxVisits, onMaxVisits, effect, version } = options;
  const policies: Mutable<Partial<NodeBase>> = {};
  if (label !== undefined) policies.label = label;
  if (join !== undefined) policies.join = join;
  if (timeoutMs !== undefined) policies.timeoutMs = timeoutMs;
  if (onError !== undefined) policies.onError = onError;
  if (maxVisits !== undefined) policies.maxVisits = maxVisits;
  if (onMaxVisits !== undefined) policies.onMaxVisits = onMaxVisits;
  if (effect !== undefined) policies.effect = effect;
  if (version !== undefined) policies.version = version;
  return policies;
}

/** The retry of a node as plan data; the function that decides about it goes to the bindings. */
export function retryOf(
  name: string,
  retry: NodePolicies['retry'],
  bindings: Record<string, unknown>,
): Pick<NodeBase, 'retry'> {
  if (retry === undefined) return {};
  const { policy, decide } = retryParts(retry);
  if (decide !== undefined) bindings[`retry:${name}`] = decide;
  return { retry: policy };
}

/** Conditions as plan data; their functions go to the bindings. */
export function conditionsOf(
  name: string,
  when: NodePolicies['when'],
  bindings: Record<string, unknown>,
): readonly Condition[] | undefined {
  if (when === undefined) return undefined;
  const list = isList(when) ? when : [when];
  const tests = list.filter((each) => typeof each === 'function');
  const declared = list.filter((each) => typeof each !== 'function');
  const [first] = tests;
  if (first === undefined) return declared;
  bindings[`when:${name}`] = tests.length === 1 ? first : (state: StateOf) => tests.every((test) => test(state));
  return [...declared, { op: 'code' }];
}

function isList(when: NonNullable<NodePolicies['when']>): when is readonly WhenInput<StateOf>[] {
  return Array.isArray(when);
}
