import type { Census, OpenCensus, StepOutcome } from '../../events/census.js';
import { addCensus, emptyCensus, endingOf } from '../../events/census.js';
import { joinedIf, type Label } from '../../guard/label.js';
import { joined, reported, type Reports } from '../run-result.js';
import type { Restable, RunServices, ScopeOptions } from '../services.js';
import { ScopeState } from '../state/scope-state.js';
import type { Version } from '../state/version.js';
import type { Step } from '../steps/step.js';
import { addStep, removeStep, type StepList } from '../work-queue.js';
import type { CompiledNode } from './compile.js';
import { endingBody, type Ending } from './explain.js';
import { Visits } from './visits.js';

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
  /** Head of the list of queued or running steps. */
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
