import type { Condition, Template, ValueRef } from '../../../src/lang/values.js';
import type { Bindings, Route } from '../../../src/plan/plan.js';
import { declaredTargets } from './shape.js';

/** State as a node sees it. */
export type State = Record<string, unknown>;

/** Reads a reference; paths are only followed through real objects and lists. */
export function valueAt(ref: ValueRef, state: State): unknown {
  let value: unknown = Object.hasOwn(state, ref.channel) ? state[ref.channel] : undefined;
  for (const part of ref.path ?? []) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A template without blocks of outputs, filled in. */
export function rendered(template: Template, state: State): string {
  return template
    .map((part) => {
      if (typeof part === 'string') return part;
      if (!('channel' in part)) throw new Error('the oracle knows no blocks and no expressions');
      return asText(valueAt(part, state));
    })
    .join('');
}

/** True when all conditions hold. `code` conditions ask the given function. */
export function allHold(conditions: readonly Condition[], state: State, code: () => unknown): boolean {
  return conditions.every((condition) => {
    switch (condition.op) {
      case 'code':
        return Boolean(code());
      case 'contains':
        return asText(valueAt(condition.value, state)).includes(rendered(condition.operand, state));
      case 'not_contains':
        return !asText(valueAt(condition.value, state)).includes(rendered(condition.operand, state));
      case 'equals':
        return asText(valueAt(condition.value, state)).trim() === rendered(condition.operand, state).trim();
      case 'line':
      case 'matches_json':
      case 'truthy':
      case 'cel':
        throw new Error(`the oracle does not know conditions of the kind ${condition.op}`);
    }
  });
}

/** What a route decided: nodes to go to (none: the branch ends), or why it can't. */
export type Choice = { readonly chosen: readonly string[] } | { readonly bad: string };

/** Asks a route where to go. */
export function choiceOf(
  route: Route,
  state: State,
  bindings: Bindings,
  prefix: string,
  nodes: ReadonlySet<string>,
): Choice {
  let answers: readonly string[];
  if (route.cases !== undefined) {
    const taken = route.cases.find((item) => allHold(item.when, state, () => false));
    answers = taken?.to ?? route.otherwise ?? [];
  } else {
    const choose = bindings[`${prefix}route:${route.from}`] as (state: State) => string | readonly string[] | undefined;
    const answer = choose(state);
    answers = answer === undefined ? [] : typeof answer === 'string' ? [answer] : answer;
    const map = route.map;
    if (map !== undefined) answers = answers.map((name) => map[name] ?? name);
  }
  const chosen = [...new Set(answers)].filter((name) => name !== 'END');
  const allowed = declaredTargets(route);
  const bad = chosen.find((name) => (allowed === undefined ? !nodes.has(name) : !allowed.includes(name)));
  return bad === undefined ? { chosen } : { bad };
}
