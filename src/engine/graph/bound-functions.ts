import { SkeinError } from '../../base/errors.js';
import { toolKey } from '../../plan/agent-spec.js';
import { checkKey, codeChecks } from '../../plan/answer-check.js';
import { guideKey, type GuideOf } from '../../plan/guide.js';
import type { AgentNode, Bindings, LoopNode, PlanNode } from '../../plan/plan.js';
import { probeKey, type ProbeFunction } from '../../plan/probe.js';
import { isSupervisor } from '../../plan/supervision.js';
import type { Bound } from '../steps/policies/policy.js';

type Find = (key: string) => unknown;

/** @throws SkeinError `SKEIN_NO_BINDING` if it is not a function */
export function boundFunction(fn: unknown, key: string): unknown {
  if (typeof fn === 'function') return fn;
  throw new SkeinError('SKEIN_NO_BINDING', `the plan needs a function for '${key}', and the bindings have none`, {
    hint: `pass bindings: { ${JSON.stringify(key)}: (state) => ... }`,
  });
}

export function boundTo(fn: Find, prefix: string): Bound {
  return {
    fn: (key) => boundFunction(fn(key), prefix + key),
    supervisor(key) {
      const found = fn(key);
      if (isSupervisor(found)) return found;
      const message = `the plan needs a supervisor for '${prefix}${key}', and the bindings have none`;
      throw new SkeinError('SKEIN_NO_BINDING', message, { hint: 'bind an object with reconcile and supervise' });
    },
  };
}

export function toolsOf({ id, agent }: AgentNode, fn: Find, prefix: string): Bindings | undefined {
  if (agent.functions === undefined) return undefined;
  return Object.fromEntries(
    agent.functions.map(({ name }) => [name, boundFunction(fn(toolKey(id, name)), prefix + toolKey(id, name))]),
  );
}

export function checksOf({ id, agent }: AgentNode, fn: Find, prefix: string): Bindings | undefined {
  const names = codeChecks(agent);
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name) => [name, boundFunction(fn(checkKey(id, name)), prefix + checkKey(id, name))]),
  );
}

export function guideOf({ id, choice }: AgentNode, fn: Find, prefix: string): GuideOf | undefined {
  return choice === 'code' ? (boundFunction(fn(guideKey(id)), prefix + guideKey(id)) as GuideOf) : undefined;
}

/** What finds out about an interrupted execution of a function (J6). */
export function probeOf(node: PlanNode, fn: Find, prefix: string): ProbeFunction | undefined {
  if (node.kind !== 'task' || node.probe === undefined) return undefined;
  const key = probeKey(node.id);
  return boundFunction(fn(key), prefix + key) as ProbeFunction;
}

export function untilOf(node: LoopNode, fn: Find, prefix: string): unknown {
  if (!node.until.some((condition) => condition.op === 'code')) return undefined;
  const key = `until:${node.id}`;
  return boundFunction(fn(key), prefix + key);
}
