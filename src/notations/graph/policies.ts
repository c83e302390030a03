import type { StateOf } from '../../plan/builder-input.js';
import type { Condition } from '../../lang/values.js';
import { NODE_OPTION_NAMES } from '../../plan/fields.js';
import type { NodeBase } from '../../plan/plan.js';
import { retryParts } from '../../plan/retry-input.js';
import type { NodePolicies, WhenInput } from './options.js';

/** The options of a node that are plan data as they are. What was not said is absent. */
export function policiesOf(options: NodePolicies): Partial<NodeBase> {
  const said = NODE_OPTION_NAMES.flatMap((name) => {
    const value = options[name];
    return name === 'when' || name === 'retry' || value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(said);
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
