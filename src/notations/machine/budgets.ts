import type { Budget } from '../../plan/budget.js';
import type { Findings } from '../../text/findings.js';
import { entryOf } from '../../text/nodes.js';
import type { SourceNode } from '../../text/nodes.js';
import { readFields } from '../../text/shape.js';
import { budgetOf, readBudgetKey } from '../budget-key.js';
import type { Pack } from './pack.js';

/** What a turn may spend. */
export function packBudget({ workflow }: Pack): Budget | undefined {
  return budgetOf(workflow?.engine?.skein?.budget);
}

/** What a state may spend in a turn. */
export function stateBudget({ workflow }: Pack, state: string): Budget | undefined {
  const states = workflow?.engine?.skein?.states ?? {};
  return Object.hasOwn(states, state) ? budgetOf(states[state]?.budget) : undefined;
}

/** What a composition may spend in a turn. */
export function compositionBudget({ compositions }: Pack, name: string): Budget | undefined {
  return budgetOf(compositions?.[name]?.engine?.skein?.budget);
}

/** What the form of a pack can't say of budgets. Problem code: `bad-budget`. */
export function checkBudgets(root: SourceNode, findings: Findings): void {
  check(at(root, 'workflow', 'engine', 'skein'), 'workflow.engine.skein', 'file', findings);
  for (const { key, value } of entriesOf(at(root, 'workflow', 'engine', 'skein', 'states')))
    check(value, `the state ${JSON.stringify(key)}`, 'step', findings);
  for (const { key, value } of entriesOf(at(root, 'compositions')))
    check(at(value, 'engine', 'skein'), `the composition ${JSON.stringify(key)}`, 'step', findings);
}

function check(node: SourceNode | undefined, name: string, of: 'file' | 'step', findings: Findings): void {
  const fields = node && readFields(node, { name }, findings);
  if (fields !== undefined) readBudgetKey(fields, of);
}

function at(node: SourceNode, ...keys: readonly string[]): SourceNode | undefined {
  return keys.reduce<SourceNode | undefined>((inside, key) => inside && entryOf(inside, key)?.value, node);
}

function entriesOf(node: SourceNode | undefined) {
  return node?.kind === 'map' ? node.entries : [];
}
