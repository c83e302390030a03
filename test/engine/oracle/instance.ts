import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { allHold, choiceOf, type State } from './conditions.js';
import { Histories, union, type Fold, type History } from './history.js';
import { Joins, type Firing, type Token } from './joins.js';
import { declaredTargets, knownTargets, shapeOf, type Shape, type ShapeEdge } from './shape.js';
import { beginBody, type Cancel } from './bodies.js';
import { failureOf, type Ending, type Failure, type Place, type SubRun, type World } from './world.js';

/** One step: a firing that has been looked at. */
interface Step {
  readonly node: PlanNode;
  readonly tokens: readonly Token[];
  /** What it sees. */
  readonly history: History;
  readonly depth: number;
  readonly round: number;
  readonly visit: number;
}

/** What goes out after a step. */
interface Sending {
  /** Edges that get a live token; the others get a dead one. */
  readonly live?: readonly ShapeEdge[];
  /** Edges that get none. */
  readonly silent?: readonly ShapeEdge[];
  /** Nodes that are fired by themselves. */
  readonly alone?: readonly Firing[];
  readonly poisoned?: boolean;
}

/** One execution of a plan: the run itself, or a sub-plan. Calls `onEnd` once. */
export class Instance implements SubRun {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #place: Place;
  readonly #onEnd: (ending: Ending) => void;
  readonly #shape: Shape;
  readonly #joins: Joins;
  readonly #histories: Histories;
  readonly #ready: Firing[] = [];
  readonly #running = new Map<Step, Cancel>();
  readonly #visits = new Map<string, number>();
  readonly #stepped = new Set<string>();
  /** What was known where a branch ended with a live token (S4). */
  readonly #ended: History[] = [];
  #draining = false;
  #over = false;

  constructor(world: World, plan: Plan, place: Place, onEnd: (ending: Ending) => void) {
    this.#world = world;
    this.#plan = plan;
    this.#place = place;
    this.#onEnd = onEnd;
    this.#shape = shapeOf(plan);
    this.#joins = new Joins(this.#shape, plan.nodes);
    const fold = (channel: string): Fold => this.#binding(`channel:${channel}`) as Fold;
    this.#histories = new Histories(plan.channels, new Map(Object.entries(place.inputs)), fold);
  }

  begin(): void {
    const first: Token = { live: true, poisoned: false, history: new Set([0]), depth: 0, round: 0 };
    for (const node of this.#shape.starts) this.#ready.push({ node, tokens: [first], run: true });
    this.#drain();
  }

  /** Ends everything that runs; tells nobody. */
  cancel(): void {
    this.#over = true;
    for (const [step, cancelBody] of this.#running) {
      cancelBody();
      this.#world.count(step.node, this.#pathOf(step.node), 'cancelled');
    }
    this.#running.clear();
    this.#countNotRun();
  }

  #drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    while (!this.#over) {
      const next = this.#ready.shift();
      if (next !== undefined) this.#fire(next);
      else if (this.#running.size > 0) break;
      else {
        const released = this.#joins.release();
        if (released === undefined) this.#finish();
        else {
          this.#world.releases += 1;
          this.#ready.push(released);
        }
      }
    }
    this.#draining = false;
  }

