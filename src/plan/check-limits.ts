import { BUDGET } from './budget.js';
import { LIMITS } from './check-form.js';
import { nameOf, type Scope } from './check-scope.js';
import { capsOf, NODE } from './fields.js';
import type { Misfits } from './form.js';
import type { AskNode, PlanNode } from './plan.js';
import { schemaFindings } from '../lang/schema-check.js';
import { ownValue } from '../base/json.js';

/** Checks limits: `unbounded-loop` and `unbounded-map` for a missing limit, `bad-limit` for an invalid one, `bad-wait`, `bad-expiry`. */
export function checkLimits(scope: Scope): void {
  const { plan, findings, hasWrongNumbers } = scope;
  if (hasWrongNumbers && plan.limits !== undefined) checkBounds(scope, LIMITS(plan.limits), 'limits.');
  if (hasWrongNumbers && plan.budget !== undefined) checkBounds(scope, BUDGET(plan.budget), 'budget.');
  plan.nodes.forEach((node, at) => {
    if (hasWrongNumbers) checkBounds(scope, NODE(node), '', at);
    checkPresence(scope, node, at);
    if (node.onMaxVisits !== undefined && node.maxVisits === undefined) {
      const message = `${nameOf(scope, at)} says what happens at its last visit, but has no maxVisits`;
      findings.add('bad-limit', message, { node: at, path: 'onMaxVisits', hint: 'give maxVisits' });
    }
    if (node.kind === 'ask') checkExpiry(scope, node, at);
    if (node.kind === 'wait' && node.ms === undefined && node.until === undefined && node.event === undefined) {
      const hint = 'give ms or until, or the name of an event';
      findings.add('bad-wait', `the node ${nameOf(scope, at)} waits for nothing`, { node: at, hint });
    }
  });
}

/** Reports numbers that are out of bounds, wherever they occur. */
function checkBounds(scope: Scope, misfits: Misfits, place: string, node?: number): void {
  for (const { path, message, bound } of misfits ?? []) {
    if (bound === undefined) continue;
    const where = place + path.slice(1);
    scope.findings.add('bad-limit', `${where} ${message}`, { path: where, hint: bound, node });
  }
}

/** A node that could run without end must have a limit. The types require one, but plan data may lack it. */
function checkPresence(scope: Scope, node: PlanNode, at: number): void {
  for (const [name, code] of capsOf(node.kind)) {
    if (ownValue(node, name) !== undefined) continue;
    const options = { node: at, path: name, hint: `give ${name}` };
    scope.findings.add(code, `the ${node.kind} ${nameOf(scope, at)} has no bound`, options);
  }
}

/** An expiry needs a time, and an answer that a person could give. */
function checkExpiry(scope: Scope, node: AskNode, at: number): void {
  const { expiresMs, onExpire, choices, schema } = node;
  if (onExpire === undefined) return;
  if (expiresMs === undefined) {
    const message = `the question ${nameOf(scope, at)} says what happens when it expires, but it never expires`;
    scope.findings.add('bad-expiry', message, { node: at, path: 'onExpire', hint: 'give expiresMs' });
  }
  if (onExpire === 'fail') return;
  const asked = schema ?? (choices === undefined ? undefined : { enum: [...choices] });
  const findings = asked === undefined ? [] : schemaFindings(asked, onExpire.answer);
  if (findings.length === 0) return;
  const message = `the answer of ${nameOf(scope, at)} at its expiry does not fit the question: ${findings.join('; ')}`;
  const hint = choices === undefined ? 'give one that matches the schema' : `give one of ${choices.join(', ')}`;
  scope.findings.add('bad-expiry', message, { node: at, path: 'onExpire.answer', hint });
}
