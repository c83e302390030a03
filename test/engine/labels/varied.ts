import { goto } from '../../../src/plan/goto.js';
import type { OnError, Plan, PlanNode, Route } from '../../../src/plan/plan.js';
import { seededRandom } from '../../../src/testing/index.js';
import type { Scenario } from '../oracle/scenario.js';

type State = Readonly<Record<string, unknown>>;
type Update = Record<string, unknown>;
type Io = { readonly attempt: number; readonly arrivals: readonly unknown[] } | undefined;
type Body = (state: State, io: Io) => unknown;

type Policies = Pick<PlanNode, 'retry' | 'timeoutMs' | 'onError' | 'writes'>;

/** How a function is changed. */
type Way = 'plain' | 'late' | 'retried' | 'timed' | 'leaves out' | 'looks back' | 'jumps';

const WAYS: readonly Way[] = ['plain', 'late', 'retried', 'timed', 'leaves out', 'looks back', 'jumps'];

/** Functions of one run may do so much; plans of which the rounds multiply are left. */
export const MOST_CALLS = 3_000;

/**
 * A scenario with what plans of the oracle do not have: functions that take time, fail at first, do not come to their end in time, leave out what
 * they declare to write, look at what came along their in-edges, and say themselves where to go on.
 */
export function varied(scenario: Scenario, seed: number): Scenario {
  const bindings: Record<string, unknown> = { ...scenario.bindings };
  return { ...scenario, bindings, plan: variedPlan(scenario.plan, '', { bindings, seed }) };
}

interface Variation {
  readonly bindings: Record<string, unknown>;
  readonly seed: number;
}

function variedPlan(plan: Plan, prefix: string, variation: Variation): Plan {
  const { bindings, seed } = variation;
  const routes = new Map(plan.routes.map((route) => [route.from, route]));
  const nodes = plan.nodes.map((node): PlanNode => {
    const key = prefix + node.id;
    if ('plan' in node) return { ...node, plan: variedPlan(node.plan, `${key}/`, variation) };
    if (node.kind !== 'task') return node;
    const way = WAYS[Math.floor(seededRandom(`${seed} ${key}`)() * WAYS.length)] ?? 'plain';
    const body = bindings[key] as Body;
    const route = routes.get(node.id);
    if (way === 'jumps') {
      if (route?.choose !== 'code' || route.targets === undefined) return node;
      routes.set(node.id, { ...route, choose: 'result' });
      bindings[key] = jumping(body, bindings[`${prefix}route:${node.id}`] as (state: State) => string | string[]);
      Reflect.deleteProperty(bindings, `${prefix}route:${node.id}`);
      return node;
    }
    bindings[key] = changed(way, body);
    return { ...node, ...policiesOf(way, node.onError) };
  });
  return { ...plan, nodes, routes: plan.routes.map(({ from }) => routes.get(from) as Route) };
}

function policiesOf(way: Way, onError: OnError = 'continue'): Policies {
  if (way === 'retried') return { retry: { retries: 1, backoff: 'fixed', delayMs: 0, on: 'any' } };
  if (way === 'timed') return { timeoutMs: 1, onError };
  return way === 'leaves out' ? { writes: ['lines', 'sum'] } : {};
}

/** A number that depends on all of an update. */
function drawn(update: Update): number {
  return Math.floor(seededRandom(JSON.stringify(update))() * 6);
}

function changed(way: Way, body: Body): Body {
  return (state, io) => {
    const update = body(state, io) as Update;
    if (way === 'late') return Promise.resolve(update);
    if (way === 'retried' && io?.attempt === 1 && drawn(update) < 3) throw new Error('the first time');
    if (way === 'timed' && drawn(update) === 0) return new Promise(() => undefined);
    if (way === 'leaves out') {
      const { lines, sum } = update;
      return drawn(update) < 3 || lines === undefined ? { sum: sum ?? 1 } : { lines };
    }
    if (way === 'looks back') return { ...update, newest: JSON.stringify(io?.arrivals ?? []) };
    return update;
  };
}

function jumping(body: Body, choose: (state: State) => string | string[]): Body {
  return (state, io) => {
    const update = body(state, io) as Update;
    const seen = { ...state };
    for (const name of Object.keys(update)) if (name.startsWith('count')) seen[name] = Number(seen[name] ?? 0) + 1;
    return goto(choose(seen), update as object);
  };
}

/**
 * A scenario whose functions read channels by their names: who is given the state as a whole counts as one who has read all of it. Functions that
 * say where to go on take copies, and stay as they are.
 */
export function readingByName(scenario: Scenario): Scenario {
  const jumps = jumpsIn(scenario.plan, '');
  const bindings = Object.entries(scenario.bindings).map(([key, fn]): [string, unknown] => {
    if (jumps.has(key)) return [key, fn];
    const asked = fn as (state: State, more: unknown) => unknown;
    return [
      key,
      (state: State, more: unknown) => asked(new Proxy({}, { get: (_, name) => state[String(name)] }), more),
    ];
  });
  return { ...scenario, bindings: Object.fromEntries(bindings) };
}

function jumpsIn({ nodes, routes }: Plan, prefix: string): ReadonlySet<string> {
  const own = routes.flatMap(({ from, choose }) => (choose === 'result' ? [prefix + from] : []));
  return new Set([
    ...own,
    ...nodes.flatMap((node) => ('plan' in node ? [...jumpsIn(node.plan, `${prefix}${node.id}/`)] : [])),
  ]);
}
