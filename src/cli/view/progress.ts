import { nodePathOf } from '../../base/address.js';
import type { StepOutcome } from '../../events/census.js';
import type { StepNote } from '../../events/event.js';
import type { Plan, PlanNode } from '../../plan/plan.js';

/** The progress of the steps inside a step. */
export interface Within {
  readonly done: number;
  /** Grows if it is not known from the beginning. */
  readonly total: number;
}

/** The progress inside a step that contains others, or inside the run. */
interface Inside {
  readonly node: PlanNode | undefined;
  /** Direct child steps that began; `ended` counts those of them that ended. */
  begun: number;
  ended: number;
  /** Steps at any depth that are expected and have not begun. */
  expected: number;
  /** For a map: its items, the finished ones, and the number of ended steps by the address of each unfinished item. */
  items: number;
  finished: number;
  readonly endedIn: Map<string, number>;
  /** For a loop: its current round, and the maximum number of rounds if that is not its cap. */
  round: number;
  rounds?: number;
}

interface Counted {
  readonly path: string;
  readonly parent: string;
}

export const FAILURES: readonly (StepOutcome | 'running')[] = ['failed', 'timed_out', 'out_of_budget'];

/** Counts the steps of a run, with those that calls, maps and loops add. Nodes that do nothing do not count. */
export class Progress {
  done = 0;
  failed = 0;
  /** Steps expected so far. */
  waiting: number;
  private begun = 0;
  private readonly insides = new Map<string, Inside>();

  constructor(
    plan: Plan,
    private readonly nodes: ReadonlyMap<string, PlacedNode>,
  ) {
    this.waiting = stepsIn(plan);
    this.insides.set('', insideOf(undefined, this.waiting));
  }

  get total(): number {
    return this.begun + this.waiting;
  }

  get running(): number {
    return this.begun - this.done;
  }

  /** The progress inside a step: steps of a call, items of a map, rounds of a loop. */
  within(path: string): Within | undefined {
    const inside = this.insides.get(path);
    if (inside?.node === undefined) return undefined;
    if (inside.node.kind === 'loop') return { done: inside.round, total: inside.rounds ?? inside.node.maxRounds };
    if (inside.node.kind === 'map') return { done: inside.finished, total: inside.items };
    return { done: inside.ended, total: Math.max(inside.begun, stepsRightIn(inside.node)) };
  }

  begin({ path, parent }: Counted): void {
    const node = this.nodes.get(nodePathOf(path))?.node;
    this.begun += 1;
    const around = this.insides.get(parent);
    if (around !== undefined) this.beginIn(around, path, node);
    if (node !== undefined && 'plan' in node) this.reset(path, node);
  }

  end({ path, parent }: Counted, outcome: StepOutcome): void {
    this.done += 1;
    if (FAILURES.includes(outcome)) this.failed += 1;
    const around = this.insides.get(parent);
    if (around !== undefined) endIn(around, path);
    const own = this.insides.get(path);
    if (own === undefined) return;
    this.expect(own, 0);
    if (own.node?.kind === 'map' && outcome === 'succeeded') own.finished = own.items;
  }

  /** Takes the number of items of a map, or the maximum rounds of a loop that a value decides. */
  told(path: string, note: StepNote): void {
    const inside = this.insides.get(path);
    if (note.kind === 'rounds' && inside?.node?.kind === 'loop') inside.rounds = note.count;
    if (note.kind !== 'items' || inside?.node?.kind !== 'map') return;
    inside.items = note.count;
    this.expect(inside, note.count * stepsIn(inside.node.plan));
  }

  /** Resets the steps inside a step that is retried. */
  again(path: string): void {
    const own = this.insides.get(path);
    if (own?.node !== undefined) this.reset(path, own.node);
  }

  /** Removes a step from the counts. */
  forget(path: string, status: StepOutcome | 'running'): void {
    this.begun -= 1;
    if (status !== 'running') this.done -= 1;
    if (status !== 'running' && FAILURES.includes(status)) this.failed -= 1;
    const own = this.insides.get(path);
    if (own !== undefined) this.expect(own, 0);
    this.insides.delete(path);
  }

  private reset(path: string, node: PlanNode): void {
    const inside = insideOf(node, node.kind === 'call' ? stepsIn(node.plan) : 0);
    const before = this.insides.get(path);
    if (before !== undefined) this.expect(before, 0);
    this.insides.set(path, inside);
    this.waiting += inside.expected;
  }

  private beginIn(around: Inside, path: string, node: PlanNode | undefined): void {
    around.begun += 1;
    if (around.node?.kind === 'loop') {
      const round = roundOf(path);
      if (round !== around.round) this.expect(around, stepsIn(around.node.plan));
      around.round = round;
    }
    // A later visit is one more than expected.
    if (node !== undefined && !VISIT.test(path)) this.expect(around, Math.max(0, around.expected - weightOf(node)));
  }

  private expect(inside: Inside, expected: number): void {
    this.waiting += expected - inside.expected;
    inside.expected = expected;
  }
}

/** The number of a visit from the second on, at the end of a path. */
export const VISIT = /#\d+$/;

function insideOf(node: PlanNode | undefined, expected: number): Inside {
  return { node, begun: 0, ended: 0, expected, items: 0, finished: 0, endedIn: new Map(), round: 0 };
}

function endIn(around: Inside, path: string): void {
  around.ended += 1;
  if (around.node?.kind !== 'map' || VISIT.test(path)) return;
  const item = path.slice(0, path.lastIndexOf('/'));
  const ended = (around.endedIn.get(item) ?? 0) + 1;
  around.endedIn.set(item, ended);
  if (ended !== stepsRightIn(around.node)) return;
  around.finished += 1;
  around.endedIn.delete(item);
}

/** The round of a step in a loop: `loop#3/critic` is in round 3. */
function roundOf(path: string): number {
  const scope = path.slice(0, path.lastIndexOf('/'));
  return Number(scope.slice(scope.lastIndexOf('#') + 1));
}

/** Number of steps that a plan declares, at any depth. Recursion is safe here: workflows are nested at most 50 deep (see checkPlan). */
function stepsIn(plan: Plan): number {
  return plan.nodes.reduce((sum, node) => sum + weightOf(node), 0);
}

function weightOf(node: PlanNode): number {
  if (node.kind === 'pass') return 0;
  return node.kind === 'call' ? 1 + stepsIn(node.plan) : 1;
}

function stepsRightIn(node: PlanNode): number {
  return 'plan' in node ? node.plan.nodes.filter(({ kind }) => kind !== 'pass').length : 0;
}

export interface PlacedNode {
  readonly node: PlanNode;
  readonly plan: Plan;
}

/** All nodes of a plan by path, including those of sub-plans. A node precedes the nodes inside it. */
export function nodesByPath(plan: Plan): ReadonlyMap<string, PlacedNode> {
  const nodes = new Map<string, PlacedNode>();
  addNodes(plan, '', nodes);
  return nodes;
}

// Recursion is safe here: workflows are nested at most 50 deep (see checkPlan).
function addNodes(plan: Plan, prefix: string, nodes: Map<string, PlacedNode>): void {
  for (const node of plan.nodes) {
    const path = prefix + node.id;
    nodes.set(path, { node, plan });
    if ('plan' in node) addNodes(node.plan, `${path}/`, nodes);
  }
}
