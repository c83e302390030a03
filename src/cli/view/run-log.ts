import { nodePathOf, pathOf } from '../../base/address.js';
import { madeOnce } from '../../base/collections.js';
import { beginsAgain, type SkeinEvent } from '../../events/event.js';
import { Tally } from '../../events/spending.js';
import type { Plan } from '../../plan/plan.js';
import { decisionText, jumpTarget } from './decision.js';
import { nodesByPath, Progress, VISIT, type PlacedNode } from './progress.js';
import { StepLog } from './step-log.js';
import { ownValue } from '../../base/json.js';

type StepBegun = SkeinEvent & { readonly type: 'step.started' | 'step.ended' };

/** Returns an event as people see it: a step has the same path in all attempts, `block/draft` for `block~2/draft`. */
export function asSeen(event: SkeinEvent): SkeinEvent {
  const { path, parent } = event;
  return path.includes('~') || parent.includes('~') ? { ...event, path: pathOf(path), parent: pathOf(parent) } : event;
}

/** Follows a run by its events, for views and reports. Of earlier attempts of a retried step, only the cost stays. */
export class RunLog {
  /** By path, in the order in which they started. A step that runs again moves to the end. */
  readonly steps = new Map<string, StepLog>();
  /** The latest visit of each place in a plan, by its path without the visit number. Some entries may have been forgotten since. */
  private readonly visits = new Map<string, StepLog>();
  /** Calls and tokens of all steps, including failed attempts. */
  readonly spent = new Tally();
  readonly warnings: string[] = [];
  startedAt = 0;
  now = 0;
  /** The number of steps, and of ended ones. */
  readonly progress: Progress;
  private readonly open = new Map<string, StepLog>();
  /** Paths of the steps that ran inside each step. */
  private readonly inside = new Map<string, Set<string>>();
  /** Steps of failed attempts, kept for their cost. */
  private readonly failed = new Map<string, StepLog>();
  private readonly nodes: ReadonlyMap<string, PlacedNode>;

  /** Uses the arrival times of events: a cancelled run ends now, not at its last outcome. */
  constructor(
    readonly plan: Plan,
    private readonly clock: () => number = Date.now,
  ) {
    this.nodes = nodesByPath(plan);
    this.progress = new Progress(plan, this.nodes);
  }

  decision(event: SkeinEvent): string | undefined {
    if (event.type !== 'step.ended' || event.to === undefined) return undefined;
    const placed = this.nodes.get(nodePathOf(event.path));
    return placed === undefined ? undefined : decisionText(placed.plan, placed.node.id, event.to);
  }

  /** Whether the work of a step counts only once it is accepted. */
  isSupervised(path: string): boolean {
    return this.nodes.get(nodePathOf(path))?.node.supervise !== undefined;
  }

  private nameOf(path: string): string {
    const placed = this.nodes.get(nodePathOf(path));
    const target = placed === undefined ? undefined : jumpTarget(placed.plan, placed.node);
    return target === undefined ? path : `goto ${path.slice(0, path.lastIndexOf('/') + 1)}${target}`;
  }

  /** The step at a place, such as `loop#3/critic`: the latest of several visits. */
  at(place: string): StepLog | undefined {
    const step = this.visits.get(place);
    return step !== undefined && this.steps.get(step.path) === step ? step : undefined;
  }

  /** Running steps, including those that contain others, in the order in which they started. */
  running(): Iterable<StepLog> {
    return this.open.values();
  }

  listen(event: SkeinEvent): void {
    this.now = this.clock();
    if (isPassed(event)) return;
    if (event.replayed !== true) this.wake(this.steps.get(event.path));
    switch (event.type) {
      case 'run.started':
        this.startedAt = this.now;
        return;
      case 'run.warning':
        this.warnings.push(event.message);
        return;
      case 'run.ended':
        return;
      case 'run.resumed':
        for (const step of this.open.values()) this.wake(step);
        return;
      case 'step.started':
        this.begin(event);
        return;
      case 'step.retrying':
        this.steps.get(event.path)?.take(event, this.now, event.replayed === true);
        this.beginAgain(event.path);
        return;
      case 'step.ended':
        this.end(event);
        return;
      case 'step.note':
        if (beginsAgain(event)) this.beginAgain(event.path);
        this.progress.told(event.path, event.note);
        if (event.note.kind === 'warning' && event.replayed !== true)
          this.warnings.push(`${event.path}: ${event.note.message}`);
        this.steps.get(event.path)?.take(event, this.now, event.replayed === true);
    }
  }

  /** Continues a step that was begun in an earlier session. */
  private wake(step: StepLog | undefined): void {
    if (step?.reused !== true) return;
    step.reused = false;
    step.startedAt = this.now;
  }

  private beginAgain(path: string): void {
    this.forgetInside(path);
    this.progress.again(path);
  }

  /** Forgets the steps inside a retried step. Recursion is safe here: steps are nested at most 50 deep (see checkPlan). */
  private forgetInside(path: string): void {
    const inner = this.inside.get(path) ?? [];
    this.inside.delete(path);
    for (const each of inner) {
      const step = this.steps.get(each);
      if (step !== undefined) {
        this.failed.set(each, step);
        this.progress.forget(each, step.status);
      }
      this.steps.delete(each);
      this.open.delete(each);
      this.forgetInside(each);
    }
  }

  private begin({ path, node, kind, parent, replayed }: StepBegun): StepLog {
    const placed = this.nodes.get(nodePathOf(path));
    const agent = placed?.node.kind === 'agent' ? placed.node.agent.name : undefined;
    const is = { path, name: this.nameOf(path), node, kind, parent, agent };
    const spent = this.failed.get(path)?.spent ?? new Tally(this.spent);
    const step = new StepLog(is, this.now, spent, replayed === true);
    if (parent !== '') madeOnce(this.inside, parent, () => new Set()).add(path);
    this.steps.delete(path);
    this.steps.set(path, step);
    this.open.set(path, step);
    this.visits.set(path.replace(VISIT, ''), step);
    this.progress.begin(step);
    return step;
  }

  private end(event: SkeinEvent & { readonly type: 'step.ended' }): void {
    const known = this.steps.get(event.path);
    // A skipped step has never started; a step that is visited again may be skipped on that visit.
    const step = known?.status === 'running' ? known : this.begin(event);
    this.open.delete(event.path);
    // After a step that runs again, only the end of a step shows that it is from the record.
    if (event.replayed === true) step.reused = true;
    step.take(event, this.now, event.replayed === true);
    this.progress.end(step, event.outcome);
    const channel = this.nodes.get(nodePathOf(event.path))?.node.output;
    step.output = channel === undefined ? event.update : ownValue(event.update, channel);
  }
}

/** Whether an event is of a node that does nothing. It counts as a step only if it fails: a condition neither true nor false. */
export function isPassed(event: SkeinEvent): boolean {
  if (event.type === 'step.started') return event.kind === 'pass';
  return event.type === 'step.ended' && event.kind === 'pass' && ['succeeded', 'skipped'].includes(event.outcome);
}
