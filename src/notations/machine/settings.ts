import { present } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import { LOWERED_HINT } from '../../plan/check-safety.js';
import { lowers, raised, securityText, type Security } from '../../plan/security.js';
import type { NodePolicies } from '../../plan/node-policies.js';
import type { NodeBase, Plan } from '../../plan/plan.js';
import type { Findings } from '../../text/findings.js';
import { entryOf, type SourceNode } from '../../text/nodes.js';
import { readFields } from '../../text/shape.js';
import { budgetOf, readBudgetKey } from '../budget-key.js';
import { readSecurityKey, securityOf } from '../security-key.js';
import type { Pack, PlacedPack, WrittenSettings } from './pack.js';

/** Returns the budget of a turn, and which calls models review. */
export function packSettings({ workflow, metadata }: Pack): Pick<Plan, 'budget' | 'security'> {
  return workflow === undefined
    ? present({ security: securityOf(metadata?.skein?.security) })
    : settingsOf(workflow.engine?.skein);
}

export function stateSettings(
  { workflow }: Pack,
  state: string,
): Pick<NodeBase, 'budget' | 'security'> & Pick<NodePolicies, 'endorse'> {
  const states = workflow?.engine?.skein?.states ?? {};
  const own = Object.hasOwn(states, state) ? states[state] : undefined;
  return { ...settingsOf(own), ...present({ endorse: own?.endorse }) };
}

export function compositionSettings({ compositions }: Pack, name: string): Pick<Plan, 'budget' | 'security'> {
  return settingsOf(compositions?.[name]?.engine?.skein);
}

function settingsOf({ budget, security }: WrittenSettings = {}): Pick<Plan, 'budget' | 'security'> {
  return present({ budget: budgetOf(budget), security: securityOf(security) });
}

/** Checks settings beyond their form. Problem codes: `bad-budget`, `no-scope`, `lowered-security`. */
export function checkSettings(root: SourceNode, placed: PlacedPack): void {
  const { findings } = placed;
  check(at(root, 'workflow', 'engine', 'skein'), 'workflow.engine.skein', 'file', findings);
  check(at(root, 'metadata', 'skein'), 'metadata.skein', 'file', findings);
  for (const { key, value } of entriesOf(at(root, 'workflow', 'engine', 'skein', 'states')))
    check(value, `the state ${JSON.stringify(key)}`, 'step', findings);
  for (const { key, value } of entriesOf(at(root, 'compositions')))
    check(at(value, 'engine', 'skein'), `the composition ${JSON.stringify(key)}`, 'step', findings);
  checkLowered(placed);
}

/** Checks that a state is at least as careful as its pack, and a composition as the states it answers in. */
function checkLowered({ pack, findings, at: placeOf }: PlacedPack): void {
  const { security: around } = packSettings(pack);
  const look = (what: string, own: Security | undefined, held: Security | undefined, path: readonly string[]): void => {
    if (own === undefined || held === undefined || !lowers(own, held)) return;
    const message = `${what} has the security ${securityText(own)} where ${securityText(held)} holds`;
    findings.error('lowered-security', message, placeOf(...path), LOWERED_HINT);
  };
  for (const [name, { composition }] of Object.entries(pack.workflow?.states ?? {})) {
    const { security: own } = stateSettings(pack, name);
    const path = ['workflow', 'engine', 'skein', 'states', name, 'security'];
    look(`the state ${quoteShort(name)}`, own, around, path);
    if (composition === undefined) continue;
    const inner = ['compositions', composition, 'engine', 'skein', 'security'];
    const { security } = compositionSettings(pack, composition);
    look(`the composition ${quoteShort(composition)}`, security, raised(around, own), inner);
  }
}

function check(node: SourceNode | undefined, name: string, of: 'file' | 'step', findings: Findings): void {
  const fields = node && readFields(node, { name }, findings);
  if (fields === undefined) return;
  readBudgetKey(fields, of);
  readSecurityKey(fields);
}

function at(node: SourceNode, ...keys: readonly string[]): SourceNode | undefined {
  return keys.reduce<SourceNode | undefined>((inside, key) => inside && entryOf(inside, key)?.value, node);
}

function entriesOf(node: SourceNode | undefined) {
  return node?.kind === 'map' ? node.entries : [];
}
