import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { allHold, type State } from './conditions.js';
import { InstanceEnd, type Step } from './ends.js';
import { union, type History } from './history.js';
import { Joins, type Firing, type Token } from './joins.js';
import { declaredTargets, knownTargets, type ShapeEdge } from './shape.js';
import { beginBody } from './bodies.js';
import { choose, conflictFailure, isChosen, routeKey, type Chosen } from './ways.js';
import type { Ending, Failure, Place, SubRun, World } from './world.js';

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
export class Instance extends InstanceEnd implements SubRun {
  readonly #joins: Joins;
  readonly #ready: Firing[] = [];
  readonly #visits = new Map<string, number>();
  /** What was known where a branch ended with a live token (S4). */
  readonly #ended: History[] = [];
  #draining = false;

  constructor(world: World, plan: Plan, place: Place, onEnd: (ending: Ending) => void) {
    super(world, plan, place, onEnd);
    this.#joins = new Joins(this.shape, plan.nodes);
  }

  begin(): void {
    const first: Token = { live: true, poisoned: false, history: new Set([0]), depth: 0, round: 0 };
    for (const node of this.shape.starts) this.#ready.push({ node, tokens: [first], run: true });
    this.#drain();
  }

  #drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    while (!this.over) {
      const next = this.#ready.shift();
      if (next !== undefined) this.#fire(next);
      else if (this.running.size > 0) break;
      else {
        const released = this.#joins.release();
        if (released === undefined) this.#finish();
        else {
          this.world.releases += 1;
          this.#ready.push(released);
        }
      }
    }
    this.#draining = false;
  }

  #finish(): void {
    const missing = this.missing();
    const result = this.histories.read(union([new Set([0]), ...this.#ended]));
    if (missing !== undefined) this.failRun(missing);
    else if ('conflict' in result) this.failRun(conflictFailure(result.conflict));
    else this.succeedRun(result.state);
  }

  #fire(firing: Firing): void {
    const node = this.#node(firing.node);
    this.stepped.add(node.id);
    // A join that waits for all in-edges comes after what ran on the paths that ended, too (S3).
    const races = node.join !== undefined && node.join !== 'all' && node.join !== 'settled';
    const seen = races ? firing.tokens.filter((token) => token.live) : firing.tokens;
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
    const limit = this.plan.limits?.maxSteps ?? this.shape.longestPath + 100;
    if (step.depth > limit) {
      this.#failFor(step, { code: 'SKEIN_MAX_STEPS', message: node.id });
      return;
    }
    if (node.maxVisits !== undefined && step.visit > node.maxVisits) {
      this.#overVisited(step);
      return;
    }
    // Parallel paths that each lead back multiply.
    if (step.visit > limit * this.plan.nodes.length) {
      this.#failFor(step, { code: 'SKEIN_MAX_STEPS', message: node.id });
      return;
    }
    const read = this.histories.read(step.history);
    if ('conflict' in read) {
      // The step never ran, so no policy of its own allows that.
      this.#failFor(step, conflictFailure(read.conflict));
      return;
    }
    const when = (): unknown => (this.binding(`when:${node.id}`) as (state: State) => unknown)(read.state);
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
      this.#failFor(step, { code: 'SKEIN_MAX_VISITS', message: step.node.id });
    } else if (policy === 'skip') this.#skipSeen(step);
    // The token goes on at the other node; this one was not visited again.
    else this.#ready.push(this.#handing(policy.to, step));
  }

  /** A handler before the node goes round a cycle, one after it does not. */
  #handing(to: string, step: Step): Firing {
    const forward = this.shape.edges.filter((edge) => !edge.closing);
    return aloneFiring(to, step, step.history, this.#leadsTo(to, step.node.id, forward) ? 1 : 0);
  }

  #startBody(step: Step, state: State): void {
    // A sub-plan without anything to run ends before `beginBody` returns: then there is nothing to cancel.
    let over = false;
    const done = (ending: Ending): void => {
      over = true;
      this.running.delete(step);
      if (this.over) return;
      if (ending.ok === true) this.#succeed(step, ending.value);
      else if (ending.ok === 'ended') this.endWith(step, ending);
      else this.#fail(step, ending.failure);
      this.#drain();
    };
    this.running.set(step, () => undefined);
    const cancel = beginBody({ world: this.world, node: step.node, state, place: this.place }, done);
    if (over) this.world.instants += 1;
    else this.running.set(step, cancel);
  }

  #succeed(step: Step, value: unknown): void {
    const node = step.node;
    const after = this.written(step, node.output === undefined ? value : { [node.output]: value });
    const isExit = this.plan.exits?.includes(node.id) === true;
    const chosen = isExit ? new Map<string, readonly string[]>() : this.#choose(step, after);
    if ('code' in chosen) {
      // Nothing says where an ignored failure of a route goes on.
      if (node.onError === 'ignore') this.#failFor(step, chosen);
      else this.#fail(step, chosen);
      return;
    }
    this.world.count(node, this.pathOf(node), 'succeeded');
    this.#leave(step, after, chosen, true);
  }

  /** Goes on from a step that knows where to. */
  #leave(step: Step, after: History, chosen: Chosen, isSuccess: boolean): void {
    if (this.plan.exits?.includes(step.node.id) === true) {
      if (isSuccess) this.reached += 1;
      this.#ended.push(after);
      if (this.plan.firstExitWins === true) this.#firstExit(after);
      else this.#send({ ...step, history: after }, {});
      return;
    }
    if (this.#goOn(step, after, chosen)) return;
    if (isSuccess) this.reached += 1;
    this.#ended.push(after);
  }

  /** Sends what a succeeded step sends; false when no live token went anywhere. */
  #goOn(step: Step, after: History, chosen: Chosen): boolean {
    const out = this.shape.edges.filter((edge) => edge.from === step.node.id);
    const known = { ...step, history: after };
    // A route that stays on a cycle has not decided about the ways out of it: they get no dead tokens this time.
    const stays = (edge: ShapeEdge): boolean => edge.kind === 'route' && this.#leadsTo(edge.to, step.node.id);
    const goesBack = out.some((edge) => stays(edge) && isChosen(edge.id, chosen));
    const alone = this.plan.routes
      .filter((route) => route.from === step.node.id && declaredTargets(route) === undefined)
      .flatMap((route) =>
        (chosen.get(routeKey(this.plan.routes.indexOf(route))) ?? []).filter((to) => !knownTargets(route).includes(to)),
      )
      .map((to) => aloneFiring(to, step, after));
    const taken = out.filter((edge) => isChosen(edge.id, chosen));
    const silent = goesBack ? out.filter((edge) => edge.kind === 'route' && !stays(edge) && !taken.includes(edge)) : [];
    this.#send(known, { live: taken, silent, alone });
    return taken.length + alone.length > 0;
  }

  #choose({ node }: Step, after: History): Chosen | Failure {
    const [world, plan, place, histories] = [this.world, this.plan, this.place, this.histories];
    return choose({ world, plan, place, histories }, node.id, after);
  }

  /** The final state is what that exit saw and wrote. */
  #firstExit(after: History): void {
    const ended = this.histories.read(after);
    const missing = this.missing();
    if (missing !== undefined) this.failRun(missing);
    else if ('conflict' in ended) this.failRun(conflictFailure(ended.conflict));
    else this.succeedRun(ended.state);
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
    this.world.count(step.node, this.pathOf(step.node), 'failed', failure);
    this.allow(step.node, this.pathOf(step.node));
    const alone = typeof policy === 'object' ? [this.#handing(policy.to, step)] : [];
    this.#send(step, { poisoned: policy === 'skipDependents', alone });
    if (alone.length === 0) this.#ended.push(step.history);
  }

  /** As if it had succeeded and given nothing. */
  #ignore(step: Step, failure: Failure): void {
    const isExit = this.plan.exits?.includes(step.node.id) === true;
    const chosen = isExit ? new Map<string, readonly string[]>() : this.#choose(step, step.history);
    if ('code' in chosen) {
      this.#failFor(step, chosen);
      return;
    }
    this.world.count(step.node, this.pathOf(step.node), 'failed', failure);
    this.allow(step.node, this.pathOf(step.node));
    this.#leave(step, step.history, chosen, false);
  }

  #failFor(step: Step, failure: Failure): void {
    this.world.count(step.node, this.pathOf(step.node), 'failed', failure);
    if (this.place.require === undefined || (step.node.onError ?? 'fail') !== 'fail') {
      this.failRun(failure);
      return;
    }
    // A branch of a group: what comes after it is skipped, and no other one is.
    this.settled.push({ node: step.node, path: this.pathOf(step.node) });
    this.#ended.push(step.history);
    this.#send(step, { poisoned: true });
  }

  /** By its own condition or cap: it saw its state, and its branch ends there (S4). */
  #skipSeen(step: Step): void {
    this.#ended.push(step.history);
    this.#skip(step, false);
  }

  #skip(step: Step, poisoned: boolean): void {
    this.world.count(step.node, this.pathOf(step.node), 'skipped');
    this.#send(step, { poisoned });
  }

  /** Sends a token on every out-edge, dead where it is not said to be live. */
  #send(step: Step, sending: Sending): void {
    const firings: Firing[] = [...(sending.alone ?? [])];
    for (const edge of this.shape.edges.filter((one) => one.from === step.node.id)) {
      if (sending.silent?.includes(edge) === true) continue;
      const live = sending.live?.includes(edge) === true;
      const { history, depth, round } = step;
      firings.push(...this.#joins.arrive(edge, { live, poisoned: sending.poisoned === true, history, depth, round }));
    }
    // E9: what becomes ready together starts in plan order.
    const order = (firing: Firing): number => this.shape.order.get(firing.node) ?? 0;
    this.#ready.push(...firings.toSorted((left, right) => order(left) - order(right)));
  }

  #leadsTo(from: string, to: string, edges = this.shape.edges): boolean {
    const seen = new Set([from]);
    for (const id of seen) for (const edge of edges) if (edge.from === id) seen.add(edge.to);
    return seen.has(to);
  }

  #node(id: string): PlanNode {
    const node = this.plan.nodes.find((one) => one.id === id);
    if (node === undefined) throw new Error(`no node ${id}`);
    return node;
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
