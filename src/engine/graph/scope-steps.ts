import {
  addCensus,
  emptyCensus,
  endingOf,
  type Census,
  type OpenCensus,
  type StepOutcome,
} from '../../events/census.js';
import { joinedIf, type Label } from '../../guard/label.js';
import { joined, reported, type Reports } from '../run-result.js';
import type { Restable, RunServices, ScopeOptions } from '../services.js';
import { ScopeState } from '../state/scope-state.js';
import type { Version } from '../state/version.js';
import type { Step } from '../steps/step.js';
import { addStep, removeStep, type StepList } from '../work-queue.js';
import type { CompiledNode, CompiledPlan } from './compile.js';
import { endingBody, type Ending } from './explain.js';

/** Counts how often the nodes of one scope ran, and how often they were skipped. */
class Visits {
  /** Runs and skips by node; -1 for nodes that were not reached. */
  private readonly all: number[];
  /** Skips by node, plus runs from before its count restarted. */
  private skips: number[] | undefined = undefined;

  /** `first`: visit number of the first visits of starting nodes. */
  constructor(
    private readonly compiled: CompiledPlan,
    first = 1,
  ) {
    this.all = compiled.untouched.slice();
    if (first > 1) for (const at of compiled.starts) this.all[at] = first - 1;
  }

  next(node: number): number {
    const visit = Math.max(this.all[node] ?? 0, 0) + 1;
    this.all[node] = visit;
    return visit;
  }

  /** Notes that the visit of a node was a skip. */
  skipped(node: number): void {
    const skips = (this.skips ??= []);
    skips[node] = (skips[node] ?? 0) + 1;
  }

  /** Notes that the first visit of a node did not happen. */
  undone(node: number): void {
    this.all[node] = -1;
  }

  runs(node: number): number {
    return Math.max(this.all[node] ?? 0, 0) - (this.skips?.[node] ?? 0);
  }

  /** Restarts the visit counts of nodes: earlier visits then count like skips. */
  countAnew(nodes: readonly number[]): void {
    if (nodes.length === 0) return;
    const skips = (this.skips ??= []);
    for (const node of nodes) skips[node] = Math.max(this.all[node] ?? 0, 0);
  }

  /** Number of nodes that neither ran nor were skipped. */
  untouched(): number {
    return this.compiled.nodes.filter(({ node, index }) => node.kind !== 'pass' && (this.all[index] ?? -1) < 0).length;
  }

  /** Whether nodes at their caps refer to one another in a circle, so that none of them may run. */
  capsGoRound(first: CompiledNode): boolean {
    const { nodes } = this.compiled;
    const seen = new Set<CompiledNode>();
    for (let node: CompiledNode | undefined = first; node !== undefined; node = nodes[node.onMaxVisitsTo]) {
      if (seen.has(node)) return true;
      seen.add(node);
      const cap = node.node.maxVisits;
      if (cap === undefined || this.runs(node.index) < cap) return false;
    }
    return false;
  }
}

/** The steps of one execution of a plan: queued and running ones, and the counts and reports of ended ones. */
export abstract class ScopeSteps extends ScopeState implements Restable, StepList {
  readonly census: OpenCensus = emptyCensus();
  reports: Reports = undefined;
  readonly prefix: string;
  readonly parent: string;
  over = false;
  cutOff: string | undefined = undefined;
  protected readonly visits: Visits;
  /** Number of queued or running steps and skips. */
  protected outstanding = 0;
  first: Step | undefined = undefined;

  constructor(run: RunServices, options: ScopeOptions) {
    super(run, options);
    this.prefix = options.prefix;
    this.parent = options.parent;
    this.visits = new Visits(options.compiled, options.visit);
  }

  abstract rested(): void;

  count(census: Census, reports: Reports): void {
    addCensus(this.census, census);
    this.reports = joined(this.reports, reports);
  }

  heard(): Label | undefined {
    let label: Label | undefined;
    for (let step = this.first; step !== undefined; step = step.following)
      if (step.started && !step.over) label = joinedIf(label, step.identity.heard?.());
    return label;
  }

  /** Number of nodes that neither ran nor were skipped. */
  untouched(): number {
    return this.visits.untouched();
  }

  protected enqueue(step: Step): void {
    this.outstanding += 1;
    addStep(this, step);
    this.run.enqueue(step);
  }

  protected finish(step: Step, outcome: StepOutcome, ending: Ending): void {
    this.outstanding -= 1;
    removeStep(this, step);
    this.tell(step.compiled, step.path, outcome, step.attempt, ending);
  }

  /** The census contains a node that does nothing only if it failed. */
  protected countStep(node: CompiledNode, outcome: StepOutcome): void {
    if (node.node.kind !== 'pass' || (outcome !== 'succeeded' && outcome !== 'skipped')) this.census[outcome] += 1;
  }

  protected tell(node: CompiledNode, path: string, outcome: StepOutcome, attempts: number, ending: Ending): void {
    this.countStep(node, outcome);
    const { reporter } = this.run;
    const report = { path, node: node.id, ...endingOf({ ...ending, outcome }) };
    this.reports = reported(this.reports, reporter.nextReport(), report);
    if (reporter.observed) reporter.emit(path, this.parent, endingBody(node, outcome, attempts, ending));
  }

  protected restIfIdle(): void {
    if (this.outstanding === 0 && !this.over) this.run.rest(this);
  }

  /** Aborts queued and running steps for this reason; returns the versions that they saw. */
  protected stopSteps(reason = 'the run ended first'): Version[] {
    const seen: Version[] = [];
    this.cutOff = reason;
    for (let step = this.first; step !== undefined; step = step.following) {
      if (step.over) continue;
      seen.push(step.input);
      const { started } = step;
      step.abort();
      if (started) this.tell(step.compiled, step.path, 'cancelled', step.attempt, { reason });
      else if (step.visit === 1) this.visits.undone(step.compiled.index);
    }
    this.first = undefined;
    return seen;
  }
}