  #finish(): void {
    const result = this.#histories.read(union([new Set([0]), ...this.#ended]));
    if ('conflict' in result) this.#failRun(conflictFailure(result.conflict));
    else {
      this.#over = true;
      this.#countNotRun();
      this.#onEnd({ ok: true, value: result.state });
    }
  }

  #failRun(failure: Failure): void {
    this.cancel();
    this.#onEnd({ ok: false, failure });
  }

  /** Only the nodes of the run's own plan are missed; a sub-plan that was begun counts as its step. */
  #countNotRun(): void {
    if (this.#place.path !== '') return;
    this.#world.census.notRun += this.#plan.nodes.filter(
      (node) => node.kind !== 'pass' && !this.#stepped.has(node.id),
    ).length;
  }

  #fire(firing: Firing): void {
    const node = this.#node(firing.node);
    this.#stepped.add(node.id);
    const seen = node.join === 'settled' ? firing.tokens : firing.tokens.filter((token) => token.live);
    const step: Step = {
      node,
      tokens: firing.tokens,
      history: union([new Set([0]), ...seen.map((token) => token.history)]),
      depth: 1 + Math.max(...firing.tokens.map((token) => token.depth)),
      round: Math.max(...firing.tokens.map((token) => token.round)),
      visit: (this.#visits.get(node.id) ?? 0) + 1,
    };
    const poisoned = firing.tokens.some((token) => token.poisoned);
    // A step that does not come to look at its state passes on, for a settled join further down, all that came.
    const all = union(firing.tokens.map((token) => token.history));
    const live = firing.tokens.filter((token) => token.live);
    if (poisoned || !firing.run) {
      if (live.length > 0) this.#ended.push(union(live.map((token) => token.history)));
      this.#skip({ ...step, history: all }, poisoned);
    } else this.#run(step);
  }

  #run(step: Step): void {
    const node = step.node;
    const limit = this.#plan.limits?.maxSteps ?? this.#shape.longestPath + 100;
    if (step.depth > limit) {
      const failure = { code: 'SKEIN_MAX_STEPS', message: node.id };
      this.#world.count(node, this.#pathOf(node), 'failed', failure);
      this.#failRun(failure);
      return;
    }
    if (node.maxVisits !== undefined && step.visit > node.maxVisits) {
      this.#overVisited(step);
      return;
    }
    const read = this.#histories.read(step.history);
    if ('conflict' in read) {
      // The step never ran, so no policy of its own allows that.
      const failure = conflictFailure(read.conflict);
      this.#world.count(node, this.#pathOf(node), 'failed', failure);
      this.#failRun(failure);
      return;
    }
    const when = (): unknown => (this.#binding(`when:${node.id}`) as (state: State) => unknown)(read.state);
    if (node.when !== undefined && !allHold(node.when, read.state, when)) {
      this.#skipSeen(step);
      return;
    }
    this.#visits.set(node.id, step.visit);
    this.#startBody(step, read.state);
  }

  #overVisited(step: Step): void {
    const policy = step.node.onMaxVisits ?? 'fail';
    if (policy === 'fail' || (typeof policy === 'object' && 'fail' in policy)) {
      const failure = { code: 'SKEIN_MAX_VISITS', message: step.node.id };
      this.#world.count(step.node, this.#pathOf(step.node), 'failed', failure);
      this.#failRun(failure);
    } else if (policy === 'skip') this.#skipSeen(step);
    // The token goes on at the other node; this one was not visited again.
    else this.#ready.push(this.#handing(policy.to, step));
  }

  /** A handler before the node goes round a cycle, one after it does not. */
  #handing(to: string, step: Step): Firing {
    const forward = this.#shape.edges.filter((edge) => !edge.closing);
    return aloneFiring(to, step, step.history, this.#leadsTo(to, step.node.id, forward) ? 1 : 0);
  }

  #startBody(step: Step, state: State): void {
    // A sub-plan without anything to run ends before `beginBody` returns: then there is nothing to cancel.
    let over = false;
    const done = (ending: Ending): void => {
      over = true;
      this.#running.delete(step);
      if (this.#over) return;
      if (ending.ok) this.#succeed(step, ending.value);
      else this.#fail(step, ending.failure);
      this.#drain();
    };
    this.#running.set(step, () => undefined);
    const cancel = beginBody({ world: this.#world, node: step.node, state, place: this.#place }, done);
    if (over) this.#world.instants += 1;
    else this.#running.set(step, cancel);
  }

  #succeed(step: Step, value: unknown): void {
    const node = step.node;
    const update = node.output === undefined ? value : { [node.output]: value };
    const after = new Set(step.history);
    const write = {
      node: node.id,
      round: step.round,
      topo: this.#shape.topo.get(node.id) ?? -1,
      visit: step.visit,
      update: new Map(Object.entries((update ?? {}) as Record<string, unknown>)),
      before: step.history,
    };
    after.add(this.#histories.add(write));
    const isExit = this.#plan.exits?.includes(node.id) === true;
    const chosen = isExit ? new Map<string, readonly string[]>() : this.#choose(step, after);
    if ('code' in chosen) {
      // Nothing says where an ignored failure of a route goes on.
      if (node.onError === 'ignore') this.#failFor(step, chosen);
      else this.#fail(step, chosen);
      return;
    }
    this.#world.count(node, this.#pathOf(node), 'succeeded');
    this.#leave(step, after, chosen);
  }

  /** Goes on from a step that knows where to. */
  #leave(step: Step, after: History, chosen: ReadonlyMap<string, readonly string[]>): void {
    if (this.#plan.exits?.includes(step.node.id) === true) {
      this.#ended.push(after);
      if (this.#plan.firstExitWins === true) this.#firstExit(after);
      else this.#send({ ...step, history: after }, {});
      return;
    }
    if (!this.#goOn(step, after, chosen)) this.#ended.push(after);
  }

  /** Sends what a succeeded step sends; false when no live token went anywhere. */
  #goOn(step: Step, after: History, chosen: ReadonlyMap<string, readonly string[]>): boolean {
    const out = this.#shape.edges.filter((edge) => edge.from === step.node.id);
    const known = { ...step, history: after };
    // A route that stays on a cycle has not decided about the ways out of it: they get no dead tokens this time.
    const stays = (edge: ShapeEdge): boolean => edge.kind === 'route' && this.#leadsTo(edge.to, step.node.id);
    const goesBack = out.some((edge) => stays(edge) && isChosen(edge.id, chosen));
    const alone = this.#plan.routes
      .filter((route) => route.from === step.node.id && declaredTargets(route) === undefined)
      .flatMap((route) =>
        (chosen.get(routeKey(this.#plan.routes.indexOf(route))) ?? []).filter(
          (to) => !knownTargets(route).includes(to),
        ),
      )
      .map((to) => aloneFiring(to, step, after));
    const taken = out.filter((edge) => isChosen(edge.id, chosen));
    const silent = goesBack ? out.filter((edge) => edge.kind === 'route' && !stays(edge) && !taken.includes(edge)) : [];
    this.#send(known, { live: taken, silent, alone });
    return taken.length + alone.length > 0;
  }

  /** What each route of the node chose, by route; a failure when one can't choose. */
  #choose(step: Step, after: History): Map<string, readonly string[]> | Failure {
    const chosen = new Map<string, readonly string[]>();
    const nodes = new Set(this.#plan.nodes.map((node) => node.id));
    for (const route of this.#plan.routes.filter((one) => one.from === step.node.id)) {
      const read = this.#histories.read(after);
      if ('conflict' in read) return conflictFailure(read.conflict);
      try {
        const choice = choiceOf(route, read.state, this.#world.bindings, this.#place.prefix, nodes);
        if ('bad' in choice) return { code: 'SKEIN_BAD_ROUTE', message: `${step.node.id} chose ${choice.bad}` };
        chosen.set(routeKey(this.#plan.routes.indexOf(route)), choice.chosen);
      } catch (error) {
        return failureOf(error);
      }
    }
    return chosen;
  }

  /** The final state is what that exit saw and wrote. */
  #firstExit(after: History): void {
    const ended = this.#histories.read(after);
    this.cancel();
    if ('conflict' in ended) this.#onEnd({ ok: false, failure: conflictFailure(ended.conflict) });
    else this.#onEnd({ ok: true, value: ended.state });
  }

  #fail(step: Step, failure: Failure): void {
    const policy = step.node.onError ?? 'fail';
    if (policy === 'fail') {
      this.#failFor(step, failure);
      return;
    }
    if (policy === 'ignore') {
      this.#ignore(step, failure);
      return;
    }
    this.#world.count(step.node, this.#pathOf(step.node), 'failed', failure);
    this.#world.allow(failure);
    const alone = typeof policy === 'object' ? [this.#handing(policy.to, step)] : [];
    this.#send(step, { poisoned: policy === 'skipDependents', alone });
    if (alone.length === 0) this.#ended.push(step.history);
  }

  /** As if it had succeeded and given nothing. */
  #ignore(step: Step, failure: Failure): void {
    const isExit = this.#plan.exits?.includes(step.node.id) === true;
    const chosen = isExit ? new Map<string, readonly string[]>() : this.#choose(step, step.history);
    if ('code' in chosen) {
      this.#failFor(step, chosen);
      return;
    }
    this.#world.count(step.node, this.#pathOf(step.node), 'failed', failure);
    this.#world.allow(failure);
    this.#leave(step, step.history, chosen);
  }

  #failFor(step: Step, failure: Failure): void {
    this.#world.count(step.node, this.#pathOf(step.node), 'failed', failure);
    this.#failRun(failure);
  }

  /** By its own condition or cap: it saw its state, and its branch ends there (S4). */
  #skipSeen(step: Step): void {
    this.#ended.push(step.history);
    this.#skip(step, false);
  }

  #skip(step: Step, poisoned: boolean): void {
    this.#world.count(step.node, this.#pathOf(step.node), 'skipped');
    this.#send(step, { poisoned });
  }

  /** Sends a token on every out-edge, dead where it is not said to be live. */
  #send(step: Step, sending: Sending): void {
    const firings: Firing[] = [...(sending.alone ?? [])];
    for (const edge of this.#shape.edges.filter((one) => one.from === step.node.id)) {
      if (sending.silent?.includes(edge) === true) continue;
      const live = sending.live?.includes(edge) === true;
      const { history, depth, round } = step;
      firings.push(...this.#joins.arrive(edge, { live, poisoned: sending.poisoned === true, history, depth, round }));
    }
    // E9: what becomes ready together starts in plan order.
    const order = (firing: Firing): number => this.#shape.order.get(firing.node) ?? 0;
    this.#ready.push(...firings.toSorted((left, right) => order(left) - order(right)));
  }

  #leadsTo(from: string, to: string, edges = this.#shape.edges): boolean {
    const seen = new Set([from]);
    for (const id of seen) for (const edge of edges) if (edge.from === id) seen.add(edge.to);
    return seen.has(to);
  }

  #node(id: string): PlanNode {
    const node = this.#plan.nodes.find((one) => one.id === id);
    if (node === undefined) throw new Error(`no node ${id}`);
    return node;
  }

  #binding(key: string): unknown {
    return this.#world.bindings[`${this.#place.prefix}${key}`];
  }

  #pathOf(node: PlanNode): string {
    return `${this.#place.path}${node.id}`;
  }
}

/** A node fired by itself, like by a cycle-closing edge. */
function aloneFiring(to: string, step: Step, history: History, rounds = 1): Firing {
  return {
    node: to,
    tokens: [{ live: true, poisoned: false, history, depth: step.depth, round: step.round + rounds }],
    run: true,
  };
}

function routeKey(index: number): string {
  return `route:${index}`;
}

/** Static edges are always live; a route's edge is when its route chose its target. */
function isChosen(edgeId: string, chosen: ReadonlyMap<string, readonly string[]>): boolean {
  if (edgeId.startsWith('static:')) return true;
  for (const [key, targets] of chosen) if (targets.some((to) => edgeId === `${key}:${to}`)) return true;
  return false;
}

function conflictFailure(conflict: { channel: string; writers: readonly string[] }): Failure {
  return { code: 'SKEIN_WRITE_CONFLICT', message: `${conflict.channel}: ${conflict.writers.join(', ')}` };
}
