import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { isEnough, type Cancel } from './bodies.js';
import type { State } from './conditions.js';
import { Histories, type Fold, type History } from './history.js';
import type { Token } from './joins.js';
import { shapeOf, type Shape } from './shape.js';
import { closingOf, type How } from './ways.js';
import { isPartOf } from './world.js';
import type { Ending, Failure, Place, PlanEnd, World } from './world.js';

/** One step: a firing that has been looked at. */
export interface Step {
  readonly node: PlanNode;
  readonly tokens: readonly Token[];
  /** What it sees. */
  readonly history: History;
  readonly depth: number;
  readonly round: number;
  readonly visit: number;
}

/** The end of one execution of a plan: how it comes to it, and what runs then. */
export abstract class InstanceEnd {
  protected readonly world: World;
  protected readonly plan: Plan;
  protected readonly place: Place;
  protected readonly shape: Shape;
  protected readonly histories: Histories;
  protected readonly running = new Map<Step, Cancel>();
  protected readonly stepped = new Set<string>();
  /** Failures of its branches, where not all of them must succeed, and branches that did. */
  protected readonly settled: { readonly node: PlanNode; readonly path: string }[] = [];
  protected reached = 0;
  protected over = false;
  private degraded = false;
  /** What runs at its end is running; called when that is over. */
  private closed: (() => void) | undefined = undefined;

  constructor(
    world: World,
    plan: Plan,
    private readonly outside: Place,
    protected readonly onEnd: (ending: Ending) => void,
  ) {
    this.world = world;
    this.plan = plan;
    this.place = { ...outside, degrade: () => this.degrade() };
    this.shape = shapeOf(plan);
    const fold = (channel: string): Fold => this.binding(`channel:${channel}`) as Fold;
    this.histories = new Histories(plan.channels, new Map(Object.entries(outside.inputs)), fold);
  }

  protected binding(key: string): unknown {
    return this.world.bindings[`${this.place.prefix}${key}`];
  }
  /** Ends everything that runs; tells nobody. What runs at its end is waited for by the run alone. */
  cancel(): void {
    if (!this.over) {
      this.stop();
      this.close(
        { outcome: 'cancelled', failure: { code: 'SKEIN_CANCELLED', message: '' }, state: {} },
        () => undefined,
      );
    }
    if (this.closed === undefined) return;
    this.world.apart += 1;
    this.closed = () => {
      this.world.apart -= 1;
    };
  }

  protected stop(): void {
    this.over = true;
    for (const [step, cancelBody] of this.running) {
      cancelBody();
      this.world.count(step.node, this.pathOf(step.node), 'cancelled');
    }
    this.running.clear();
    this.countNotRun();
  }

  /** Runs the node \`finally\`, and then goes on. */
  private close(how: How, over: () => void): void {
    if (this.plan.finally === undefined) {
      over();
      return;
    }
    this.closed = over;
    const { plan, place } = closingOf(this.plan, this.place, how);
    const closing = this.world.open(plan, place, (ending) => {
      const isAlone = this.closed !== over;
      if (ending.ok === false && (isAlone || how.failure === undefined)) {
        this.world.allow(this.place, (path) => path.startsWith(`${place.path}finally`));
      }
      this.closed?.();
      this.closed = undefined;
    });
    closing.begin();
  }

  private degrade(): void {
    this.degraded = true;
    this.outside.degrade();
  }

  /** Not as many of its branches have succeeded as must. */
  protected missing(): Failure | undefined {
    const { require } = this.place;
    if (require === undefined) return undefined;
    if (!isEnough(require, this.reached, this.settled.length)) return { code: 'SKEIN_REQUIRE', message: '' };
    for (const { node, path } of this.settled) this.allow(node, path);
    return undefined;
  }

  protected allow(node: PlanNode, path: string): void {
    this.world.allow(this.place, (one) => isPartOf(one, node, path));
  }

  protected succeedRun(state: State): void {
    this.stop();
    const outcome = this.degraded ? 'degraded' : 'succeeded';
    this.close({ outcome, state }, () => this.onEnd({ ok: true, value: state }));
  }

  protected failRun(failure: Failure): void {
    this.stop();
    this.close({ outcome: 'failed', failure, state: {} }, () => this.onEnd({ ok: false, failure }));
  }

  /** E7, an end on purpose: the state is what the step saw, and what the plan inside of it wrote that ended. */
  protected endWith(step: Step, ending: PlanEnd): void {
    const own = step.node.kind === 'end';
    const { failure, out } = ending;
    this.world.ended = true;
    const how = failure === undefined ? 'succeeded' : 'failed';
    this.world.count(step.node, this.pathOf(step.node), own ? how : 'cancelled', own ? failure : undefined);
    const read = this.histories.read(own ? step.history : this.written(step, ending.value));
    if ('conflict' in read) throw new Error('what one step saw is in conflict');
    const { state } = read;
    const isInside = out > 0 && this.place.path !== '';
    if (!isInside && failure === undefined) {
      const missing = this.missing();
      if (missing === undefined) this.succeedRun(state);
      else this.failRun(missing);
      return;
    }
    this.stop();
    const outcome = failure !== undefined ? 'failed' : this.degraded ? 'degraded' : 'succeeded';
    const upwards: Ending =
      failure === undefined || isInside ? { ok: 'ended', failure, out: out - 1, value: state } : { ok: false, failure };
    this.close({ outcome, failure, state }, () => this.onEnd(upwards));
  }

  /** Only the nodes of the run's own plan are missed; a sub-plan that was begun counts as its step. */
  private countNotRun(): void {
    if (this.place.path !== '') return;
    this.world.census.notRun += this.plan.nodes.filter(
      ({ id, kind }) => kind !== 'pass' && id !== this.plan.finally && !this.stepped.has(id),
    ).length;
  }

  /** What is known once a step has written. */
  protected written(step: Step, update: unknown): History {
    const write = {
      node: step.node.id,
      round: step.round,
      topo: this.shape.topo.get(step.node.id) ?? -1,
      visit: step.visit,
      update: new Map(Object.entries((update ?? {}) as Record<string, unknown>)),
      before: step.history,
    };
    return new Set(step.history).add(this.histories.add(write));
  }

  protected pathOf(node: PlanNode): string {
    return `${this.place.path}${node.id}`;
  }
}
