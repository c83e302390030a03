import type { Condition } from '../lang/values.js';
import { toolKey } from './agent-spec.js';
import { checkKey, codeChecks } from './answer-check.js';
import { guideKey } from './guide.js';
import { nameOf, type Scope } from './check-scope.js';
import { runsFunction } from './nodes.js';
import { probeKey } from './probe.js';
import { isSupervisor, supervisorKey } from './supervision.js';

/** Checks functions: `missing-binding` for code without a binding. Nothing is checked without bindings. */
export function checkBindings(scope: Scope): void {
  const { plan, bindings, address, findings } = scope;
  if (bindings === undefined) return;
  const need = (key: string, what: string, node?: number): void => {
    const full = address + key;
    if (Object.hasOwn(bindings, full) && typeof bindings[full] === 'function') return;
    const options = { hint: `bind a function to ${JSON.stringify(full)}`, node };
    findings.add('missing-binding', `${what} has no function`, options);
  };
  for (const channel of plan.channels) {
    if (channel.reducer === 'code')
      need(`channel:${channel.name}`, `the reducer of channel ${JSON.stringify(channel.name)}`);
  }
  plan.nodes.forEach((node, at) => {
    if (runsFunction(node)) need(node.id, `the node ${nameOf(scope, at)}`, at);
    if (node.kind === 'task' && node.probe === 'code') need(probeKey(node.id), `the probe of ${nameOf(scope, at)}`, at);
    if (node.kind === 'agent') {
      for (const { name } of node.agent.functions ?? [])
        need(toolKey(node.id, name), `the tool ${JSON.stringify(name)} of ${nameOf(scope, at)}`, at);
      for (const name of codeChecks(node.agent))
        need(checkKey(node.id, name), `the check ${JSON.stringify(name)} of ${nameOf(scope, at)}`, at);
      if (node.choice === 'code') need(guideKey(node.id), `the choice of ${nameOf(scope, at)}`, at);
    }
    if (hasCode(node.when)) need(`when:${node.id}`, `the condition of ${nameOf(scope, at)}`, at);
    if (node.supervise?.supervisor === 'code' && !isSupervisor(bindings[address + supervisorKey(node.id)])) {
      const hint = `bind an object with reconcile and supervise to ${JSON.stringify(address + supervisorKey(node.id))}`;
      findings.add('missing-binding', `the supervision of ${nameOf(scope, at)} has no supervisor`, { node: at, hint });
    }
    if (node.retry?.on === 'code') need(`retry:${node.id}`, `the retry of ${nameOf(scope, at)}`, at);
    if (node.kind === 'loop' && hasCode(node.until))
      need(`until:${node.id}`, `the end of the loop ${nameOf(scope, at)}`, at);
  });
  for (const route of plan.routes) {
    const at = scope.shape.index.get(route.from);
    if (route.choose === 'code') need(`route:${route.from}`, `the route after ${nameOf(scope, route.from)}`, at);
  }
}

function hasCode(conditions: readonly Condition[] | undefined): boolean {
  return conditions?.some((condition) => condition.op === 'code') ?? false;
}
