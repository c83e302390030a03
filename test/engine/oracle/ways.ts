import type { Plan } from '../../../src/plan/plan.js';
import { choiceOf, type State } from './conditions.js';
import type { Histories, History } from './history.js';
import { failureOf, type Failure, type Place, type World } from './world.js';

/** What each route of a node chose, by route. */
export type Chosen = ReadonlyMap<string, readonly string[]>;

/** What routes are asked with. */
export interface Asking {
  readonly world: World;
  readonly plan: Plan;
  readonly place: Place;
  readonly histories: Histories;
}

/** Asks each route of a node; a failure when one can't choose. */
export function choose({ world, plan, place, histories }: Asking, from: string, after: History): Chosen | Failure {
  const chosen = new Map<string, readonly string[]>();
  const nodes = new Set(plan.nodes.map((node) => node.id));
  for (const route of plan.routes.filter((one) => one.from === from)) {
    const read = histories.read(after);
    if ('conflict' in read) return conflictFailure(read.conflict);
    try {
      const choice = choiceOf(route, read.state, world.bindings, place.prefix, nodes);
      if ('bad' in choice) return { code: 'SKEIN_BAD_ROUTE', message: `${from} chose ${choice.bad}` };
      chosen.set(routeKey(plan.routes.indexOf(route)), choice.chosen);
    } catch (error) {
      return failureOf(error);
    }
  }
  return chosen;
}

export function routeKey(index: number): string {
  return `route:${index}`;
}

/** Static edges are always live; a route's edge is when its route chose its target. */
export function isChosen(edgeId: string, chosen: Chosen): boolean {
  if (edgeId.startsWith('static:')) return true;
  for (const [key, targets] of chosen) if (targets.some((to) => edgeId === `${key}:${to}`)) return true;
  return false;
}

export function conflictFailure(conflict: { channel: string; writers: readonly string[] }): Failure {
  return { code: 'SKEIN_WRITE_CONFLICT', message: `${conflict.channel}: ${conflict.writers.join(', ')}` };
}

/** How a plan ended, for the node that runs then. */
export interface How {
  readonly outcome: 'succeeded' | 'degraded' | 'failed' | 'cancelled';
  readonly failure?: Failure | undefined;
  /** What is known of its final state. */
  readonly state: State;
}

/** The node `finally` of a plan as a plan of its own, and the place where it runs. */
export function closingOf(plan: Plan, place: Place, how: How): { readonly plan: Plan; readonly place: Place } {
  const { finally: last, entry: _, ...rest } = plan;
  const nodes = plan.nodes.filter(({ id }) => id === last);
  const error = how.failure === undefined ? {} : { 'run.error': { code: how.failure.code } };
  return {
    plan: { ...rest, nodes, edges: [], routes: [], exits: [] },
    place: { ...place, require: undefined, inputs: { ...how.state, 'run.outcome': how.outcome, ...error } },
  };
}
