import { quoted } from './errors.js';
import type { Problems } from './shapes.js';
import { WORKFLOW } from './read-spec.js';
import type { Spec, State } from './spec.js';

const STATES = WORKFLOW.field('states');

/** Checks the paths through the states: loops of redirects, cycles, reachability, and whether the budget suffices. */
export function checkPaths(spec: Spec, problems: Problems): void {
  const states = new Map(Object.entries(spec.states));
  checkRedirects(states, problems);
  checkCycles(states, problems);
  if (states.has(spec.entry)) checkReach(spec, states, problems);
}

type States = ReadonlyMap<string, State>;

/** Returns the targets of a state's events; a terminal state has none. */
function targetsOf({ terminal, on_event }: State): readonly string[] {
  return terminal === true ? [] : Object.values(on_event ?? {});
}

/** Returns the state to enter instead of a full one; undefined if the state can't be full or has no redirect. */
function redirectOf(state: State | undefined): string | undefined {
  const { max_visits = 0, on_max_visits = '' } = state ?? {};
  return max_visits > 0 && on_max_visits !== '' ? on_max_visits : undefined;
}

/** Finds redirects that lead back to where they began: the machine refuses such an event once all states of the loop are full. */
function checkRedirects(states: States, problems: Problems): void {
  const done = new Set<string>();
  for (const start of states.keys()) {
    const path = new Set<string>();
    let at: string | undefined = start;
    while (at !== undefined && !done.has(at) && !path.has(at)) {
      path.add(at);
      at = redirectOf(states.get(at));
    }
    if (at !== undefined && path.has(at)) {
      const loop = [...path].slice([...path].indexOf(at));
      const place = STATES.named(at).field('on_max_visits');
      const message =
        loop.length === 1
          ? `${place.text} redirects to the same state`
          : `${place.text} closes a loop of redirects: ${[...loop, at].join(' -> ')}`;
      const hint = 'redirect to a state without max_visits';
      problems.add(place, { code: 'redirect-loop', severity: 'error', message, hint });
    }
    for (const state of path) done.add(state);
  }
}

/** Finds each transition that leads back to a state on the path to it. */
function checkCycles(states: States, problems: Problems): void {
  const entered = new Set<string>();
  for (const start of states.keys()) {
    const onPath = new Set<string>();
    const stack: { readonly name: string; readonly targets: Iterator<string> }[] = [];
    const enter = (name: string): void => {
      const state = states.get(name);
      if (state === undefined || entered.has(name)) return;
      entered.add(name);
      onPath.add(name);
      stack.push({ name, targets: targetsOf(state)[Symbol.iterator]() });
    };
    enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.targets.next();
      if (next.done === true) {
        stack.pop();
        onPath.delete(top.name);
      } else if (onPath.has(next.value)) {
        const message = `workflow contains a cycle: ${top.name} -> ${next.value}`;
        const hint = 'nothing is wrong where this is meant; max_visits and engine.budget bound it';
        problems.add(STATES.named(top.name), { code: 'cycle', severity: 'warning', message, hint });
      } else enter(next.value);
    }
  }
}

function checkReach(spec: Spec, states: States, problems: Problems): void {
  const reached = reachedFrom(spec.entry, states);
  const entry = quoted(spec.entry);
  for (const name of states.keys()) {
    if (reached.has(name)) continue;
    const message = `${STATES.named(name).text} cannot be reached from entry ${entry}`;
    const hint = 'let an event lead to it, or take it out';
    problems.add(STATES.named(name), { code: 'unreachable-state', severity: 'warning', message, hint });
  }
  const ways = [...reached].map((name) => states.get(name) ?? {});
  if (ways.every((state) => targetsOf(state).length > 0)) {
    const message = `workflow.states: no terminal state can be reached from entry ${entry}`;
    const hint = 'a state ends the workflow when it has no on_event or says terminal: true';
    problems.add(STATES, { code: 'no-terminal-state', severity: 'warning', message, hint });
  }
  const most = spec.engine?.budget?.max_total_visits ?? 0;
  const needed = ways.reduce((sum, { max_visits = 0 }) => sum + max_visits, 0);
  if (most > 0 && most < needed) {
    const place = WORKFLOW.field('engine').field('budget').field('max_total_visits');
    const message = `${place.text} ${most} is less than max_visits of the reachable states together (${needed})`;
    const hint = 'raise it, or lower max_visits of the states';
    problems.add(place, { code: 'small-budget', severity: 'warning', message, hint });
  }
}

function reachedFrom(entry: string, states: States): ReadonlySet<string> {
  const reached = new Set([entry]);
  // Iteration over a set includes elements added meanwhile.
  for (const name of reached) {
    const state = states.get(name);
    if (state === undefined) continue;
    for (const target of [...targetsOf(state), redirectOf(state)]) {
      if (target !== undefined && states.has(target)) reached.add(target);
    }
  }
  return reached;
}
